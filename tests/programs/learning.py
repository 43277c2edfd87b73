"""Learning algorithms and networks written from scratch."""

import functools
from dataclasses import dataclass, replace

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(
    args=lambda rng: (
        rng.normal(size=2),
        0.1 * rng.normal(size=(2, 2)) + np.eye(2),
        np.array([[1.0, 0.2]]),
        0.3,
        rng.normal(size=4),
    ),
    wrt=(0, 1, 2, 3, 4),
)
def kalman(x, F, H, r, zs):
    P = np.eye(2)
    Q = 0.1 * np.eye(2)
    R = np.array([[r]])
    nll = 0.0
    for z in zs:
        x = F @ x
        P = F @ P @ F.T + Q
        y = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = (np.eye(2) - K @ H) @ P
        nll += 0.5 * (y @ np.linalg.solve(S, y) + np.log(np.linalg.det(2 * np.pi * S)))
    return nll


@program(
    args=lambda rng: (
        rng.normal(size=8),
        {"w": np.array([0.4, 0.6]), "mu": np.array([-1.0, 1.0]), "sigma": np.array([1.0, 0.7])},
    ),
    wrt=(0, 1),
)
def em_mixture(x, params):
    state = dict(params)
    for it in range(3):
        dens = []
        for k in range(2):
            z = (x - state["mu"][k]) / state["sigma"][k]
            dens.append(state["w"][k] * np.exp(-0.5 * z**2) / state["sigma"][k])
        dens = np.stack(dens)
        r = dens / dens.sum(axis=0)
        nk = r.sum(axis=1)
        state["w"] = nk / len(x)
        state["mu"] = (r @ x) / nk
        state["sigma"] = np.sqrt((r * (x - state["mu"][:, None]) ** 2).sum(1) / nk)
    return state["mu"] @ state["sigma"] + state["w"][0]


@program(args=lambda rng: ([{"mu": -1.0, "s": 1.0}, {"mu": 1.0, "s": 0.6}], rng.normal(size=6)), wrt=(0, 1))
def em_list_of_dicts(comps, x):
    for it in range(2):
        resp = [np.exp(-0.5 * ((x - c["mu"]) / c["s"]) ** 2) / c["s"] for c in comps]
        total = sum(resp)
        new = []
        for c, r in zip(comps, resp):
            g = r / total
            mu = np.sum(g * x) / np.sum(g)
            new.append({"mu": mu, "s": np.sqrt(np.sum(g * (x - mu) ** 2) / np.sum(g) + 0.01)})
        comps = new
    return sum(c["mu"] ** 2 + c["s"] for c in comps)


@program(args=normal((8, 2), (3, 2)), wrt=(0, 1))
def soft_kmeans(x, centers):
    for _ in range(3):
        d = ((x[:, None, :] - centers[None]) ** 2).sum(-1)
        r = np.exp(-d)
        r = r / r.sum(1, keepdims=True)
        centers = (r.T @ x) / r.sum(0)[:, None]
    return np.sum(np.min(((x[:, None, :] - centers[None]) ** 2).sum(-1), axis=1))


@program(args=normal((8, 2), (3, 2)), wrt=(0, 1))
def hard_kmeans(x, centers):
    for _ in range(3):
        labels = np.argmin(((x[:, None, :] - centers[None]) ** 2).sum(-1), axis=1)
        centers = np.array(
            [x[labels == k].mean(axis=0) if np.any(labels == k) else centers[k] for k in range(len(centers))]
        )
    return np.sum(centers**2)


@program(
    args=lambda rng: (
        rng.normal(size=3),
        [rng.normal(size=3) for _ in range(2)],
        [rng.normal(size=3) for _ in range(2)],
    ),
    wrt=(0, 1, 2),
)
def lbfgs_two_loop(g, s_list, y_list):
    q = g.copy()
    alphas, rhos = [], []
    for s, y in zip(reversed(s_list), reversed(y_list)):
        rho = 1.0 / (y @ s + 3.0)
        a = rho * (s @ q)
        q -= a * y
        alphas.append(a)
        rhos.append(rho)
    r = 0.7 * q
    for s, y, a, rho in zip(s_list, y_list, alphas[::-1], rhos[::-1]):
        b = rho * (y @ r)
        r += s * (a - b)
    return r @ g


@dataclass(frozen=True)
class Params:
    w: np.ndarray
    b: np.ndarray


@program(
    args=lambda rng: (
        Params(rng.normal(size=(3, 2)), rng.normal(size=2)),
        rng.normal(size=(4, 3)),
        rng.normal(size=(4, 2)),
    ),
    wrt=0,
)
def sgd_dataclass(p, x, y):
    for _ in range(3):
        e = x @ p.w + p.b - y
        p = replace(p, w=p.w - 0.1 * x.T @ e / 4, b=p.b - 0.1 * e.mean(0))
    return np.sum((x @ p.w + p.b - y) ** 2)


@program(
    args=lambda rng: (
        [
            {"W": rng.normal(size=(3, 4)), "b": rng.normal(size=4)},
            {"W": rng.normal(size=(4, 2)), "b": rng.normal(size=2)},
        ],
        rng.normal(size=(5, 3)),
    ),
    wrt=(0, 1),
)
def mlp_list_of_dicts(layers, x):
    h = x
    for i, layer in enumerate(layers):
        h = h @ layer["W"] + layer["b"]
        if i < len(layers) - 1:
            h = np.maximum(h, 0.01 * h)
    return np.mean(h**2)


class Linear:
    def __init__(self, W, b, activation=None):
        self.W, self.b, self.activation = W, b, activation

    def forward(self, x):
        self.x = x
        z = x @ self.W + self.b
        return self.activation(z) if self.activation else z

    __call__ = forward


class Sequential:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self):
        return len(self.layers)

    def __getitem__(self, i):
        return self.layers[i]


@program(args=normal((3, 4), (4,), (4, 2), (2,), (5, 3)), wrt=(0, 1, 2, 3, 4))
def nn_classes(W1, b1, W2, b2, x):
    net = Sequential(Linear(W1, b1, np.tanh), Linear(W2, b2))
    out = net(x)
    return np.sum(out**2) + len(net) * np.sum(net[0].x)


class Module:
    def parameters(self):
        return [p for p in vars(self).values() if isinstance(p, np.ndarray)]


class Affine(Module):
    def __init__(self, W, b):
        super().__init__()
        self.W = W
        self.b = b

    def __call__(self, x):
        return x @ self.W + self.b


@program(args=normal((3, 4), (4,), (5, 3)), wrt=(0, 1, 2), level="refuse", or_right=True)
def module_with_parameters(W, b, x):
    m = Affine(W, b)
    reg = sum(np.sum(p**2) for p in m.parameters())
    return np.sum(np.tanh(m(x))) + 0.1 * reg


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@program(
    args=lambda rng: (
        {k: 0.5 * rng.normal(size=(5, 3)) for k in "ifog"},
        {k: rng.normal(size=3) for k in "ifog"},
        rng.normal(size=(4, 2)),
    ),
    wrt=(0, 1, 2),
)
def lstm_dict(W, b, xs):
    h = np.zeros(3)
    c = np.zeros(3)
    outs = []
    for x in xs:
        z = np.concatenate([x, h])
        gates = {k: z @ W[k] + b[k] for k in ("i", "f", "o", "g")}
        i, f, o = (sigmoid(gates[k]) for k in "ifo")
        c = f * c + i * np.tanh(gates["g"])
        h = o * np.tanh(c)
        outs.append(h)
    return np.mean(np.array(outs) ** 2)


@program(args=normal((4, 6), (6, 6), (6, 6), (6, 6)), wrt=(0, 1, 2, 3))
def multihead_attention(x, Wq, Wk, Wv, heads=2):
    n, d = x.shape
    dk = d // heads

    def split(m):
        return m.reshape(n, heads, dk).transpose(1, 0, 2)

    q, k, v_ = (split(x @ W) for W in (Wq, Wk, Wv))
    s = np.einsum("hid,hjd->hij", q, k) / np.sqrt(dk)
    mask = np.triu(np.ones((n, n), dtype=bool), 1)
    s[:, mask] = -1e9
    s -= s.max(axis=-1, keepdims=True)
    a = np.exp(s)
    a /= a.sum(-1, keepdims=True)
    out = (a @ v_).transpose(1, 0, 2).reshape(n, d)
    return np.sum(out**2)


@program(args=normal((6, 3), (3,), (3,)), wrt=(0, 1, 2))
def batch_norm_running(x, gamma, beta):
    running = {"mean": np.zeros(3), "var": np.ones(3)}
    momentum = 0.9
    loss = 0.0
    for batch in np.split(x, 2):
        mu, var = batch.mean(0), batch.var(0)
        running["mean"] = momentum * running["mean"] + (1 - momentum) * mu
        running["var"] = momentum * running["var"] + (1 - momentum) * var
        y = gamma * (batch - mu) / np.sqrt(var + 1e-5) + beta
        loss += np.sum(np.tanh(y))
    return loss + np.sum((gamma * running["mean"]) / np.sqrt(running["var"]))


@program(args=normal((4,), (4,)), wrt=(0, 1))
def configured_by_hand(x, y, config=None):
    cfg = {"loss": "huber", "delta": 0.5, "reduce": "mean"}
    cfg.update(config or {})
    r = x - y
    if cfg["loss"] == "mse":
        l = r**2
    elif cfg["loss"] == "huber":
        d = cfg["delta"]
        l = np.where(np.abs(r) < d, 0.5 * r**2, d * (np.abs(r) - 0.5 * d))
    else:
        raise ValueError(cfg["loss"])
    return {"mean": np.mean, "sum": np.sum}[cfg["reduce"]](l)


def timed(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


@timed
def inner_decorated(x, p=2):
    return np.sum(np.abs(x) ** p)


@program(args=normal((4,)))
def decorated_helper_by_hand(x):
    return inner_decorated(x, p=3) + inner_decorated(x)


@program(args=normal((4, 3), (4,)), wrt=(0, 1))
def perceptron_like(X, y):
    w = np.zeros(X.shape[1])
    for xi, yi in zip(X, y):
        if yi * (w @ xi) < 0.5:
            w += 0.3 * yi * xi
    return w @ w


@program(args=normal((5, 2), (2,)), wrt=(0, 1))
def newton_logistic(X, w):
    y = np.array([1, 0, 1, 1, 0])
    for _ in range(3):
        p = 1 / (1 + np.exp(-X @ w))
        H = (X * (p * (1 - p))[:, None]).T @ X + 0.5 * np.eye(2)
        w = w - np.linalg.solve(H, X.T @ (p - y) + 0.5 * w)
    return np.sum(w**2)


@program(args=normal((6,), 0.3), wrt=(0, 1))
def garch_by_hand(r, omega):
    s2 = np.var(r)
    ll = 0.0
    for x in r:
        s2 = omega**2 + 0.1 * x**2 + 0.8 * s2
        ll -= 0.5 * (np.log(2 * np.pi * s2) + x**2 / s2)
    return ll


@program(
    args=lambda rng: (
        {
            "enc": {"w": rng.normal(size=(2, 3)), "b": rng.normal(size=3)},
            "dec": {"w": rng.normal(size=(3, 2)), "b": rng.normal(size=2)},
        },
        rng.normal(size=(4, 2)),
    ),
    wrt=(0, 1),
)
def autoencoder_nested_dict(params, x):
    def dense(p, h):
        return h @ p["w"] + p["b"]

    h = np.tanh(dense(params["enc"], x))
    y = dense(params["dec"], h)
    reg = sum(np.sum(w**2) for part in params.values() for name, w in part.items() if name == "w")
    return np.mean((y - x) ** 2) + 0.01 * reg


@program(args=normal((4, 3), (4,)), wrt=(0, 1))
def weighted_least_squares(X, y):
    w = np.ones(4)
    for _ in range(3):
        W = np.diag(w)
        beta = np.linalg.inv(X.T @ W @ X) @ X.T @ W @ y
        w = 1 / np.sqrt(0.1 + (y - X @ beta) ** 2)
    return beta @ beta
