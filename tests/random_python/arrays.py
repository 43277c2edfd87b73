"""Arrays made by NumPy's functions, and positions in arrays."""

import numpy as np

from tests.random_python.expressions import array, bracketed, index, literal, number
from tests.random_python.prelude import forms
from tests.random_python.scope import is_array


def built(w, shape, d):
    """Return an array of the shape from one of NumPy's functions, or None if there is no way."""
    n = int(np.prod(shape))
    exact = "array_one" if len(shape) == 1 else "array_two"
    text = w.rng.choice(forms("array_same" if n == 0 or len(shape) > 2 or w.chance(0.5) else exact))
    parts = _Parts(w, shape, d - 1)
    while "{" in text:
        start = text.index("{")
        end = text.index("}", start)
        made = bracketed(parts.part(text[start + 1:end]))
        text = text[:start] + made.replace("{", "\1").replace("}", "\2") + text[end + 1:]
    return text.replace("\1", "{").replace("\2", "}")


class _Parts:
    """What fills the places of a form for one shape."""

    def __init__(self, w, shape, d):
        self.w, self.shape, self.d = w, shape, d

    def part(self, name):
        """Return the text for one place."""
        return getattr(self, name)()

    def x(self):
        return array(self.w, self.shape, self.d)

    def y(self):
        return array(self.w, self.shape, self.d)

    def m(self):
        return mask(self.w, self.shape)

    def c(self):
        return literal(self.w)

    def s(self):
        ref = self.w.pick(lambda v: is_array(v) and v.shape == self.shape)
        return f"{ref.text}.shape" if ref and self.w.chance(0.8) else str(self.shape)

    def n0(self):
        ref = self.w.pick(lambda v: is_array(v) and len(v) == self.shape[0])
        return f"len({ref.text})" if ref and self.w.chance(0.8) else str(self.shape[0])

    def k(self):
        return str(self.w.rng.choice((0, 1, -1)))

    def k0(self):
        return "0"

    def num(self):
        return number(self.w, self.d)

    def items(self):
        return ", ".join(number(self.w, self.d) for _ in range(self.shape[0]))

    def p(self):
        self.cut = self.w.rng.randrange(self.shape[0] + 1)
        return array(self.w, (self.cut,), 0)

    def q(self):
        return array(self.w, (self.shape[0] - self.cut,), 0)

    def r(self):
        return str(self.shape[0] - self.cut)

    def a(self):
        return array(self.w, self.shape[:1], 0)

    def b(self):
        return array(self.w, self.shape[1:], 0)

    def fancy(self):
        return positions(self.w, self.shape[0], self.shape[0])

    def mat(self):
        return array(self.w, (self.shape[0], self.shape[0]), 0)

    def rows(self):
        return ", ".join(array(self.w, self.shape[1:], 0) for _ in range(self.shape[0])) + ","

    def cols(self):
        return ", ".join(array(self.w, self.shape[:1], 0) for _ in range(self.shape[1]))

    def body(self):
        return self.w.rng.choice(("q * q", "np.sin(q)", "q + 1", "q if q > 0 else -q", "math.tanh(q)"))


def mask(w, shape):
    """Return an array of truth values of this shape."""
    ref = w.pick(lambda v: is_array(v) and v.shape == shape)
    text = ref.text if ref else array(w, shape, 0)
    form = w.rng.choice(forms("array_mask"))
    return form.replace("{}", text).replace("{c}", literal(w))


def positions(w, n, count):
    """Return an array of `count` positions among n, which may repeat."""
    at = [w.rng.randrange(-n, n) if w.chance(0.3) else w.rng.randrange(n) for _ in range(count)]
    return w.rng.choice((f"{at}", f"np.array({at}, dtype=int)", f"{at}" if at else "[]"))


def part(w, shape):
    """Return the text between brackets that chooses a part of an array, and the shape of the part."""
    first, rest = shape[0], shape[1:]
    kind = w.rng.random()
    if kind < 0.25 and first:
        if rest and w.chance(0.4):
            k = w.rng.randrange(rest[0]) if rest[0] else None
            return (":", shape) if k is None else (f":, {k}", (first,) + rest[1:])
        return index(w, first), rest
    if kind < 0.4 and first:
        count = w.rng.randrange(1, 4)
        return positions(w, first, count), (count,) + rest
    text = w.rng.choice(("1:", ":-1", "::-1", "::2", ":", "...", "-1:", "1::2", "-2::-1", ":1", "0:2"))
    return text, np.empty(shape)[_slice(text)].shape


def _slice(text):
    """Return the object that a slice's text stands for."""
    if text == "...":
        return Ellipsis
    return slice(*(int(p) if p else None for p in text.split(":")))
