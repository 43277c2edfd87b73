"""Dispatch an operation of the lowering on the kind of its subject (`operations.py` says what a kind is)."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import gast

from sourcead.analysis.builder import atom_type
from sourcead.errors import SourceADError
from sourcead.frontend.core.cells import Cell
from sourcead.frontend.core.lowering import Lowering
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import Type


class Generic:
    """Dispatch an operation to one implementation for each kind of subject, or to a default."""

    def __init__(self, default: Callable):
        self.default = default
        self.cases: dict[Any, Callable] = {}
        self.asks_type = False
        functools.update_wrapper(self, default)

    def register(self, *kinds: Any) -> Callable:
        """Register a function as the implementation for some kinds of subject."""

        def add(case: Callable) -> Callable:
            for kind in kinds:
                if kind in self.cases:
                    raise ValueError(f"`{self.__name__}` has two implementations for {kind}")
                self.cases[kind] = case
                self.asks_type = self.asks_type or isinstance(kind, type) and issubclass(kind, Type)
            return case

        return add

    def __call__(self, lo: Lowering, subject: Any, *args: Any, **kwargs: Any) -> Any:
        case = next((self.cases[kind] for kind in self.kinds(lo, subject) if kind in self.cases), self.default)
        try:
            return case(lo, subject, *args, **kwargs)
        except SourceADError as error:
            here = lo.here
            if isinstance(subject, gast.expr) and here is not None and error.at is (here.part or here):
                error.at = lo.origin(subject) or error.at  # the innermost expression of the statement that is refused
            raise

    def kinds(self, lo: Lowering, subject: Any) -> Iterator[Any]:
        """Iterate over the kinds that a subject belongs to, the most specific one first."""
        if isinstance(subject, Cell) and subject.kind != "array":
            yield subject.kind
        elif isinstance(subject, (Var, Cell)) and self.asks_type:
            yield from type(atom_type(lo.read(subject))).__mro__[:-1]
        yield from type(subject).__mro__
        if isinstance(subject, Const) and self.asks_type:
            yield from type(atom_type(subject)).__mro__[:-1]
