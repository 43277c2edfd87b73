"""Neural networks and their pieces, as tutorials and papers write them."""

import numpy as np

from tests.programs import program


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def relu(z):
    return np.maximum(z, 0)


def softmax(z, axis=-1):
    e = np.exp(z - np.max(z, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def dense(w, b, x):
    return x @ w + b


@program(args=lambda rng: (rng.normal(size=(4, 3)), rng.integers(0, 3, size=4)))
def softmax_cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probabilities = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_probabilities[np.arange(len(labels)), labels])


@program(args=lambda rng: (rng.normal(size=(4, 3)), np.eye(3)[rng.integers(0, 3, size=4)]))
def one_hot_cross_entropy(logits, targets):
    p = softmax(logits)
    return -np.sum(targets * np.log(p)) / targets.shape[0]


@program(args=lambda rng: (rng.normal(size=5), rng.normal(size=5) > 0))
def binary_cross_entropy(z, y):
    p = sigmoid(z)
    return np.mean(-(y * np.log(p) + (1 - y) * np.log(1 - p)))


def mlp_args(rng):
    return (
        rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(4, 2)), rng.normal(size=2),
        rng.normal(size=(5, 3)), rng.normal(size=(5, 2)),
    )  # fmt: skip


@program(args=mlp_args, wrt=(0, 1, 2, 3))
def mlp(w1, b1, w2, b2, x, y):
    h = np.tanh(dense(w1, b1, x))
    return np.mean((dense(w2, b2, h) - y) ** 2)


@program(args=mlp_args, wrt=("w1", "x"))
def relu_mlp(w1, b1, w2, b2, x, y):
    h = relu(dense(w1, b1, x))
    error = dense(w2, b2, h) - y
    return 0.5 * np.sum(error * error) + 0.01 * (np.sum(w1**2) + np.sum(w2**2))


@program(args=lambda rng: ([(rng.normal(size=(3, 4)), rng.normal(size=4)), (rng.normal(size=(4, 4)), rng.normal(size=4)), (rng.normal(size=(4, 2)), rng.normal(size=2))], rng.normal(size=(5, 3)), rng.integers(0, 2, 5)))
def mlp_of_a_parameter_list(params, inputs, targets):
    for W, b in params[:-1]:
        inputs = np.tanh(np.dot(inputs, W) + b)
    W, b = params[-1]
    logits = inputs @ W + b
    logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -logp[range(len(targets)), targets].mean()


@program(args=lambda rng: (rng.normal(size=(3, 2)), rng.normal(size=(3, 3)) * 0.5, rng.normal(size=3), rng.normal(size=(4, 2)), rng.normal(size=3)), wrt=("w", "u", "b"))
def elman(w, u, b, xs, y):
    h = np.zeros(b.shape)
    for x in xs:
        h = np.tanh(w @ x + u @ h + b)
    return np.mean((h - y) ** 2)


@program(args=lambda rng: (rng.normal(size=(4, 6)) * 0.3, rng.normal(size=(6, 6)) * 0.3, rng.normal(size=6), rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(size=(2, 3, 4)), np.array([2, 0])), wrt=(0, 1, 2, 3, 4))
def batched_rnn(wx, wh, bh, wo, bo, images, labels):
    batch, steps, _ = images.shape
    h = np.zeros((batch, bh.size))
    for t in range(steps):
        h = np.tanh(images[:, t] @ wx + h @ wh + bh)
    z = h @ wo + bo
    z = z - z.max(axis=1, keepdims=True)
    logz = np.log(np.exp(z).sum(axis=1))
    return np.mean(logz - z[np.arange(batch), labels])


def lstm_step(params, h, c, x):
    z = params["w"] @ np.concatenate([x, h]) + params["b"]
    n = len(h)
    i, f, o, g = z[:n], z[n : 2 * n], z[2 * n : 3 * n], z[3 * n :]
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return h, c


@program(args=lambda rng: ({"w": rng.normal(size=(8, 5)), "b": rng.normal(size=8)}, rng.normal(size=(3, 3))), wrt=(0, 1))
def lstm(params, xs):
    h, c = np.zeros(2), np.zeros(2)
    for x in xs:
        h, c = lstm_step(params, h, c, x)
    return np.sum(h**2) + c[0]


@program(args=lambda rng: (rng.normal(size=(3, 2, 2)), rng.normal(size=(3, 2, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))), wrt=(0, 1, 2, 3))
def gru(W, U, b, xs):
    h = np.zeros(2)
    outs = []
    for x in xs:
        z = sigmoid(W[0] @ x + U[0] @ h + b[0])
        r = sigmoid(W[1] @ x + U[1] @ h + b[1])
        n = np.tanh(W[2] @ x + r * (U[2] @ h) + b[2])
        h = (1 - z) * n + z * h
        outs.append(h)
    return np.mean(np.array(outs) ** 2)


@program(args=lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 2))), wrt=(0, 1, 2, 3))
def attention(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = q @ k.T / np.sqrt(k.shape[-1])
    return np.sum((softmax(scores) @ v) ** 2)


@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=(4, 4)), rng.normal(size=(4, 4))), wrt=(0, 1, 2))
def causal_two_head_attention(x, wqk, wv):
    t, d = x.shape
    heads = 2
    mask = np.triu(np.ones((t, t)), 1) * -1e9
    q = (x @ wqk).reshape(t, heads, d // heads).transpose(1, 0, 2)
    v = (x @ wv).reshape(t, heads, d // heads).transpose(1, 0, 2)
    s = q @ q.transpose(0, 2, 1) / np.sqrt(d // heads) + mask
    a = softmax(s, axis=-1)
    out = (a @ v).transpose(1, 0, 2).reshape(t, d)
    return np.sum(np.tanh(out + x))


@program(args=lambda rng: (rng.normal(size=(3, 5)), rng.normal(size=5), rng.normal(size=5)), wrt=(0, 1, 2))
def layer_norm(x, gain, bias, eps=1e-5):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    y = gain * (x - mu) / np.sqrt(var + eps) + bias
    return np.sum(y**3)


@program(args=lambda rng: (rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1, 2))
def batch_norm(x, gamma, beta):
    """Training-time batch normalisation followed by a leaky ReLU."""
    y = (x - np.mean(x, axis=0)) / np.sqrt(np.var(x, axis=0) + 1e-5)
    y = gamma * y + beta
    y = np.where(y > 0, y, 0.01 * y)
    return np.sum(y * y) / y.size


@program(args=lambda rng: (rng.normal(size=(4, 4)),))
def gelu_and_friends(x):
    gelu = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    swish = x * sigmoid(x)
    softplus = np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)
    elu = np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)
    return np.sum(gelu * swish + softplus * elu)


@program(args=lambda rng: (rng.normal(size=(6, 6)), rng.normal(size=(3, 3))), wrt=(0, 1))
def convolution_by_loops(image, kernel):
    kh, kw = kernel.shape
    out = np.zeros((image.shape[0] - kh + 1, image.shape[1] - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return np.sum(relu(out) ** 2)


@program(args=lambda rng: (rng.normal(size=(2, 2, 6, 6)), rng.normal(size=(3, 2, 3, 3)), rng.normal(size=3)), wrt=(1, 2))
def convolution_of_a_batch(x, w, b):
    n, c, height, width = x.shape
    f, _, k, _ = w.shape
    y = np.zeros((n, f, height - k + 1, width - k + 1))
    for di in range(k):
        for dj in range(k):
            patch = x[:, :, di : di + y.shape[2], dj : dj + y.shape[3]]
            for o in range(f):
                for ch in range(c):
                    y[:, o] += w[o, ch, di, dj] * patch[:, ch]
    y += b[:, None, None]
    pooled = 0.25 * (y[:, :, ::2, ::2] + y[:, :, 1::2, ::2] + y[:, :, ::2, 1::2] + y[:, :, 1::2, 1::2])
    return np.mean(np.tanh(pooled))


@program(args=lambda rng: (rng.normal(size=(4, 4)),))
def max_pooling(x):
    out = np.empty((2, 2))
    for i in range(2):
        for j in range(2):
            out[i, j] = np.max(x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
    blocks = x.reshape(2, 2, 2, 2).max(axis=(1, 3))
    return np.sum(out * blocks)


@program(args=lambda rng: (rng.normal(size=(5, 3)), np.array([0, 2, 2, 4])))
def embedding_lookup(table, tokens):
    vectors = table[tokens]
    pooled = vectors.mean(axis=0)
    return np.sum(np.tanh(pooled)) + np.sum(vectors[0] * vectors[2])


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3)), wrt=(0, 1))
def residual_blocks(w, x):
    for depth in range(4):
        x = x + 0.5 * np.tanh(w @ x)
        x = x / np.sqrt(np.mean(x**2) + 1e-6)
    return np.sum(x[:2])


@program(args=lambda rng: ({"enc": rng.normal(size=(4, 2)), "dec": rng.normal(size=(2, 4))}, rng.normal(size=(3, 4)), rng.normal(size=(3, 2))))
def variational_autoencoder(p, x, noise):
    mean = x @ p["enc"]
    log_var = np.tanh(mean) * 0.5
    z = mean + np.exp(0.5 * log_var) * noise
    recon = sigmoid(z @ p["dec"])
    kl = -0.5 * np.sum(1 + log_var - mean**2 - np.exp(log_var))
    return np.sum((recon - x) ** 2) + kl


@program(args=lambda rng: (rng.normal(size=(4, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32), rng.normal(size=(2, 4)).astype(np.float32)), wrt=(0, 1))
def single_precision_layer(w, b, x):
    h = np.maximum(x @ w + b, 0.0)
    h = h / (1e-3 + np.sum(h, axis=1, keepdims=True))
    return np.mean(h**2)


@program(args=lambda rng: (rng.normal(size=(3, 2)), rng.normal(size=(4, 2))), wrt=(0, 1))
def contrastive_distances(a, b):
    d2 = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1)[None, :] - 2 * a @ b.T
    return np.mean(np.exp(-d2)) + np.sum(1 / (1 + d2))
