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
        self.found: dict[Any, Callable] = {}  # the implementation, by what decides the kinds of a subject
        self.asks_type = False
        functools.update_wrapper(self, default)

    def register(self, *kinds: Any) -> Callable:
        """Register a function as the implementation for some kinds of subject."""

        def add(case: Callable) -> Callable:
            for kind in kinds:
                if kind in self.cases:
                    raise ValueError(f"`{self.__name__}` has two implementations for {kind}")
                self.cases[kind] = case
                self.found.clear()
                self.asks_type = self.asks_type or isinstance(kind, type) and issubclass(kind, Type)
            return case

        return add

    def __call__(self, lo: Lowering, subject: Any, *args: Any, **kwargs: Any) -> Any:
        decides = self.decides(lo, subject)
        case = self.found.get(decides)
        if case is None:
            case = self.found[decides] = next((self.cases[kind] for kind in self.kinds(*decides) if kind in self.cases), self.default)
        try:
            return case(lo, subject, *args, **kwargs)
        except SourceADError as error:
            here = lo.here
            if isinstance(subject, gast.expr) and here is not None and error.at is (here.part or here):
                error.at = lo.origin(subject) or error.at  # the innermost expression of the statement that is refused
            raise

    def decides(self, lo: Lowering, subject: Any) -> tuple[type, Any]:
        """Return the class of a subject, and what else decides its kinds: the kind of a cell, or the class of its type; None if nothing."""
        cls = type(subject)
        if issubclass(cls, Cell) and subject.kind != "array":
            return cls, subject.kind
        if self.asks_type and (issubclass(cls, (Var, Cell)) or cls is Const and Const not in self.cases):
            return cls, type(atom_type(subject if cls is Const else lo.read(subject)))
        return cls, None

    def kinds(self, cls: type, decides: Any) -> Iterator[Any]:
        """Iterate over the kinds that such a subject belongs to, the most specific one first."""
        of_type = decides.__mro__[:-1] if isinstance(decides, type) else () if decides is None else (decides,)
        yield from (*cls.__mro__, *of_type) if issubclass(cls, Const) else (*of_type, *cls.__mro__)
