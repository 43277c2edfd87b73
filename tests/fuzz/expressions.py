"""Random expressions of a wanted shape, from the names in scope."""

import random

from tests.fuzz.kinds import Array, BoxOf, DictOf, Integer, ListOf, Number, TupleOf

DIMS = ((1, 2, 2, 3, 3), (3,), (2, 3), (2, 2, 3), (1, 3), (1, 2, 4))  # the axes' lengths, one line for each program
UNARY = (
    "np.sin({})", "np.cos({})", "np.tanh({})", "np.exp(-({}) ** 2)", "np.sqrt(1 + ({}) ** 2)", "0.5 * ({})", "-({})",
    "np.arctan({})", "1 / (1.5 + ({}) ** 2)", "np.log(2 + np.sin({}))", "np.tanh({}) ** 3", "np.abs({})", "0.1 * ({}) ** 2",
    "np.square(np.sin({}))", "np.exp(0.3 * np.tanh({}))", "np.clip({}, -0.9, 0.8)",
)  # fmt: skip
BINARY = (
    "{} + {}", "{} - {}", "{} * {}", "{} * {}", "{} / (2 + np.cos({}))", "np.maximum({}, {})", "np.minimum({}, {})",
    "np.multiply({}, {})", "0.3 * {} - {}", "np.tanh({}) * {}", "np.hypot({}, 1 + {} ** 2)", "({}) ** 2 - {}",
)  # fmt: skip


class Expressions:
    """`env` maps the names in scope to their kinds."""

    def __init__(self, seed, size):
        self.random = random.Random(seed)
        self.dims = self.random.choice(DIMS)
        self.size = size
        self.lines = []
        self.indent = 1
        self.env = {}
        self.fixed = set()  # names that a block relies on: counters, loop sequences
        self.counter = 0
        self.depth = 0
        self.loops = 0

    # ------------------------------------------------------------------------------------------------------- choices

    def chance(self, p):
        return self.random.random() < p

    def choice(self, options):
        return self.random.choice(options)

    def weighted(self, table):
        return self.random.choices([f for f, _ in table], [w for _, w in table])[0]

    def constant(self):
        return repr(round(self.random.uniform(-1.2, 1.2), 2))

    def shape(self, rank=None):
        known = [k.shape for k in self.env.values() if isinstance(k, Array) and rank in (None, len(k.shape))]
        if known and self.chance(0.6):
            return self.choice(known)
        rank = self.choice((0, 1, 1, 1, 2, 2, 2)) if rank is None else rank
        return tuple(self.choice(self.dims) for _ in range(rank))

    def names(self, test):
        return [name for name, kind in self.env.items() if test(kind)]

    def arrays(self, shape=None, rank=None):
        return self.names(lambda k: isinstance(k, Array) and shape in (None, k.shape) and rank in (None, len(k.shape)))

    def new_name(self, prefix="v"):
        self.counter += 1
        return f"{prefix}{self.counter}"

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    # --------------------------------------------------------------------------------------------------- expressions

    def expr(self, shape, depth=None):
        """The text of an expression of exactly this shape, in parentheses where it needs them."""
        depth = self.choice((0, 1, 1, 2, 2, 3)) if depth is None else depth
        if depth <= 0:
            return self.leaf(shape)
        rules = [
            (self.binary, 8), (self.unary, 5), (self.leaf_rule, 2), (self.reduction, 3), (self.conditional, 1),
            (self.helper_value, 2),
        ]  # fmt: skip
        if shape:
            rules += [(self.product, 2), (self.rearranged, 2), (self.joined, 1), (self.where, 1), (self.cumulative, 1)]
        else:
            rules += [(self.inner, 2), (self.sum_of_generator, 1)]
        return self.weighted(rules)(shape, depth)

    def leaf_rule(self, shape, depth):
        return self.leaf(shape)

    def leaf(self, shape):
        """A name, an element, a slice, a container's item, or a constant of this shape."""
        options = []
        for name, kind in self.env.items():
            options += self.readings(name, kind, shape)
        if options and not self.chance(0.08):
            return self.choice(options)
        if not self.chance(0.2) and self.arrays():
            return self.made_from_another(shape)
        if not shape:
            return self.constant()
        return self.choice((f"np.full({shape}, {self.constant()})", f"{self.constant()} * np.ones({shape})"))

    def made_from_another(self, shape):
        """A value of this shape from an array of some other shape."""
        name = self.choice(self.arrays())
        have = self.env[name].shape
        number = self.choice(
            (f"np.mean({name})", f"{name}[{', '.join(self.index(n) for n in have)}]", f"np.sum({name})")
        )
        if not shape:
            return number
        options = [f"{number} * np.ones({shape})", f"np.full({shape}, {number})"]
        if all(n in (1, m) for n, m in zip(have[::-1], shape[::-1])) and len(have) <= len(shape):
            options += [f"({name} + np.zeros({shape}))", f"({name} * np.ones({shape}))"] * 2
        if len(have) == 1 and len(shape) == 2 and have[0] == shape[0]:
            options += [f"({name}[:, None] - np.ones({shape}))"] * 4
        return self.choice(options)

    def readings(self, name, kind, shape):
        """Texts that read something of `shape` from a name of some kind."""
        if isinstance(kind, (Array, Number)) and kind.shape == shape:
            return [name] * 3
        if isinstance(kind, Array):
            selection = self.selection(kind.shape, shape)
            return [f"{name}[{selection}]"] if selection else []
        if isinstance(kind, Integer):
            return [name, f"0.3 * {name}"][: 1 + (not shape)] if not shape else []
        if isinstance(kind, ListOf) and kind.shape == shape:
            return [f"{name}[{self.choice((0, -1, kind.least - 1))}]"]
        if isinstance(kind, BoxOf):
            return [f"{name}.data"] if kind.shape == shape else []
        if isinstance(kind, TupleOf):
            return [f"{name}[{i}]" for i, s in enumerate(kind.shapes) if s == shape]
        if isinstance(kind, DictOf):
            return [f"{name}[{key!r}]" for key, s in kind.items if s == shape]
        return []

    def index(self, n):
        """An index into an axis of n elements."""
        options = [str(self.random.randrange(-n, n))] * 3
        for name in self.names(lambda k: isinstance(k, Integer)):
            kind = self.env[name]
            if -n <= kind.low and kind.high < n:
                options += [name] * 4
            if kind.low - 1 >= -n and kind.high - 1 < n:
                options += [f"{name} - 1"] * 2
            options.append(f"{name} % {n}")
        return self.choice(options)

    def range_of(self, n, m):
        """The text of a slice that takes m of n elements, or None."""
        if m > n:
            return None
        options = []
        for step in (1, 1, 2, -1, -2):
            span = (m - 1) * abs(step) + 1
            if span > n:
                continue
            start = self.random.randrange(n - span + 1)
            if step > 0:
                stop = start + span
                first = "" if start == 0 and self.chance(0.7) else str(start if self.chance(0.6) else start - n)
                last = (
                    "" if stop == n and self.chance(0.7) else str(stop if stop == n or self.chance(0.6) else stop - n)
                )
                options.append(f"{first}:{last}" + (f":{step}" if step > 1 else ""))
            else:
                top = start + span - 1
                options.append(f"{'' if top == n - 1 else top}:{'' if start == 0 else start - 1}:{step}")
        return self.choice(options)

    def selection(self, have, want):
        """The text of an index that takes a block of shape `want` out of shape `have`, or None."""
        if len(have) == len(want):
            parts = [self.range_of(n, m) for n, m in zip(have, want)]
        elif len(have) == 1 and not want:
            parts = [self.index(have[0])]
        elif len(have) == 2 and not want:
            parts = [self.index(have[0]), self.index(have[1])]
        elif len(have) == 2 and len(want) == 1:
            if self.chance(0.6):
                rest = self.range_of(have[1], want[0])
                parts = [self.index(have[0]), rest] if rest != ":" else [self.index(have[0])]
            else:
                parts = [self.range_of(have[0], want[0]), self.index(have[1])]
        else:
            return None
        return None if None in parts else ", ".join(parts)

    def narrowed(self, shape):
        """A shape that broadcasts to `shape`."""
        kept = [1 if self.chance(0.25) else n for n in shape]
        drop = self.random.randrange(len(shape) + 1) if self.chance(0.3) else 0
        return tuple(kept[drop:])

    def operand(self, shape, depth):
        text = self.expr(shape, depth)
        return text if text.isidentifier() else f"({text})"

    def binary(self, shape, depth):
        other = self.narrowed(shape)
        a, b = self.operand(shape, depth - 1), self.operand(other, depth - 1)
        if self.chance(0.4):
            a, b = b, a
        return self.choice(BINARY).format(a, b)

    def unary(self, shape, depth):
        return self.choice(UNARY).format(self.expr(shape, depth - 1))

    def reduction(self, shape, depth):
        how = self.choice(("sum", "sum", "mean", "prod"))
        if not shape:
            inner = self.operand(self.shape(self.choice((1, 2))), depth - 1)
            scaled = f"np.cos({inner})" if how == "prod" else inner
            return self.choice((f"np.{how}({scaled})", f"({scaled}).{how}()"))
        if 1 in shape and self.chance(0.6):
            axis = shape.index(1)
            full = shape[:axis] + (self.choice(self.dims),) + shape[axis + 1 :]
            inner = self.expr(full, depth - 1)
            return f"np.{how}(np.tanh({inner}), axis={axis}, keepdims=True)"
        if len(shape) == 1:
            axis = self.choice((0, 1, -1))
            full = (
                shape[:axis] + (self.choice(self.dims),) + shape[axis:]
                if axis >= 0
                else shape + (self.choice(self.dims),)
            )
            return f"np.{how}(np.tanh({self.expr(full, depth - 1)}), axis={axis})"
        return self.unary(shape, depth)

    def conditional(self, shape, depth):
        return f"({self.expr(shape, depth - 1)} if {self.condition()} else {self.expr(shape, depth - 1)})"

    def product(self, shape, depth):
        k = self.choice(self.dims)
        if len(shape) == 1:
            a, b = self.choice((((shape[0], k), (k,)), ((k,), (k, shape[0]))))
        elif shape[0] > 1 and shape[1] > 1 and self.chance(0.3):
            return f"np.outer({self.expr((shape[0],), depth - 1)}, {self.expr((shape[1],), depth - 1)})"
        else:
            a, b = (shape[0], k), (k, shape[1])
        form = self.choice(("0.5 * ({} @ {})", "0.5 * np.dot({}, {})", "0.4 * ({}).dot({})"))
        return form.format(self.operand(a, depth - 1), self.operand(b, depth - 1))

    def inner(self, shape, depth):
        k = self.choice(self.dims)
        a, b = self.operand((k,), depth - 1), self.operand((k,), depth - 1)
        return self.choice(("0.5 * ({} @ {})", "0.5 * np.dot({}, {})", "np.sum({} * {})")).format(a, b)

    def rearranged(self, shape, depth):
        if len(shape) == 2:
            forms = [("({}).T", shape[::-1]), (f"({{}}).reshape({shape[0]}, {shape[1]})", (shape[0] * shape[1],))]
            forms += [(f"np.reshape({{}}, {shape})", shape[::-1]), ("np.transpose({})", shape[::-1])]
            if shape[0] == 1:
                forms += [("({})[None]", shape[1:]), ("np.expand_dims({}, 0)", shape[1:])]
            if shape[1] == 1:
                forms += [("({})[:, None]", shape[:1])]
        else:
            forms = [("({})[::-1]", shape), ("np.reshape({}, -1)", (shape[0], 1)), ("np.ravel({})", (1, shape[0]))]
            if shape[0] in (4, 6, 9):
                forms.append(("({}).ravel()", {4: (2, 2), 6: (2, 3), 9: (3, 3)}[shape[0]]))
        form, needed = self.choice(forms)
        return form.format(self.expr(needed, depth - 1))

    def joined(self, shape, depth):
        n = shape[0]
        if n < 2 or self.chance(0.3):
            return self.stacked(shape, depth)
        cut = self.random.randrange(1, n)
        parts = self.expr((cut, *shape[1:]), depth - 1), self.expr((n - cut, *shape[1:]), depth - 1)
        return f"np.concatenate([{parts[0]}, {parts[1]}])"

    def stacked(self, shape, depth):
        items = ", ".join(self.expr(shape[1:], depth - 1) for _ in range(shape[0]))
        return f"np.{'array' if self.chance(0.5) else 'stack'}([{items}])"

    def where(self, shape, depth):
        test = f"{self.operand(shape, 0)} > {self.constant()}"
        return f"np.where({test}, {self.expr(shape, depth - 1)}, {self.expr(self.narrowed(shape), depth - 1)})"

    def cumulative(self, shape, depth):
        axis = self.random.randrange(len(shape))
        return f"np.cumsum({self.expr(shape, depth - 1)}, axis={axis})"

    def sum_of_generator(self, shape, depth):
        k = self.new_name("k")
        self.env[k] = Integer(0, 2)
        text = f"sum([{self.expr((), depth - 1)} for {k} in range(3)])"
        del self.env[k]
        return text

    def helper_value(self, shape, depth):
        forms = [
            lambda: f"blend({self.expr(shape, depth - 1)}, {self.expr(self.narrowed(shape), depth - 1)})",
            lambda: f"blend({self.expr(shape, 0)}, t={self.expr((), 0)}, v={self.expr(shape, depth - 1)})",
            lambda: f"bounded({self.expr(shape, depth - 1)})",
            lambda: f"power({self.expr(shape, depth - 1)}, {self.choice((0, 1, 2))})",
            lambda: f"pick({self.expr(shape, depth - 1)}, {self.condition()})",
            lambda: f"decay({self.expr(shape, depth - 1)}, {self.choice((0, 1, 2))})",
            lambda: f"two({self.expr(shape, depth - 1)})[{self.choice((0, 1))}]",
            lambda: f"apply(lambda q: q * {self.expr((), 0)}, {self.expr(shape, depth - 1)})",
            lambda: f"apply(blend, {self.expr(shape, 0)}, {self.expr(shape, depth - 1)})",
        ]
        if shape:
            forms.append(lambda: f"smooth({self.expr(shape, depth - 1)})")
        else:
            forms.append(lambda: f"gather(a={self.expr(self.shape(), 0)}, gain=0.4, b={self.expr((), 0)})")
        return self.choice(forms)()

    def condition(self):
        """A test on integers, or on data that is nowhere near the threshold but by accident."""
        options = [
            f"{self.scalar_of_data()} > {self.constant()[:-1]}37",
            f"{self.scalar_of_data()} < {self.constant()}",
        ]
        for name in self.names(lambda k: isinstance(k, Integer)):
            options += [f"{name} % 2 == {self.choice((0, 1))}", f"{name} > {self.choice((0, 1))}", f"{name} != 1"]
        text = self.choice(options)
        if self.chance(0.15):
            text = f"{text} {self.choice(('and', 'or'))} {self.choice(options)}"
        return f"not ({text})" if self.chance(0.07) else text

    def scalar_of_data(self):
        arrays = self.arrays()
        if arrays and self.chance(0.6):
            return f"np.sum({self.choice(arrays)})"
        numbers = self.names(lambda k: isinstance(k, Number))
        return self.choice(numbers) if numbers else self.leaf(())
