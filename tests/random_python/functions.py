"""Functions, lambdas, generators and classes that are defined inside the drawn function."""

import ast

from tests.random_python.blocks import block, indented
from tests.random_python.expressions import boolean, number
from tests.random_python.scope import is_array
from tests.random_python.templates import Missing, filled


def _body(w, parameters, samples):
    """Draw the body of a function: its lines and the names that it must declare as not its own."""
    fork = w.fork()
    fork.nested, fork.loops = True, 0
    for name, value in zip(parameters, samples):
        fork.bind(name, value)
        fork.kept.discard(name)
    fork.topics = [t for t in w.topics if t != "functions"]
    lines = block(fork, w.rng.choice((1, 2, 2, 3)))
    result = number(fork)
    stored = _stored(lines)
    outer = [n for n in w.own if n in stored and n not in parameters]
    free = [n for n in outer if w.chance(0.85)]
    declared = [f"nonlocal {', '.join(free)}"] if free else []
    return [line.replace("RETURN", "return") for line in declared + lines], result


def _stored(lines):
    """Return the names that statements bind, apart from those in functions inside."""
    text = "\n".join(lines).replace("RETURN ", "0, ")
    try:
        tree = ast.parse("for _q in ():\n" + "\n".join("    " + line for line in text.split("\n")))
    except SyntaxError:
        raise Missing from None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
    return found - {"_q"}


def _arguments(w, count):
    """Return references for so many arguments."""
    found = [w.pick(lambda v: is_array(v) or isinstance(v, (float, list, dict))) for _ in range(count)]
    if None in found:
        raise Missing
    return found


def function(w):
    """Draw a function with a drawn body, and a call of it."""
    name, taken = w.fresh("f"), _arguments(w, w.rng.choice((0, 1, 1, 2)))
    parameters = [w.fresh("y") for _ in taken]
    lines, result = _body(w, parameters, [r.value for r in taken])
    passed = [r.text for r in taken]
    if w.chance(0.2) and parameters:
        result = parameters[0]
    signature = list(parameters)
    if parameters and w.chance(0.3):
        signature[-1] += f"={passed.pop()}"
    elif parameters and w.chance(0.2):
        passed[-1] = f"{parameters[-1]}={passed[-1]}"
    call = f"{name}({', '.join(passed)})"
    use = w.rng.choice((f"{w.target()} = {call}", f"s += np.sum({call})", call, f"{w.target()} = {call} + {call}", f"{w.target()} = [{call}, {call}]"))
    return [f"def {name}({', '.join(signature)}):", *indented([*lines, f"return {result}"]), use]


def generator(w):
    """Draw a generator function and what consumes it."""
    name, parameter = w.fresh("g"), w.fresh("y")
    ref = w.pick(lambda v: is_array(v) and v.ndim == 1)
    if ref is None:
        raise Missing
    lines, result = _body(w, [parameter], [ref.value])
    inner = [f"for y in {parameter}:", "    yield y", *indented(lines), f"yield {result}"]
    if w.chance(0.4):
        inner = [*lines, f"yield {result}", f"yield from {parameter}"]
    call = f"{name}({ref.text})"
    use = w.rng.choice((f"s += sum({call})", f"{w.target()} = list({call})", f"for {w.target()} in {call}: s += 0.1", f"{w.target()} = next({call})",
                        f"{w.fresh()}, *{w.fresh()} = {call}", f"{w.target()} = max({call})"))
    return [f"def {name}({parameter}):", *indented(inner), use]


SNIPPETS = r"""
{new1} = lambda q: q * {num}\n{t} = {new1}({num})
{new1} = []\nfor {new2} in range(3):\n    {new1}.append(lambda q: q * {new2})\n{t} = [f({num}) for f in {new1}]
{new1} = []\nfor {new2} in {V}:\n    {new1}.append(lambda q, k={new2}: q * k)\n{t} = sum(f({num}) for f in {new1})
{new1} = [lambda: {A1}[0] * k for k in range(2)]\n{A1}[0] = {num}\n{t} = {new1}[0]()
{new1} = lambda: {X1} * {c}\n{X1} = {num}\n{t} = {new1}()
{new1} = 0.0\ndef {new2}(q):\n    nonlocal {new1}\n    {new1} += q\n    return {new1}\n{t} = {new2}({num}) + {new2}({num}) * {new1}
{new1} = 0\ndef {new2}(q):\n    nonlocal {new1}\n    {new1} += 1\n    return q > {c}\n{t} = {new2}({num}) and {new2}({num})\ns += {new1}
{new1} = 0\ndef {new2}(q):\n    nonlocal {new1}\n    {new1} += 1\n    return q\n{t} = {new2}({num}) < {new2}({num}) < {new2}({num})\ns += {new1} * {num}
{new1} = 0\ndef {new2}(q):\n    nonlocal {new1}\n    {new1} += 1\n    return q > {c}\n{t} = any({new2}(q) for q in {V})\ns += {new1} * {num}
def {new2}(q, held=[]):\n    held.append(q)\n    return len(held)\ns += {new2}({num}) * {num}
def {new2}(q, *rest, k={num}, **more):\n    return q * k + sum(rest) + sum(more.values())\n{t} = {new2}({num}, {num}, k={num}, z={num})
def {new2}(n):\n    return {num} if n < 1 else {new2}(n - 1) * {c} + {num}\ns += {new2}({int})
def {new2}():\n    {V1}[0] = {num}\n    return {num}\n{V1}[0] += {new2}()
def {new2}():\n    {V1}[-1] *= {c}\n    return {num}\n{t} = {V1}[-1] + {new2}()
def {new2}(q):\n    q[0] = {num}\n    return q\n{t} = {new2}({A})\n{t} = {new2}({V}[::-1])
def {new2}(q):\n    q = q * 2\n    q[0] = {num}\n    return q\n{t} = {new2}({A})
def {new2}(q):\n    q += {num}\n{new2}({A})
def {new2}(q):\n    q *= 2\n{new2}({L})
def {new2}(q):\n    def inner(p):\n        return p * q\n    return inner\n{t} = {new2}({num})({num})
def {new2}():\n    yield {num}\n    {V1}[0] = {num}\n    yield {V1}[0]\n{t} = list({new2}())
def {new2}(q):\n    try:\n        return q[0]\n    finally:\n        q[0] = {num}\n{t} = {new2}({V})
def {new2}(q):\n    for k in range(3):\n        try:\n            if k == 1: continue\n            q = q * {c}\n        finally:\n            q = q + {c}\n    return q\n{t} = {new2}({num})
def {new2}(q):\n    for p in q:\n        if p > {c}:\n            return p\n    return {num}\n{t} = {new2}({V})
@functools.lru_cache\ndef {new2}(k):\n    return k * {num}\n{t} = {new2}(1) + {new2}(1)
@doubled\ndef {new2}(q):\n    return q * {num}\n{t} = {new2}({num})
class {new1}:\n    def __init__(self, q):\n        self.q = q\n    def __getitem__(self, k):\n        return self.q[k]\n    def __setitem__(self, k, p):\n        self.q[k] = p\n{new2} = {new1}({V})\n{new2}[0] = {num}\n{t} = {new2}[0]
class {new1}(Cell):\n    def times(self, q):\n        self.v = self.v + q\n        return self.v\n{new2} = {new1}({num})\n{t} = {new2}.times({num}) * {new2}.v
class {new1}:\n    def __init__(self):\n        self.held = []\n    def add(self, q):\n        self.held.append(q)\n        return self\n{t} = {new1}().add({item}).add({num}).held
class {new1}:\n    q = {num}\n    @property\n    def p(self):\n        return self.q * 2\n    @p.setter\n    def p(self, to):\n        self.q = to\n{new2} = {new1}()\n{new2}.p = {num}\n{t} = {new2}.p
class {new1}(list):\n    pass\n{t} = {new1}([{num}, {num}])[0]
{new1} = {"f": lambda q: q * {num}, "g": lambda q: q + {num}}\n{t} = {new1}["g"]({new1}["f"]({num}))
{new1} = {A}.sum\n{t} = {new1}()
{new1} = {L1}.append\n{new1}({num})
{new1}, {new2} = np.sin, np.add\n{t} = {new2}({new1}({arr}), {num})
""".strip().splitlines()


def snippet(w):
    """Draw one of the usual shapes of closures, decorators and classes."""
    return filled(w, w.rng.choice(SNIPPETS).replace("\\n", "\n"))


def numeric(w):
    """Draw a function of one number that expressions may call."""
    name = w.fresh("k")
    fork = w.fork()
    fork.bind("q", 0.3)
    body = [f"return {number(fork)} * q"] if w.chance(0.5) else [f"if {boolean(fork)}:", f"    return q * {number(fork)}", "return q * 0.5"]
    lines = [f"def {name}(q):", *indented(body)]
    if not w.trial(lines):
        raise Missing
    w.names[name].numeric = True
    return lines
