"""Likelihoods, regressions, dynamic programming, state-space models."""

import math

import numpy as np

from tests.programs import program


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=(6, 3)), (rng.normal(size=6) > 0) * 1.0))
def logistic_regression(w, X, y):
    z = X @ w
    return np.mean(np.log(1 + np.exp(-(2 * y - 1) * z))) + 0.1 * w @ w


@program(args=lambda rng: (rng.normal(size=3), 0.1, rng.normal(size=(5, 3)), rng.normal(size=5)), wrt=(0, 1))
def least_squares_by_loops(w, bias, X, y):
    loss = 0.0
    for i in range(X.shape[0]):
        pred = bias
        for j in range(X.shape[1]):
            pred += w[j] * X[i, j]
        loss += (pred - y[i]) ** 2
    return loss / X.shape[0]


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=(5, 3)), rng.poisson(2, size=5)))
def poisson_regression(w, X, counts):
    rate = np.exp(0.3 * X @ w)
    return np.sum(rate - counts * np.log(rate))


@program(args=lambda rng: (0.3, 0.8, rng.normal(size=10)), wrt=("mu", "sigma"), level="python")
def normal_log_likelihood(mu, sigma, data):
    z = (data - mu) / sigma
    return -0.5 * np.sum(z**2) - data.size * math.log(sigma) - 0.5 * data.size * math.log(2 * math.pi)


@program(args=lambda rng: (rng.normal(size=2), rng.normal(size=(2, 2)), rng.normal(size=(4, 2))), wrt=(0, 1))
def multivariate_normal(mean, factor, xs):
    cov = factor @ factor.T + np.eye(2)
    a, b, c = cov[0, 0], cov[0, 1], cov[1, 1]
    det = a * c - b * b
    inverse = np.array([[c, -b], [-b, a]]) / det
    total = 0.0
    for x in xs:
        d = x - mean
        total -= 0.5 * (d @ inverse @ d + np.log(det))
    return total


def logsumexp(x, axis=None):
    top = np.max(x, axis=axis, keepdims=True)
    out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out.sum() if axis is None else np.squeeze(out, axis=axis)


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=(3, 2)), rng.normal(size=(3, 2)) * 0.3, rng.normal(size=(6, 2))), wrt=(0, 1, 2))
def gmm_log_likelihood(alphas, means, log_sigmas, x):
    log_weights = alphas - logsumexp(alphas)
    d = (x[:, None, :] - means[None]) / np.exp(log_sigmas)
    per_component = log_weights - np.sum(log_sigmas, axis=1) - 0.5 * np.sum(d * d, axis=2)
    return np.sum(logsumexp(per_component, axis=1))


@program(args=lambda rng: (rng.normal(size=(3, 2)), rng.normal(size=(8, 2))))
def kmeans_objective(centres, points):
    cost = 0.0
    for p in points:
        d = np.sum((centres - p) ** 2, axis=1)
        cost += np.min(d)
    return cost / len(points)


@program(args=lambda rng: (rng.normal(size=(3, 2)), rng.normal(size=(8, 2))), level="python")
def kmeans_one_update(centres, points):
    nearest = [int(np.argmin(np.sum((centres - p) ** 2, axis=1))) for p in points]
    moved = centres.copy()
    for k in range(len(centres)):
        members = [p for p, n in zip(points, nearest) if n == k]
        if not members:
            continue
        moved[k] = 0.5 * moved[k] + 0.5 * sum(members) / len(members)
    return sum(np.sum((moved[n] - p) ** 2) for p, n in zip(points, nearest))


@program(args=lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=(3, 2)), rng.normal(size=(4, 3)), rng.random((4, 3)) < 0.6), wrt=("U", "V"))
def matrix_factorisation(U, V, ratings, known):
    loss = 0.0
    for i in range(ratings.shape[0]):
        for j in range(ratings.shape[1]):
            if known[i, j]:
                loss += (ratings[i, j] - U[i] @ V[j]) ** 2
    return loss + 0.05 * (np.sum(U**2) + np.sum(V**2))


@program(args=lambda rng: (rng.normal(size=2), rng.normal(size=(2, 2)), rng.normal(size=(4, 2))), wrt=(0, 1, 2))
def hmm_forward(initial, transitions, emissions):
    alpha = initial + emissions[0]
    for t in range(1, len(emissions)):
        new = np.zeros(2)
        for j in range(2):
            new[j] = logsumexp(alpha + transitions[:, j]) + emissions[t, j]
        alpha = new
    return logsumexp(alpha)


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=(5, 3))), wrt=(0, 1))
def viterbi_score(trans, scores):
    best = scores[0].copy()
    for t in range(1, scores.shape[0]):
        best = np.max(best[:, None] + trans, axis=0) + scores[t]
    return best.max()


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=(4, 3)), [0, 2, 1, 1]), wrt=(0, 1))
def crf_negative_log_likelihood(trans, emit, tags):
    score = emit[0, tags[0]]
    for t in range(1, len(tags)):
        score += trans[tags[t - 1], tags[t]] + emit[t, tags[t]]
    a = emit[0]
    for t in range(1, len(tags)):
        a = logsumexp(a[:, None] + trans + emit[t][None, :], axis=0)
    return logsumexp(a) - score


def softmin(values, gamma=0.3):
    values = np.array(values)
    low = np.min(values)
    return low - gamma * np.log(np.sum(np.exp(-(values - low) / gamma)))


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=3)), wrt=(0, 1))
def soft_dtw(x, y):
    m, n = len(x), len(y)
    R = np.full((m + 1, n + 1), 1e3)
    R[0, 0] = 0.0
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            R[i, j] = cost + softmin([R[i - 1, j], R[i, j - 1], R[i - 1, j - 1]])
    return R[m, n]


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=(3, 4)), 0.8), wrt=(0, 1), level="python")
def soft_edit_distance(substitution, gap):
    m, n = substitution.shape
    previous = [j * gap for j in range(n + 1)]
    for i in range(m):
        current = [(i + 1) * gap]
        for j in range(n):
            current.append(softmin([previous[j] + substitution[i, j], previous[j + 1] + gap, current[j] + gap]))
        previous = current
    return previous[-1]


@program(args=lambda rng: (rng.uniform(0.5, 2, size=4), [1, 2, 3, 2]), level="python")
def smooth_knapsack(values, weights, capacity=5):
    best = np.zeros(capacity + 1)
    for v, w in zip(values, weights):
        for c in range(capacity, w - 1, -1):
            best[c] = np.logaddexp(best[c], best[c - w] + v)
    return best[capacity]


@program(args=lambda rng: (rng.uniform(1, 2, size=(4, 4)),), level="python")
def floyd_warshall(d):
    for k in range(4):
        for i in range(4):
            for j in range(4):
                d[i, j] = min(d[i, j], 0.6 * (d[i, k] + d[k, j]))
    return np.sum(d * d)


@program(args=lambda rng: (rng.uniform(1, 2, size=(4, 5)),), level="python")
def cheapest_path(cost):
    total = cost.copy()
    rows, columns = total.shape
    for i in range(rows):
        for j in range(columns):
            if i == 0 and j == 0:
                continue
            elif i == 0:
                total[i, j] += total[i, j - 1]
            elif j == 0:
                total[i, j] += total[i - 1, j]
            else:
                total[i, j] += min(total[i - 1, j], total[i, j - 1])
    return total[-1, -1] ** 2


@program(args=lambda rng: (0.1, 0.5, rng.normal(size=6)), wrt=("q", "r"))
def scalar_kalman(q, r, observations):
    m, p, loglik = 0.0, 1.0, 0.0
    for y in observations:
        p = p + q
        s = p + r
        k = p / s
        e = y - m
        loglik = loglik - 0.5 * (e * e / s + np.log(s))
        m = m + k * e
        p = (1 - k) * p
    return loglik


@program(args=lambda rng: (np.array([[1.0, 0.1], [0.0, 0.9]]), 0.1, 0.3, rng.normal(size=(5, 1))), wrt=(0, 1, 2))
def kalman_filter(F, q, r, ys):
    x, P = np.zeros(2), np.eye(2)
    H = np.array([[1.0, 0.5]])
    total = 0.0
    for y in ys:
        x = F @ x
        P = F @ P @ F.T + q * np.eye(2)
        innovation = y - H @ x
        S = H @ P @ H.T + r
        K = P @ H.T / S
        x = x + K @ innovation
        P = P - K @ H @ P
        total += 0.5 * np.sum(innovation**2) / S[0, 0] + 0.5 * np.log(S[0, 0])
    return total


@program(args=(0.1, 0.2, 0.6), wrt=(0, 1, 2), level="python")
def garch(omega, alpha, beta):
    returns = [0.5, -1.2, 0.3, 0.9, -0.4]
    h = 0.5
    ll = 0.0
    for r in returns:
        ll += -0.5 * (math.log(h) + r**2 / h)
        h = omega + alpha * r**2 + beta * h
    return ll


@program(args=lambda rng: (rng.normal(size=(5, 1)), rng.normal(size=5), np.array([0.1, 0.3, -0.5])), wrt=2)
def gaussian_process(x, y, theta):
    amplitude, length, noise = np.exp(theta)
    k = amplitude * np.exp(-((x - x.T) ** 2) / (2 * length)) + (noise + 0.1) * np.eye(5)
    L = np.zeros((5, 5))
    for i in range(5):
        for j in range(i):
            L[i, j] = (k[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
        L[i, i] = np.sqrt(k[i, i] - L[i, :i] @ L[i, :i])
    a = np.zeros(5)
    for i in range(5):
        a[i] = (y[i] - L[i, :i] @ a[:i]) / L[i, i]
    return 0.5 * a @ a + np.sum(np.log(np.diag(L)))


@program(args=lambda rng: (rng.normal(size=8), 0.7), wrt=(0, 1))
def robust_location(x, scale):
    m = np.mean(x)
    for _ in range(4):
        w = 1 / (1 + ((x - m) / scale) ** 2)
        m = np.sum(w * x) / np.sum(w)
    return m + np.sum(w) * 0.1


@program(args=lambda rng: (rng.normal(size=(6, 3)),), level="python")
def principal_direction(data):
    centred = data - data.mean(axis=0)
    cov = centred.T @ centred / (len(data) - 1)
    v = np.ones(3)
    for _ in range(4):
        v = cov @ v
        v /= np.linalg.norm(v)
    return v @ cov @ v / np.trace(cov)


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=6)), wrt=(0, 1))
def correlation(x, y):
    xc, yc = x - np.mean(x), y - np.mean(y)
    return np.sum(xc * yc) / np.sqrt(np.sum(xc**2) * np.sum(yc**2))


@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=4), np.array([1.0, -1.0, 1.0])), wrt=(0, 1))
def soft_margin(X, w, y):
    margins = 1 - y * (X @ w)
    return np.sum(np.maximum(0, margins) ** 2) + 0.5 * np.dot(w, w)


@program(args=lambda rng: (rng.uniform(0.1, 1, size=4), rng.uniform(0.1, 1, size=4)), wrt=(0, 1), level="python")
def divergences(p, q):
    p = p / p.sum()
    q = q / q.sum()
    m = (p + q) / 2
    kl = lambda a, b: np.sum(a * np.log(a / b))
    return kl(p, q) + 0.5 * kl(p, m) + 0.5 * kl(q, m)


@program(args=lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=4)), level="python")
def expectation_maximisation(x, start):
    """Responsibilities and means in turn, with dicts."""
    state = {"means": [start[:2], start[2:]], "weights": [0.5, 0.5]}
    for _ in range(2):
        parts = [w * np.exp(-0.5 * np.sum((x - m) ** 2, axis=1)) for w, m in zip(state["weights"], state["means"])]
        total = sum(parts)
        resp = [p / total for p in parts]
        state = {
            "means": [(r[:, None] * x).sum(axis=0) / r.sum() for r in resp],
            "weights": [r.mean() for r in resp],
        }
    return np.sum(state["means"][0] ** 2) + state["weights"][1]
