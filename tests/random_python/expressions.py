"""Expressions: numbers, whole numbers, truth values, and arrays of a wanted shape."""

import numpy as np

from tests.random_python.prelude import forms
from tests.random_python.scope import is_array, is_float, is_int, owner


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
        return _fill(w, w.rng.choice(forms("number_scalar")), [number(w, d - 1)])
    if kind < 0.68:
        return _fill(w, w.rng.choice(forms("number_pair")), [number(w, d - 1), number(w, d - 1)])
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
        return _fill(w, w.rng.choice(forms("number_fold1")).replace("{a}", "{}"), [text])
    return _fill(w, w.rng.choice(forms("number_fold")), [text])


def _choice(w, d):
    return f"({number(w, d - 1)} if {boolean(w, d - 1)} else {number(w, d - 1)})"


def _tested(w, d):
    form = w.rng.choice(forms("number_tested"))
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
    makers = [_compared, _of_existing, _of_existing]
    if d > 0:
        makers += [_joined, lambda w, d: f"not {boolean(w, 0)}", _chained]
    return w.rng.choice(makers)(w, d)


def _compared(w, d):
    return f"{number(w, d - 1)} {w.rng.choice(('>', '<', '>=', '<='))} {literal(w)}"


def _joined(w, d):
    return f"({boolean(w, d - 1)} {w.rng.choice(('and', 'or'))} {boolean(w, d - 1)})"


def _chained(w, d):
    if w.chance(0.5):
        return f"({number(w, 0)} < {literal(w)}) == ({number(w, 0)} > 0)"
    return f"{literal(w)} < {number(w, d - 1)} < {literal(w)}"


def _of_existing(w, d):
    """Return a truth value of a whole number, a container or an array that exists."""
    kinds = {
        "truth_int": is_int,
        "truth_sized": lambda v: isinstance(v, (list, tuple, dict)),
        "truth_array": is_array,
        "truth_vector": lambda v: is_array(v) and v.ndim == 1,
    }
    kind = w.rng.choice(list(kinds))
    one, two = w.pick(kinds[kind]), w.pick(kinds[kind])
    if one is None:
        return _compared(w, d)
    form = w.rng.choice(forms(kind))
    return form.replace("{v}", one.text).replace("{u}", two.text).replace("{c}", literal(w))


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
        return _fill(w, w.rng.choice(forms("array_unary")), [array(w, shape, d - 1)])
    if kind < 0.65:
        other = number(w, d - 1) if w.chance(0.3) else array(w, shape, d - 1)
        return _fill(w, w.rng.choice(forms("array_binary")), [array(w, shape, d - 1), other])
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
        made = ("np.ones_like({})", "np.zeros({}.shape)", f"np.full({{}}.shape, {number(w, 0)})")
        return w.rng.choice(made).replace("{}", ref.text)
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
