"""The reference evaluator: it interprets IR over NumPy values, and every pass is tested against it.

Values are immutable: an `Update`, `Append` or `Pop` works on a copy of its base, so no older version ever changes.
"""

import operator
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.ir.nodes import (
    AdjointBlock, Append, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop, Op,
    Operand, Pop, Range, Slice, Sub, Update, Var, View
)
from sourcead.ir.records import is_record

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


def _do(op: Op, env: Env) -> list:
    """Return the results of an op."""
    match op:
        case Let(value):
            return [_value(value, env)]
        case Call(fn):
            return [_call(_value(fn, env) if isinstance(fn, Var | Const) else fn, op, env)]
        case Attr(base, name):
            return [getattr(_value(base, env), name)]
        case Index(base, key):
            return [_item(_value(base, env), _value(key, env))]
        case Build("dict", items, keys):
            return [dict(zip(keys, _value(items, env)))]
        case Build("record", items, keys, cls):
            return [runtime.make_record(cls, **dict(zip(keys, _value(items, env))))]
        case Build(kind, items):
            return [{"list": list, "tuple": tuple, "set": set}[kind](_value(items, env))]
        case Append(base, value, path, at):
            base = runtime.copy(_value(base, env))
            items = _list_at(base, path, env)
            items.insert(len(items) if at is None else _value(at, env), _value(value, env))
            return [base]
        case Pop(base, path, at):
            base = runtime.copy(_value(base, env))
            return [base, _list_at(base, path, env).pop(-1 if at is None else _value(at, env))]
        case Update(base, path, value, mode):
            return [_updated(runtime.copy(_value(base, env)), path, _value(value, env), mode, env)]
        case Effect("assert", (condition, *message)):
            if not _value(condition, env):
                raise AssertionError(*_value(tuple(message), env))
            return []
        case Effect(_, (error,)):
            raise _value(error, env)
        case Branch(cond, then, orelse):
            return _run(then if _value(cond, env) else orelse, env)
        case Loop():
            return _loop(op, env)
        case Closure(params, body):
            return [lambda *args: _bare(_run(body, {**env, **dict(zip(params, args))}))]
        case AdjointBlock(values):
            return list(_value(values, env))
    raise TypeError(f"not an op: {op!r}")


def _call(fn: Any, call: Call | View, env: Env, *before: Any) -> Any:
    """Return the result of calling `fn` with some arguments, and those of the call or view after them."""
    return fn(*before, *_value(call.args, env), **{k: _value(v, env) for k, v in call.kwargs})


def _item(base, key):
    return getattr(base, key) if isinstance(key, str) and is_record(base) else base[key]


def _list_at(base: Any, path: tuple[Sub, ...], env: Env) -> list:
    """Return the list inside `base` that a path leads to."""
    for step in path:
        base = base[_value(step.key, env)]
    return base


def _updated(base: Any, path: tuple, value: Any, mode: str, env: Env) -> Any:
    """Return `base`, which is a copy already, after an update."""
    if not path:
        return _updated_whole(base, value, mode)
    _write_part(base, path, value, mode, env)
    return base


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
    return _call(step.fn, step, env, part)


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


def _loop(op: Loop, env: Env) -> list:
    """Return the results of a loop."""
    env.update(zip(op.params, _value(op.inits, env)))

    def iterate():
        env.update(zip(op.params, _run(op.body, env)))
        return op.leave is not None and env[op.leave]

    match op.domain:
        case Block() as condition:
            while _run(condition, env)[0]:
                if iterate():
                    break
            return [env[p] for p in op.params]
        case Range(start, stop, step):
            over = range(*_value((start, stop, step), env))
        case sequence:
            over = _value(sequence, env)
    for env[op.index] in over:
        if iterate():
            break
    return [env[p] for p in op.params]
