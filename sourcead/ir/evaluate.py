"""The reference evaluator: it interprets IR over NumPy values, and every pass is tested against it.

Values are immutable: an `Update`, `Append` or `Pop` works on a copy of its base, so no older version ever changes.
"""

from __future__ import annotations

import operator
from functools import singledispatch
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.ir.nodes import (
    AdjointBlock, Append, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop, Op,
    Operand, Pop, Range, Slice, Sub, Update, Var, View
)
from sourcead.ir.records import is_record, map_value

Env = dict[Var, Any]


def evaluate(function: Function, *args):
    """Return the result of calling `function` on `args`: one value, or a tuple of several.

    Example:
        >>> from sourcead.ir.nodes import Block, Call, Const, Function, Stmt, Var
        >>> x, y = Var("x"), Var("y")
        >>> double = Function("double", (x,), Block((Stmt((y,), Call(operator.mul, (x, Const(2)))),), (y,)))
        >>> evaluate(double, 21)
        42
    """
    if len(args) != len(function.params):
        raise TypeError(f"{function.name} takes {len(function.params)} arguments, got {len(args)}")
    return _bare(_run(function.body, dict(zip(function.params, args))))


def _bare(results: list) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


def _run(block: Block, env: Env) -> list:
    """Return the results of a block; the variables that it defines are added to `env`."""
    for stmt in block.stmts:
        values = _do(stmt.op, env)
        if len(values) != len(stmt.targets):
            raise ValueError(f"{len(values)} values for {len(stmt.targets)} targets: {stmt.op!r}")
        env.update(zip(stmt.targets, values))
    return [_value(r, env) for r in block.results]


def _value(operand: Operand | None, env: Env) -> Any:
    match operand:
        case None:
            return None
        case Const(value):
            return value
        case Var():
            return env[operand]
        case Slice(lower, upper, step):
            return slice(_value(lower, env), _value(upper, env), _value(step, env))
        case tuple():
            return tuple(_value(item, env) for item in operand)
    raise TypeError(f"not an operand: {operand!r}")


def copied(x: Any) -> Any:
    """Return a copy that shares no array, list or dict with `x`."""
    return x.copy() if isinstance(x, np.ndarray) else map_value(x, copied)


@singledispatch
def _do(op: Op, env: Env) -> list:
    """Return the results of an op."""
    raise TypeError(f"not an op: {op!r}")


@_do.register
def _(op: Let, env):
    return [_value(op.value, env)]


@_do.register
def _(op: Call, env):
    fn = env[op.fn] if isinstance(op.fn, Var) else op.fn.value if isinstance(op.fn, Const) else op.fn
    return [fn(*_value(op.args, env), **{k: _value(v, env) for k, v in op.kwargs})]


@_do.register
def _(op: Attr, env):
    return [getattr(_value(op.base, env), op.name)]


@_do.register
def _(op: Index, env):
    return [_item(_value(op.base, env), _value(op.key, env))]


def _item(base, key):
    return getattr(base, key) if isinstance(key, str) and is_record(base) else base[key]


@_do.register
def _(op: Build, env):
    items = [_value(item, env) for item in op.items]
    if op.kind == "dict":
        return [dict(zip(op.keys, items))]
    if op.kind == "record":
        return [runtime.make_record(op.cls, **dict(zip(op.keys, items)))]
    return [{"list": list, "tuple": tuple, "set": set}[op.kind](items)]


@_do.register
def _(op: Append, env):
    base = copied(_value(op.base, env))
    items = _list_at(base, op.path, env)
    items.insert(len(items) if op.at is None else _value(op.at, env), _value(op.value, env))
    return [base]


@_do.register
def _(op: Pop, env):
    base = copied(_value(op.base, env))
    item = _list_at(base, op.path, env).pop(-1 if op.at is None else _value(op.at, env))
    return [base, item]


def _list_at(base: Any, path: tuple[Sub, ...], env: Env) -> list:
    """Return the list inside `base` that a path leads to."""
    for step in path:
        base = base[_value(step.key, env)]
    return base


@_do.register
def _(op: Update, env):
    base, value = copied(_value(op.base, env)), _value(op.value, env)
    if not op.path:
        return [_updated_whole(base, value, op.mode)]
    _write_part(base, op.path, value, op.mode, env)
    return [base]


def _write_part(part, path: tuple, value, mode: str, env: Env) -> None:
    first, *rest = path
    if isinstance(first, View) and first.fn in (np.reshape, np.ravel):  # NumPy may return a copy instead of a view
        copy = np.array(_step(part, first, env))
        _write_part(copy, tuple(rest) or (Sub(Const(...)),), value, mode, env)
        part[...] = copy.reshape(part.shape)
    elif rest:
        _write_part(_step(part, first, env), tuple(rest), value, mode, env)
    elif isinstance(first, Sub):
        _write(part, _value(first.key, env), value, mode)
    else:
        _write(_step(part, first, env), ..., value, mode)


def _step(part, step, env: Env):
    if isinstance(step, Sub):
        return _item(part, _value(step.key, env))
    return step.fn(part, *_value(step.args, env), **{k: _value(v, env) for k, v in step.kwargs})


def _updated_whole(base, value, mode: str):
    """Return `base` with all of it replaced by `value`, or with `value` added or subtracted."""
    if mode != "set":
        return (operator.iadd if mode == "add" else operator.isub)(base, value)
    if not isinstance(base, np.ndarray):
        return value
    base[...] = value
    return base


def _write(part, key, value, mode: str):
    """Write a value at `part[key]`; an index that an integer array repeats is added to once for each repetition."""
    if isinstance(part, tuple) or is_record(part):  # the part is an array inside a tuple or record
        _updated_whole(_item(part, key), value, mode)
    elif mode == "set":
        part[key] = value
    elif isinstance(part, np.ndarray):
        (np.add if mode == "add" else np.subtract).at(part, key, value)
    else:
        part[key] = (operator.add if mode == "add" else operator.sub)(part[key], value)


@_do.register
def _(op: Effect, env):
    args = _value(op.args, env)
    if op.kind == "assert":
        if not args[0]:
            raise AssertionError(*args[1:])
        return []
    raise args[0]


@_do.register
def _(op: Branch, env):
    return _run(op.then if _value(op.cond, env) else op.orelse, env)


@_do.register
def _(op: Loop, env):
    env.update(zip(op.params, [_value(init, env) for init in op.inits]))

    def iterate():
        env.update(zip(op.params, _run(op.body, env)))
        return op.leave is not None and env[op.leave]

    if isinstance(op.domain, Block):
        while _run(op.domain, env)[0]:
            if iterate():
                break
    else:
        domain = op.domain
        over = (
            range(*_value((domain.start, domain.stop, domain.step), env))
            if isinstance(domain, Range)
            else _value(domain, env)
        )
        for env[op.index] in over:
            if iterate():
                break
    return [env[p] for p in op.params]


@_do.register
def _(op: Closure, env):
    def closure(*args):
        return _bare(_run(op.body, {**env, **dict(zip(op.params, args))}))

    return [closure]


@_do.register
def _(op: AdjointBlock, env):
    return [_value(v, env) for v in op.values]
