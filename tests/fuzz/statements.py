"""Random statements: assignments, writes, aliases, calls, containers."""

from tests.fuzz.expressions import Expressions
from tests.fuzz.kinds import Array, DictOf, Integer, ListOf, Number, TupleOf, kind_of


class Statements(Expressions):
    """Each method writes one statement, or returns False where it cannot."""

    def table(self):
        """(method, weight) pairs."""
        return [
            (self.assign, 10), (self.augment, 5), (self.write, 12), (self.write_integer_array, 2), (self.alias, 7),
            (self.branch, 5), (self.for_range, 6), (self.for_sequence, 4), (self.while_loop, 2), (self.call, 5),
            (self.containers, 4), (self.container_write, 3), (self.swap, 3), (self.output_argument, 2),
            (self.local_function, 1), (self.leave_loop, 4), (self.untyped_accumulator, 1), (self.unpack, 2),
            (self.fresh_buffer, 3),
        ]  # fmt: skip

    def statement(self):
        for _ in range(20):
            before = len(self.lines)
            if self.weighted(self.table())() is not False and len(self.lines) > before:
                return

    def bind(self, name, kind):
        self.env[name] = kind

    def target(self, shape, prefix="v"):
        """A name to assign a value of this shape to: a new one, or one that may take it."""
        old = [n for n in self.names(lambda k: k == kind_of(shape)) if n not in self.fixed]
        if not self.depth and self.chance(0.1):
            old = [n for n in self.names(lambda k: isinstance(k, (Array, Number))) if n not in self.fixed] or old
        name = self.choice(old) if old and self.chance(0.5) else self.new_name(prefix)
        return name

    def assign(self):
        shape = self.shape()
        text = self.expr(shape)
        name = self.target(shape)
        self.line(f"{name} = {text}")
        self.bind(name, kind_of(shape))

    def fresh_buffer(self):
        shape = self.shape(self.choice((1, 2)))
        name = self.new_name("buf")
        self.line(f"{name} = {self.choice((f'np.zeros({shape})', f'np.ones({shape})', self.copy_of(shape)))}")
        self.bind(name, Array(shape))

    def copy_of(self, shape):
        names = self.arrays(shape)
        return f"{self.choice(names)}.copy()" if names else f"np.zeros({shape})"

    def augment(self):
        names = [n for n in self.names(lambda k: isinstance(k, (Array, Number))) if n not in self.fixed]
        if not names:
            return False
        name = self.choice(names)
        shape = self.env[name].shape
        op, form = self.choice((("+=", "{}"), ("-=", "{}"), ("*=", "np.cos({})"), ("/=", "(1.5 + np.tanh({}))")))
        self.line(f"{name} {op} {form.format(self.expr(self.narrowed(shape)))}")

    def part(self, name, shape):
        """(index text, shape) of a part of an array to write to."""
        wanted = self.choice(((), shape, tuple(max(1, n - self.choice((0, 1))) for n in shape)))
        if len(shape) == 2 and self.chance(0.4):
            wanted = (self.choice(shape),)
        text = self.selection(shape, wanted)
        if text is None:
            return "...", shape
        if wanted == shape and self.chance(0.4):
            text = self.choice((":", "..."))
        return text, wanted

    def write(self):
        names = self.arrays()
        if not names:
            return False
        name = self.choice(names)
        index, shape = self.part(name, self.env[name].shape)
        self.write_to(f"{name}[{index}]", shape)

    def write_to(self, place, shape):
        value = self.expr(self.narrowed(shape) if self.chance(0.3) else shape)
        op = self.weighted([("=", 5), ("+=", 3), ("-=", 1), ("*=", 2), ("/=", 1)])
        if op == "*=":
            value = f"np.cos({value})"
        if op == "/=":
            value = f"(1.5 + np.tanh({value}))"
        self.line(f"{place} {op} {value}")

    def write_integer_array(self):
        names = self.arrays()
        if not names:
            return False
        name = self.choice(names)
        shape = self.env[name].shape
        count = self.choice((1, 2, 3))
        index = [self.random.randrange(-shape[0], shape[0]) for _ in range(count)]
        if self.chance(0.3) and self.loops == 0:
            mask = f"{name} > {self.constant()}"
            self.line(f"{name}[{mask}] {self.choice(('=', '+=', '*='))} np.cos({self.expr((), 1)})")
            return
        text = self.choice((f"{index}", f"np.array({index})"))
        value = self.expr((count, *shape[1:]))
        if self.chance(0.4):
            self.line(f"np.add.at({name}, {text}, {value})")
        else:
            self.line(f"{name}[{text}] {self.choice(('=', '+=', '-='))} {value}")

    def alias(self):
        names = self.arrays()
        if not names:
            return False
        name = self.choice(names)
        shape = self.env[name].shape
        forms = [(name, shape), (name, shape), (f"{name}.T", shape[::-1]), (f"np.asarray({name})", shape)]
        forms += [(f"{name}[...]", shape), (f"{name}[::-1]", shape)]
        size = shape[0] * (shape[1] if len(shape) > 1 else 1)
        forms.append((f"{name}.reshape(-1)", (size,)))
        if len(shape) == 2:
            forms += [(f"{name}.reshape({shape[1]}, {shape[0]})", shape[::-1]), (f"{name}.ravel()", (size,))]
            forms += [(f"{name}[{self.index(shape[0])}]", shape[1:]), (f"{name}[:, {self.index(shape[1])}]", shape[:1])]
        else:
            forms += [(f"{name}[None, :]", (1, *shape)), (f"{name}[:, np.newaxis]", (*shape, 1))]
        wanted = tuple(max(1, n - self.choice((0, 1, 1))) for n in shape)
        forms += [(f"{name}[{self.selection(shape, wanted)}]", wanted)] * 3
        if shape[0] > 1:
            n = self.choice(range(1, shape[0]))
            forms.append((f"first_rows({name}, {n})", (n, *shape[1:])))
        text, made = self.choice(forms)
        target = self.target(made, "w")
        if target == name:
            return False
        self.line(f"{target} = {text}")
        self.bind(target, Array(made))

    def swap(self):
        names = [n for n in self.names(lambda k: isinstance(k, (Array, Number))) if n not in self.fixed]
        pairs = [(a, b) for a in names for b in names if a < b and self.env[a] == self.env[b]]
        if pairs and self.chance(0.5):
            a, b = self.choice(pairs)
            if self.chance(0.6):
                self.line(f"{a}, {b} = {b}, {a}")
            else:
                shape = self.env[a].shape
                self.line(f"{a}, {b} = {self.expr(shape)}, {a}")
            return
        names = self.arrays()
        if not names:
            return False
        name = self.choice(names)
        n, *rest = self.env[name].shape
        i, j = self.index(n), self.index(n)
        if rest and self.chance(0.6):
            k = self.index(rest[0])
            self.line(f"{name}[{i}, {k}], {name}[{j}, {k}] = {name}[{j}, {k}], {name}[{i}, {k}]")
        else:
            self.line(f"{name}[{i}], {name}[{j}] = {name}[{j}], 0.5 * {name}[{i}]")

    def call(self):
        names = self.arrays()
        if not names:
            return False
        name = self.choice(names)
        shape = self.env[name].shape
        kind = self.choice(("shift", "scale_first", "mix_into", "pick", "view", "two", "smooth_into"))
        if kind == "shift":
            self.line(f"shift({name}, {self.expr(self.narrowed(shape))})")
        elif kind == "scale_first":
            target = self.target(shape)
            self.line(f"{target} = scale_first({name}, {self.expr(self.narrowed(shape[1:]))})")
            self.bind(target, Array(shape))
        elif kind == "mix_into":
            self.line(f"mix_into({name}, {self.expr(shape)})")
        elif kind == "pick":
            target = self.target(shape)
            self.line(f"{target} = pick({name}, {self.condition()})")
            self.bind(target, Array(shape))
        elif kind == "view":
            index, part = self.part(name, shape)
            if not part:
                return False
            self.line(f"shift({name}[{index}], {self.expr(self.narrowed(part))})")
        else:
            a, b = self.target(shape), self.new_name()
            self.line(f"{a}, {b} = two({self.expr(shape)})")
            self.bind(a, Array(shape))
            self.bind(b, Array(shape))

    def containers(self):
        shape = self.shape()
        kind = self.choice(("list", "list", "tuple", "dict", "comprehension"))
        if kind == "list":
            name, n = self.new_name("l"), self.choice((1, 2, 3))
            self.line(f"{name} = [{', '.join(self.expr(shape, self.choice((0, 0, 1, 2))) for _ in range(n))}]")
            self.bind(name, ListOf(shape, n))
        elif kind == "comprehension":
            name, k = self.new_name("l"), self.new_name("k")
            self.env[k] = Integer(0, 2)
            text = self.expr(shape)
            del self.env[k]
            self.line(f"{name} = [{text} for {k} in range(3)]")
            self.bind(name, ListOf(shape, 3))
        elif kind == "tuple":
            name, shapes = self.new_name("t"), (shape, self.shape())
            self.line(f"{name} = ({self.expr(shapes[0])}, {self.expr(shapes[1], 0)})")
            self.bind(name, TupleOf(shapes))
        else:
            name, items = self.new_name("d"), (("p", shape), ("q", self.shape()))
            self.line(f"{name} = {{{', '.join(f'{key!r}: {self.expr(s, 1)}' for key, s in items)}}}")
            self.bind(name, DictOf(items))

    def container_write(self):
        names = self.names(lambda k: isinstance(k, (ListOf, DictOf, TupleOf)))
        if not names:
            return False
        name = self.choice(names)
        kind = self.env[name]
        if isinstance(kind, ListOf):
            place, shape = f"{name}[{self.choice((0, -1, kind.least - 1))}]", kind.shape
            if self.chance(0.35) and name not in self.fixed:
                value = self.expr(shape, self.choice((0, 0, 1, 2)))
                self.line(
                    f"{name}.append({value})" if self.chance(0.7) else f"{self.new_name('x')} = keep({name}, {value})"
                )
                return
            if self.chance(0.1) and name not in self.fixed:
                self.line(f"{name} += [{self.expr(shape, 1)}]")
                return
        elif isinstance(kind, DictOf):
            key, shape = self.choice(kind.items)
            place = f"{name}[{key!r}]"
        else:
            i = self.choice(range(len(kind.shapes)))
            place, shape = f"{name}[{i}]", kind.shapes[i]
            if not shape:
                return False
        if shape and (isinstance(kind, TupleOf) or self.chance(0.5)):
            index, part = self.part(place, shape)
            self.write_to(f"{place}[{index}]", part)
        else:
            self.line(f"{place} {self.choice(('=', '=', '+='))} {self.expr(shape)}")

    def unpack(self):
        tuples = self.names(lambda k: isinstance(k, TupleOf))
        if tuples and self.chance(0.5):
            name = self.choice(tuples)
            shapes = self.env[name].shapes
            made = [self.new_name() for _ in shapes]
            self.line(f"{', '.join(made)} = {name}")
        else:
            shapes = (self.shape(), self.shape(), self.shape())[: self.choice((2, 3))]
            made = [self.new_name() for _ in shapes]
            if len(shapes) == 3 and self.chance(0.5):
                values = [self.expr(s, 1) for s in shapes]
                self.line(f"{made[0]}, ({made[1]}, {made[2]}) = {values[0]}, ({values[1]}, {values[2]})")
            else:
                self.line(f"{', '.join(made)} = {', '.join(self.expr(s, 1) for s in shapes)}")
        for name, shape in zip(made, shapes):
            self.bind(name, kind_of(shape))

    def output_argument(self):
        names = self.arrays()
        if not names:
            return False
        name = self.choice(names)
        shape = self.env[name].shape
        form = self.choice(("one", "two", "fill", "copyto"))
        if form == "one":
            self.line(f"np.{self.choice(('sin', 'tanh', 'cos'))}({self.expr(shape)}, out={name})")
        elif form == "two":
            f = self.choice(("add", "subtract", "maximum"))
            self.line(f"np.{f}({self.expr(shape)}, {self.expr(self.narrowed(shape))}, out={name})")
        elif form == "fill":
            self.line(f"{name}.fill({self.expr(())})")
        else:
            self.line(f"np.copyto({name}, {self.expr(self.narrowed(shape))})")

    def local_function(self):
        shape = self.shape()
        name, parameter = self.new_name("f"), self.new_name("u")
        outer = dict(self.env)
        body_shape = self.shape()
        self.env = {**outer, parameter: kind_of(shape)}
        text = self.expr(body_shape, 2)
        self.env = outer
        if self.chance(0.5):
            self.line(f"{name} = lambda {parameter}: {text}")
        else:
            self.line(f"def {name}({parameter}):")
            self.line(f"    return {text}")
        target = self.new_name()
        self.line(f"{target} = {name}({self.expr(shape, 1)})")
        self.bind(target, kind_of(body_shape))
        if self.chance(0.5):
            other = self.new_name()
            self.line(f"{other} = {name}({self.expr(shape, 1)})")
            self.bind(other, kind_of(body_shape))

    def untyped_accumulator(self):
        shape = self.shape()
        name, i = self.new_name("acc"), self.new_name("i")
        self.line(f"{name} = {self.choice(('0', '1', '0.0'))}")
        self.line(f"for {i} in range({self.choice((1, 2, 3))}):")
        outer = dict(self.env)
        self.env[i] = Integer(0, 2)
        self.line(f"    {name} = 0.5 * {name} + {self.expr(shape)}")
        self.env = outer
        self.bind(name, kind_of(shape))
