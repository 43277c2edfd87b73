"""Lower expressions, with one function for each kind of syntax node, and calls: the callee and the arguments."""

import contextlib
import inspect
import operator
import types
from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.builtins import in_python
from sourcead.frontend.control import branches, inlining, loops
from sourcead.frontend.control.branches import choose
from sourcead.frontend.core import BoundVal, Cell, FunctionVal, Held, Iterable, Lowering, TupleVal, Value
from sourcead.frontend.syntax import comprehensions, guarded
from sourcead.frontend.values import lists, operators, sequences, sets
from sourcead.frontend.values.dict_keys import known_key
from sourcead.ir.nodes import Const, Operand, Slice, Var
from sourcead.ir.types import Array, ListT, Str, Unknown

BINARY = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv, gast.Mod: operator.mod, gast.Pow: operator.pow, gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_, gast.BitOr: operator.or_, gast.BitXor: operator.xor, gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}  # fmt: skip
UNARY = {gast.USub: operator.neg, gast.UAdd: operator.pos, gast.Not: operator.not_, gast.Invert: operator.invert}
COMPARE = {
    gast.Lt: operator.lt, gast.LtE: operator.le, gast.Gt: operator.gt, gast.GtE: operator.ge, gast.Eq: operator.eq,
    gast.NotEq: operator.ne, gast.Is: operator.is_, gast.IsNot: operator.is_not,
}  # fmt: skip


core.lower.register(gast.BinOp)(lambda lo, n: core.operate(lo, BINARY[type(n.op)], core.lower(lo, n.left), core.lower(lo, n.right)))
core.lower.register(gast.Constant)(lambda lo, node: Const(node.value))
@core.lower.register(gast.Name)
def lower_name(lo: Lowering, node) -> Value:
    """Lower a name."""
    value = core.resolve(lo, node.id)
    if lo.catching and guarded.meets(UnboundLocalError, lo.catching):
        guarded.read(lo, value)
    return core.where_it_is_known(lo, value)


core.lower.register(gast.Lambda)(inlining.local_function)
core.lower.register(gast.Attribute)(lambda lo, node: core.attribute(lo, core.lower(lo, node.value), node.attr, node))
core.lower.register(gast.Subscript)(lambda lo, node: core.subscript(lo, core.lower(lo, node.value), core.lower(lo, node.slice), node))
core.lower.register(gast.BoolOp)(lambda lo, node: short_circuit(lo, node.values, "and" if isinstance(node.op, gast.And) else "or"))
core.lower.register(gast.Compare)(lambda lo, node: compared(lo, core.lower(lo, node.left), list(zip(node.ops, node.comparators)), node))
core.lower.register(gast.IfExp)(
    lambda lo, n: choose(lo, lower_test(lo, n.test), lambda: core.lower(lo, n.body), lambda: core.lower(lo, n.orelse), "ifexp")
)
core.lower.register(gast.Tuple)(lambda lo, node: TupleVal(tuple(elements(lo, node.elts))))


@core.lower.register(gast.UnaryOp)
def lower_unary(lo: Lowering, node) -> Value:
    """Lower `-a`, `not a`."""
    value = core.lower(lo, node.operand)
    fn = UNARY[type(node.op)]
    if fn is operator.neg and isinstance(value, Const) and isinstance(value.value, (int, float)) and not value.live:
        return Const(-value.value)
    if fn is operator.not_:
        value = core.condition(lo, value)
        verdict = core.truth(lo, value)
        if verdict is not None:
            return Const(not verdict)
    return core.operate(lo, fn, value)


def named_object(lo: Lowering, node: gast.AST | None) -> Any:
    """Return the Python object that a name or an attribute is known to be, None for any other expression and for what is not known."""
    if not isinstance(node, (gast.Name, gast.Attribute, Held)):
        return None
    found, obj = core.known(lo, core.lower(lo, node))
    return obj if found else None


def compared(lo: Lowering, left: Value, others: list, node) -> Value:
    """Lower `left < b <= c`; each operand is evaluated once, and only if the comparisons before it hold."""
    (op, right_node), *rest = others
    right = core.lower(lo, right_node)
    if isinstance(op, (gast.In, gast.NotIn)) and isinstance(right, Iterable) and right.once:
        holds = core.call_object(lo, in_python.is_among, [right, left], {}, node)
        holds = core.operate(lo, operator.not_, holds) if isinstance(op, gast.NotIn) else holds
    elif isinstance(op, (gast.In, gast.NotIn)):
        right = lists.as_list(lo, right, node) if isinstance(right, Iterable) and right.begin else right
        holds = operators.contains(lo, left, right, isinstance(op, gast.NotIn), node)
    else:
        holds = core.operate(lo, COMPARE[type(op)], left, right)
    return choose(lo, holds, lambda: compared(lo, right, rest, node), lambda: holds, "and") if rest else holds


@core.lower.register(gast.List)
def lower_list(lo: Lowering, node) -> Value:
    """Lower `[a, *b]`."""
    if not any(isinstance(n, gast.Starred) for n in node.elts):
        return lo.new_list([core.lower(lo, n) for n in node.elts])
    made = lo.new_list([])
    for element in node.elts:  # the items are taken before the next element is evaluated, which may change them
        starred = isinstance(element, gast.Starred)
        value = core.lower(lo, element.value if starred else element)
        if not starred:
            sequences.append(lo, made, value, node)
        elif core.has_known_items(value):
            lists.extend(lo, made, value, node)
        else:
            loops.for_each(lo, core.iterate(lo, value, node), lambda element: sequences.append(lo, made, element, node))
    return made


core.lower.register(gast.Set)(lambda lo, node: sets.made(lo, lower_list(lo, node), node))


def elements(lo: Lowering, nodes, count: int | None = None) -> list[Value]:
    """Lower the elements of a display or the arguments of a call, and unpack starred ones; `count` is their number, if it is known."""
    values: list[Value] = []
    others = sum(not isinstance(node, gast.Starred) for node in nodes)
    for node in nodes:
        if isinstance(node, gast.Starred):
            held = core.lower(lo, node.value)
            values.extend(counted_items(lo, held, count - others if count is not None and others == len(nodes) - 1 else None, node))
        else:
            values.append(core.lower(lo, node))
    return values


def counted_items(lo: Lowering, value: Value, count: int | None, node) -> list[Value]:
    """Return the items of a value; if their number is not known, it must be `count` at run time for the call not to raise."""
    t = core.data_type(lo, value)
    is_list = isinstance(t, Unknown) or isinstance(t, ListT) and t.items is None
    may_differ = is_list or isinstance(t, Array) and t.dims and not isinstance(t.dims[0], int)
    if not may_differ or count is None or count < 0:
        return sequences.static_items(lo, value, node)
    same = core.operate(lo, operator.eq, core.call_object(lo, len, [value], {}, node), Const(count))
    text = Const(f"it takes {count} arguments in place of `{gast.unparse(node).strip()}`, which has another number of items")
    branches.choose(lo, same, lambda: None, lambda: branches.raised_here(lo, TypeError, text))
    return sequences.static_items(lo, value, node, count)


def count_of_arguments(fn: Value, node: gast.Call) -> int | None:
    """Return how many arguments a call must give by position, None if that is not known or there may be more or fewer."""
    match fn:
        case FunctionVal(source) if source.node.args.vararg is None:
            names, defaults = [p.id for p in (*source.node.args.posonlyargs, *source.node.args.args)], source.node.args.defaults
        case Const(types.FunctionType(__code__=code, __defaults__=defaults)) if not code.co_flags & inspect.CO_VARARGS:
            names = code.co_varnames[: code.co_argcount]
        case BoundVal(function, args, {**named}) if not named:
            count = count_of_arguments(function, node)
            return None if count is None else count - len(args)
        case _:
            return None
    given = [k.arg for k in node.keywords]
    return None if defaults or None in given else len(names) - len(set(names) & set(given))


def spread(lo: Lowering, value: gast.AST, node) -> dict[Any, Value]:
    """Lower `**value`."""
    found = core.lower(lo, value)
    if not (isinstance(found, Cell) and found.kind == "dict"):
        raise core.unsupported(lo, node, "`**` of a dict whose keys are not known here")
    lo.sure(found)
    return found.items


@core.lower.register(gast.Dict)
def lower_dict(lo: Lowering, node) -> Value:
    """Lower `{key: value, **others}`."""
    items: dict[Any, Value] = {}
    made = None  # once a key is not known before the program runs
    for key, value in zip(node.keys, node.values):
        if key is None:
            others = spread(lo, value, node)
            if made is not None:
                core.call_method(lo, made, "update", [lo.new_dict(others)], {}, node)
            items.update(others)
            continue
        at = core.lower(lo, key)  # evaluated before the value
        found, known = known_key(lo, at, items)
        item = core.lower(lo, value)
        if made is None and not found:
            made = lo.new_dict(items)
        if made is None:
            items[known] = item
        else:
            core.store(lo, made, at, item, node)
    return lo.new_dict(items) if made is None else made


@core.lower.register(gast.Slice)
def lower_slice(lo: Lowering, node) -> Value:
    """`a:b:c` in a subscript."""
    parts = [None if part is None else core.atom(lo, part) for part in (node.lower, node.upper, node.step)]
    if parts[2] is not None and core.is_number(lo, parts[2], 0):
        raise core.unsupported(lo, node, "a slice whose step is 0")
    return Slice(*(None if p is not None and isinstance(p, Const) and p.value is None else p for p in parts))


@core.lower.register(gast.JoinedStr)
def lower_joined(lo: Lowering, node) -> Value:
    """Lower an f-string."""
    parts: list[Operand] = []
    for part in node.values:
        if isinstance(part, gast.Constant):
            parts.append(Const(part.value))
        else:
            conversion = {-1: None, 115: str, 114: repr, 97: ascii}[part.conversion]
            value = core.operand(lo, part.value)
            spec = () if part.format_spec is None else (core.atom(lo, part.format_spec),)
            if conversion is not None:
                value = text_of(lo, conversion, value)
            parts.append(text_of(lo, format, value, *spec))
    if all(isinstance(part, Const) for part in parts):
        return Const("".join(part.value for part in parts))
    return parts[0] if len(parts) == 1 else lo.build.call("".join, tuple(parts), type=Str(), name="text")


def text_of(lo: Lowering, fn: Any, *operands: Operand) -> Operand:
    """Return the text that a function makes, which is known of known texts and numbers."""
    found, values = core.known(lo, TupleVal(operands))
    if found and all(isinstance(value, (str, int, float)) for value in values):
        with contextlib.suppress(ValueError, TypeError):  # the program raises the same error at run time
            return Const(fn(*values))
    return lo.build.call(fn, *operands, type=Str())


def lower_test(lo: Lowering, node: gast.AST) -> Value:
    """Lower an expression of which only the truth is asked for, such as that of an `if`; an object in it may be just True."""
    if isinstance(node, gast.BoolOp):
        return short_circuit(lo, node.values, "and" if isinstance(node.op, gast.And) else "or", lower_test)
    value = core.condition(lo, core.lower(lo, node))
    verdict = None if isinstance(value, (Var, Const)) else core.truth(lo, value)
    return value if verdict is None else Const(verdict)


def short_circuit(lo: Lowering, nodes: list, kind: str, lower=core.lower) -> Value:
    """Lower `a and b and c` or `a or b or c`; later operands are evaluated only if the earlier ones do not decide."""
    first = lower(lo, nodes[0])
    if len(nodes) == 1:
        return first
    last: Value = None

    def rest() -> Value:
        nonlocal last
        last = short_circuit(lo, nodes[1:], kind, lower)
        return last

    arms = (rest, lambda: first) if kind == "and" else (lambda: first, rest)
    value = choose(lo, first, *arms, kind)
    if core.data_type(lo, value) is not None and isinstance(last, (Var, Const)) and core.truth(lo, last) is (kind == "or"):
        lo.build.truths[lo.read(value)] = kind == "or"  # `a and False` is false, `a or True` is true
    return value


# -- calls -----------------------------------------------------------------------------------------------------------------


@core.lower.register(gast.Call)
def lower_call(lo: Lowering, node: gast.Call) -> Value:
    """Lower `f(*args, **kwargs)`."""
    with lo.in_call(node):
        fn = core.lower(lo, node.func)
        if (whole := starred_list(lo, fn, node)) is not None:
            return whole
        args = node.args
        if isinstance(fn, Const) and fn.value is sum and args and isinstance(args[0], gast.GeneratorExp | gast.ListComp):  # makes no list
            args = [Held(comprehensions.lower_generator(lo, args[0], lo.here)), *args[1:]]
        return core.call(lo, fn, elements(lo, args, count_of_arguments(fn, node)), keywords(lo, node), node)


def starred_list(lo: Lowering, fn: Value, node: gast.Call) -> Value | None:
    """Lower `f(*xs)` for a list or array of unknown length if `f` supports it; return None for any other call."""
    if len(node.args) != 1 or not isinstance(node.args[0], gast.Starred):
        return None
    value = sequences.taken(lo, core.lower(lo, node.args[0].value), node)
    if core.has_countable_items(lo, value) and not (isinstance(value, Iterable) and value.items is None):
        return core.call(lo, fn, sequences.static_items(lo, value, node), keywords(lo, node), node)
    if isinstance(fn, Const) and fn.value in (max, min):
        return core.call(lo, fn, [value], keywords(lo, node), node)
    if isinstance(fn, Const) and fn.value is zip and isinstance(value, Cell) and value.kind == "array":
        return lists.transposed(lo, value, node)
    if isinstance(fn, FunctionVal):
        a = fn.source.node.args
        if a.vararg is not None and not a.args and not a.posonlyargs:
            rest = lists.as_list(lo, value, node)
            return inlining.inline(lo, fn, [], keywords(lo, node), node, rest)
    return core.call(lo, fn, counted_items(lo, value, count_of_arguments(fn, node), node.args[0]), keywords(lo, node), node)


def keywords(lo: Lowering, node: gast.Call) -> dict[str, Value]:
    """Lower the keyword arguments of a call."""
    found: dict[str, Value] = {}
    for k in node.keywords:
        found.update(spread(lo, k.value, node) if k.arg is None else {k.arg: core.lower(lo, k.value)})
    return found
