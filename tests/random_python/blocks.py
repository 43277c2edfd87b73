"""Statements that contain statements: branches, loops, exceptions, `with` and `match`."""

from tests.random_python.expressions import boolean, number, whole
from tests.random_python.prelude import forms
from tests.random_python.scope import is_array, is_int, is_record
from tests.random_python.templates import Missing, filled


def indented(lines):
    """Return the lines one level deeper."""
    return ["    " + line for line in lines]


def block(w, count):
    """Draw so many statements one after the other."""
    from tests.random_python.statements import statement

    lines = []
    for _ in range(count):
        if w.done or w.budget[0] <= 0:
            break
        lines += statement(w)
    return lines or ["pass"]


def inside(w, header=(), loop=False):
    """Draw the body of a compound statement; its header runs first, with nothing in it, for the names that it binds."""
    fork = w.fork()
    if header and not fork.trial(list(header)):
        raise Missing
    fork.loops += loop
    body = block(fork, w.rng.choice((1, 1, 2, 2, 3)))
    if loop and w.chance(0.15):
        body.insert(w.rng.randrange(len(body) + 1), f"if {boolean(fork)}: {w.rng.choice(('break', 'continue'))}")
    return indented(body)


def branch(w):
    """Draw an `if`, with or without `elif` and `else`."""
    lines = [f"if {boolean(w)}:", *inside(w)]
    if w.chance(0.2):
        lines += [f"elif {boolean(w)}:", *inside(w)]
    if w.chance(0.5):
        lines += ["else:", *inside(w)]
    return lines


def flagged(w):
    """Draw a name that is bound under a condition and used under the same one."""
    flag, name = w.fresh(), w.fresh()
    body = filled(w, f"{name} = {w.rng.choice(forms('made_inside'))}")
    lines = [f"{flag} = {boolean(w)}", f"if {flag}:", *indented(body)]
    between = inside(w, lines)
    return lines + [f"if {flag}:", *between]


def for_loop(w):
    """Draw a `for` over something that can be iterated."""
    header = filled(w, w.rng.choice(forms("loop_headers")))
    lines = header + inside(w, header + ["    break"], loop=True)
    return lines + _otherwise(w)


def _otherwise(w):
    return ["else:", *inside(w)] if w.chance(0.15) else []


def while_loop(w):
    """Draw a `while` that ends: a counter, a list that is emptied, or a `break`."""
    kind = w.rng.random()
    if kind < 0.3:
        held = w.pick(lambda v: isinstance(v, list) and 0 < len(v) < 6)
        if held is None or not held.text.isidentifier():
            raise Missing
        name = w.fresh()
        first = f"{name} = {held.text}.pop({w.rng.choice(('', '0'))})"
        return [f"while {held.text}:", "    " + first, *inside(w, [first], loop=True)] + _otherwise(w)
    k = w.fresh("i")
    w.kept.add(k)
    test = f"{k} < {whole(w)}" if kind < 0.8 else "True"
    stop = [f"    if {k} > 2: break"] if test == "True" or w.chance(0.3) else []
    if w.chance(0.3):
        test = f"{test} and {number(w, 1)} < 9"
    body = inside(w, [f"{k} = 0"], loop=True)
    lines = [f"{k} = 0", f"while {test}:", f"    {k} += 1", *stop, *body]
    return lines + _otherwise(w)


def attempt(w):
    """Draw a `try` with what fails in it or not, and what follows."""
    body = inside(w)
    if w.chance(0.4):
        body += indented(filled(w, w.rng.choice(forms("failing"))))
    lines = ["try:", *body]
    if w.chance(0.75):
        lines += [w.rng.choice(forms("caught")), *inside(w)]
        lines += ["else:", *inside(w)] if w.chance(0.3) else []
        lines += ["finally:", *inside(w)] if w.chance(0.3) else []
    else:
        lines += ["finally:", *inside(w)]
    return lines


def context(w):
    """Draw a `with`."""
    header = filled(w, w.rng.choice(forms("with_headers")))
    return header + inside(w, header + ["    pass"])


def matched(w):
    """Draw a `match` on a number, a sequence, a dict or an object."""
    held = w.pick(lambda v: isinstance(v, (list, tuple, dict)) or is_int(v) or is_record(v))
    others = (f"({number(w)}, {number(w)})", f"[{number(w)}]", whole(w))
    lines = [f"match {held.text if held and w.chance(0.7) else w.rng.choice(others)}:"]
    for form in w.rng.sample(forms("cases"), 2):
        lines += indented([*filled(w, form), *inside(w)])
    return lines + indented([*filled(w, w.rng.choice(("case {new}:", "case _:", "case _:"))), *inside(w)])


def leaving(w):
    """Draw a `return` under a condition."""
    ref = w.pick(lambda v: is_array(v) and v.size > 0)
    result = f"float(np.sum({ref.text})) + {number(w)}" if ref and w.chance(0.6) else number(w)
    return [f"if {boolean(w)}:", f"    RETURN {result}"]


def jump(w):
    """Draw a `break` or `continue` under a condition, in a loop."""
    if not w.loops:
        raise Missing
    return [f"if {boolean(w)}:", f"    {w.rng.choice(('break', 'continue'))}"]


def bound_late(w):
    """Draw a container that a loop or a branch makes and a later statement reads."""
    name = w.fresh()
    made = filled(w, f"{name} = {w.rng.choice(forms('made_inside'))}")
    loop = f"for {w.fresh('j')} in range({w.rng.choice((1, 2, 3))}):"
    header = w.rng.choice((loop, loop, f"if {boolean(w)}:", "if True:", "while True:"))
    rest = inside(w, made) if w.chance(0.5) else []
    return [header, *indented(made), *rest] + (["    break"] if header[:5] == "while" else [])
