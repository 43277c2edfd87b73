"""Functions of one member, for `test_vmap.py`: `member(*batch)` records one, with the arguments of a batch."""

import math
from dataclasses import dataclass

import numpy as np

RNG = np.random.default_rng(0)
X, S, A, W = RNG.normal(size=(9, 4)), RNG.normal(size=9), RNG.normal(size=(9, 4, 4)), RNG.normal(size=(4, 3))
K = np.array([0, 3, 1, 2, 2, 0, 1, 3, 0])
PROGRAMS = {}


def member(*batch, loops=False):
    """Record a function, with the arguments of a batch; `loops` says that some statement has no form for all members at once."""

    def add(f):
        PROGRAMS[f.__name__] = (f, batch, loops)
        return f

    return add


@member(S)
def scalar(x):
    return math.sin(x) * x + 2


@member(S)
def branch_where(x):
    if x > 0:
        y = x
    else:
        y = -0.1 * x
    return y


@member(S)
def branch_log(x):
    if x > 0:
        return math.log(x)
    return x * x


@member(S)
def branch_sqrt(x):
    y = np.sqrt(x) if x > 0.0 else 0.0
    return y * x


@member(S)
def three(x):
    if x < -0.5:
        y = 1.0 / x
    elif x < 0.5:
        y = x ** 3
    else:
        y = np.log(x) + x
    return y


@member(S)
def whiles(x):
    n = 0
    while abs(x) > 0.1:
        x = x * 0.6
        n += 1
    return x + n


@member(S)
def while_break(x):
    y = x
    while True:
        y = y / 2
        if abs(y) < 0.05:
            break
        y = y + 0.001
    return y


@member(S)
def for_break(x):
    t = 0.0
    for i in range(20):
        t = t + x * x * i
        if t > 3.0:
            break
    return t * x


@member(S)
def for_return(x):
    for _ in range(5):
        x = x * 1.5 + 0.1
        if x > 2:
            return x * 10
    return x


@member(S)
def for_continue(x):
    t = 0.0
    for i in range(6):
        if x * i < 0.3:
            continue
        t += x ** i
    return t


@member(X)
def mlp(x):
    return np.tanh(x @ W) @ np.ones(3)


@member(X, K)
def pick(x, k):
    return x[k] * 2


@member(X, K)
def write(x, k):
    y = np.zeros(4)
    y[k] = x[0] * 2
    y[k] += x[1]
    return y * x


@member(K, S)
def table(k, s):
    return W[k] * s


@member(X)
def writes(x):
    for i in range(1, 4):
        x[i] = x[i - 1] * x[i]
    return x


@member(X)
def masked(x):
    return np.sum(x[x > 0] ** 2)


@member(X)
def ragged(x):
    y = x[x > 0]
    z = y * 2
    return np.sum(z) + np.sum(y ** 2)


@member(A, X)
def solve(a, x):
    return np.linalg.solve(a @ a.T + 5 * np.eye(4), x)


@member(A)
def logdet(a):
    return np.linalg.slogdet(a @ a.T + np.eye(4))[1]


@member(X)
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@member(X)
def parts(x):
    a, b, c, d = x
    return np.array([a * b, np.sin(c), d])


@member(X)
def nested(x):
    a, b = (x[0], x[1])
    return np.array([[a, b], [b * b, 1.0]])


@member({'w': X, 'b': S})
def dicts(p):
    return p['w'] * p['b']


@member(X)
def returns_dict(x):
    return {'a': x * 2, 'b': (x[0], 3.0)}


@member(X)
def lists(x):
    out = []
    for v in x:
        out.append(v * v)
    return np.array(out)


@member(X)
def cum(x):
    return np.cumsum(x) * np.std(x)


@member(X)
def while_array(x):
    while np.sum(x * x) > 0.5:
        x = x * 0.7
    return x


@member(X)
def newton(x):
    y = 1.0
    for _ in range(50):
        new = y - (y * y - x[0] ** 2 - 1) / (2 * y)
        if abs(new - y) < 1e-12:
            break
        y = new
    return y


def helper(u, v=2.0):
    if u > v:
        return u
    return u * v


@member(X)
def own(x):
    return helper(x[0]) + helper(x[1], 0.1)


@member(S, loops=True)
def raises(x):
    if x > 100:
        raise ValueError('big')
    return x * x


@member(X)
def clipped(x):
    return np.clip(x, -0.5, 0.5).sum() + np.maximum(x, 0).sum()


@member(X)
def ein(x):
    return np.einsum('i,ij->j', x, W)


@member(X)
def sorts(x):
    return np.sort(x)[::-1] * np.arange(4.0)


@member(np.array([3, 0, 2, 5, 1, 1, 0, 2, 4]), S)
def ranges(n, x):
    t = 1.0
    for i in range(n):
        t = t * x + i
    return t


@member(X)
def norm(x):
    return x / np.linalg.norm(x)


@member(X)
def stacks(x):
    return (np.stack([x, x * 2]), np.concatenate([x[:2], x]))


@member(X.astype(np.float32))
def single(x):
    return np.sin(x) * 2 + 1


@member(S.astype(np.float32))
def single_scalar(x):
    c = 0.5 if x > 0 else 0.25
    return c * np.ones(3, np.float32) * x


@member(X)
def interp(x):
    return np.interp(x, np.arange(3.0), np.array([1.0, 2.0, 0.0]))


@member(S)
def nan_arm(x):
    if x > 0:
        y = np.array([x, 1.0]) / x
    else:
        y = np.array([0.0, 1.0])
    return y


@member(S)
def both(x):
    return x if x > 0 and 1 / x < 2 else 0.0


@member(S)
def nest(x):
    if x > 0:
        if x > 1:
            y = x ** 2
        else:
            y = np.sqrt(x)
        while y > 0.3:
            y = y * 0.5
    else:
        y = x * x * x
    return y


@dataclass
class Pose:
    a: float
    v: np.ndarray


@member(S, X)
def records(s, x):
    q = Pose(s, x)
    for _ in range(3):
        if q.a > 0:
            q = Pose(q.a * 0.5, q.v * q.a)
        else:
            q = Pose(q.a + 1, q.v + 1)
    return q.v


@member(X, loops=True)
def comp(x):
    return sum([v * v for v in x if v > 0])


@member(X)
def state(x):
    h = np.zeros(4)
    hs = []
    for t in range(3):
        h = np.tanh(x * h + t)
        hs.append(h)
    return np.array(hs)


@member(X)
def amax(x):
    return x[np.argmax(x)] ** 2


@member(X)
def inner_fn(x):

    def g(z):
        return z * x[0] if z > 0 else z
    return g(x[1]) + g(x[2])


@member(X)
def ints(x):
    return int(x[0] * 10) * x[1]


@member(S)
def intpow(x):
    n = int(abs(x) * 3)
    return x ** n


@member(S, loops=True)
def shapes_differ(x):
    if x > 0:
        y = np.array([x])
    else:
        y = np.array([x, 1.0, 2.0])
    return np.sum(y * 2) + len(y)


@member(S, loops=True)
def shapes_differ_where(x):
    a, b = (np.array([1.0]), np.array([x, 1.0, 2.0]))
    y = a if x > 0 else b
    return np.sum(y * 2)


@member(K, S)
def of_list(k, s):
    return [1.0, 2.0, 4.0, 8.0][k] * s


@member(S)
def inf_arm(x):
    big = 1e+200 * abs(x) * 1e+200 if x > 10 else x
    return big * x


@member(X)
def repeated(x):
    y = np.zeros(3)
    for j in [0, 1, 1, 2]:
        y[j] += x[j] * 2
    y[np.array([0, 0, 2])] = x[:3]
    return y


@member(X, K)
def window(x, k):
    return np.sum(x[k:]) * x[0]


@member(X, K)
def fancy(x, k):
    idx = np.array([0, 1]) + k % 2
    y = np.zeros(4)
    y[idx] = x[:2]
    np.add.at(y, np.array([0, 0, 1]), x[:3])
    return y * x[k]


@member(A, K)
def columns(a, k):
    return a[:, k] * a[k, 0] + a[k]


@member(X)
def break_else(x):
    for v in x:
        if v > 1:
            break
    else:
        return np.sum(x)
    return v * 2


@member(S)
def loop_in_arm(x):
    if x > 0:
        for i in range(3):
            x = x * x + i
    else:
        while x < -0.1:
            x = x / 3
    return x


@member(X, loops=True)
def assertion(x):
    assert np.all(np.isfinite(x)), 'bad'
    return x * 2


@member(X, loops=True)
def caught(x):
    try:
        y = np.linalg.inv(np.diag(x))
    except np.linalg.LinAlgError:
        y = np.eye(4)
    return y


@member(X)
def kwargs_own(x):

    def g(*a, scale=1.0, **k):
        return sum(a) * scale + k['z']
    return g(x[0], x[1], scale=x[2], z=3.0)


@member(X)
def tuples(x):
    a, b = (x[0], x[1]) if x[0] > x[1] else (x[1], x[0])
    return a - b


@member(X)
def dict_arm(x):
    d = {'a': x[0], 'b': x[1:]}
    if x[3] > 0:
        d['a'] = x[3] ** 2
    return d['a'] * d['b']


@member(X, loops=True)
def list_arm(x):
    out = [x[0]]
    if x[1] > 0:
        out.append(x[1])
    return sum(out)


@member(X)
def generator(x):
    return sum((v * i for i, v in enumerate(x)))


@member(X, loops=True)
def string(x):
    kind = 'a' if x[0] > 0 else 'b'
    return x * 2 if kind == 'a' else x


@member(X, loops=True)
def none(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


@member(X)
def matvec(x):
    return W.T @ x + x @ W * 2 + np.dot(x, x)


@member(A, X)
def quad(a, x):
    return x @ a @ x + np.trace(a @ a)


@member(X)
def means(x):
    return (x - x.mean()) / x.std() + np.var(x)


@member(X)
def rolls(x):
    return np.roll(x, 1) + np.diff(x, axis=0).sum() + np.flip(x)


@member(X)
def pads(x):
    return np.concatenate([[0.0], x, [x[0]]])


@member(A)
def eig(a):
    return np.linalg.eigvalsh(a + a.T)


@member(X)
def softplus(x):
    return np.logaddexp(0, x) + np.where(x > 0, np.sqrt(np.abs(x)), 0)


@member(X)
def two_level(x):
    t = 0.0
    for i in range(4):
        for j in range(i):
            if x[i] < x[j]:
                continue
            if x[j] > 1:
                break
            t += x[i] * x[j]
    return t


@member(X)
def bisect(x):
    lo, hi = (0.0, 4.0)
    while hi - lo > 0.001 * (1 + abs(x[0])):
        mid = (lo + hi) / 2
        if mid ** 3 < 2 + x[0]:
            lo = mid
        else:
            hi = mid
    return lo * x[0]


@member(X, loops=True)
def begins_as_a_number(x):
    total = 0
    for k in range(3):
        total = total + W[:, k] * x
    return total


@member(S, loops=True)
def arm_that_no_member_takes(x):
    return 1 // len(W[:0]) * x if x > 100 else x


@member(S)
def table_in_an_arm(x):
    t = 0.0
    for i in range(4):
        if x > i - 2 and i + 1 < 4:
            t += W[i + 1, 0] * x
    return t


@member(X)
def pops(x):
    held = [x[0], x[1] * 2, x[2]]
    last = held.pop()
    held[0] = last * held[1]
    return held[0] + len(held)


@member(X, loops=True)
def objects_in_lists(x):
    states = [{"at": v, "speed": 1.0} for v in x]
    for state in states:
        if state["at"] > 0:
            state["speed"] = state["at"] ** 2
    return np.array([state["speed"] * state["at"] for state in states])


@member(X)
def early_returns(x):
    for i, v in enumerate(x):
        if v > 1:
            return v * 10 + i
        if v < -1:
            return v / 2
    return np.sum(x)


@member(S)
def two_loops(x):
    steps = 0
    while x > 0.2:
        for _ in range(3):
            x = x * 0.8
            if x < 0.3:
                break
        steps += 1
    return x * steps



N = np.array([3, 0, 2, 5, 1, 1, 0, 2, 4])


@member(N, S)
def range_break(n, x):
    t = 1.0
    for i in range(1, n, 2):
        t = t * x + i
        if t > 2:
            break
    return t


@member(N, S)
def range_else(n, x):
    for _ in range(n):
        x = x * 1.3
        if x > 1:
            break
    else:
        x = -1.0 * x
    return x


@member(N, X)
def range_arrays(n, x):
    y = np.zeros(4)
    for i in range(min(n, 4)):
        y[i] = x[i] * 2
        y = y + x
    return y


@member(N, X)
def range_in_arm(n, x):
    if x[0] > 0:
        for i in range(n):
            x = np.sin(x) + i
        return np.sum(x)
    return x[1]


@member(S, loops=True)
def while_in_while(x):
    k = 0
    while abs(x) > 0.05:
        y = x
        while y > 0.3:
            y = y * 0.5
        x = x * 0.5 - 0.01 * y
        k += 1
        if k > 10:
            break
    return x + y if k > 0 else x


@member(S)
def return_in_while(x):
    while True:
        x = x * 0.7
        if abs(x) < 0.1:
            return x * 3
        if x < -1:
            return x * x


@member(S, X)
def array_state(s, x):
    while s > 0.1:
        x = np.tanh(x * s)
        s = s - 0.3
    return x


@member(X)
def carry_tuple(x):
    a, b = (x[0], x[1])
    for _ in range(5):
        a, b = (b, a * 0.5)
        if a > b:
            a, b = (b, a)
    return np.array([a, b])


@member(X, K)
def gather_scatter(x, k):
    y = x.copy()
    for i in range(3):
        y[k] = y[(k + i) % 4] * 0.5 + x[i]
        k = (k + 1) % 4
    return y


@member(X)
def divmods(x):
    q, r = divmod(x[0], 0.3)
    return q * x[1] + r + x[2] % 0.7 + x[3] // 0.2


@member(S, loops=True)
def math_many(x):
    y = math.exp(-x * x) + math.hypot(x, 1.0) + math.atan2(x, 2.0) + math.pow(abs(x), 1.5)
    return y + math.floor(x) + math.copysign(2.0, x) + round(x, 1)


@member(X)
def conds(x):
    return 1.0 if (x > 0).all() else 2.0 if np.any(x > 1) else x[0]


@member(X)
def mask_write(x):
    y = x.copy()
    y[y < 0] = 0
    y[x > 1] *= 2
    return y


@member(X, loops=True)
def mask_where(x):
    i = np.where(x > 0)[0]
    return np.sum(x[i]) + len(i)


@member(X)
def slices(x):
    x[1:] += x[:-1]
    x[::2] *= 3
    return x[::-1]


@member(A)
def mats(a):
    a = a @ a.T + 4 * np.eye(4)
    return np.linalg.inv(a) @ a[0] + np.diag(a) + np.linalg.norm(a) + np.linalg.cholesky(a).sum()


@member(X)
def outer(x):
    return np.outer(x, x[:2]) + x[:, None] * 2


@member(A, loops=True)
def axes(a):
    return a.sum(axis=0).max() + a.mean(axis=(0, 1)) + a.T.ravel()[3] + np.swapaxes(a, 0, 1)[0, 1]


@member(X)
def stat(x):
    return np.median(x) + np.ptp(x) + np.percentile(x, 30) + np.prod(x) + np.cumprod(x)[2] + np.argsort(x)[0]


@member(X)
def unassigned(x):
    if x[0] > 0:
        z = x[1]
    if x[0] > 0:
        return z * 2
    return x[2]


@member(S)
def complexes(x):
    z = x + 1j
    return abs(z * z)


@member(X)
def lambdas(x):
    fs = [np.sin, np.cos, lambda t: t * t]
    return sum((f(v) for f, v in zip(fs, x)))


@member(X)
def enum(x):
    best, at = (x[0], 0)
    for i, v in enumerate(x):
        if v > best:
            best, at = (v, i)
    return best * at


@member(X)
def swap_sort(x):
    x = x.copy()
    for i in range(3):
        for j in range(3 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = (x[j + 1], x[j])
    return x * np.arange(4.0)


@member(X, loops=True)
def memo(x):
    d = {}
    for i in range(3):
        d[i] = x[i] * (d[i - 1] if i else 1.0)
    return d[2]


@member(X)
def mask_of_numbers(x):
    y = x * 2
    y[y < 0] = 0.0
    y[x > 1] = 3.0
    return y * x
