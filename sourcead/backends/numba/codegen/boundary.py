"""The boundary between Python and compiled code: Numba's functions take and return numbers, arrays and tuples of them.

A parameter that is a tuple, list, dict or record becomes one parameter for each of its parts, from which the first statements rebuild it;
simplification then removes most of that.  The results are taken apart in the same way.  The Python function around the compiled one does
the reverse:

    def loss_grad(params, x):
        d_w, d_b = compiled(params["w"], params["b"], x)
        return {"w": d_w, "b": d_b}

Global data that the function reads becomes parameters too, because Numba would compile it as constants.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.emit.text.globals import numbered
from sourcead.ir.nodes import Atom, Block, Build, Const, Function, Index, Stmt, Var
from sourcead.ir.records import is_namedtuple
from sourcead.ir.types import DictT, FunctionT, Known, ListT, NoneType, Scalar, StructT, TupleT, Type, keyed_parts
from sourcead.ir.walk import map_atoms


@dataclass(frozen=True)
class Boundary:
    """The Python function around a compiled one, as text.

    Attributes:
        arguments: for each parameter of the compiled function, the expression of its argument.
        result: the expression of the result, from the parts `d_0`, `d_1`, ... that the compiled function returns.
        count: how many parts it returns.
        namespace: the globals that the expressions read.
    """

    arguments: tuple[str, ...]
    result: str
    count: int
    namespace: dict[str, Any]

    def text(self, name: str, parameters: list[str]) -> str:
        """Return the text of the Python function."""
        call = f"compiled({', '.join(self.arguments)})"
        if self.count == 1 and self.result == "d_0":
            body = f"    return {call}\n"
        else:
            parts = ", ".join(f"d_{k}" for k in range(self.count))
            body = f"    {parts} = {call}\n    return {self.result}\n" if self.count else f"    {call}\n    return {self.result}\n"
        return f"def {name}({', '.join(parameters)}):\n{body}"


def flattened(function: Function, live: dict[str, Type]) -> tuple[Function, Boundary]:
    """Return the function with parameters and results split into parts, and the Python function around it.

    Args:
        function: not yet simplified.
        live: the types of the global data that the text may read, by name.
    """
    work = _Flattening({p.name for p in function.params})
    params: list[Var] = []
    for p in function.params:
        work.parameter(p, p.name, params)
    body = work.without_globals(function.body, live, params)
    results: list[Atom] = []
    texts = [work.result(result, results) for result in body.results]
    body = Block((*work.before, *body.stmts, *work.after), tuple(results) or (Const(0),))
    whole = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    boundary = Boundary(tuple(work.arguments), whole, max(1, len(results)), work.namespace)
    return replace(function, params=tuple(params), body=body, defaults=()), boundary


@dataclass
class _Flattening:
    taken: set[str]
    before: list[Stmt] = field(default_factory=list)
    after: list[Stmt] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    namespace: dict[str, Any] = field(default_factory=dict)

    # ---- parameters ----

    def parameter(self, var: Var, text: str, params: list[Var]) -> None:
        """Add the parts of a variable to the parameters; `text` is the expression by which the caller reads it."""
        if keyed_parts(var.type) is None:
            params.append(var)
            self.arguments.append(text)
            return
        self.before.append(Stmt((var,), self.built(var.type, var.name, text, params)))

    def built(self, t: Type, name: str, text: str, params: list[Var]) -> Build:
        items = []
        for key, part in keyed_parts(t):
            if (constant := constant_of(part)) is not None:
                items.append(constant)
                continue
            v = Var(self.new_name(f"{name}_{key}"), part)
            self.parameter(v, f"{text}.{key}" if isinstance(t, StructT) else f"{text}[{key!r}]", params)
            items.append(v)
        return build_op(t, tuple(items))

    def new_name(self, wish: str) -> str:
        base = re.sub(r"\W", "_", wish)
        name = next(n for n in numbered(base) if n not in self.taken)
        self.taken.add(name)
        return name

    def without_globals(self, body: Block, live: dict[str, Type], params: list[Var]) -> Block:
        """Return the body with parameters in place of global data, which is read anew at each call."""
        found: dict[str, Var] = {}

        def atom(a: Atom) -> Atom:
            if not (isinstance(a, Const) and a.live and a.text in live):
                return a
            if a.text not in found:
                found[a.text] = v = Var(self.new_name(a.text), live[a.text])
                self.parameter(v, f"live[{a.text!r}]", params)
            return found[a.text]

        return map_atoms(body, atom)

    # ---- results ----

    def result(self, atom: Atom, results: list[Atom]) -> str:
        """Add the parts of an atom to the results, and return the expression that rebuilds it from them."""
        t = atom_type(atom)
        if (constant := constant_of(t)) is not None:
            return self.held("constant", constant.value) if constant.value is not None else "None"
        if keyed_parts(t) is None:
            results.append(atom)
            return self.number(t, f"d_{len(results) - 1}")
        items = {}
        for key, part in keyed_parts(t):
            v = Var(f"d_{key}" if isinstance(key, str) and key.isidentifier() else "d_part", part, True)
            self.after.append(Stmt((v,), Index(atom, Const(key))))
            items[key] = self.result(v, results)
        return self.structure(t, items)

    def number(self, t: Type, text: str) -> str:
        """Return the expression that converts a Python number to the NumPy class that it has without Numba."""
        if isinstance(t, Scalar) and t.dtype in SMALL:
            return f"{self.held('np', np)}.{t.dtype.name}({text})"
        return text

    def structure(self, t: Type, items: dict[Any, str]) -> str:
        texts = list(items.values())
        match t:
            case TupleT():
                return f"({', '.join(texts)}{',' * (len(texts) == 1)})"
            case ListT():
                return f"[{', '.join(texts)}]"
            case DictT():
                return "{" + ", ".join(f"{self.key(k)}: {v}" for k, v in items.items()) + "}"
        fields = ", ".join(f"{k}={v}" for k, v in items.items())
        cls = self.held(t.cls.__name__, t.cls)
        return f"{cls}({fields})" if is_namedtuple(t.cls) else f"{self.held('make_record', runtime.make_record)}({cls}, {fields})"

    def key(self, key: Any) -> str:
        return repr(key) if type(key) in (str, int, bool) else self.held("key", key)

    def held(self, wish: str, value: Any) -> str:
        taken = self.taken | {"live", "compiled"}
        name = next(n for n in numbered(wish) if n not in taken and self.namespace.get(n, value) is value)
        self.namespace[name] = value
        return name


SMALL = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64))


def build_op(t: Type, items: tuple[Atom, ...]) -> Build:
    match t:
        case TupleT():
            return Build("tuple", items)
        case ListT():
            return Build("list", items)
        case DictT(entries):
            return Build("dict", items, keys=tuple(k for k, _ in entries))
    return Build("record", items, keys=tuple(k for k, _ in t.fields), cls=t.cls)


def constant_of(t: Type) -> Const | None:
    """Return the value of a type that has only one; otherwise None."""
    match t:
        case NoneType():
            return Const(None)
        case Known(value) | FunctionT(value):
            return Const(value)
    return None


def around(boundary: Boundary, name: str, parameters: list[str], compiled: Callable, live: dict[str, Any]) -> Callable:
    """Return the Python function around a compiled one, with the parameters and results of the user's function."""
    namespace = {**boundary.namespace, "compiled": compiled, "live": live}
    exec(compile(boundary.text(name, parameters), f"<sourcead boundary of {name}>", "exec"), namespace)
    return namespace[name]
