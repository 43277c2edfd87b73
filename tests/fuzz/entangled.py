"""Statements that entangle memory: aliases of every kind that are written later, and numbers that become arrays."""

from tests.fuzz.kinds import Array, DictOf, Integer, ListOf, Number, TupleOf, kind_of
from tests.fuzz.scopes import Scopes


class Entangled(Scopes):
    """Each method writes a few statements, or returns False where it cannot."""

    def table(self):
        return super().table() + [
            (self.number_becomes_array, 2), (self.write_through_view, 4), (self.alias_by_condition, 3),
            (self.list_of_names, 3), (self.write_item_at_run_time, 3), (self.walk_and_write, 2),
            (self.keyed_at_run_time, 1), (self.tuple_variant, 2), (self.endless_loop, 1), (self.writing_function, 3),
            (self.counting_function, 1), (self.sort_in_place, 1), (self.masked_write, 2), (self.chained_assignment, 2),
            (self.box, 2), (self.box_write, 3), (self.zero_dimensional, 1), (self.list_method, 1), (self.selected_rows, 2),
        ]  # fmt: skip

    def variables(self, test):
        """Names that may be bound anew."""
        return [name for name in self.names(test) if name not in self.fixed]

    # ------------------------------------------------------------------------------------------------ numbers and arrays

    def number_becomes_array(self):
        """`s += x` makes a new array of a number, but changes an array that another name may share."""
        shape, trips = self.shape(self.choice((1, 2))), self.choice((1, 2, 3))
        s, other, i = self.new_name("s"), self.new_name("p"), self.new_name("i")
        self.line(f"{s} = {self.choice(('0.0', '1.0', '0', 'np.float64(0.5)'))}")
        self.line(f"{other} = {s}")
        place = self.choice(("never", "before", "after", "last"))
        self.line(f"for {i} in range({trips}):")
        outer = dict(self.env)
        self.env[i] = Integer(0, trips - 1)
        if place == "before":
            self.line(f"    {other} = {s}")
        form = self.choice(("{s} += {e}", "{s} = {s} + {e}", "{s} = {s} * 0.5 + {e}"))
        self.line("    " + form.format(s=s, e=self.operand(shape, 1)))
        if place == "after":
            self.line(f"    {other} = {s}")
        self.env = outer
        if place == "last":
            self.line(f"{other} = {s}")
            self.line(f"{s} *= 0.5")
        self.bind(s, Array(shape))
        later = place in ("after", "last") or (place == "before" and trips > 1)
        self.bind(other, Array(shape) if later else Number())

    def zero_dimensional(self):
        names = self.arrays()
        if not names:
            return False
        z, w = self.new_name("z"), self.new_name("w")
        self.line(f"{z} = np.array({self.choice((self.expr((), 1), self.constant()))})")
        self.line(f"{w} = {self.choice((z, f'{z}[...]', f'{z}.reshape(())', f'{z}[()]', f'np.asarray({z})'))}")
        self.line(f"{z}{self.choice(('[...] =', '[()] =', ' +=', '[...] *='))} {self.expr((), 1)}")
        self.bind(z, Number())
        self.bind(w, Number())

    # ------------------------------------------------------------------------------------------------------------ views

    def view_of(self, name):
        """(text of a view of the whole array, its shape); some are copies, as NumPy decides."""
        shape = self.env[name].shape
        size = shape[0] * (shape[1] if len(shape) > 1 else 1)
        forms = [(f"{name}[::-1]", shape), (f"{name}.reshape(-1)", (size,)), (f"{name}.ravel()", (size,))]
        forms += [(f"np.ravel({name})", (size,)), (f"{name}.view()", shape), (f"{name}.squeeze()[...]", None)]
        forms += [(f"np.atleast_2d({name})", shape if len(shape) == 2 else (1, *shape)), (f"np.asarray({name})", shape)]
        if len(shape) == 2:
            turned = shape[::-1]
            forms += [(f"{name}.T", turned), (f"{name}.swapaxes(0, 1)", turned), (f"np.transpose({name})", turned)]
            forms += [(f"{name}[:, ::-1]", shape), (f"{name}.T.reshape(-1)", (size,)), (f"{name}.T[::-1]", turned)]
            forms += [(f"{name}.reshape({turned})", turned), (f"{name}.reshape({shape}).T", turned)]
        text, made = self.choice(forms)
        if made is None:
            made = tuple(n for n in shape if n > 1)
        return text, made

    def write_through_view(self):
        names = self.arrays()
        if not names:
            return False
        name = self.choice(names)
        view, shape = self.view_of(name)
        if not shape:
            return False
        if self.chance(0.4):
            view_name = self.new_name("w")
            self.line(f"{view_name} = {view}")
            self.bind(view_name, Array(shape))
            view = view_name
        elif self.chance(0.15):
            n = 1
            for length in self.env[name].shape:
                n *= length
            self.line(f"{name}.flat[{self.index(n)}] = {self.expr((), 1)}")
            return
        index, part = self.part(view, shape)
        self.write_to(f"{view}[{index}]", part)

    def alias_by_condition(self):
        names = self.arrays()
        if not names:
            return False
        a = self.choice(names)
        b, target = self.same_shape(a), self.target(self.env[a].shape, "w")
        other = self.choice((b, b, f"{b}.copy()", f"{b}[::-1]", self.expr(self.env[a].shape, 1)))
        if self.chance(0.5):
            self.line(f"{target} = {a} if {self.condition()} else {other}")
        else:
            self.line(f"{target} = {a}")
            self.line(f"if {self.condition()}:")
            self.line(f"    {target} = {other}")
        self.bind(target, Array(self.env[a].shape))
        if self.chance(0.5):
            index, part = self.part(target, self.env[a].shape)
            self.write_to(f"{self.choice((target, a))}[{index}]", part)

    def chained_assignment(self):
        shape = self.shape(self.choice((1, 2)))
        a, b = self.target(shape), self.new_name()
        self.line(f"{a} = {b} = {self.expr(shape)}")
        self.bind(a, Array(shape))
        self.bind(b, Array(shape))

    def masked_write(self):
        names = self.arrays()
        if not names:
            return False
        name = self.choice(names)
        other, mask = self.same_shape(name), self.new_name("m")
        self.line(f"{mask} = {self.same_shape(name)} {self.choice(('>', '<'))} {self.constant()}")
        if self.chance(0.5):
            self.line(
                f"{name}[{mask}] {self.choice(('=', '+=', '*='))} {other}[{mask}] {self.choice(('* 0.5', '- 0.3'))}"
            )
        else:
            self.line(f"{name}[~{mask}] {self.choice(('=', '-='))} {self.expr((), 1)}")

    def selected_rows(self):
        """Integer-array subscripts: a read is a copy, whatever comes later."""
        names = self.arrays()
        if not names:
            return False
        name, made, rows = self.choice(names), self.new_name(), self.new_name("r")
        n, *rest = self.env[name].shape
        count = self.choice((1, 2, 3))
        self.line(
            f"{rows} = {self.choice(('{}', 'np.array({})')).format([self.random.randrange(-n, n) for _ in range(count)])}"
        )
        self.line(f"{made} = {name}[{rows}]")
        self.bind(made, Array((count, *rest)))
        if self.chance(0.5):
            self.line(
                f"{self.choice((made, name))}[{self.choice((0, -1))}] {self.choice(('=', '+='))} {self.expr(tuple(rest), 1)}"
            )

    def sort_in_place(self):
        names = self.arrays()
        if not names:
            return False
        self.line(f"{self.choice(names)}.sort({self.choice(('', 'axis=0', '-1'))})")

    # ------------------------------------------------------------------------------------------------------- containers

    def list_of_names(self):
        """A list or dict that holds arrays which other names hold too."""
        names = self.arrays()
        if not names:
            return False
        a = self.choice(names)
        b, shape = self.same_shape(a), self.env[a].shape
        kind = self.choice(("list", "tuple", "dict", "append", "nested"))
        if kind == "dict":
            name = self.new_name("d")
            self.line(f"{name} = {{'p': {a}, 'q': {b}}}")
            self.bind(name, DictOf((("p", shape), ("q", shape))))
        elif kind == "tuple":
            name = self.new_name("t")
            self.line(f"{name} = ({a}, {b})")
            self.bind(name, TupleOf((shape, shape)))
        elif kind == "append":
            name, i = self.new_name("l"), self.new_name("i")
            self.line(f"{name} = []")
            self.line(f"for {i} in range(2):")
            self.line(f"    {name}.append({self.choice((a, f'{a}.copy()', f'{a} * {i}', f'{a}[::-1]'))})")
            if self.chance(0.5):
                self.line(f"    {a} {self.choice(('+=', '*='))} {self.expr(self.narrowed(shape), 1)}")
            self.bind(name, ListOf(shape, 2))
        else:
            name = self.new_name("l")
            self.line(f"{name} = [{a}, {self.choice((b, f'{b}.copy()', self.expr(shape, 1)))}]")
            self.bind(name, ListOf(shape, 2))

    def run_time_index(self, least):
        counters = self.names(lambda k: isinstance(k, Integer))
        return f"{self.choice(counters)} % {least}" if counters else str(self.random.randrange(least))

    def write_item_at_run_time(self):
        names = self.names(lambda k: isinstance(k, ListOf) and k.shape)
        if not names:
            return False
        name = self.choice(names)
        kind = self.env[name]
        place = f"{name}[{self.run_time_index(kind.least)}]"
        if self.chance(0.3):
            alias = self.new_name("w")
            self.line(f"{alias} = {place}")
            self.bind(alias, Array(kind.shape))
            place = alias
        index, part = self.part(place, kind.shape)
        if self.chance(0.3):
            self.line(f"{place} {self.choice(('=', '+='))} {self.expr(kind.shape, 1)}")
        else:
            self.write_to(f"{place}[{index}]", part)

    def walk_and_write(self):
        """A loop that writes the arrays it walks."""
        names = self.names(lambda k: isinstance(k, (ListOf, TupleOf)))
        arrays = self.arrays(rank=2)
        e, i = self.new_name("e"), self.new_name("i")
        if names and self.chance(0.5):
            name = self.choice(names)
            kind = self.env[name]
            if isinstance(kind, TupleOf) and len(set(kind.shapes)) > 1:
                return False
            shape = kind.shapes[0] if isinstance(kind, TupleOf) else kind.shape
        elif arrays:
            name = self.choice(arrays)
            shape = self.env[name].shape[1:]
        else:
            return False
        if not shape:
            return False
        over = f"for {i}, {e} in enumerate({name}):" if self.chance(0.5) else f"for {e} in {name}:"
        self.line(over)
        outer = dict(self.env)
        self.env[e] = Array(shape)
        self.indent += 1
        index, part = self.part(e, shape)
        if self.chance(0.4):
            self.line(f"{e} {self.choice(('+=', '*='))} {self.expr(self.narrowed(shape), 1)}")
        else:
            self.write_to(f"{e}[{index}]", part)
        self.indent -= 1
        self.env = outer

    def list_method(self):
        names = self.variables(lambda k: isinstance(k, ListOf))
        if not names:
            return False
        name = self.choice(names)
        kind = self.env[name]
        made = self.new_name()
        form = self.choice(("pop", "slice", "sum", "extend", "loop"))
        if form == "pop" and kind.least > 1 and not self.depth:
            self.line(f"{made} = {name}.pop({self.choice(('', '0', '-1'))})")
            self.bind(name, ListOf(kind.shape, kind.least - 1))
        elif form == "slice":
            self.line(f"{self.new_name('l')} = {name}[:1]")
            self.line(f"{made} = {name}[::-1][0]")
        elif form == "extend":
            self.line(f"{name}.extend([{self.expr(kind.shape, 1)}])")
            return
        elif form == "loop":
            self.line(f"{made} = [0.5 * q for q in {name}][0]")
        else:
            self.line(f"{made} = sum({name})")
        self.bind(made, kind_of(kind.shape))

    def keyed_at_run_time(self):
        shape, d, i, made = self.shape(), self.new_name("d"), self.new_name("i"), self.new_name()
        self.line(f"{d} = {{}}")
        self.line(f"for {i} in range(3):")
        outer = dict(self.env)
        self.env[i] = Integer(0, 2)
        key = self.choice((i, f"{i} % 2", f"'even' if {i} % 2 == 0 else 'odd'"))
        if self.chance(0.5):
            self.line(f"    {d}[{key}] = {self.expr(shape, 1)}")
        else:
            self.line(f"    k{i} = {key}")
            self.line(f"    {d}[k{i}] = {d}.get(k{i}, 0.0) + {self.operand(shape, 1)}")
        self.env = outer
        self.line(f"{made} = sum([np.sum(np.sin(q)) for q in {d}.values()])")
        self.bind(made, Number())

    def tuple_variant(self):
        """A tuple of arrays that a loop carries."""
        a, b = self.shape(), self.shape()
        t, i, x, y = self.new_name("t"), self.new_name("i"), self.new_name(), self.new_name()
        self.line(f"{t} = ({self.expr(a, 0)}, {self.expr(b, 0)})")
        self.line(f"for {i} in range({self.choice((0, 1, 2, 3))}):")
        outer = dict(self.env)
        self.line(f"    {x}, {y} = {t}")
        self.env.update({i: Integer(0, 2), x: kind_of(a), y: kind_of(b)})
        self.indent += 1
        if a and self.chance(0.5):
            index, part = self.part(x, a)
            self.write_to(f"{x}[{index}]", part)
        first = self.choice((x, self.expr(a, 1)))
        items = f"({first}, {self.expr(b, 1)})"
        if a == b and self.chance(0.4):
            items = f"({y}, {self.choice((x, self.expr(a, 1)))})"
        self.line(f"{t} = {items}")
        self.indent -= 1
        self.env = outer
        self.bind(t, TupleOf((a, b)))
