"""Statements as texts with places: `{A}` is a writable array, `{L}` a list, `{num}` a number, `{t}` a name to bind.

A place with a digit is the same text wherever it occurs in one statement.
"""

import re

import numpy as np

from tests.random_python.arrays import mask, part, positions
from tests.random_python.expressions import any_array, array, boolean, index, literal, number, shared, whole
from tests.random_python.scope import is_array, is_record, is_writable

PLACE = re.compile(r"\{([A-Za-z]+)(\d?)(?:@(\w+))?\}")


class Missing(Exception):
    """A place that nothing in the program can fill."""


def filled(w, form):
    """Return the lines of a statement with its places filled; raise `Missing` if one cannot be."""
    memo = {}

    def place(kind, digit, of):
        if digit and kind + digit in memo:
            return memo[kind + digit]
        made = PLACES[kind](w, place(of[:-1], of[-1], None)[1] if of else None)
        made = made if isinstance(made, tuple) else (made, None)
        if digit:
            memo[kind + digit] = made
        return made

    return PLACE.sub(lambda match: place(*match.groups())[0], form).split("\n")


def _ref(test, share=False):
    def place(w, _):
        ref = shared(w, test) if share else w.pick(test)
        if ref is None:
            raise Missing
        return ref.text, ref.value

    return place


def _sized(kind):
    return _ref(lambda v: type(v) is kind and len(v) > 0)


def _numbers(v):
    return isinstance(v, list) and len(v) > 0 and all(isinstance(q, float) for q in v)


def _arrays(v):
    return isinstance(v, (list, tuple)) and len(v) > 0 and all(is_array(q) for q in v)


def _part(w, value):
    """Return the text between brackets for a part of an array, with a stand-in of the part's shape."""
    text, shape = part(w, value.shape)
    return text, np.empty(shape)


def _key(w, value):
    """Return a key of a dict."""
    return repr(w.rng.choice(list(value)))


def _item(w, value):
    """Return something to put into a container: an array, a number, or whatever exists."""
    ref = w.pick(lambda v: is_array(v) or isinstance(v, (list, tuple, dict)))
    if ref and w.chance(0.45):
        return ref.text
    return any_array(w)[0] if w.chance(0.4) else number(w)


def _some(w, _):
    """Return any existing value."""
    if not w.refs:
        raise Missing
    return w.rng.choice(w.refs).text


def _like(w, value):
    """Return an expression of the same kind and shape as a value."""
    return array(w, value.shape) if is_array(value) and value.ndim else number(w)


PLACES = {
    "t": lambda w, _: w.target(),
    "new": lambda w, _: w.fresh(),
    "A": _ref(lambda v: is_writable(v) and v.size > 0, share=True),
    "V": _ref(lambda v: is_writable(v) and v.ndim == 1 and v.size > 0, share=True),
    "M": _ref(lambda v: is_writable(v) and v.ndim == 2 and v.size > 0, share=True),
    "R": _ref(is_array),
    "L": _sized(list),
    "LF": _ref(_numbers),
    "LA": _ref(_arrays),
    "T": _ref(lambda v: isinstance(v, tuple) and len(v) > 0),
    "D": _ref(lambda v: isinstance(v, dict) and len(v) > 0 and all(isinstance(k, (str, int)) for k in v)),
    "S": _sized(set),
    "Q": _ref(lambda v: type(v).__name__ == "deque" and len(v) > 0),
    "O": _ref(lambda v: is_record(v) and not hasattr(v, "_fields")),
    "N": _ref(lambda v: isinstance(v, tuple) and hasattr(v, "_fields")),
    "X": _ref(lambda v: isinstance(v, float)),
    "I": _ref(lambda v: type(v) is int),
    "num": lambda w, _: number(w),
    "n": lambda w, _: number(w, 0),
    "c": lambda w, _: literal(w),
    "int": lambda w, _: whole(w),
    "bool": lambda w, _: boolean(w),
    "arr": lambda w, v: any_array(w) if v is None else array(w, v.shape),
    "mask": lambda w, v: mask(w, v.shape),
    "at": lambda w, v: index(w, len(v), None),
    "pos": lambda w, v: positions(w, len(v), w.rng.randrange(1, 4)),
    "part": _part,
    "key": _key,
    "item": _item,
    "some": _some,
    "like": _like,
}
