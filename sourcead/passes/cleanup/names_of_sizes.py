"""Gives sizes that are known to be equal one name in all types.

    x: (n, d)   y: (m, d)   z = sub(x, y)        x, y, z: (n, d), if neither n nor m can be 1

Passes compare the types of values, which were made before it was known what an operation asserts of their sizes.  This is legal for what a
statement of the function itself asserts, not of a block inside it, since the function raises an error there otherwise.
"""

from sourcead.analysis.sizes import equal_after
from sourcead.ir.dims import map_dims
from sourcead.ir.equal_sizes import EqualSizes
from sourcead.ir.nodes import Atom, Function, Var, fresh
from sourcead.ir.sizes import Dim, Sym
from sourcead.ir.walk import map_atoms


def name_equal_sizes(function: Function) -> Function:
    """Return the function with one size in its types for all that are known to be equal."""
    equal = EqualSizes()
    for stmt in function.body.stmts:
        for a, b in equal_after(stmt):
            if not equal.same(a, b) and not _varies(a) and not _varies(b):
                equal.learn(a, b)
    if not equal.names:
        return function
    renamed: dict[Var, Var] = {}

    def rename(v: Atom) -> Atom:
        if isinstance(v, Var) and v not in renamed:
            t = map_dims(v.type, equal.best)
            renamed[v] = v if t == v.type else fresh(v, type=t)
        return renamed.get(v, v)

    params = tuple(map(rename, function.params))
    body = map_atoms(function.body, rename, rename)
    return Function(function.name, params, body, function.doc, function.origin, function.defaults, function.lets_go)


def _varies(size: Dim) -> bool:
    return isinstance(size, Sym) and any(s.varies for s in size.inside)
