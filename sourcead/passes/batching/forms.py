"""Calls of functions whose records have forms for all members of a batch (`primitives/together.py`).

    y = roll(x, 1)          y = roll(x, 1, axis=1)          x: (n, m)
    y = A @ x               y = (A @ x.T).T                 A: a sparse matrix
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import RuleError
from sourcead.ir.nodes import Atom, Call, Const, Let, Operand, Var
from sourcead.ir.types import Array, Scalar, Type, keyed_parts
from sourcead.ir.walk import map_operand
from sourcead.passes.batching.blocks import Batched, differ
from sourcead.passes.batching.calls import Unbatchable, rank_of
from sourcead.passes.batching.entries import Entry, Wide


class MemberForms(Batched):
    """The rules of `Members` for functions with forms.

    Attributes:
        applied: emits the statements of a form, `ad/apply_form.py`.
    """

    applied: Callable[..., Atom]

    def mapped(self, operand: Operand) -> Operand:
        return map_operand(operand, self.unbatched)

    def by_form(self, target: Var, op: Call, forms: tuple) -> Entry:
        """Return what the first of the forms gives that is for those arguments that differ between members."""
        for form in forms:
            try:
                values, options = form.arguments.bind(op.args, op.kwargs, wrap=Const)
            except RuleError:
                continue
            given = dict(zip(form.arguments.params, values)) | options
            if all(name in form.along for name, value in given.items() if self.is_batched(value)):
                values = [self.spread(v) if name in form.along else self.mapped(v) for name, v in zip(form.arguments.params, values)]
                options = {name: self.mapped(v) for name, v in options.items()}
                return self.of_type(target, self.applied(self.build, form, target, values, options))
        raise Unbatchable

    def sparse_product(self, target: Var, op: Call) -> Var:
        """Return the products of a sparse matrix, the same for all members, and vectors: that with the matrix of which they are columns."""
        a, x = op.args
        if self.is_batched(a) or rank_of(x) != 1:
            raise Unbatchable
        columns = self.build.call(np.transpose, self.found[x])
        made = self.build.emit(replace(op, args=(self.unbatched(a), columns)), name="columns")
        return self.written(target, Call(np.transpose, (made,)))

    def of_type(self, target: Var, found: Atom) -> Entry:
        """Return a result of all members, whose type must be that of `target` behind the new axis."""
        for own, part in leaf_types(target.type, atom_type(found)):
            want, dims = self.wider(own), getattr(part, "dims", None)
            if not dims or len(dims) != len(want.dims) or any(map(differ, dims, want.dims)) or want.dtype != part.dtype:
                raise Unbatchable
        return Wide(self.written(target, Let(found)))


def leaf_types(own: Type, found: Type) -> Iterator[tuple[Type, Type]]:
    """Yield the types of the numbers and arrays in a result, each with that in another structure."""
    if isinstance(own, Scalar | Array):
        yield own, found
        return
    parts, others = keyed_parts(own), keyed_parts(found)
    if parts is None or others is None or [k for k, _ in parts] != [k for k, _ in others]:
        raise Unbatchable
    for (_, a), (_, b) in zip(parts, others):
        yield from leaf_types(a, b)
