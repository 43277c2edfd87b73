"""Loops without an end of their own, local functions that write, and objects that hold arrays."""

from tests.fuzz.blocks import Blocks
from tests.fuzz.kinds import Array, BoxOf, Integer, Number, kind_of


class Scopes(Blocks):
    """Each method writes a few statements, or returns False where it cannot."""

    def same_shape(self, name):
        """Another array of the same shape, or the same."""
        return self.choice(self.arrays(self.env[name].shape))

    def endless_loop(self):
        if self.loops > 1 or self.depth > 2:
            return False
        k = self.new_name("k")
        self.line(f"{k} = 0")
        self.line("while True:")
        self.line(f"    {k} += 1")
        early = self.chance(0.5)
        if early:
            self.line(f"    if {k} > {self.choice((1, 2, 3))}:")
            self.line("        break")
        self.loops += 1
        self.block(**{k: Integer(1, 4)})
        self.loops -= 1
        if not early:
            self.line(f"    if {k} >= {self.choice((1, 2, 3))} or {self.scalar_of_data()} > 2.317:")
            self.line("        break")
        else:
            self.line(f"    if {k} > 4:")
            self.line("        break")

    def writing_function(self):
        """A local function that writes its argument or an array of its closure, called several times."""
        names = self.arrays()
        if not names:
            return False
        a = self.choice(names)
        shape = self.env[a].shape
        f, u = self.new_name("f"), self.new_name("u")
        self.line(f"def {f}({u}):")
        outer = dict(self.env)
        self.env[u] = Array(shape)
        self.indent += 1
        written = self.choice((u, u, self.choice(self.arrays())))
        index, part = self.part(written, self.env[written].shape)
        self.write_to(f"{written}[{index}]", part)
        returned = self.choice(("nothing", "argument", "value"))
        if returned != "nothing":
            self.line(f"return {u if returned == 'argument' else self.expr(shape, 1)}")
        self.indent -= 1
        self.env = outer
        for _ in range(self.choice((1, 2))):
            argument = self.choice((a, self.same_shape(a), f"{a}[::-1]", self.expr(shape, 1)))
            if returned == "nothing":
                self.line(f"{f}({argument})")
            else:
                target = self.target(shape)
                self.line(f"{target} = {f}({argument})")
                self.bind(target, Array(shape))

    def counting_function(self):
        """A closure with `nonlocal` state."""
        if self.depth:
            return False
        f, s = self.new_name("f"), self.new_name("s")
        shape = self.shape()
        self.line(f"{s} = {self.expr(shape, 1)}")
        self.line(f"def {f}(u):")
        self.line(f"    nonlocal {s}")
        self.line(f"    {s} {self.choice(('= 0.5 * ' + s + ' +', '+=', '-='))} u")
        self.line(f"    return np.sum({s})")
        self.bind(s, kind_of(shape))
        for _ in range(2):
            made = self.new_name()
            self.line(f"{made} = {f}({self.expr((), 1)})")
            self.bind(made, Number())

    def box(self):
        shape = self.shape(self.choice((1, 2)))
        names = self.arrays(shape)
        name = self.new_name("o")
        self.line(f"{name} = Box({self.choice([*names, self.expr(shape, 1)])})")
        self.bind(name, BoxOf(shape))

    def box_write(self):
        names = self.names(lambda k: isinstance(k, BoxOf))
        if not names:
            return False
        name = self.choice(names)
        shape = self.env[name].shape
        form = self.choice(("add", "replace", "attribute", "write", "swap"))
        if form in ("add", "replace"):
            self.line(f"{name}.{form}({self.expr(self.narrowed(shape) if form == 'add' else shape, 1)})")
        elif form == "attribute":
            self.line(f"{name}.data {self.choice(('=', '+=', '*='))} {self.expr(shape, 1)}")
        elif form == "write":
            index, part = self.part(f"{name}.data", shape)
            self.write_to(f"{name}.data[{index}]", part)
        else:
            others = [n for n in names if self.env[n] == self.env[name]]
            other = self.choice(others)
            self.line(f"{name}.data, {other}.data = {other}.data, {name}.data")
