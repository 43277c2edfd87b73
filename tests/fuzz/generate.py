"""Random NumPy programs with loops, branches, aliases, views, writes, calls and containers.

`generate(seed)` gives the text of a module with a function `program` and a function `make_args`. The writer knows the shape of
every name at every point, so that its programs run; it knows nothing of values beyond keeping them small, and nothing of who
shares memory with whom, so that every entanglement comes about.

A name keeps its kind and shape while a block is open that may run any number of times; names made inside a block are
forgotten at its end.
"""

import random
from dataclasses import dataclass

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

HELPERS = {
    "blend": "def blend(u, v, t=0.3):\n    return t * u + (1 - t) * np.sin(v)\n",
    "bounded": "def bounded(u):\n    return u / np.sqrt(1 + u * u)\n",
    "power": (
        "def power(u, n):\n    if n <= 0:\n        return np.cos(u)\n    return np.tanh(u) * power(u, n - 1) + 0.1\n"
    ),
    "pick": "def pick(u, flag):\n    if flag:\n        return u\n    return u * 0.5\n",
    "shift": "def shift(u, amount):\n    u += 0.5 * amount\n",
    "scale_first": "def scale_first(u, c):\n    u[0] = u[0] * 0.5 + c\n    return u\n",
    "mix_into": (
        "def mix_into(target, source):\n    for i in range(len(target)):\n"
        "        target[i] += 0.3 * np.tanh(source[i])\n    return None\n"
    ),
    "smooth": (
        "def smooth(u):\n    out = np.zeros_like(u)\n    for i in range(len(u)):\n"
        "        out[i] = 0.5 * (u[i] - u[i - 1] * u[i])\n    return out\n"
    ),
    "two": "def two(u):\n    v = np.sin(u)\n    return v, u * v\n",
    "first_rows": "def first_rows(u, n):\n    return u[:n]\n",
    "decay": (
        "def decay(u, n):\n    k = 0\n    while True:\n        if k >= n:\n            return u\n"
        "        u = 0.7 * np.sin(u) + 0.1\n        k += 1\n"
    ),
    "keep": "def keep(items, value):\n    items.append(value)\n    return items[0]\n",
    "apply": "def apply(f, *args):\n    return f(*args)\n",
    "gather": (
        "def gather(*, gain=1.0, **parts):\n    total = 0.0\n    for key in parts:\n"
        "        total = total + gain * np.sum(parts[key])\n    return total\n"
    ),
}


@dataclass(frozen=True)
class Array:
    shape: tuple


@dataclass(frozen=True)
class Number:
    shape = ()


@dataclass(frozen=True)
class Integer:
    low: int
    high: int


@dataclass(frozen=True)
class ListOf:
    shape: tuple  # of every item
    least: int  # at least so many items


@dataclass(frozen=True)
class TupleOf:
    shapes: tuple


@dataclass(frozen=True)
class DictOf:
    items: tuple  # (key, shape) pairs


def kind_of(shape):
    return Array(shape) if shape else Number()


class Writer:
    """Writes one program; `env` maps the names in scope to their kinds."""

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

    # ---------------------------------------------------------------------------------------------------- statements

    def statement(self):
        table = [
            (self.assign, 10), (self.augment, 5), (self.write, 12), (self.write_integer_array, 2), (self.alias, 7),
            (self.branch, 5), (self.for_range, 6), (self.for_sequence, 4), (self.while_loop, 2), (self.call, 5),
            (self.containers, 4), (self.container_write, 3), (self.swap, 3), (self.output_argument, 2),
            (self.local_function, 1), (self.leave_loop, 4), (self.untyped_accumulator, 1), (self.unpack, 2),
            (self.fresh_buffer, 3),
        ]  # fmt: skip
        for _ in range(20):
            before = len(self.lines)
            if self.weighted(table)() is not False and len(self.lines) > before:
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

    # -------------------------------------------------------------------------------------------------------- blocks

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

    # ------------------------------------------------------------------------------------------------------- program

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
            elif isinstance(kind, TupleOf):
                terms.append(f"np.sum({name}[0] ** 2) + np.sum({name}[1])")
            elif isinstance(kind, DictOf):
                terms += [f"np.sum({name}[{key!r}] * {name}[{key!r}])" for key, _ in kind.items]
        return terms

    def write_program(self):
        kinds = self.parameters()
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
