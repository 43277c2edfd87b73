"""Tables and searches: alignment, decoding, paths, sorting, games."""

import math

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=(5, 3))), wrt=(0, 1, 2))
def viterbi_score_by_hand(start, trans, emit):
    score = start + emit[0]
    back = []
    for t in range(1, len(emit)):
        cand = score[:, None] + trans
        best = np.argmax(cand, axis=0)
        back.append(best)
        score = cand[best, np.arange(3)] + emit[t]
    path = [int(np.argmax(score))]
    for b in reversed(back):
        path.append(int(b[path[-1]]))
    path.reverse()
    return score[path[-1]]


@program(args=normal((5,), (6,)), wrt=(0, 1))
def dtw(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


@program(args=normal((4,), (5,)), wrt=(0, 1))
def soft_dtw_by_hand(a, b, gamma=0.5):
    D = (a[:, None] - b[None, :]) ** 2
    R = np.full((len(a) + 1, len(b) + 1), 1e10)
    R[0, 0] = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            r = np.array([R[i, j], R[i, j + 1], R[i + 1, j]])
            z = -r / gamma
            mx = z.max()
            R[i + 1, j + 1] = D[i, j] - gamma * (mx + np.log(np.sum(np.exp(z - mx))))
    return R[-1, -1]


@program(args=lambda rng: (rng.normal(size=(6, 4)), [1, 2, 2]), wrt=0)
def ctc_forward(logits, labels, blank=0):
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    ext = [blank]
    for l in labels:
        ext += [l, blank]
    T, S = len(p), len(ext)
    alpha = np.zeros((T, S))
    alpha[0, 0] = p[0, blank]
    alpha[0, 1] = p[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            a = alpha[t - 1, s]
            if s > 0:
                a += alpha[t - 1, s - 1]
            if s > 1 and ext[s] != blank and ext[s] != ext[s - 2]:
                a += alpha[t - 1, s - 2]
            alpha[t, s] = a * p[t, ext[s]]
    return -np.log(alpha[-1, -1] + alpha[-1, -2])


@program(args=(100.0, 0.05, 0.2), wrt=(0, 1, 2))
def american_put(s0, r, sigma, K=105.0, n=5):
    dt = 1 / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    disc = math.exp(-r * dt)
    prices = [s0 * u**j * d ** (n - j) for j in range(n + 1)]
    values = [max(K - s, 0.0) for s in prices]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            cont = disc * (p * values[j + 1] + (1 - p) * values[j])
            s = s0 * u**j * d ** (i - j)
            values[j] = max(cont, K - s)
    return values[0]


@program(args=(100.0, 0.05, 0.2), wrt=(0, 1, 2))
def binomial_vec(s0, r, sigma, K=103.0, n=5):
    dt = 1 / n
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    q = (np.exp(r * dt) - d) / (u - d)
    s = s0 * u ** np.arange(n, -1, -1) * d ** np.arange(0, n + 1)
    c = np.maximum(s - K, 0)
    for i in range(n):
        c[:-1] = np.exp(-r * dt) * (q * c[:-1] + (1 - q) * c[1:])
        c = c[:-1]
    return c[0]


NEIGH = [[1, 2], [0, 3], [0, 3, 4], [1, 2], [2]]


@program(args=normal((5,), (5,)), wrt=(0, 1))
def graph_diffusion(h, w):
    for _ in range(3):
        new = []
        for i, ns in enumerate(NEIGH):
            m = 0.0
            for j in ns:
                m += w[j] * h[j]
            new.append(np.tanh(m / len(ns) + h[i]))
        h = np.array(new)
    return np.sum(h**2)


@program(args=lambda rng: (rng.uniform(0.5, 3, size=7),))
def dijkstra_list(w):
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4), (2, 4)]
    dist = [0.0] + [float("inf")] * 4
    done = [False] * 5
    for _ in range(5):
        u, best = -1, float("inf")
        for i in range(5):
            if not done[i] and dist[i] < best:
                u, best = i, dist[i]
        done[u] = True
        for k, (a, b) in enumerate(edges):
            for x, y in ((a, b), (b, a)):
                if x == u and dist[u] + w[k] < dist[y]:
                    dist[y] = dist[u] + w[k]
    return dist[4] ** 2 + dist[3]


@program(args=lambda rng: (rng.uniform(0.5, 3, size=7),))
def bellman_ford(w):
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4), (2, 4)]
    dist = {i: math.inf for i in range(5)}
    dist[0] = 0.0
    for _ in range(4):
        for (a, b), wk in zip(edges, w):
            if dist[a] + wk < dist[b]:
                dist[b] = dist[a] + wk
    return dist[4] * dist[3]


@program(args=normal((4, 3)))
def beam_search(logits, width=2):
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    beams = [([], 0.0)]
    for t in range(len(logp)):
        cand = []
        for seq, score in beams:
            for k in range(3):
                cand.append((seq + [k], score + logp[t, k]))
        cand.sort(key=lambda c: c[1], reverse=True)
        beams = cand[:width]
    return beams[0][1] + beams[1][1]


@program(args=normal((7,)))
def tree_recursion(x):
    def build(lo, hi):
        if hi - lo == 1:
            return x[lo]
        mid = (lo + hi) // 2
        return np.tanh(build(lo, mid)) * build(mid, hi) + 0.5

    return build(0, len(x))


TREE = ("add", ("mul", 0, 1), ("sin", ("add", 2, ("mul", 0, 2))))


@program(args=normal((3,)), level="refuse", or_right=True)
def expression_tree(x):
    def ev(node):
        if isinstance(node, int):
            return x[node]
        op, *args = node
        vals = [ev(a) for a in args]
        if op == "add":
            return vals[0] + vals[1]
        if op == "mul":
            return vals[0] * vals[1]
        return np.sin(vals[0])

    return ev(TREE)


@program(args=normal((5,)))
def sort_with_key(x):
    pairs = sorted(enumerate(x), key=lambda p: -p[1])
    return sum((r + 1) * val * (i + 1) for r, (i, val) in enumerate(pairs))


@program(args=normal((5,)))
def top_k(x):
    idx = sorted(range(len(x)), key=lambda i: x[i])[-2:]
    return sum(x[i] ** 2 for i in idx)


@program(args=normal((4, 4)))
def determinant_recursive(A):
    def det(m):
        if m.shape[0] == 1:
            return m[0, 0]
        if m.shape[0] == 2:
            return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
        total = 0.0
        for j in range(m.shape[1]):
            minor = np.delete(m[1:], j, axis=1)
            total += (-1) ** j * m[0, j] * det(minor)
        return total

    return det(A)


@program(args=normal((6,)))
def quicksort_recursive(x):
    def qs(a):
        if len(a) <= 1:
            return a
        p = a[0]
        return qs([e for e in a[1:] if e < p]) + [p] + qs([e for e in a[1:] if e >= p])

    s = qs(list(x))
    return sum((i + 1) * e for i, e in enumerate(s))


@program(args=normal((6,)))
def bubble_sort(x):
    n = len(x)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swapped = True
        if not swapped:
            break
    return np.sum(x * np.arange(1, n + 1))


@program(args=normal((6,)))
def insertion_sort_list(x):
    out = []
    for e in x:
        k = 0
        while k < len(out) and out[k] < e:
            k += 1
        out.insert(k, e)
    return sum((i + 1) * o for i, o in enumerate(out))


@program(args=normal((5,), (5,)), wrt=(0, 1))
def knapsack_like(v_, w):
    n, C = len(v_), 7
    sizes = [2, 3, 1, 4, 2]
    best = np.zeros(C + 1)
    for i in range(n):
        for c in range(C, sizes[i] - 1, -1):
            cand = best[c - sizes[i]] + v_[i] * w[i]
            if cand > best[c]:
                best[c] = cand
    return best[C]


@program(args=normal((4, 3)), level="refuse", or_right=True)
def memoised_paths(c):
    cache = {}

    def best(i, j):
        if (i, j) in cache:
            return cache[i, j]
        if i == 0 and j == 0:
            r = c[0, 0]
        elif i == 0:
            r = best(i, j - 1) + c[i, j]
        elif j == 0:
            r = best(i - 1, j) + c[i, j]
        else:
            r = min(best(i - 1, j), best(i, j - 1)) + c[i, j]
        cache[i, j] = r
        return r

    return best(3, 2)


@program(args=normal((4, 3)))
def min_path_table(c):
    t = [[0.0] * 3 for _ in range(4)]
    for i in range(4):
        for j in range(3):
            prev = [t[a][b] for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            t[i][j] = c[i, j] + (min(prev) if prev else 0.0)
    return t[-1][-1]


@program(args=lambda rng: (rng.normal(size=(3, 3)), [0, 1, 2, 1]), wrt=0)
def crf_loss(T, tags):
    n = T.shape[0]
    alpha = np.zeros(n)
    for t in range(1, len(tags)):
        scores = alpha[:, None] + T
        m = np.max(scores, axis=0)
        alpha = m + np.log(np.sum(np.exp(scores - m), axis=0))
    logz = np.logaddexp.reduce(alpha)
    gold = sum(T[a, b] for a, b in zip(tags[:-1], tags[1:]))
    return logz - gold


@program(
    args=lambda rng: (rng.uniform(0.1, 1, size=(3, 3)), rng.uniform(0.1, 1, size=(3, 2)), rng.uniform(0.1, 1, size=3)),
    wrt=(0, 1, 2),
)
def hmm_baum(A, B, pi):
    A = A / A.sum(1, keepdims=True)
    B = B / B.sum(1, keepdims=True)
    pi = pi / pi.sum()
    obs = [0, 1, 1, 0]
    scale = []
    al = pi * B[:, obs[0]]
    scale.append(al.sum())
    al /= scale[-1]
    for o in obs[1:]:
        al = (al @ A) * B[:, o]
        scale.append(al.sum())
        al = al / scale[-1]
    return -sum(np.log(s) for s in scale)
