"""The boundary between Python and compiled code: Numba's functions take and return numbers, arrays and tuples of them.

A parameter that is a tuple, list, dict or record becomes one parameter for each of its parts, from which the first statements rebuild it;
simplification then removes most of that.  The results are taken apart in the same way.  The Python function around the compiled one does
the reverse:

    def loss_grad(params, x):
        d_w, d_b = compiled(params["w"], params["b"], x)
        return {"w": d_w, "b": d_b}

Global data that the function reads becomes parameters too, because Numba would compile it as constants.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sourcead.analysis.builder import Builder, atom_type, container
from sourcead.emit import Emitted, emit
from sourcead.ir.names import as_name, numbered, of_part
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Index, Stmt, Var
from sourcead.ir.types import FunctionT, Known, NoneType, Scalar, Type, keyed_parts
from sourcead.ir.walk import map_atoms

COMPILED = Const(object(), "compiled", live=True)  # the compiled function, in the text around it
LIVE = Const({}, "live", live=True)  # the global data, by name
SMALL = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64))


def flattened(function: Function, live: dict[str, Type], unread: frozenset[str] = frozenset()) -> tuple[Function, Emitted]:
    """Return the function with parameters and results split into parts, and the Python function around it.

    Args:
        function: not yet simplified.
        live: the types of the global data that the text may read, by name.
        unread: the names of parts that nothing reads after simplification, and that are not passed on.
    """
    work = _Flattening({p.name for p in function.params}, unread)
    for p in function.params:
        work.parameter(p, p)
    body = work.without_globals(function.body, live)
    call = len(work.outside.stmts)
    whole = tuple(map(work.result, body.results))
    work.outside.stmts.insert(call, Stmt(tuple(work.returned), Call(COMPILED, tuple(work.arguments), effect=not work.results)))
    inner = Block((*work.rebuilt.stmts, *body.stmts, *work.parts.stmts), tuple(work.results) or (Const(0),))
    outer = replace(function, body=Block(tuple(work.outside.stmts), whole), doc=None, defaults=())
    return replace(function, params=tuple(work.params), body=inner, defaults=()), emit(outer)


@dataclass
class _Flattening:
    """The two functions under construction.

    Attributes:
        taken: the names of parameters.
        unread: the names of those that are left out.
        params, arguments: the parameters of the compiled function, and what the function around it passes for them.
        results, returned: what the compiled function returns, and the variables for that around it.
        rebuilt, parts: the first and the last statements of the compiled function.
        outside: the statements of the function around it.
    """

    taken: set[str]
    unread: frozenset[str]
    params: list[Var] = field(default_factory=list)
    arguments: list[Atom] = field(default_factory=list)
    results: list[Atom] = field(default_factory=list)
    returned: list[Var] = field(default_factory=list)
    rebuilt: Builder = field(default_factory=Builder)
    parts: Builder = field(default_factory=Builder)
    outside: Builder = field(default_factory=Builder)

    def parameter(self, var: Var, argument: Atom) -> None:
        """Add the parts of a variable to the parameters; `argument` is its value around the compiled function."""
        if keyed_parts(var.type) is None:
            self.params.append(var)
            self.arguments.append(argument)
            return
        items = []
        for key, part in keyed_parts(var.type):
            item = constant_of(part)
            if item is None:
                item = Var(self.new_name(of_part(var.name, key)), part)
                if item.name in self.unread:
                    item = Const(None)
                else:
                    self.parameter(item, self.outside.emit(Index(argument, Const(key)), part))
            items.append(item)
        self.rebuilt.add(Stmt((var,), container(var.type, tuple(items))))

    def new_name(self, wish: str) -> str:
        name = next(n for n in numbered(as_name(wish, "part")) if n not in self.taken)
        self.taken.add(name)
        return name

    def without_globals(self, body: Block, live: dict[str, Type]) -> Block:
        """Return the body with parameters in place of global data, which is read anew at each call."""
        found: dict[str, Var] = {}

        def atom(a: Atom) -> Atom:
            if not (isinstance(a, Const) and a.live and a.text in live):
                return a
            if a.text not in found:
                found[a.text] = v = Var(self.new_name(a.text), live[a.text])
                self.parameter(v, self.outside.emit(Index(LIVE, Const(a.text)), v.type))
            return found[a.text]

        return map_atoms(body, atom)

    def result(self, atom: Atom) -> Atom:
        """Add the parts of an atom to the results, and return its value around the compiled function."""
        t = atom_type(atom)
        if (constant := constant_of(t)) is not None:
            return constant
        if (parts := keyed_parts(t)) is not None:
            items = (self.result(self.parts.emit(Index(atom, Const(key)), part, of_part("d", key))) for key, part in parts)
            return self.outside.emit(container(t, tuple(items)), t)
        self.results.append(atom)
        self.returned.append(Var(f"d_{len(self.returned)}", t))
        if isinstance(t, Scalar) and t.dtype in SMALL:  # a Python number in compiled code
            return self.outside.emit(Call(t.dtype.type, (self.returned[-1],)), t)
        return self.returned[-1]


def constant_of(t: Type) -> Const | None:
    """Return the value of a type that has only one; otherwise None."""
    match t:
        case NoneType():
            return Const(None)
        case Known(value) | FunctionT(value):
            return Const(value)
    return None


def namespace_of(boundary: Emitted, compiled: Callable, live: dict[str, Any]) -> dict[str, Any]:
    """Return the globals of the Python function around a compiled one."""
    given = {id(COMPILED.value): compiled, id(LIVE.value): live}
    return {name: given.get(id(value), value) for name, value in boundary.namespace.items()}


def around(boundary: Emitted, name: str, compiled: Callable, live: dict[str, Any]) -> Callable:
    """Return the Python function around a compiled one, with the parameters and results of the user's function."""
    namespace = namespace_of(boundary, compiled, live)
    exec(compile(boundary.text, f"<sourcead boundary of {name}>", "exec"), namespace)
    return namespace[name]
