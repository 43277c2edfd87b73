"""Functions, lambdas, generators and classes that are defined inside the drawn function."""

import ast

from tests.random_python.blocks import block, indented
from tests.random_python.expressions import boolean, number
from tests.random_python.prelude import forms
from tests.random_python.scope import is_array
from tests.random_python.templates import Missing, filled


def _body(w, parameters, samples):
    """Draw the body of a function: its lines and the names that it must declare as not its own."""
    fork = w.fork()
    fork.nested, fork.loops = True, 0
    for name, value in zip(parameters, samples):
        fork.bind(name, value)
        fork.kept.discard(name)
    fork.topics = [t for t in w.topics if t not in ("functions", "generators")]
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
    use = w.rng.choice(forms("uses")).replace("{t}", w.target()).replace("{call}", call)
    return [f"def {name}({', '.join(signature)}):", *indented([*lines, f"return {result}"]), use]


def generator(w):
    """Draw a generator function and what consumes it."""
    name, parameter = w.fresh("g"), w.fresh("y")
    ref = w.pick(lambda v: is_array(v) and v.ndim == 1)
    if ref is None:
        raise Missing
    lines, result = _body(w, [parameter], [ref.value])
    inner = [f"for y in {parameter}:", "    yield y", *indented(lines), f"yield {result}"]
    if w.chance(0.5):
        inner = [*lines, f"yield {result}", f"yield from {parameter}"]
    call = f"{name}({ref.text})"
    use = filled(w, w.rng.choice(forms("generator_uses")).replace("{call}", call))
    return [f"def {name}({parameter}):", *indented(inner), *use]


def snippet(w):
    """Draw one of the usual shapes of closures, decorators and classes."""
    return filled(w, w.rng.choice(forms("snippets")))


def numeric(w):
    """Draw a function of one number that expressions may call."""
    name = w.fresh("k")
    fork = w.fork()
    fork.bind("q", 0.3)
    body = [f"return {number(fork)} * q"]
    if w.chance(0.5):
        body = [f"if {boolean(fork)}:", f"    return q * {number(fork)}", "return q * 0.5"]
    lines = [f"def {name}(q):", *indented(body)]
    if not w.trial(lines):
        raise Missing
    w.names[name].numeric = True
    return lines
