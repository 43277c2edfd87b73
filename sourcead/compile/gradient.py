"""The callable that `grad` returns: it generates a text for each combination of argument types and calls the generated function.

A call looks up the exact dtypes and shapes of its arguments in a table.  If they are new, their coarse key (dtypes, ranks, which
dims are one) finds a text that was generated before, or a new one is generated.  The look-up is itself a generated function with
the parameters of the user's function, so that Python itself handles keywords, defaults and wrong calls.
"""

from __future__ import annotations

import functools
import os
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

from sourcead.ad.forward.pushforward import tangent_names
from sourcead.ad.gradient import Form
from sourcead.backends.base import Engine, Program
from sourcead.backends.engines import engine_of, let_compiled_code_call
from sourcead.backends.options import Numba, backend_of
from sourcead.compile import before_calls, pipeline
from sourcead.compile.again import CompilesAgain
from sourcead.compile.arguments import Arguments, arguments_of, declared_types
from sourcead.compile.autoreload import follow_autoreload
from sourcead.compile.before_calls import calling, dispatcher, passed_on
from sourcead.compile.choice import Chooses, Entries
from sourcead.compile.generated import Generated, documentation
from sourcead.compile.handled_exceptions import as_the_program_raises
from sourcead.compile.internal_errors import InternalErrors
from sourcead.compile.keys import Same, static_key
from sourcead.compile.live_data import read
from sourcead.compile.pickling import Pickled
from sourcead.compile.pipeline import KINDS, Options, Request
from sourcead.compile.renewal import Renewed, behind
from sourcead.compile.specialisation import (
    EXACT_ENTRIES, LENGTHS, MANY_ITEMS, SHARED, SHARED_TEXTS, TEXTS, Specialisation, remember, shared, specialised
)
from sourcead.compile.verification import Subject, level_of, verifying
from sourcead.compile.wrt import check_tangent, resolved_wrt, with_tangents
from sourcead.errors import BackendError, NoSourceError, SourceADError
from sourcead.frontend.find_source import Opaque, file_of, is_compiled, own_signature, plain_names
from sourcead.ir.names import name_of
from sourcead.ir.types import UNKNOWN, Type
from sourcead.language.checkpoint_policies import policy_of
from sourcead.language.tracebacks import folded, short, shows_all
from sourcead.language.transformations import Described
from sourcead.places.origin import Origin, shown_place
from sourcead.primitives.registry import CHANGES, is_entered
from sourcead.primitives.table import record_of
from sourcead.runtime import product_in_range


class Gradient(Chooses, Generated, Pickled, Renewed, CompilesAgain, Opaque):
    """A callable that computes the gradient, or another derivative, of a function; see `sourcead.grad`.

    Attributes:
        primal: the user's function.
        wrt: the names of the parameters that the gradient is taken with respect to.
        signature: the signature of the derivative: that of the primal, in forward mode with parameters for tangents.
    """

    __class_getitem__ = classmethod(types.GenericAlias)  # `Gradient[[float], float]` in annotations, as `sourcead/__init__.pyi` has it
    __slots__ = (  # what is in `__dict__`, `functools.wraps` copies to other objects
        "primal wrt signature _kind _asked _has_aux _checkpoint _verify _readable _probing _backend _engine _function _bound_args "
        "_bound_kwargs _lock _plain _first _code _defaults _kwdefaults _rules _takes _single _directions _table _texts _lengths "
        "_compiled_for _find _last _call _follows _far_apart _rivals _choices"
    ).split()

    @folded
    def __init__(self, f: Callable, wrt: Any = 0, kind: str = "grad", options: Options = Options()):  # noqa: B008 (immutable)
        function, args, kwargs = behind(f)
        functools.update_wrapper(self, f if hasattr(f, "__name__") and not is_compiled(f) else function)  # with the attributes of f
        backend = f._backend if options.backend is None and isinstance(f, Gradient) else options.backend
        self._kind, self._asked, self._has_aux, self._checkpoint = kind, wrt, options.has_aux, policy_of(options.checkpoint)
        self._verify, self._readable, self._probing = level_of(options.verify), options.readable, options.probing
        self._backend = backend_of(backend, f) if KINDS[kind].compiles else "numpy"
        self._engine = engine_of(self._backend)
        self.primal, self._function, self._bound_args, self._bound_kwargs = f, function, args, kwargs
        self._lock, self._follows = threading.RLock(), True  # it follows until the first call
        self._far_apart = False  # until a call has numbers that lie so far apart that sums of their exponentials are no products
        follow_autoreload(Gradient)
        if self._backend != "numpy":
            let_compiled_code_call(Gradient)
        self.__name__ = getattr(self, "__name__", "f")
        self._set_wrt(len(args))

    def _set_wrt(self, bound: int) -> None:
        """Resolve wrt, whose positions count from the parameter number `bound`, and start with empty tables."""
        user, function = self._user_function, self._function
        self._plain, self._first, self._code = user, bound, user.__code__
        self._defaults, self._kwdefaults = user.__defaults__, user.__kwdefaults__ and dict(user.__kwdefaults__)
        self._rules = CHANGES[0]
        if isinstance(function, Gradient):
            self._takes = function.signature
        else:
            self._takes = passed_on(function, self.primal) or own_signature(function)
        self.wrt, self._single = ((), True) if self._kind == "vmap" else resolved_wrt(self._asked, self._takes, bound, self.__name__)
        self.signature, self._directions = self._takes, {}
        if KINDS[self._kind].forward:
            names = tangent_names(self._takes.parameters, self.wrt)
            self._directions = {t: name for name, t in names.items()}
            self.signature = with_tangents(self._takes, self._directions)
        self._rivals, self._choices, self._table = {}, {}, Entries()
        self._texts: dict[Any, Specialisation] = {}
        self._lengths: dict[Any, str] = {}
        self._compiled_for: weakref.WeakKeyDictionary[Callable, Specialisation] = weakref.WeakKeyDictionary()
        called = self.generated_name if self._directions else self.__name__  # whose message of a missing argument Python writes
        self._find, self._last = dispatcher(self.signature, called, self._table, self._miss)
        bound_more = self._bound_args or self._bound_kwargs
        self._call = functools.partial(self._find, *self._bound_args, **self._bound_kwargs) if bound_more else self._find
        self.__doc__ = documentation(self, KINDS[self._kind].noun, user, f", and {', '.join(self.directions)}" if self.directions else "")

    @property
    def form(self) -> Form:
        """The kind of the derivative, and what the generated function returns."""
        return Form(self._kind, self._has_aux, self._single)

    @property
    def generated_name(self) -> str:
        """The name of the generated function."""
        return "_".join([name_of(self._user_function), *(g._kind for g in reversed(self._levels))])

    def unbound(self) -> Gradient:
        """Return this derivative without its bound arguments, which are a method's `self` or those of a `functools.partial`."""
        if not self._bound_args and not self._bound_kwargs:
            return self
        other = Gradient(*self._made_of)
        other._bound_args, other._bound_kwargs, other._follows = (), {}, False
        return other

    @property
    def _levels(self) -> list[Gradient]:
        """This derivative, and the derivatives that it is the derivative of."""
        return [self, *self._function._levels] if isinstance(self._function, Gradient) else [self]

    @property
    def _user_function(self) -> types.FunctionType:
        """The user's function, below all derivatives of derivatives."""
        return self._levels[-1]._function

    @property
    def _place(self) -> str:
        """The file and line of the user's function."""
        function = getattr(self._plain, "stands_for", None) or self._plain
        line = function.__code__.co_firstlineno
        return os.path.basename(shown_place(Origin(file_of(function), line, 0, line, 0, "")))

    @property
    def directions(self) -> tuple[str, ...]:
        """The names of the tangent parameters; empty in reverse mode."""
        return tuple(self._directions)

    def __call__(self, *args, **kwargs):
        try:
            self._renew(args)
            return self._call(*args, **kwargs)
        except Exception as error:  # what `folded` does, without its time
            if shows_all(error):
                raise
            __tracebackhide__ = True
            raise short(error)  # SOURCEAD_TRACEBACK=full shows all frames

    def __get__(self, instance, owner=None):
        decorated = self._levels[-1].primal
        if isinstance(decorated, classmethod):
            instance = type(instance) if owner is None else owner
        return self if instance is None or isinstance(decorated, staticmethod) else types.MethodType(self, instance)

    def __set_name__(self, owner, name):
        alone = self._bound_args or isinstance(self._levels[-1].primal, staticmethod) or len(self._takes.parameters) == 1
        if not alone:  # positions in wrt count from the parameter after self; where self is all, from self
            self._set_wrt(1)
            self._asked = self.wrt[0] if self._single else self.wrt  # so that it can be made anew outside of its class

    def __repr__(self):
        return f"<{KINDS[self._kind].noun} of {self.__name__}{self.signature} with respect to {', '.join(self.wrt)}>"

    @property
    def _made_of(self) -> tuple:
        """The arguments that make this derivative anew."""
        options = self._has_aux, self._checkpoint, self._backend, self._verify, self._readable, self._probing
        return self.primal, self._asked, self._kind, Options(*options)

    def described(self, args: tuple) -> Described:
        """Return the kind, the function and the options of this derivative, for calls of it inside a function that is differentiated."""
        self._renew(args)
        names = plain_names(self._takes)
        wrt = tuple(names.index(n) if n in names else n for n in self.wrt)
        first = wrt[0] if self._single else wrt
        return Described(self._kind, self._function, first, self._has_aux, tuple(names), self._bound_args, self._bound_kwargs)

    # ---- compiling ----

    def _bound(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return {parameter: argument} of a call, with bound arguments and defaults."""
        try:
            bound = self.signature.bind(*self._bound_args, *args, **{**self._bound_kwargs, **kwargs})
        except TypeError as error:
            raise TypeError(f"{self.__name__}() {error}") from None
        bound.apply_defaults()
        return bound.arguments

    def _latest(self, *args, **kwargs) -> Specialisation:
        self._renew(args or None)
        if args or kwargs:
            return self._by_numpy()._compiled(self._described(self._bound(args, kwargs)))
        if (last := self._last()) is not None:
            return self._specialisation(last)
        try:
            return self._compiled(self._declared())
        except SourceADError as error:
            if not isinstance(error, NoSourceError):
                error.reason += " (before a call, the types of the arguments are not known)"
                known = f"`.lower({', '.join(self.signature.parameters)}).text` with arguments, or call it first"
                error.instead = f"{known}; if that is refused, {error.instead}" if error.instead else known
            raise

    def _miss(self, key: tuple, values: tuple) -> Callable:
        """Return the function to call for arguments with a new exact key, and enter it in the table."""
        with self._lock:
            call = self._table.get(key)
            if call is None:
                given = self._described(dict(zip(self.signature.parameters, values)))
                auto = self._backend == "auto"
                call = self._faster(given, values, key) if auto else self._verified(self._compiled(given), given, key)
                remember(self._table, key, call, EXACT_ENTRIES)
            return call

    def _described(self, values: dict[str, Any]) -> Arguments:
        directions = self._all_directions()
        described = arguments_of(values, self.wrt, self._derived, directions)
        if self._kind != "columns":
            for name, primal in directions.items():
                check_tangent(values[name], values[primal], name, primal)
        return described

    @property
    def _derived(self) -> frozenset[str]:
        """The parameters in wrt and the tangents, here and in the derivatives that this is the derivative of."""
        return frozenset(name for g in self._levels for name in (*g.wrt, *g._directions))

    def _all_directions(self) -> dict[str, str]:
        """Return {tangent parameter: its primal parameter}, here and in the derivatives that this is the derivative of."""
        return {t: primal for g in reversed(self._levels) for t, primal in g._directions.items()}

    def _declared(self) -> Arguments:
        """Return the arguments' types and static values that annotations and defaults tell."""
        found, statics = declared_types(self._user_function, self.signature)
        for name in statics.keys() & set(self.wrt):  # a default such as None says nothing of what is differentiated
            found[name] = UNKNOWN
            del statics[name]
        return Arguments("declared", found, statics, {})

    def _compiled(self, arguments: Arguments) -> Specialisation:
        """Return the specialisation for arguments, generated now if there is none that is still valid."""
        with self._lock:
            compiled = self._known(arguments.key)
            if compiled is None and (wide := arguments.of_any_length) is not None:
                compiled = self._known(wide.key) or self._for_any_length(wide, arguments)
            if compiled is None:
                return self._made(arguments, self._engine)
            if not compiled.holds(arguments):
                general = arguments.of_any_size
                return self._known(general.key) or self._made(general, self._engine)
            return compiled

    def _known(self, key: Any) -> Specialisation | None:
        """Return the specialisation for a coarse key that is still valid, generated earlier here or for a function with the same code."""
        compiled = self._texts.pop(key, None)
        if compiled is None or not compiled.is_current():
            sharing = self._sharing_key(key)
            compiled = None if sharing is None else shared(sharing, self._function)
        if compiled is not None:
            remember(self._texts, key, compiled, TEXTS)
        return compiled

    def _made(self, arguments: Arguments, engine: Engine) -> Specialisation:
        """Return the specialisation for arguments, generated now."""
        with InternalErrors(self._place):
            compiled = specialised(self._built(arguments, engine), engine)
        if (sharing := self._sharing_key(arguments.key)) is not None:
            remember(SHARED, sharing, (self._function, compiled), SHARED_TEXTS)
        remember(self._texts, arguments.key, compiled, TEXTS)
        return compiled

    def _for_any_length(self, wide: Arguments, arguments: Arguments) -> Specialisation | None:
        """Return the specialisation for lists of any length, None if the function needs the length.

        Of short lists, a text for the first length alone names each item.
        """

        def of_one_length(error: BackendError) -> Callable:
            with self._lock:
                self._texts.pop(wide.key, None)
                remember(table, key, "each", SHARED_TEXTS)
                return self._made(arguments, self._engine).function

        sharing = self._sharing_key(wide.key)
        table, key = (self._lengths, wide.key) if sharing is None else (LENGTHS, sharing)
        state = table.get(key, "one" if wide.listed > MANY_ITEMS else None)
        compiled = None
        engine = self._engine.for_any_length(wide.types, of_one_length)
        if state == "one" and engine is not None:
            try:
                compiled = self._made(wide, engine)
            except SourceADError:
                state = "each"
        remember(table, key, state or "one", SHARED_TEXTS)
        return compiled

    def _sharing_key(self, coarse: Any) -> Any:
        """Return the key under which functions with the same code share a text, None if this one cannot share."""
        f = self._function
        if isinstance(f, Gradient) or hasattr(f, "__wrapped__") or is_entered(f) or not self._engine.rebinds:
            return None
        options = (
            self._kind, self.wrt, self._single, self._has_aux, static_key(self._checkpoint), self._verify, self._readable, self._probing,
            self._far_apart, CHANGES[0],
        )
        return Same(f.__code__), Same(f.__globals__), coarse, self._engine.cache_key(), options

    def _built(self, arguments: Arguments, engine: Engine) -> pipeline.Built:
        """Return what the pipeline generates for arguments."""
        return pipeline.build(self.request(arguments, engine))

    def request(self, arguments: Arguments, engine: Engine) -> Request:
        """Return the description of this derivative for arguments."""
        function = self._function
        if isinstance(function, Gradient):
            function = calling(function.unbound(), self._takes, function.generated_name)
        elif passed_on(function, self.primal) or record_of(function).adjoint_rule is not None:
            function = calling(function, self._takes)
        return Request(
            function=function,
            types={name: t for name, t in arguments.types.items() if name not in self._directions},
            statics=arguments.statics,
            wrt=self.wrt,
            form=self.form,
            checkpoint=self._checkpoint,
            readable=self._readable, probing=self._probing,
            engine=engine,
            place=self._place,
            multiplies=not self._far_apart,
            sizes=arguments.sizes,
        )

    @property
    def inline(self) -> str:
        """Numba's option `inline`: "always" if the text is inlined into compiled functions that call this one, else "never"."""
        return self._backend.inline if isinstance(self._backend, Numba) else "never"

    def program_for_numba(self, found: dict[str, Type]) -> tuple[Program, frozenset[str], dict[str, Any]]:
        """Return the program for Numba for arguments of the types `found`, the parameters it writes, and the global data it reads.

        Raises:
            BackendError: Numba cannot compile the program.
        """
        with InternalErrors(self._place):
            built = self._built(Arguments(None, found, {}, {}), engine_of(Numba()))
        if built.program is None:
            raise built.refusal
        return built.program, built.written | built.compared, {inside: read(holder, name) for holder, name, inside in built.live if inside}

    def _verified(self, compiled: Specialisation, arguments: Arguments, key: tuple) -> Callable:
        """Return the generated function, which compares its first result with the user's function if the text is new."""
        plain = self._prepared(compiled, arguments, key)
        call = as_the_program_raises(plain, compiled, self)
        if not self._verify:
            compiled.built.unverified.clear()
        pending = tuple(compiled.built.unverified)  # another thread may verify the text now
        if not pending:
            return call

        def settle():
            compiled.built.unverified.clear()
            with self._lock:
                if self._table.get(key) is first:
                    self._table[key] = call

        subject = Subject(self, arguments, compiled.built.plain.text, pending[0])
        first = as_the_program_raises(verifying(plain, subject, self.signature, settle), compiled, self)
        return first

    def _prepared(self, compiled: Specialisation, arguments: Arguments, key: tuple) -> Callable:
        """Return the generated function in the wrappers that its calls need (`before_calls.py`); most need none."""
        how = self.signature, arguments.conversions
        call = before_calls.adapted(compiled.function, compiled.plain, *how)
        if self._kind == "vjp" and any(inside for *_, inside in compiled.live):
            call = before_calls.in_own_globals(compiled.code, compiled.built.plain.name, compiled.namespace, *how)
        if compiled.built.written or compiled.built.compared:
            tangents = frozenset(self._all_directions())
            call = before_calls.checking_aliases(call, compiled.built, self.signature, compiled.globals, tangents)
        if any(value is product_in_range for value in compiled.namespace.values()):
            call = self._in_any_range(call, arguments, key)
        if compiled.live or compiled.guards:
            call = self._refreshing(call, compiled, arguments, key)
        self._compiled_for[call] = compiled
        return call
