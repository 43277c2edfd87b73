"""Lower calls of Python functions: the function's body is lowered in place, its parameters bound to the arguments."""

import gast

from sourcead.errors import ArgumentError, SourceADError
from sourcead.frontend import core
from sourcead.frontend.control import generators, long_texts, recursion
from sourcead.frontend.control.exits import Return
from sourcead.frontend.control.pairs import call_pair, kinds_of_call
from sourcead.frontend.core import VALUE, Cell, Frame, FunctionVal, Lowering, NeverReturns, Scope, TupleVal, Value
from sourcead.frontend.find_source import Source, body_of
from sourcead.ir.names import is_name, of_part
from sourcead.ir.nodes import Const, Origin, Stmt, Var
from sourcead.places.origin import HERE

MAX_INLINE = 60  # the most calls inside calls
STAND_INS = f"{HERE}primitives"  # where the classes are that stand for those of SciPy
SHORT = 10  # the most characters of a name made of two


def local_function(lo: Lowering, node) -> FunctionVal:
    """Return the value of a `def` or `lambda` inside the function being lowered."""
    source = LocalSource(lo.scope.source, node)
    defaults: dict[str, Value] = {}
    positional = [*node.args.posonlyargs, *node.args.args]
    for arg, default in zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults):
        defaults[arg.id] = core.lower(lo, default)
    for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults):
        if default is not None:
            defaults[arg.id] = core.lower(lo, default)
    lo.made_functions.append(lo.scope)
    return FunctionVal(source, lo.scope, defaults)


class LocalSource:
    """The source of a nested function: its own syntax tree, with the globals and the file of the function around it.

    `places` has the place in the source of each node that does not stand where it is lowered.
    """

    def __init__(self, outer: Source, node, places: dict[gast.AST, Origin] | None = None):
        self.node, self.outer, self.places = node, outer, places or {}
        self.name = getattr(node, "name", "<lambda>")
        self.globals, self.closure, self.file, self.function = outer.globals, outer.closure, outer.file, outer.function

    def origin(self, node):
        return self.places.get(node) or self.outer.origin(node)


def bind(
    lo: Lowering, source, args: list[Value], kwargs: dict[str, Value], defaults: dict[str, Value]
) -> dict[str, Value]:
    """Return {parameter: value} of a call of a function.

    Raises:
        ArgumentError: there are too many arguments, one is given twice or is unknown, or one is missing.
    """
    a = source.node.args
    positional = [p.id for p in [*a.posonlyargs, *a.args]]
    bound: dict[str, Value] = dict(zip(positional, args))
    if len(args) > len(positional) and a.vararg is None:
        few = f"{len(positional)} positional argument{'s' * (len(positional) != 1)}"
        raise core.surely(lo, ArgumentError(f"`{source.name}` takes {few}, and {len(args)} are given", at=lo.here), TypeError)
    if a.vararg is not None:
        bound[a.vararg.id] = TupleVal(tuple(args[len(positional) :]))
    names = {*positional[len(a.posonlyargs) :], *(p.id for p in a.kwonlyargs)}
    extra: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name in names and name not in bound:
            bound[name] = value
        elif a.kwarg is not None and name not in names:
            extra[name] = value
        else:
            fault = "more than once" if name in names else "which it does not take"
            raise core.surely(lo, ArgumentError(f"`{source.name}` is given the argument `{name}`, {fault}", at=lo.here), TypeError)
    if a.kwarg is not None:
        bound[a.kwarg.id] = lo.new_dict(extra)
    for name in [*positional, *(p.id for p in a.kwonlyargs)]:
        if name not in bound:
            if name not in defaults:
                raise core.surely(lo, ArgumentError(f"`{source.name}` is not given the argument `{name}`", at=lo.here), TypeError)
            bound[name] = defaults[name]
    return bound


def function_of_source(lo: Lowering, source: Source) -> FunctionVal:
    """Return the value of a function that was defined outside of the one being lowered."""
    return FunctionVal(source, None, {k: core.as_value(lo, v, k) for k, v in source.defaults.items()})


def call_source(lo: Lowering, source: Source, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function that was defined outside of the one being lowered."""
    return inline(lo, function_of_source(lo, source), args, kwargs, node)


@core.call.register(FunctionVal)
def inline(lo: Lowering, fn: FunctionVal, args: list[Value], kwargs: dict[str, Value], node, rest: Value | None = None) -> Value:
    """Lower a call of a function by its body; `rest` is the value of its `*args` if their number is not known."""
    source = fn.source
    if len(lo.calls) > MAX_INLINE:
        raise core.refused(lo, "functions are nested too deeply here")
    bound = bind(lo, source, args, kwargs, fn.defaults)
    if rest is not None:
        bound[source.node.args.vararg.id] = rest
    if generators.is_generator(source.node):
        return generators.made(lo, fn, bound)
    generators.refuse_generators(source)
    if rest is None and (kept := kept_call(lo, fn, bound, node)) is not None:
        return kept
    in_place = lo.in_place
    if recursion.is_under_way(lo, source.node, bound) or recursion.is_called_as_pair(lo, source, bound):
        found, in_place = recursion.call_or_none(lo, fn, bound, node)
        if found is not None:
            return found
    scope = Scope(source, parent=fn.scope)
    scope.names.update(bound)
    place = lo.origin(node) if hasattr(node, "lineno") else lo.here
    lower_body = lo.escaping or returned
    first = len(lo.build.stmts)
    called_from = lo.called_from
    if called_from is None and source.file.startswith(STAND_INS) and not lo.static_only:  # a method of what stands for an object of SciPy
        called_from = place
    with lo.in_scope(scope, Frame(source.node, bound)), lo.using(in_place=in_place, caller=place, escaping=None, called_from=called_from):
        value = lower_body(lo, source)
    name_result(value, source, node, lo.build.stmts[first:])
    if lo.keeps:
        long_texts.note_size(lo, source.node, kinds_of_call(bound), lo.build.stmts[first:])
    return Const(None) if value is None else value


def name_result(value: Value | None, source: Source, node, made: list[Stmt]) -> None:
    """Call a result to which the user gave no name after the function and its argument, if that is short: `sigmoid_z`."""
    atom = value.slots.get(VALUE) if isinstance(value, Cell) and value.base is None else value
    if not isinstance(atom, Var) or not atom.temp or not any(atom in stmt.targets for stmt in made):
        return
    telling = is_name(source.name) and len(source.name) > 2 and not source.name.startswith(("_", "d_"))  # `d_x` is a cotangent's name
    if telling and not source.file.startswith(HERE):
        of = node.args[0] if isinstance(node, gast.Call) and node.args else None
        longer = of_part(source.name, of.id) if isinstance(of, gast.Name) else source.name
        atom.name = longer if len(longer) <= SHORT else source.name


def returned(lo: Lowering, source) -> Value | None:
    """Lower the body of a function in the current scope; return the value that it returns, None if it does not return one."""
    left = core.lower_statements(lo, body_of(source.node))
    return left.value if isinstance(left, Return) else None


def kept_call(lo: Lowering, fn: FunctionVal, bound: dict[str, Value], node) -> Value | None:
    """Lower a call of a function whose calls are kept to a call of its pair; return None for a call that is lowered in place.

    What a call raises must not be handled where it stands, and it must not be part of what is known while compiling.
    """
    key = fn.source.node
    if not lo.kept.get(key):
        return None
    apart = lo.catching or lo.escaping or lo.raising or lo.static_only or lo.cached is not None or lo.reads is not None
    if apart or lo.steering is not None or recursion.is_under_way(lo, key, bound):
        return None
    with lo.attempt(SourceADError, NeverReturns):
        return call_pair(lo, fn, bound, node)
    lo.kept[key] = False
    return None
