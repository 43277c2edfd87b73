"""From a seed to a program: the source of a module with `f` and `arguments`."""

import random
from dataclasses import dataclass

import numpy as np

from tests.random_python import VERSION
from tests.random_python.blocks import block, indented
from tests.random_python.expressions import number
from tests.random_python.prelude import everything, needed
from tests.random_python.scope import World, is_array
from tests.random_python.statements import COMPOUND, SIMPLE


@dataclass
class Program:
    """A drawn module, with the seed and the topics that it was drawn from."""

    seed: int
    source: str
    topics: tuple


def draw(seed):
    """Return the program of a seed; the same seed gives the same program."""
    rng = random.Random(f"{VERSION}:{seed}")
    others = [t for t in (*SIMPLE, *COMPOUND) if t not in ("base", "write", "alias")]
    extra = rng.sample(others, rng.choice((1, 2, 2, 3, 3, 4, 6)))
    topics = ["base", "write", "alias", *extra, *extra] + (["walrus"] if rng.random() < 0.1 else [])
    with np.errstate(all="ignore"):
        arguments = _arguments(rng)
        world = _world(rng, topics, arguments)
        body = ["s = 0.0", *block(world, world.budget[0])]
        if not world.done:
            body += _ending(world)
    return Program(seed, _module(arguments, body), tuple(extra))


def _world(rng, topics, arguments):
    """Return the world in which the body of `f` is drawn."""
    names = everything()
    exec(_argument_lines(arguments), names)
    values = names.pop("arguments")()
    names.pop("__builtins__", None)
    own = [name for name, _ in arguments]
    names.update(zip(own, values), s=0.0)
    world = World(rng, [t for t in topics if t != "walrus"], names, [*own, "s"])
    world.kept.add("s")
    world.budget[0] = rng.choice((2, 3, 4, 5, 6, 8, 10, 14))
    return world


def _arguments(rng):
    """Return the names and the source texts of the arguments."""
    makers = (_vector, _vector, _vector, _matrix, _matrix, _cube, _number, _number, _whole, _empty, _list, _list_of_numbers, _dict, _tuple)
    names = rng.sample(["x", "y", "z", "w"], rng.choice((1, 1, 2, 2, 3)))
    first = rng.choice((_vector, _vector, _matrix, _list, _dict, _tuple))
    return [(name, (first if k == 0 else rng.choice(makers))(rng)) for k, name in enumerate(names)]


def _digits(rng, n):
    return [round(rng.choice((1, 1, -1)) * rng.uniform(0.1, 1.2), 2) for _ in range(n)]


def _vector(rng):
    return f"np.array({_digits(rng, rng.choice((1, 2, 2, 3, 3, 3, 4)))})"


def _matrix(rng):
    rows, columns = rng.choice((1, 2, 2, 3)), rng.choice((1, 2, 2, 3))
    return f"np.array({[_digits(rng, columns) for _ in range(rows)]})"


def _cube(rng):
    return f"np.array({_digits(rng, 4)}).reshape({rng.choice(('1, 2, 2', '2, 1, 2', '2, 2, 1'))})"


def _number(rng):
    return repr(_digits(rng, 1)[0])


def _whole(rng):
    return str(rng.randrange(4))


def _empty(rng):
    return rng.choice(("np.zeros(0)", "np.zeros((0, 2))", "np.zeros((2, 0))"))


def _list(rng):
    n = rng.choice((2, 3))
    return f"[{', '.join(f'np.array({_digits(rng, n)})' for _ in range(rng.choice((1, 2, 3))))}]"


def _list_of_numbers(rng):
    return repr(_digits(rng, rng.choice((1, 2, 3))))


def _dict(rng):
    return f'{{"a": {_vector(rng)}, "b": {rng.choice((_vector, _number, _matrix))(rng)}}}'


def _tuple(rng):
    return f"({_vector(rng)}, {rng.choice((_vector, _number, _list))(rng)})"


def _argument_lines(arguments):
    """Return the source of the function that makes the arguments."""
    inner = ", ".join(text for _, text in arguments) + ("," if len(arguments) == 1 else "")
    return f"import numpy as np\ndef arguments():\n    return {inner}"


def _ending(w):
    """Return a `return` of a number that most of the names go into."""
    w.see()
    names = [r for r in w.refs if r.text not in w.kept]
    chosen = w.rng.sample(names, min(len(names), w.rng.choice((1, 2, 3, 4, 5))))
    terms = [t for t in (_term(w, r) for r in chosen) if t]
    return ["RETURN s + " + " + ".join(terms)] if terms else ["RETURN s * 1.0"]


def _term(w, ref):
    """Return a number that depends on a value, or None."""
    text, v = ref.text, ref.value
    c = w.rng.choice(("2", "0.7", "-1.3"))
    if isinstance(v, np.ndarray) and v.dtype.kind in "fib":
        return w.rng.choice((f"np.sum({text})", f"np.sum(np.sin({text}))", f"np.sum({text} ** 2) * {c}", f"{text}.sum() * {c}"))
    if isinstance(v, (bool, int, float, np.floating, np.integer)):
        return w.rng.choice((f"{text} * {c}", text, f"{text} * {number(w, 0)}"))
    if isinstance(v, dict):
        v = list(v.values())
        text = f"{text}.values()"
    if isinstance(v, (list, tuple)) and v and all(is_array(q) or isinstance(q, float) for q in v):
        return w.rng.choice((f"sum(np.sum(q) * (k + 1) for k, q in enumerate({text}))", f"sum(np.sum(q) for q in {text}) * {c}"))
    if isinstance(v, (list, tuple)):
        return f"len({text})"
    return None


def _module(arguments, body):
    """Return the source of the whole module."""
    parameters = ", ".join(name for name, _ in arguments)
    lines = [f"def f({parameters}):", *indented(line.replace("RETURN", "return") for line in body)]
    maker = _argument_lines(arguments).split("\n")[1:]
    text = "\n".join([*lines, "", "", *maker])
    return "\n".join([*needed(text + " np"), "", "", text, ""])
