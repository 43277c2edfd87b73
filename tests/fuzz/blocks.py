"""Random blocks: branches, loops over ranges and sequences, `while`, ways to leave a loop."""

from tests.fuzz.kinds import Integer, ListOf, Number, kind_of
from tests.fuzz.statements import Statements


class Blocks(Statements):
    """Statements that hold others."""

    def block(self, count=None, **names):
        """The statements of a block, with `names` in scope; what it defines is forgotten afterwards."""
        outer, fixed = dict(self.env), set(self.fixed)
        self.env.update(names)
        self.fixed |= {n for n, kind in names.items() if isinstance(kind, Integer)}
        self.indent += 1
        self.depth += 1
        for _ in range(count or self.choice((1, 2, 2, 3, 4))):
            self.size -= 1
            self.statement()
        self.depth -= 1
        self.indent -= 1
        self.env, self.fixed = {n: self.env.get(n, k) for n, k in outer.items()}, fixed

    def branch(self):
        if self.depth > 2:
            return False
        self.line(f"if {self.condition()}:")
        self.block()
        if self.chance(0.25):
            self.line(f"elif {self.condition()}:")
            self.block(1)
        if self.chance(0.6):
            self.line("else:")
            self.block()
        elif self.depth == 0 and self.chance(0.2):
            self.line("else:")
            self.line(f"    return {self.expr((), 2)}")

    def for_range(self):
        if self.loops > 1 or self.depth > 2:
            return False
        i = self.new_name("i")
        outer = self.names(lambda k: isinstance(k, Integer) and k.high <= 4)
        options = [("2", 0, 1), ("3", 0, 2), ("1", 0, 0), ("0", 0, 0), ("3, 1", 1, 3)]
        options += [("1, 3", 1, 2), ("2, -1, -1", 0, 2), ("0, 4, 2", 0, 2)]
        for name in outer * 2:
            high = max(self.env[name].high, 0)
            options += [
                (name, 0, max(high - 1, 0)),
                (f"{name} + 1", 0, high),
                (f"{name}, 3", min(self.env[name].low, 0), 3),
            ]
            options += [(f"{name}, -1, -1", 0, high)]
        for name in self.arrays()[:3]:
            options.append((f"len({name})", 0, self.env[name].shape[0] - 1))
            options.append((f"{name}.shape[0]", 0, self.env[name].shape[0] - 1))
        text, low, high = self.choice(options)
        self.line(f"for {i} in range({text}):")
        self.loops += 1
        self.block(**{i: Integer(low, high)})
        self.loops -= 1
        if self.chance(0.08):
            self.line("else:")
            self.block(1)

    def for_sequence(self):
        if self.loops > 1 or self.depth > 2:
            return False
        e, i, busy = self.new_name("e"), self.new_name("i"), set()
        arrays, lists = self.arrays(), self.names(lambda k: isinstance(k, ListOf))
        if lists and self.chance(0.4):
            name = self.choice(lists)
            busy = {name} - self.fixed
            self.fixed |= busy  # it must not grow while it is walked
            head, names = f"{e} in {name}", {e: kind_of(self.env[name].shape)}
        elif arrays:
            name = self.choice(arrays)
            n, *rest = self.env[name].shape
            item = kind_of(tuple(rest))
            others = [a for a in arrays if self.env[a].shape[0] == n and a != name]
            if others and self.chance(0.3):
                other = self.choice(others)
                g = self.new_name("e")
                head, names = f"{e}, {g} in zip({name}, {other})", {e: item, g: kind_of(self.env[other].shape[1:])}
            elif self.chance(0.4):
                head, names = f"{i}, {e} in enumerate({name})", {i: Integer(0, n - 1), e: item}
            elif self.chance(0.2):
                head, names = f"{e} in reversed({name})", {e: item}
            else:
                head, names = f"{e} in {name}", {e: item}
        else:
            values = ", ".join(self.constant() for _ in range(self.choice((1, 2, 3))))
            head, names = f"{e} in {self.choice((f'[{values}]', f'({values},)'))}", {e: Number()}
        self.line(f"for {head}:")
        self.loops += 1
        self.block(**names)
        self.loops -= 1
        self.fixed -= busy

    def while_loop(self):
        if self.loops > 1 or self.depth > 2:
            return False
        k = self.new_name("k")
        self.line(f"{k} = 0")
        data = f" and {self.scalar_of_data()} < 3.217" if self.chance(0.3) else ""
        self.line(f"while {k} < {self.choice((0, 1, 2, 3))}{data}:")
        self.line(f"    {k} += 1")
        self.loops += 1
        self.block(**{k: Integer(1, 3)})
        self.loops -= 1

    def leave_loop(self):
        if not self.loops or not self.depth:
            return False
        counters = self.names(lambda k: isinstance(k, Integer))
        test = self.condition()
        if counters and self.chance(0.7):
            test = self.choice(("{} == 1", "{} > 0", "{} % 2 == 0", "{} != 0")).format(counters[-1])
        self.line(f"if {test}:")
        way = self.weighted([("break", 4), ("continue", 4), ("return", 1)])
        if way == "return":
            way = f"return {self.expr((), 2)}"
        elif self.chance(0.3):
            self.block(1)
        self.line(f"    {way}")
        self.statement()
