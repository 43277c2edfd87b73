"""Checks that generated text makes while it runs, and the errors that it raises."""

import numpy as np

from sourcead.errors import NonScalarError, RuleError, UnsupportedArgumentError
from sourcead.runtime.structures import copy, fields_of, is_record


def refuse_now(reason):
    """Raise the error for an argument that the generated function does not take."""
    raise UnsupportedArgumentError(reason)


def check_layout(x, name):
    """Refuse an argument that is not in C order if the function writes to a view of it that `reshape` returned."""
    if not x.flags.c_contiguous:
        refuse_now(
            f"`{name}` is not in C order, and what is written through a reshape of it is seen in it only if it is: "
            f"pass np.ascontiguousarray({name})"
        )


def check_apart(outside, name, *others):
    """Refuse data that is, or holds, a list or dict from outside of the function which the function changes."""
    for other in others:
        if other is outside:
            refuse_now(f"`{name}`, which the function changes, has another name in it, as an argument or a part of one: pass a copy")
        if isinstance(other, (list, tuple)):
            check_apart(outside, name, *other)
        elif isinstance(other, dict):
            check_apart(outside, name, *other.values())
        elif is_record(other):
            check_apart(outside, name, *fields_of(other).values())


def check_fractions(x, name):
    """Refuse an array or dtype of integers to which NumPy rounds a number whose derivative counts."""
    dtype = np.dtype(x) if isinstance(x, type | str | np.dtype) else getattr(x, "dtype", None)
    if dtype is not None and dtype.kind in "biu":
        refuse_now(f"{name} is of integers here, to which NumPy rounds the numbers that it takes: make it one of floats")


def check_finite(x):
    """Refuse the elements that NumPy masks in a power of a masked array."""
    if not np.all(np.isfinite(x)):
        refuse_now("a power of a masked array masks elements here, since they are not finite, and what is masked is not differentiated")


def check_array(x):
    """Refuse a list that is sorted or of which a slice is assigned, where it was not known whether it is a list or an array."""
    if isinstance(x, list):
        refuse_now("a list is sorted, or a slice of it assigned, and that it is no array is known only now: assign its items one by one")


def computed(value):
    """Take a value whose computation may raise an exception that the program handles, so that it is computed although nothing reads it."""


def as_python(function, *numbers):
    """Raise what a division or power of Python's numbers raises, which are NumPy's in the text, where it gives inf or nan instead."""
    function(*(x.item() if isinstance(x, np.generic) else x for x in numbers))


def exception_of(function, *args, **kwargs):
    """Return the exception that a call raises, None if it raises none."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        return error
    return None


def handler_of(error, *handlers):
    """Return the number of the first handler that catches an exception, counted from 1; each has a tuple of classes. 0 if none does."""
    return next((k for k, classes in enumerate(handlers, 1) if isinstance(error, classes)), 0)


def unseen(function, *args, **kwargs):
    """Return what a function returns that cannot be read; refuse it if it changes an argument, which the derivative would not know."""
    before = copy((args, kwargs))
    result = function(*args, **kwargs)
    if not same_parts(before, (args, kwargs)):
        name = function.__name__
        refuse_now(f"`{name}` changes its argument, which cannot be seen in the source: give it a copy, or write out what it does")
    return result


def drawn(function, *args, **kwargs):
    """Return what a function that draws returns, through which no derivative passes."""
    return function(*args, **kwargs)


def same_parts(a, b):
    """Return whether two structures have the same parts: the same numbers, arrays of the same bytes, or the same objects."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same_parts, a.values(), b.values()))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same_parts, a, b))
    if is_record(a):
        return same_parts(fields_of(a), fields_of(b))
    return a is b or type(a) is type(b) and (a == b or a != a)


def of_one_item(items):
    """Return a set, of which `pop` takes the only item; refuse one of several, of which Python takes any."""
    if not items:
        raise KeyError("pop from an empty set")
    if len(items) > 1:
        refuse_now(f"`pop` of a set of {len(items)} items, of which it takes any: use `sorted(...)` of it, or `min`")
    return items


def read_from_text(value, *numbers):
    """Return what was read from a text, which has some digits of `numbers`: no derivative passes through a text."""
    return value


class unhandled:
    """Refuse an exception in the code inside, which the program handles in a way that is not differentiated."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None and issubclass(kind, Exception):
            why = f"the program handles {kind.__name__} here ({error}), which is not differentiated"
            refusal = UnsupportedArgumentError(why, instead="test for the case with `if`").with_traceback(trace)  # which shows the line
            refusal.handles = error
            raise refusal


def check_first_result(items):
    """Refuse results that `np.vectorize` rounds because it takes the dtype of all from the first one."""
    if items and isinstance(items[0], (int, np.integer)) and any(isinstance(x, (float, np.inexact, np.ndarray)) for x in items):
        refuse_now(
            "np.vectorize takes the dtype of its first result, here an integer, and rounds the others: "
            "return floats, or pass otypes=[float]"
        )


def one_for_each(derivatives, count, function):
    """Return the derivatives that a user's rule returns; refuse what is not one for each of the arguments of its function."""
    if count == 1:
        if derivatives is None:
            raise RuleError(f"the rule of {function} returns nothing", instead="return the derivative of its argument, in every branch")
    elif not isinstance(derivatives, tuple | list) or len(derivatives) != count:
        found = f"one {type(derivatives).__name__}"
        if isinstance(derivatives, tuple | list):
            found = "1 derivative" if len(derivatives) == 1 else f"{len(derivatives)} derivatives"
        raise RuleError(f"the rule of {function} returns {found}, and {function} has {count} arguments", instead="return one for each")
    return derivatives


def check_structure(result, tangent, function):
    """Refuse the tangent that a user's rule returns, a tuple, list or dict, if the result of its function is one number or array."""
    if isinstance(result, (int, float, complex, np.generic, np.ndarray)):
        kind = "an array" if np.ndim(result) else "a number"
        why = f"the rule of {function} returns {tangent}, and the result of {function}, to which this tangent belongs, is {kind}"
        raise RuleError(why, instead=f"return {kind}")


def seed(y):
    """Return the cotangent 1.0 of a result; refuse a result that is not one real number."""
    if np.ndim(y) != 0 or not np.issubdtype(np.asarray(y).dtype, np.number) or np.iscomplexobj(y):
        raise NonScalarError(
            f"the function returns {type(y).__name__}, and a gradient is that of one real number: use `jacobian` or `vjp`"
        )
    return 1.0
