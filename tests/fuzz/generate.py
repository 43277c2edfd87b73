"""Random NumPy programs with loops, branches, aliases, views, writes, calls and containers.

`generate(seed)` gives the text of a module with a function `program` and a function `make_args`. The writer knows the shape of
every name at every point, so that its programs run; it knows nothing of values beyond keeping them small, and nothing of who
shares memory with whom, so that every entanglement comes about.

A name keeps its kind and shape while a block is open that may run any number of times; names made inside a block are
forgotten at its end.
"""

import random

from tests.fuzz.entangled import Entangled
from tests.fuzz.kinds import HELPERS, Array, BoxOf, DictOf, Integer, ListOf, Number, TupleOf, kind_of


class Writer(Entangled):
    """Writes one program."""

    def parameters(self):
        """The parameters' kinds; writes nothing."""
        made = {}
        for name in ("a", "b", "c")[: self.choice((1, 2, 2, 3))]:
            kind = self.choice(("array", "array", "array", "number", "list", "dict"))
            shape = self.shape(self.choice((1, 2)))
            made[name] = {
                "array": Array(shape), "number": Number(), "list": ListOf(shape, 2),
                "dict": DictOf((("p", shape), ("q", self.shape()))),
            }[kind]  # fmt: skip
        if all(isinstance(k, Number) for k in made.values()):
            made["a"] = Array(self.shape(1))
        if self.chance(0.5):
            made["n"] = Integer(0, 3)
        return made

    def literal(self, kind):
        if isinstance(kind, Integer):
            return str(self.random.randint(kind.low, kind.high))
        if isinstance(kind, Number):
            return repr(round(self.random.uniform(-1.5, 1.5), 3))
        if isinstance(kind, ListOf):
            return f"[{', '.join(self.literal(kind_of(kind.shape)) for _ in range(kind.least))}]"
        if isinstance(kind, DictOf):
            return "{" + ", ".join(f"{key!r}: {self.literal(kind_of(s))}" for key, s in kind.items) + "}"

        def nested(shape):
            if not shape:
                return repr(round(self.random.uniform(-1.5, 1.5), 3))
            return f"[{', '.join(nested(shape[1:]) for _ in range(shape[0]))}]"

        if self.single:
            return f"np.array({nested(kind.shape)}, dtype=np.float32)"
        if self.chance(0.1):  # layouts decide what reshape and ravel share
            layout = self.choice(("np.asfortranarray({})", "{}[::-1]", "{}.T.copy().T"))
            return layout.format(f"np.array({nested(kind.shape)})")
        return f"np.array({nested(kind.shape)})"

    def result(self):
        """A number that depends on all that is still in scope."""
        terms = []
        for name, kind in self.env.items():
            if isinstance(kind, Array):
                terms.append(
                    self.choice(("np.sum(np.sin({}))", "np.sum({} ** 2)", "np.mean({})", "({} * {}).sum()")).format(
                        name, name
                    )
                )
            elif isinstance(kind, Number):
                terms.append(self.choice(("np.sin({})", "{}", "{} * {}")).format(name, name))
            elif isinstance(kind, ListOf):
                terms.append(
                    f"sum([np.sum({name}_item) for {name}_item in {name}])"
                    if self.chance(0.4)
                    else f"np.sum(np.cos({name}[-1]))"
                )
            elif isinstance(kind, BoxOf):
                terms.append(f"np.sum({name}.data ** 2)")
            elif isinstance(kind, TupleOf):
                terms.append(f"np.sum({name}[0] ** 2) + np.sum({name}[1])")
            elif isinstance(kind, DictOf):
                terms += [f"np.sum({name}[{key!r}] * {name}[{key!r}])" for key, _ in kind.items]
        return terms

    def write_program(self):
        kinds = self.parameters()
        self.single = self.chance(0.06)
        self.env.update(kinds)
        self.fixed |= {n for n, k in kinds.items() if isinstance(k, Integer)}
        arguments = [self.literal(k) for k in kinds.values()]
        while self.size > 0:
            self.size -= 1
            self.statement()
        terms = self.result()
        self.line("loss = " + " + ".join(terms[:3]))
        for start in range(3, len(terms), 3):
            self.line("loss = loss * 0.7 + " + " + ".join(terms[start : start + 3]))
        self.line("return loss")
        body = "\n".join(self.lines)
        used = [text for name, text in HELPERS.items() if f"{name}(" in body or f"({name}," in body]
        wrt = tuple(i for i, k in enumerate(kinds.values()) if not isinstance(k, Integer))
        return (
            "import numpy as np\n\n\n"
            + "".join(text + "\n\n" for text in used)
            + f"def program({', '.join(kinds)}):\n{body}\n\n\n"
            + f"WRT = {wrt}\n\n\n"
            + f"def make_args():\n    return ({', '.join(arguments)},)\n"
        )


def generate(seed, size=None):
    """The text of the module for this seed; `size` is about how many statements it has (default: random, 3 to 14)."""
    size = random.Random(seed).randint(3, 14) if size is None else size
    return Writer(seed, size).write_program()
