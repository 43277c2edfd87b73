"""What a name of a random program may hold, and the functions that every random program may call."""

from dataclasses import dataclass

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
    "Box": (
        "class Box:\n    def __init__(self, data):\n        self.data = data\n\n    def add(self, u):\n"
        "        self.data += u\n\n    def replace(self, u):\n        self.data = u\n"
    ),
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


@dataclass(frozen=True)
class BoxOf:
    shape: tuple  # of the array that it holds


def kind_of(shape):
    return Array(shape) if shape else Number()
