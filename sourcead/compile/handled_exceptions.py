"""Exceptions of a program that handles some: its derivative raises what the program raises in their place.

    try:                                              the text                        its call
        L = np.linalg.cholesky(a)                     L = np.linalg.cholesky(a)       raises ValueError, as the program does
    except np.linalg.LinAlgError as e:
        raise ValueError(f"{name}: {e}") from e

A handler that only raises another exception is not in the text (`frontend/syntax/exceptions.py`). If the text raises anything, the
program itself is called on copies of the arguments, and what it raises is raised. It is not called if it has effects, which it would have
twice, or draws random numbers. If it raises nothing, since a handler goes on, another text is generated, which tries each call that may
raise what is handled before it makes it (`frontend/syntax/probes.py`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sourcead.compile.before_calls import arguments_by_name
from sourcead.compile.comparison import LeftOut, Primal
from sourcead.compile.specialisation import Specialisation
from sourcead.errors import InternalError, SourceADError


def as_the_program_raises(call: Callable, compiled: Specialisation, derivative: Any) -> Callable:
    """Return a function that calls `call`, and raises what the user's function raises if `call` raises an exception.

    Args:
        call: calls the generated function.
        compiled: what was generated; where the program handles no exceptions, `call` is returned.
        derivative: the `Gradient`.
    """
    made_for = derivative._compiled_for
    twins: list[Any] = []  # the derivative that tries calls, once it was needed; None if there is none

    def called(*args, **kwargs):
        try:
            result = call(*args, **kwargs)
            made_for[called] = made_for.get(call, compiled)  # another text may have been made, of which `source` tells
            return result
        except Exception as caught:
            error = caught  # the user's function is called outside of this block, so that its exception is not shown beside this one
        own = own_exception(derivative, arguments_by_name(derivative.signature, args, kwargs))
        if own is None and not derivative._probing:
            twins[:] = twins or [probing_twin(derivative)]
            try:
                if twins[0] is not None:
                    return twins[0]._find(*args, **kwargs)
            except (SourceADError, InternalError) as refusal:
                twins[0] = twins[0] if hasattr(refusal, "handles") else None
        raise error if own is None or (type(own), str(own)) == (type(error), str(error)) else own

    made = called if compiled.built.handles else call
    made_for[made] = compiled
    return made


def probing_twin(derivative: Any) -> Any:
    """Return the derivative whose texts try the calls that may raise what the program handles; it takes all parameters."""
    *made_of, options = derivative._made_of
    twin = type(derivative)(*made_of, replace(options, probing=True))
    twin._bound_args, twin._bound_kwargs, twin._follows = (), {}, False
    twin._set_wrt(derivative._first)
    return twin


def own_exception(derivative: Any, values: dict[str, Any]) -> Exception | None:
    """Return the exception that the user's function raises for these arguments, None if it raises none."""
    given = {name: value for name, value in values.items() if name not in derivative._all_directions()}
    try:
        Primal(derivative._user_function, derivative._takes, given)()
    except LeftOut:
        return None
    except Exception as error:
        return error
    return None
