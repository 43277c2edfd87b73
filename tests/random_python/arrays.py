"""Arrays made by NumPy's functions, and positions in arrays."""

import numpy as np

from tests.random_python.expressions import array, bracketed, index, literal, number
from tests.random_python.scope import is_array

SAME = ("np.sort({x}, axis=None).reshape({s})", "np.roll({x}, {k})", "np.flip({x})", "np.clip({x}, -0.4, 0.9)", "np.cumsum({x}).reshape({s})", "{x}[::-1]",
        "np.where({m}, {x}, {y})", "np.where({m}, {x}, {c})", "({m}) * {x}", "{x}.copy()", "np.array({x})", "np.clip({x}, {c}, None)",
        "np.add.accumulate({x})", "np.reshape(np.ravel({x}), {s})", "{x}.astype(float)", "np.sum([{x}, {y}], axis=0)", "sum([{x}, {y}])",
        "np.array([{x}, {y}])[{k}]", "np.copy({x})", "np.nan_to_num({x})", "np.stack([{x}, {y}])[-1]", "np.broadcast_to({x}, {s})", "np.sign({x}) * {y}",
        "np.linalg.norm({x} + 3) * {y}", "np.real({x} * (1 + 2j))", "np.round({x}) + {y}", "({x}).clip(-0.5, {c} + 2)", "np.take({x}, range({n0}), axis=0)",
        "np.minimum.accumulate({x})", "np.flipud({x})", "np.einsum('...,...->...', {x}, {y})", "np.asarray({x}) * {c}", "np.atleast_1d({x})",
        "np.diff({x}, axis=0, prepend={c})", "np.select([{m}, {x} < 0.9], [{x}, {y}], {c})", "np.choose({m}, [{x}, {y}])", "np.power({x}, 2)",
        "np.vectorize(lambda q: q * {c}, otypes=[float])({x})", "np.unique([1, 0, 1]).sum() * {x}", "np.float64({c}) * {x}", "{x}.cumsum(axis=0)")
ONE = ("np.array([{items}])", "np.concatenate([{p}, {q}])", "np.hstack(({p}, {q}))", "np.append({p}, {q})", "{x}[{fancy}]", "np.take({x}, {fancy})",
       "{mat} @ {x}", "np.sum({mat}, axis=1)", "{mat}[:, {k}]", "np.array([{body} for q in {x}])", "np.pad({p}, (0, {r}))", "np.outer({x}, {x})[0]",
       "np.diag({mat})", "np.einsum('ij,j->i', {mat}, {x})", "np.fromiter((q * {c} for q in {x}), float)", "np.convolve({x}, [0.5, {c}])[:{n0}]", "np.linspace(0.1, {num}, {n0})",
       "np.array(sorted({x}))", "{x}[np.argsort({x})]", "np.split({x}, 1)[0]", "np.array([*{x}])", "np.repeat({num}, {n0})", "np.arange({n0}) * {num}",
       "np.linalg.solve({mat} + 3 * np.eye({n0}), {x})", "np.array(list(map(lambda q: q * {c}, {x})))", "np.array({x}.tolist())", "np.dot({x}, {mat})",
       "np.tile({num}, {n0})", "np.insert({p}, {k0}, {q})", "np.max({mat}, axis=0)", "np.mean({mat}, 0)", "np.array([{x}[k] * k for k in range({n0})])", "np.r_[{p}, {q}]")
TWO = ("np.outer({a}, {b})", "np.stack([{rows}])", "np.array([{rows}])", "{a}[:, None] * {b}", "{mat} @ {x}", "np.matmul({mat}, {x})", "np.vstack(({rows}))",
       "np.einsum('i,j->ij', {a}, {b})", "np.dot({mat}, {x})", "np.tile({b}, ({n0}, 1))", "np.linalg.inv({mat} + 3 * np.eye({n0})) @ {x}",
       "{a}.reshape(-1, 1) + {b}", "np.array([[p * q for q in {b}] for p in {a}])", "np.column_stack([{cols}])", "np.tril({x})", "np.swapaxes({y}, 0, 1)",
       "np.cumsum({x}, axis=1)", "np.sort({x}, axis=-1)", "np.roll({x}, 1, axis=0)", "np.multiply.outer({a}, {b})", "{x}[{fancy}]", "{x}[:, ::-1]",
       "np.repeat([{b}], {n0}, axis=0)", "np.tensordot({a}, {b}, 0)", "np.diff({x}, axis=1, append={c})", "np.einsum('ij,jk->ik', {mat}, {x})", "np.flip({x}, 1)")


def built(w, shape, d):
    """Return an array of the shape from one of NumPy's functions, or None if there is no way."""
    n = int(np.prod(shape))
    forms = SAME if n == 0 or len(shape) > 2 or w.chance(0.5) else (ONE if len(shape) == 1 else TWO)
    text = w.rng.choice(forms)
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
    form = w.rng.choice(("{} > {c}", "{} < {c}", "np.abs({}) < {c}", "({} > {c}) & ({} < 2)", "~({} > {c})", "np.greater({}, {c})", "({} > {c}) | ({} < 0)"))
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
