"""Expressions: numbers, whole numbers, truth values, and arrays of a wanted shape."""

import numpy as np

from tests.random_python.scope import is_array, is_float, is_int, owner

UNARY = ("np.sin({})", "np.tanh({})", "np.cos({})", "np.exp(-{} ** 2)", "np.sqrt(1 + {} ** 2)", "-{}", "np.abs({})", "{} ** 2",
         "np.log(2 + {} ** 2)", "np.arctan({})", "{} * {c}", "({} + {c})", "np.negative({})", "np.square({})", "1 / (1.5 + {} ** 2)")
BINARY = ("({} + {})", "({} - {})", "{} * np.sin({})", "({} * {c} + {})", "np.multiply({}, np.tanh({}))", "{} / (2 + {} ** 2)",
          "np.maximum({}, {})", "np.minimum({}, {})", "np.add({}, {})", "np.hypot({} + 2, {})", "np.subtract({}, {})",
          "np.where({} > {c}, {c}, {})", "{} * {c} - {} * {c}", "np.fmax({}, {})", "np.arctan2({}, 2 + {} ** 2)")
SCALAR = ("math.sin({})", "math.tanh({})", "abs({})", "float(np.sin({}))", "np.cos({})", "math.exp(-{} ** 2)", "{} * {c}", "(-{})",
          "math.sqrt(1 + {} ** 2)", "np.tanh({})", "({} + {c})", "{} ** 2 * {c}", "pow({}, 2)", "np.float64({})", "(lambda q: q * {c})({})")
PAIR = ("({} + {})", "({} - {})", "{} * {}", "max({}, {})", "min({}, {})", "{} / (2 + {} ** 2)", "math.hypot({}, 1 + {})", "divmod({}, 7)[1] * {}",
        "sum(({}, {}))", "sum([{}, {}], 0.5)", "operator.add({}, {})", "np.maximum({}, {})", "max(({}, {}))", "np.dot({}, {})")
FOLD = ("np.sum({})", "{}.sum()", "np.mean({})", "np.sum(np.sin({}))", "np.sum({} ** 2)", "{}.mean()", "np.add.reduce({}, axis=None)",
        "np.max({})", "{}.min()", "np.linalg.norm({} + 2)", "float(np.sum({}))", "np.ravel({})[0]", "np.prod(1 + {c} * {})", "np.var({})",
        "np.vdot({}, {})", "np.sum({}, axis=0).sum()", "{}.flat[-1]", "{}.ravel()[-1]", "np.trapezoid(np.ravel({}))", "{}.item(0)")
FOLD1 = ("{a} @ {a}", "np.dot({a}, {a})", "np.einsum('i,i->', {a}, {a})", "sum({a})", "np.inner({a}, {a})", "max({a})", "min({a}, key=lambda q: q * q)",
         "functools.reduce(lambda p, q: p * {c} + q, {a}, 0.1)", "sum(q * k for k, q in enumerate({a}))", "sum(map(math.sin, {a}))",
         "sum(p * q for p, q in zip({a}, {a}))", "sorted({a})[0]", "{a}.dot({a})", "math.fsum({a})", "next(iter({a}))", "np.interp({c}, [0.0, 0.5, 2.0], {a}[:3])",
         "np.sort({a})[-1]", "{a}[np.argmax({a})]", "np.median({a})", "sum({a}.tolist())", "sum(reversed({a}))", "np.add.reduce({a})")


def literal(w):
    """Return a small constant with a fraction."""
    return repr(round(w.rng.choice((1, 1, -1)) * w.rng.uniform(0.1, 1.2), 2))


def _fill(w, form, operands):
    """Return a form with its places filled: `{}` with the next operand, `{c}` with a constant."""
    out, rest = [], list(operands)
    for piece in form.replace("{c}", "\0c").replace("{}", "\0x").split("\0"):
        if piece[:1] == "c" and out:
            out.append(literal(w) + piece[1:])
        elif piece[:1] == "x" and out:
            out.append(bracketed(rest.pop(0) if len(rest) > 1 else rest[0]) + piece[1:])
        else:
            out.append(piece)
    return "".join(out)


def bracketed(text):
    """Return an expression that operators and attributes may follow."""
    return f"({text})" if " " in text and not (text.isidentifier() or text[0] in "([" and text[-1] in ")]") else text


def number(w, d=2):
    """Return an expression for one number."""
    kind = w.rng.random()
    if d <= 0 or kind < 0.3:
        return _leaf_number(w)
    if kind < 0.5:
        return _fill(w, w.rng.choice(SCALAR), [number(w, d - 1)])
    if kind < 0.68:
        return _fill(w, w.rng.choice(PAIR), [number(w, d - 1), number(w, d - 1)])
    if kind < 0.9:
        return folded(w, d - 1)
    return w.rng.choice((_choice, _choice, _tested, _called, _walrus))(w, d)


def _leaf_number(w):
    """Return a number that needs no computation: a name, an element or a constant."""
    ref = w.pick(is_float)
    if ref and w.chance(0.6):
        return ref.text
    held = w.pick(lambda v: is_array(v) and v.size > 0)
    if held and w.chance(0.8):
        return element(w, held)
    whole = w.pick(is_int)
    if whole and w.chance(0.3):
        return f"({whole.text} * {literal(w)})"
    return literal(w)


def element(w, ref):
    """Return an element of an array."""
    at = [index(w, n, f"{ref.text}.shape[{k}]") for k, n in enumerate(ref.value.shape)]
    return f"{ref.text}[{', '.join(at)}]" if w.chance(0.8) else f"{ref.text}{''.join(f'[{i}]' for i in at)}"


def index(w, n, length=None):
    """Return a whole number that is a position in a sequence of n elements."""
    whole = w.pick(is_int)
    kind = w.rng.random()
    if kind < 0.2 and whole and length:
        return f"{whole.text} % {length}" if w.chance(0.6) else f"-1 - {whole.text} % {length}"
    if kind < 0.28:
        inside = w.pick(lambda v: is_int(v) and -n <= v < n)
        if inside:
            return inside.text
    if kind < 0.36:
        return f"int({boolean(w, 0)}) % {n}"
    k = w.rng.randrange(n)
    return str(k) if w.chance(0.65) else str(k - n)


def folded(w, d):
    """Return a number computed from a whole array."""
    ref = w.pick(lambda v: is_array(v) and v.size > 0)
    if ref is None:
        return _leaf_number(w)
    text = array(w, ref.value.shape, d) if w.chance(0.4) else ref.text
    if ref.value.ndim == 1 and w.chance(0.4):
        return _fill(w, w.rng.choice(FOLD1).replace("{a}", "{}"), [text])
    return _fill(w, w.rng.choice(FOLD), [text])


def _choice(w, d):
    return f"({number(w, d - 1)} if {boolean(w, d - 1)} else {number(w, d - 1)})"


def _tested(w, d):
    form = w.rng.choice(("({b} and {x})", "({b} or {x})", "({x} or {y})", "({x} and {y})", "[{x}, {y}][{b}]", "({x}, {y})[not {b}]"))
    return form.format(b=boolean(w, 0), x=number(w, d - 1), y=number(w, d - 1))


def _called(w, d):
    """Return a call of a function of the program that takes and gives a number."""
    known = [n for n in w.own if getattr(w.names.get(n), "numeric", False)]
    return f"{w.rng.choice(known)}({number(w, d - 1)})" if known else _leaf_number(w)


def _walrus(w, d):
    if "walrus" not in w.topics or w.depth > 2:
        return _leaf_number(w)
    return f"({w.fresh()} := {number(w, d - 1)})"


def whole(w):
    """Return a small whole number that is not negative."""
    ref = w.pick(lambda v: is_int(v) and 0 <= v < 5)
    sized = w.pick(lambda v: isinstance(v, (list, tuple, dict)) or is_array(v))
    kind = w.rng.random()
    if ref and kind < 0.4:
        return ref.text if w.chance(0.7) else f"({ref.text} + 1) // 2"
    if sized and kind < 0.7:
        return f"len({sized.text})"
    return str(w.rng.randrange(4))


def boolean(w, d=1):
    """Return a truth value that is far from where it changes, most of the time."""
    whole_ref, held = w.pick(is_int), w.pick(lambda v: isinstance(v, (list, tuple, dict)))
    forms = [lambda: f"{number(w, d - 1)} {w.rng.choice(('>', '<', '>=', '<='))} {literal(w)}"]
    if whole_ref:
        forms.append(lambda: f"{whole_ref.text} {w.rng.choice(('> 1', '== 0', '!= 1', '% 2 == 0', '% 2', '< 2'))}")
    if held:
        forms.append(lambda: w.rng.choice((f"len({held.text}) > 1", f"not {held.text}", f"bool({held.text})")))
    vector = w.pick(lambda v: is_array(v) and v.ndim == 1)
    if vector:
        forms.append(lambda: w.rng.choice(("any(q > {c} for q in {v})", "all(q < {c} for q in {v})", "np.any({v} > {c})", "(np.abs({v}) > 9).any()",
                                           "len({v}) > 2", "{v}.size", "{v}.ndim == 1")).format(c=literal(w), v=vector.text))
    if d > 0:
        forms.append(lambda: f"({boolean(w, d - 1)} {w.rng.choice(('and', 'or'))} {boolean(w, d - 1)})")
        forms.append(lambda: f"not {boolean(w, 0)}")
        forms.append(lambda: f"{literal(w)} < {number(w, d - 1)} < {literal(w)}")
        forms.append(lambda: f"({number(w, 0)} < {literal(w)}) == ({number(w, 0)} > 0)")
    one, two = w.pick(is_array), w.pick(is_array)
    if one:
        forms.append(lambda: f"{one.text} is {two.text}")
        forms.append(lambda: f"{one.text} is not None")
    return w.rng.choice(forms)()


def any_array(w, d=1):
    """Return an array expression and its shape."""
    ref = w.pick(is_array)
    shape = ref.value.shape if ref else (w.rng.randrange(1, 4),)
    return array(w, shape, d), shape


def array(w, shape, d=1):
    """Return an expression for an array of this shape."""
    from tests.random_python.arrays import built

    kind = w.rng.random()
    if d <= 0 or kind < 0.2:
        return _leaf_array(w, shape)
    if kind < 0.45:
        return _fill(w, w.rng.choice(UNARY), [array(w, shape, d - 1)])
    if kind < 0.65:
        other = number(w, d - 1) if w.chance(0.3) else array(w, shape, d - 1)
        return _fill(w, w.rng.choice(BINARY), [array(w, shape, d - 1), other])
    if kind < 0.72 and len(shape) > 1:
        return f"({array(w, shape, d - 1)} * {array(w, shape[1:], d - 1)})"
    return built(w, shape, d) or _leaf_array(w, shape)


def _leaf_array(w, shape):
    """Return a name of this shape, or the shortest expression that has it."""
    ref = w.pick(lambda v: is_array(v) and v.shape == shape)
    if ref and w.chance(0.85):
        return ref.text
    turned = w.pick(lambda v: is_array(v) and v.ndim > 1 and v.T.shape == shape)
    if turned and w.chance(0.6):
        return turned.text + ".T"
    if ref:
        return w.rng.choice((f"np.ones_like({ref.text})", f"np.zeros({ref.text}.shape)", f"np.full({ref.text}.shape, {number(w, 0)})"))
    row = w.pick(lambda v: is_array(v) and v.ndim > 1 and len(v) and v.shape[1:] == shape)
    if row and w.chance(0.7):
        return f"{row.text}[{index(w, len(row.value), f'len({row.text})')}]"
    longer = w.pick(lambda v: is_array(v) and v.ndim == 1 and (v.size,) > shape)
    if longer and len(shape) == 1 and w.chance(0.7):
        return f"{longer.text}[{longer.value.size - shape[0]}:]" if w.chance(0.6) else f"{longer.text}[:{shape[0]}]"
    same = w.pick(lambda v: is_array(v) and v.size == int(np.prod(shape)))
    if same and w.chance(0.7):
        return f"{same.text}.reshape({shape})"
    return f"np.full({shape}, {number(w, 0)})"


def shared(w, test):
    """Return a reference to an array, rather one whose memory another name also has."""
    found = [r for r in w.refs if test(r.value)]
    owners = [owner(r.value) for r in found]
    twice = [r for r, o in zip(found, owners) if owners.count(o) > 1]
    if twice and w.chance(0.6):
        return w.rng.choice(twice)
    return w.rng.choice(found) if found else None
