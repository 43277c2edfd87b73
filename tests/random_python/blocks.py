"""Statements that contain statements: branches, loops, exceptions, `with` and `match`."""

from tests.random_python.expressions import boolean, literal, number, whole
from tests.random_python.scope import is_array, is_int
from tests.random_python.templates import Missing, filled

LOOPS = r"""
for {t} in range({int}):
for {t} in range({int}):
for {t} in range({int}, -1, -1):
for {t} in range(1, {int}):
for {t} in range(len({V})):
for {t} in {V}:
for {t} in {M}:
for {t} in {L}:
for {t} in {T}:
for {t} in {L}[::-1]:
for {t} in ({A}, {A}):
for {t} in [{A}, {A}, {num}]:
for {t} in {V}.tolist():
for {t}, {t} in enumerate({V}):
for {t}, {t} in enumerate({L}):
for {t}, {t} in enumerate({LA}, 1):
for {t}, {t} in zip({V}, {V}):
for {t}, {t} in zip({LA}, {LA}):
for {t}, {t} in zip({V}, range({int})):
for {t}, {t} in {D}.items():
for {t} in {D}.values():
for {t} in {D}:
for {t} in sorted({D}):
for {t} in reversed({L}):
for {t} in reversed(range({int})):
for {t} in (q * {n} for q in {V}):
for {t} in map(lambda q: q * {n}, {V}):
for {t} in halves({V}):
for {t} in Countdown({num}, {int}):
for {t} in {S}:
for {t} in itertools.chain({V}, {LF}):
for {t} in filter(lambda q: q > {c}, {V}):
for {t}, {t} in itertools.pairwise({V}):
for {t}, ({t}, {t}) in enumerate(zip({V}, {V})):
for {t}, {t} in itertools.product(range(2), {V}):
for {t}, *{t} in [({num}, {num}, {A}), ({num}, {A})]:
for {V1}[0] in ({num}, {num}):
for {t} in np.ndindex({A1}.shape):
for {t} in iter({V}):
for {t} in list({LA}):
for {t} in {A}.T:
for {t} in range({int}, {int}):
for {t} in np.arange({int}):
for {t} in {L1}[1:]:
""".strip().splitlines()

WITHS = r"""
with np.errstate(all="ignore"):
with contextlib.nullcontext({A}) as {t}:
with contextlib.suppress(KeyError, IndexError):
with Guard({V}) as {t}:
with locked({V}) as {t}:
with Guard({V}), np.errstate(divide="ignore"):
""".strip().splitlines()

FAILS = r"""
raise ValueError("no")
{t} = {D}["missing"]
{t} = {L}[100]
{t} = int("x")
{t} = {V} @ np.ones(33)
assert False
if {bool}: raise KeyError("no")
{t} = None + {num}
""".strip().splitlines()


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
    body = filled(w, w.rng.choice((f"{name} = {{some}}", f"{name} = {{A}}", f"{name} = [{{item}}, {{num}}]", f"{name} = {{num}}")))
    lines = [f"{flag} = {boolean(w)}", f"if {flag}:", *indented(body)]
    between = inside(w, lines)
    return lines + [f"if {flag}:", *between]


def for_loop(w):
    """Draw a `for` over something that can be iterated."""
    header = filled(w, w.rng.choice(LOOPS))
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
    if w.chance(0.6):
        body += indented(filled(w, w.rng.choice(FAILS)))
    lines = ["try:", *body]
    if w.chance(0.75):
        caught = w.rng.choice(("Exception", "(ValueError, KeyError, IndexError, TypeError, AssertionError)", "Exception as error"))
        lines += [f"except {caught}:", *inside(w)]
        lines += ["else:", *inside(w)] if w.chance(0.3) else []
        lines += ["finally:", *inside(w)] if w.chance(0.3) else []
    else:
        lines += ["finally:", *inside(w)]
    return lines


def context(w):
    """Draw a `with`."""
    header = filled(w, w.rng.choice(WITHS))
    return header + inside(w, header + ["    pass"])


def matched(w):
    """Draw a `match` on a number, a sequence, a dict or an object."""
    fork = w.pick(lambda v: isinstance(v, (list, tuple, dict)) or is_int(v))
    subject = fork.text if fork and w.chance(0.7) else w.rng.choice((f"({number(w)}, {number(w)})", f"[{number(w)}]", whole(w)))
    p, q = w.fresh(), w.fresh()
    forms = ["case 0 | 1:", f"case [{p}]:", f"case [{p}, {q}] if {literal(w)} > 0:" if p != q else "case 2:", f"case [{p}, *{q}]:" if p != q else "case 3:",
             f'case {{"a": {p}}}:', "case int():", f"case Point({p}, {literal(w)}):", f"case (float() as {p}, _):", f"case Cell(v={p}):"]
    lines = [f"match {subject}:"]
    for form in w.rng.sample(forms, 2):
        lines += indented([form, *inside(w)])
    return lines + indented([f"case {p}:" if w.chance(0.2) else "case _:", *inside(w)])


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
    made = filled(w, w.rng.choice((f"{name} = ({{A1}}, {{A1}})", f"{name} = [{{A}}, {{A}}]", f"{name} = {{A}}", f"{name} = {{A1}}[1:]",
                                   f"{name} = [q * {{c}} for q in {{V}}]", f"{name} = {{arr}}", f"{name} = collections.defaultdict(float)",
                                   f"{name} = sorted({{LA}}, key=np.sum)", f"{name} = Cell({{A}})", f"{name} = [np.zeros(2)] * 2")))
    header = w.rng.choice((f"for {w.fresh('j')} in range({w.rng.choice((1, 2, 3))}):", f"if {boolean(w)}:", "if True:", "while True:"))
    rest = inside(w, made) if w.chance(0.5) else []
    return [header, *indented(made), *rest] + (["    break"] if header[:5] == "while" else [])
