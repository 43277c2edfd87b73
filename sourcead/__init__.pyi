"""The public interface as type checkers and editors read it; a derivative has the parameters of its function."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from sourcead import nn as nn
from sourcead.api.check import GradientMismatch as GradientMismatch
from sourcead.backends.options import Numba as Numba
from sourcead.compile.generated import Lowered as Lowered
from sourcead.compile.viewing import Page
from sourcead.debugging.report import Arisen as Arisen, DebugReport as DebugReport
from sourcead.errors import (
    AliasError as AliasError, ArgumentError as ArgumentError, BackendError as BackendError, FileError as FileError,
    InternalError as InternalError, NonScalarError as NonScalarError, NoRuleError as NoRuleError,
    NoSourceError as NoSourceError, ProgramError as ProgramError, RuleError as RuleError,
    SourceADError as SourceADError, UnsupportedArgumentError as UnsupportedArgumentError,
    UnsupportedSyntaxError as UnsupportedSyntaxError, UnsupportedValueError as UnsupportedValueError,
    VerificationError as VerificationError, WrtError as WrtError, ZeroGradientWarning as ZeroGradientWarning
)
from sourcead.language.checkpoint_policies import Auto as Auto, Revolve as Revolve, Segments as Segments
from sourcead.language.combinators import NotAssociativeWarning as NotAssociativeWarning
from sourcead.sparsity.pattern import Pattern as Pattern

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R", covariant=True)
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Wrt = int | str | Sequence[int | str]
Policy = str | Auto | Segments | Revolve

__version__: str

class _Derivative(Generic[P, R]):
    primal: Callable[P, Any]
    wrt: tuple[str, ...]
    @property
    def source(self) -> str: ...
    def lower(self, *args: Any, **kwargs: Any) -> Lowered: ...
    def view(self, *args: Any, **kwargs: Any) -> Page: ...
    def save(self, path: Any, *args: Any, **kwargs: Any) -> None: ...

class Gradient(_Derivative[P, R]):
    __name__: str
    signature: inspect.Signature
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> Gradient[P, R]: ...
    @overload
    def __get__(self: Gradient[Concatenate[Any, Q], R], instance: object, owner: Any = None) -> Callable[Q, R]: ...

class _WithDirections(_Derivative[P, R]):
    def __call__(self, *args: Any, **kwargs: Any) -> R: ...

class _ToGradient(Protocol):
    def __call__(self, f: Callable[P, Any], /) -> Gradient[P, Any]: ...

class _ToBoth(Protocol):
    def __call__(self, f: Callable[P, T], /) -> Gradient[P, tuple[T, Any]]: ...

@overload
def grad(
    f: Callable[P, Any], wrt: Wrt = 0, *, has_aux: bool = False, checkpoint: Policy = "auto", budget: int | str | None = None,
    backend: str | Numba | None = None, verify: str | bool | None = None, readable: bool = False,
) -> Gradient[P, Any]: ...
@overload
def grad(
    f: None = None, wrt: Wrt = 0, *, has_aux: bool = False, checkpoint: Policy = "auto", budget: int | str | None = None,
    backend: str | Numba | None = None, verify: str | bool | None = None, readable: bool = False,
) -> _ToGradient: ...
@overload
def value_and_grad(
    f: Callable[P, T], wrt: Wrt = 0, *, has_aux: bool = False, checkpoint: Policy = "auto", budget: int | str | None = None,
    backend: str | Numba | None = None, verify: str | bool | None = None, readable: bool = False,
) -> Gradient[P, tuple[T, Any]]: ...
@overload
def value_and_grad(
    f: None = None, wrt: Wrt = 0, *, has_aux: bool = False, checkpoint: Policy = "auto", budget: int | str | None = None,
    backend: str | Numba | None = None, verify: str | bool | None = None, readable: bool = False,
) -> _ToBoth: ...
def vjp(
    f: Callable[..., T], *args: Any, wrt: Wrt | None = None, verify: str | bool | None = None
) -> tuple[T, Callable[[Any], Any]]: ...
def jvp(
    f: Callable[..., T], args: Sequence[Any], tangents: Sequence[Any], *, verify: str | bool | None = None
) -> tuple[T, T]: ...
def pushforward(
    f: Callable[P, T], wrt: Wrt = 0, *, backend: str | Numba | None = None, verify: str | bool | None = None
) -> _WithDirections[P, tuple[T, T]]: ...
def hvp(
    f: Callable[P, Any], wrt: Wrt = 0, *, backend: str | Numba | None = None, verify: str | bool | None = None
) -> _WithDirections[P, Any]: ...
def jacobian(
    f: Callable[P, Any], wrt: Wrt = 0, mode: str = "auto", *, sparse: bool = False, verify: str | bool | None = None
) -> Callable[P, Any]: ...
def hessian(
    f: Callable[P, Any], wrt: Wrt = 0, *, sparse: bool = False, verify: str | bool | None = None
) -> Callable[P, Any]: ...
def sparse_pattern(f: Callable[P, Any], wrt: Wrt = 0, *, hessian: bool = False) -> Callable[P, Pattern]: ...
def check_grads(
    f: Callable[..., Any], args: Sequence[Any], wrt: Wrt = 0, order: int = 1, modes: Sequence[str] = ..., eps: float | None = None,
    rtol: float | None = None, atol: float | None = None,
) -> None: ...
def adjoint(function: Any, *more_functions: Any, broadcasts: bool = False) -> Callable[[F], F]: ...
def tangent(function: Any, *more_functions: Any) -> Callable[[F], F]: ...
def adjoint_of(x: T) -> AbstractContextManager[T, bool]: ...
def checkpoint(iterable: Iterable[T], policy: Policy = "auto", *, budget: int | str | None = None) -> Iterable[T]: ...
def stop_gradient(x: T) -> T: ...
def map(f: Callable[..., Any], *xs: Any) -> Any: ...
def reduce(op: Callable[[T, T], T], xs: Any, initial: T) -> T: ...
def scan(op: Callable[[T, T], T], xs: Any, initial: T) -> Any: ...
def minimize(
    f: Callable[..., Any], x0: T, *args: Any, method: str | None = None, bounds: tuple[Any, Any] | None = None, progress: bool = True,
    backend: str | Numba | None = None, verify: str | bool | None = None, **more: Any,
) -> Any: ...
def debug(derivative: _Derivative[P, Any]) -> Callable[P, DebugReport]: ...
def opaque(function: F) -> F: ...
def implicit(residual: Callable[..., Any]) -> Callable[[F], F]: ...
