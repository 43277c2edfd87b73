"""What `grad` returns: a callable that compiles its function for the types of a call, once for each, and calls the result.

A call looks up the exact dtypes and shapes of its arguments in a table.  If they are new, their coarse signature (dtypes,
ranks, which dims are one) finds a text that was generated before, or a new one is generated.  The look-up is itself a
generated function with the parameters of the user's, so that keywords, defaults and wrong calls behave as Python's own.
"""

from __future__ import annotations

import copy
import functools
import inspect
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sourcead.backends import load as loading
from sourcead.backends.choose import choosing
from sourcead.backends.options import Numba, backend_of
from sourcead.backends.save import standalone
from sourcead.compile import lookup, signature as sig
from sourcead.frontend.source import Opaque, find_source, is_compiled, own_signature, plain_names, unwrap
from sourcead.ir.nodes import Function
from sourcead.ir.types import UNKNOWN, Type, tangent_type
from sourcead.language.checkpoints import policy_of
from sourcead.language.transformations import Described
from sourcead.primitives.registry import is_entered

EXACT_ENTRIES = 512  # signatures of shapes that a gradient remembers
TEXTS = 64  # generated texts that it keeps
SHARED_TEXTS = 256  # generated texts kept for functions that are made anew with the same code
FORWARD = ("jvp", "tangent", "columns")  # kinds that take tangents
COMPILED = ("grad", "value_and_grad", "jvp", "tangent")  # kinds that other backends know
_MISSING = object()
_SHARED: dict[Any, tuple[types.FunctionType, Compiled]] = {}


@dataclass(frozen=True)
class Lowered:
    """What a function was compiled to.

    Attributes:
        text: the generated source.
        ir: the intermediate representation that it was written from.
        notes: what each loop saves for the reverse sweep, with shapes and bytes, and what it rebuilds.
        compiled_text: the source that Numba compiles, with backend="numba" or "auto"; None with NumPy.
    """

    text: str
    ir: Function
    notes: tuple[str, ...]
    compiled_text: str | None = None

    def __str__(self):
        return self.text


@dataclass(frozen=True, eq=False)
class Compiled:
    """A generated function for one coarse signature.

    `live`: (where to read, name there, namespace, name in it) of data that the text reads from globals and closures;
    `live_keys`: the keys of what was read there while compiling.  `guards`: (where, name, object) of what was inlined.
    """

    text: str
    name: str
    namespace: dict[str, Any]
    ir: Any
    notes: Any
    function: Callable
    plain: types.FunctionType
    code: types.CodeType
    written: frozenset[str]
    live: tuple
    live_keys: tuple
    guards: tuple
    compiled_text: str | None = None

    def rebound(self, cells: dict[sig.Same, types.CellType]) -> Compiled:
        """The same text for a function with other closure cells."""
        namespace = dict(self.namespace)
        plain = loading.run(self.code, self.name, namespace)
        live = tuple((_other(holder, cells), name, namespace, inside) for holder, name, _, inside in self.live)
        guards = tuple((_other(holder, cells), name, value) for holder, name, value in self.guards)
        for holder, name, _, inside in live:
            namespace[inside] = read(holder, name)
        return replace(self, namespace=namespace, function=plain, plain=plain, live=live, guards=guards)

    def globals(self) -> dict[str, Any]:
        """The data that the text reads from globals and closures, as it is now."""
        return {f"global {inside}": read(holder, name) for holder, name, _, inside in self.live}

    def current(self) -> bool:
        """Whether the globals and closure variables are still what the text was generated for."""
        return all(read(holder, name) is value for holder, name, value in self.guards) and all(
            sig.coarse_key(read(holder, name)) == key for (holder, name, _, _), key in zip(self.live, self.live_keys)
        )


def read(holder: Any, name: str) -> Any:
    """A global, a closure variable or an attribute as it is now; a marker if there is none."""
    if isinstance(holder, dict):
        return holder.get(name, _MISSING)
    if not isinstance(holder, types.CellType):
        return getattr(holder, name, _MISSING)
    try:
        return holder.cell_contents
    except ValueError:
        return _MISSING


def _other(holder: Any, cells: dict) -> Any:
    return cells.get(sig.Same(holder), holder)


def compiler():
    """The module that compiles: read when the first gradient is asked for, neither by `import sourcead` nor by a first call."""
    from sourcead.compile import pipeline

    return pipeline


class Gradient(Opaque):
    """A function's gradient, as a function; see `sourcead.grad`.

    Attributes:
        primal: the user's function.
        wrt: the names of the parameters that the gradient is taken with respect to.
    """

    def __init__(self, f, wrt=0, *, kind="grad", has_aux=False, checkpoint="auto", budget=None, backend=None):
        checkpoint = policy_of(checkpoint, budget)
        if backend is None and isinstance(f, Gradient):
            backend = f._backend
        backend = backend_of(backend, f) if kind in COMPILED else "numpy"
        function, bound_args, bound_kwargs = unwrap(f)
        if isinstance(function, Gradient):
            bound_args = (*function._bound_args, *bound_args)
            bound_kwargs = {**function._bound_kwargs, **bound_kwargs}
            self._takes = function._signature
        elif isinstance(function, types.FunctionType):
            self._takes = (
                inspect.signature(function) if lookup.only_passes_on(function) else own_signature(function)
            )
        else:
            find_source(function)  # raises
        functools.update_wrapper(self, f if hasattr(f, "__name__") and not is_compiled(f) else function)
        self.primal = f
        self._function, self._bound_args, self._bound_kwargs = function, bound_args, bound_kwargs
        self._kind, self._asked, self._has_aux, self._checkpoint, self._backend = (
            kind,
            wrt,
            has_aux,
            checkpoint,
            backend,
        )
        self._lock = threading.RLock()
        if backend != "numpy":
            loading.let_numba_know()
        self.__name__ = getattr(self, "__name__", "f")
        self._set_wrt(len(bound_args))
        compiler()

    def _set_wrt(self, bound: int) -> None:
        """Resolves wrt, positions counted from parameter `bound`, and starts with empty tables."""
        self.wrt, self._single = sig.resolved_wrt(self._asked, self._takes, bound, self.__name__)
        self._signature, self._directions = self._takes, {}
        if self._kind in FORWARD:
            names = sig.tangent_names(self._takes.parameters, self.wrt)
            self._directions = {t: name for name, t in names.items()}
            self._signature = sig.with_tangents(self._takes, self._directions)
        self._table: dict = {}
        self._texts: dict[Any, Compiled] = {}
        self._compiled_for: weakref.WeakKeyDictionary[Callable, Compiled] = weakref.WeakKeyDictionary()
        self._find, self._last = lookup.dispatcher(self._signature, self.__name__, self._table, self._miss)
        self._call = self._find
        if self._bound_args or self._bound_kwargs:
            self._call = functools.partial(self._find, *self._bound_args, **self._bound_kwargs)

    @property
    def generated_name(self) -> str:
        """What the generated function is called."""
        inner = self._function
        name = inner.generated_name if isinstance(inner, Gradient) else getattr(inner, "__name__", "function")
        return f"{name if name.isidentifier() else 'function'}_{self._kind}"

    def unbound(self) -> Gradient:
        """The same without the arguments that were given before, a method's `self` or those of a partial."""
        if not self._bound_args and not self._bound_kwargs:
            return self
        other = copy.copy(self)
        other._bound_args, other._bound_kwargs = (), {}
        return other

    def _place(self) -> str:
        """Where the user's function stands."""
        function = self._function
        while isinstance(function, Gradient):
            function = function._function
        code = function.__code__
        return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"

    @property
    def directions(self) -> tuple[str, ...]:
        """In forward mode, the names of the parameters that are tangents."""
        return tuple(self._directions)

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __set_name__(self, owner, name):
        if not self._bound_args:  # a method: positions in wrt count from the parameter after self
            self._set_wrt(1)

    def described(self) -> Described:
        """What the lowering must know of it where a differentiated function calls it."""
        names = plain_names(self._takes)
        wrt = tuple(names.index(n) if n in names else n for n in self.wrt)
        first = wrt[0] if self._single else wrt
        return Described(self._kind, self._function, first, self._has_aux, tuple(names), self._bound_args, self._bound_kwargs)

    def __repr__(self):
        what = {
            "grad": "gradient", "value_and_grad": "value and gradient", "vjp": "pullback", "jvp": "value and tangent",
            "tangent": "tangent", "columns": "tangents",
        }[self._kind]  # fmt: skip
        return f"<{what} of {self.__name__}{self._signature} with respect to {', '.join(self.wrt)}>"

    def __reduce__(self):
        found = sys.modules.get(self.__module__ or "")
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is self:
            return self.__qualname__  # the decorated name
        options = {
            "kind": self._kind,
            "has_aux": self._has_aux,
            "checkpoint": self._checkpoint,
            "backend": self._backend,
        }
        return _rebuilt, (self.primal, self._asked, options)

    # ---- what was generated ----

    @property
    def source(self) -> str:
        """The generated text for the types of the last call; before any call, for the annotations, else untyped."""
        return self._latest().text

    def lower(self, *args, **kwargs) -> Lowered:
        """What a call with these arguments compiles to, without running it.

        Args:
            args, kwargs: arguments as for a call; without any, those of the last call.

        Returns:
            A `Lowered` with the text, the intermediate representation and notes on what each loop saves, with the shapes and
            bytes that it has for these arguments.
        """
        compiled = self._latest(*args, **kwargs)
        given = self._bound(args, kwargs) if args or kwargs else {}
        return Lowered(compiled.text, compiled.ir, compiled.notes.shown(given), compiled.compiled_text)

    def save(self, path, *args, **kwargs) -> None:
        """Writes the generated function as a module that runs without sourcead.

        Global data that the function reads becomes constants of the module, with the values of now.

        Args:
            path: the file to write, a string or path.
            args, kwargs: arguments whose types the function is for; without any, those of the last call.

        Raises:
            UnsupportedValueError: the function reads a global object that cannot be written as a constant.
        """
        compiled = self._latest(*args, **kwargs)
        refresh(compiled)
        text = standalone(compiled.text, compiled.name, compiled.namespace)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _bound(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name."""
        bound = self._signature.bind(*self._bound_args, *args, **{**self._bound_kwargs, **kwargs})
        bound.apply_defaults()
        return bound.arguments

    def _latest(self, *args, **kwargs) -> Compiled:
        if args or kwargs:
            return self._compiled(*self._described(self._bound(args, kwargs))[:3])
        last = self._last()
        if last is not None:
            return self._compiled_for[last]
        key, found, statics = self._declared()
        return self._compiled(key, found, statics)

    # ---- compiling ----

    def _miss(self, key: tuple, values: tuple) -> Callable:
        """Called for arguments with a new exact key: compiles, or finds what was compiled, and remembers."""
        with self._lock:
            call = self._table.get(key)
            if call is None:
                coarse, found, statics, conversions = self._described(dict(zip(self._signature.parameters, values)))
                call = self._prepared(
                    self._compiled(coarse, found, statics), conversions, key, (coarse, found, statics)
                )
                remember(self._table, key, call, EXACT_ENTRIES)
            return call

    def _described(self, arguments: dict[str, Any]) -> tuple:
        """The coarse key, types and static values of arguments, and what some must be converted with."""
        coarse, found, statics, conversions = [], {}, {}, {}
        wrt, directions = self._derived_names(), self._all_directions()
        for name, value in arguments.items():
            if name in directions and self._kind != "columns":
                sig.check_tangent(value, arguments[directions[name]], name, directions[name])
            if name in self.wrt:
                sig.argument_type(value, name)
                sig.check_wrt(value, name)
            convert = sig.conversion(value, name in wrt)
            if convert is not None:
                conversions[name], value = convert, convert(value)
            if sig.is_static(value):
                statics[name] = value
            found[name] = sig.argument_type(value, name)
            coarse.append(sig.coarse_key(value))
        for t, name in directions.items():
            found[t] = tangent_type(found[name])  # the same dims
        return tuple(coarse), found, statics, conversions

    def _derived_names(self) -> frozenset[str]:
        """The parameters that this function, or the gradient that it is the gradient of, differentiates, and their tangents."""
        inner = self._function._derived_names() if isinstance(self._function, Gradient) else frozenset()
        return inner | frozenset(self.wrt) | frozenset(self._directions)

    def _all_directions(self) -> dict[str, str]:
        """The parameters that are tangents, of this function or of one that it is the derivative of -> of what."""
        inner = self._function._all_directions() if isinstance(self._function, Gradient) else {}
        return {**inner, **self._directions}

    def _declared(self) -> tuple:
        function = self._function
        while isinstance(function, Gradient):
            function = function._function
        found, statics = sig.declared_types(function, self._signature)
        for name in statics.keys() & set(self.wrt):  # a default such as None says nothing of what is differentiated
            found[name] = UNKNOWN
            del statics[name]
        return "declared", found, statics

    def _compiled(self, coarse, found, statics) -> Compiled:
        """The generated function for a coarse signature, made now if there is none that is current."""
        with self._lock:
            compiled = self._texts.pop(coarse, None)
            if compiled is None or not compiled.current():
                compiled = self._shared(coarse) or self._build(coarse, found, statics)
            remember(self._texts, coarse, compiled, TEXTS)
            return compiled

    def _shared(self, coarse) -> Compiled | None:
        """What was compiled for another function of the same code, such as a lambda that is made anew in each step."""
        key = self._sharing_key(coarse)
        if key is None or key not in _SHARED:
            return None
        function, compiled = _SHARED[key]
        cells = zip(map(sig.Same, function.__closure__ or ()), self._function.__closure__ or ())
        compiled = compiled.rebound(dict(cells))
        return compiled if compiled.current() else None

    def _sharing_key(self, coarse):
        f = self._function
        if (
            isinstance(f, Gradient)
            or hasattr(f, "__wrapped__")
            or is_entered(f)
            or self._backend != "numpy"
        ):
            return None
        options = self._kind, self.wrt, self._single, self._has_aux, sig.static_key(self._checkpoint)
        return sig.Same(f.__code__), sig.Same(f.__globals__), coarse, options

    def built(self, found: dict[str, Type], statics: dict[str, Any], backend: Any):
        """What the pipeline makes for arguments of some types."""
        function = self._function
        if isinstance(function, Gradient):
            function = lookup.calling(function.unbound(), self._takes, function.generated_name)
        elif lookup.only_passes_on(function) or compiler().has_adjoint_rule(function):
            function = lookup.calling(function, self._takes)
        return compiler().build(
            function,
            {name: t for name, t in found.items() if name not in self._directions},
            self.wrt,
            kind=self._kind,
            has_aux=self._has_aux,
            single=self._single,
            checkpoint=self._checkpoint,
            backend=backend,
            statics=statics,
            place=self._place(),
        )

    def _build(self, coarse, found, statics) -> Compiled:
        if isinstance(self._backend, Numba):
            loading.import_numba()
        from sourcead.backends.numba.codegen.calls import with_outlined

        built = self.built(found, statics, self._backend)
        code = loading.compiled(built.text, built.name)
        plain = loading.run(code, built.name, built.namespace)
        live = tuple((holder, name, built.namespace, inside) for holder, name, inside in built.live)
        guards, written = tuple(built.guards), frozenset(built.written_params)
        for holder, name, namespace, inside in live:
            namespace[inside] = read(holder, name)
        compiled = Compiled(
            text=built.text,
            name=built.name,
            namespace=built.namespace,
            ir=built.ir,
            notes=built.notes,
            function=plain if built.numba is None else choosing(self._backend, built, plain, self._place()),
            plain=plain,
            code=code,
            written=written,
            live=live,
            live_keys=tuple(sig.coarse_key(read(holder, name)) for holder, name, _, _ in live),
            guards=guards,
            compiled_text=with_outlined(built.numba[0]) if isinstance(built.numba, tuple) else None,
        )
        shared = self._sharing_key(coarse)
        if shared is not None:
            remember(_SHARED, shared, (self._function, compiled), SHARED_TEXTS)
        return compiled

    def _prepared(
        self, compiled: Compiled, conversions: dict[str, Callable], key: tuple, description: tuple
    ) -> Callable:
        """The generated function, behind what each of its calls must do first; mostly nothing."""
        call = lookup.adapted(compiled.function, compiled.plain, self._signature)
        if compiled.live and self._kind == "vjp":
            call = lookup.in_own_globals(compiled.code, compiled.name, compiled.namespace, self._signature)
        if conversions:
            call = lookup.converting(call, conversions, self._signature)
        if compiled.written:
            tangents = frozenset(self._all_directions())
            call = lookup.checking_aliases(call, compiled.written, self._signature, compiled.globals, tangents)
        if compiled.live or compiled.guards:
            call = self._refreshing(call, compiled, conversions, key, description)
        self._compiled_for[call] = compiled
        return call

    def _refreshing(self, call, compiled, conversions, key, description):
        """Reads live globals and closure variables before each call; compiles again if one has changed its type."""
        guards, live = compiled.guards, compiled.live
        seen = [sig.exact_key(read(holder, name)) for holder, name, _, _ in live]

        def refreshed(*args, **kwargs):
            for holder, name, value in guards:
                if (holder.get(name) if type(holder) is dict else read(holder, name)) is not value:
                    return stale()(*args, **kwargs)
            for i, (holder, name, namespace, inside) in enumerate(live):
                value = holder.get(name, _MISSING) if type(holder) is dict else read(holder, name)
                if value is not namespace[inside] or type(value) is not float:
                    found = sig.exact_key(value)
                    if found != seen[i]:
                        if sig.coarse_key(value) != compiled.live_keys[i]:
                            return stale()(*args, **kwargs)
                        seen[i] = found
                    namespace[inside] = value
            return call(*args, **kwargs)

        def stale():
            with self._lock:
                self._table.pop(key, None)
                again = self._compiled(*description)
                renewed = self._prepared(again, conversions, key, description)
                self._table[key] = renewed
                self._compiled_for[refreshed] = again  # it was the last call, and `source` shows what ran
                return renewed

        return refreshed


def _rebuilt(primal, wrt, options):
    return Gradient(primal, wrt, **options)


def remember(table: dict, key: Any, value: Any, most: int) -> None:
    """Adds an entry; the oldest ones give way."""
    while len(table) >= most:
        table.pop(next(iter(table)), None)
    table[key] = value


def refresh(compiled: Compiled) -> None:
    """Reads the live globals of a text into its namespace."""
    for holder, name, namespace, inside in compiled.live:
        namespace[inside] = read(holder, name)
