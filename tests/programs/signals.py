"""Filters, interpolation, quadrature, polynomials, splines."""

import math

import numpy as np

from tests.programs import program


@program(args=lambda rng: (0.3, rng.normal(size=8)), wrt=(0, 1))
def exponential_smoothing(alpha, x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
    return np.sum((y - x) ** 2)


@program(args=lambda rng: (rng.normal(size=8), np.array([0.2, 0.3, 0.1]), np.array([1.0, -0.4, 0.15])), wrt=(0, 1, 2))
def iir_filter(x, b, a):
    y = np.zeros_like(x)
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                y[n] -= a[k] * y[n - k]
        y[n] /= a[0]
    return y @ y


@program(args=lambda rng: (rng.normal(size=7),))
def biquad_with_state(x):
    b0, b1, b2, a1, a2 = 0.3, 0.2, 0.1, -0.5, 0.2
    z1 = z2 = 0.0
    energy = 0.0
    for sample in x:
        out = b0 * sample + z1
        z1 = b1 * sample - a1 * out + z2
        z2 = b2 * sample - a2 * out
        energy += out * out
    return energy


@program(args=lambda rng: (rng.normal(size=(4, 5)), 0.25), wrt=(0, 1), level="python")
def deriche_like(img, alpha):
    """A recursive smoother: forward, then backward, along rows."""
    k = (1 - math.exp(-alpha)) ** 2
    a1 = k
    b1 = 2.0 * math.exp(-alpha)
    w, h = img.shape
    y1, y2 = np.zeros((w, h)), np.zeros((w, h))
    for i in range(w):
        ym1, ym2 = 0.0, 0.0
        for j in range(h):
            y1[i, j] = a1 * img[i, j] + b1 * ym1 - 0.3 * ym2
            ym2 = ym1
            ym1 = y1[i, j]
        ym1, ym2 = 0.0, 0.0
        for j in range(h - 1, -1, -1):
            y2[i, j] = a1 * img[i, j] + b1 * ym1 - 0.3 * ym2
            ym2 = ym1
            ym1 = y2[i, j]
    return np.sum((y1 + y2) ** 2)


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=3)), wrt=(0, 1))
def convolution(signal, kernel):
    n, k = len(signal), len(kernel)
    out = np.zeros(n + k - 1)
    for i in range(n):
        for j in range(k):
            out[i + j] += signal[i] * kernel[j]
    return np.sum(out**2 * np.cos(out))


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=3)), wrt=(0, 1))
def convolution_with_slices(signal, kernel):
    out = np.zeros(signal.size + kernel.size - 1)
    for j, k in ((0, kernel[0]), (1, kernel[1]), (2, kernel[2])):
        out[j : j + signal.size] += k * signal
    return np.sum(out**3)


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=3), rng.normal(size=5)), wrt=(0, 1, 2), level="python")
def lms_adaptive_filter(x, w, d):
    w = np.array(w)
    errors = []
    for n in range(2, 5):
        window = x[n - 2 : n + 1][::-1]
        e = d[n] - w @ window
        w += 0.1 * e * window
        errors.append(e**2)
    return sum(errors) + w[0]


@program(args=(0.7, [1.0, -2.0, 0.5, 3.0]), wrt=(0, 1))
def horner(x, coefficients):
    y = 0
    for c in coefficients[::-1]:
        y = y * x + c
    return y


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=5)), wrt=(0, 1))
def polynomial_of_an_array(c, x):
    y = np.zeros_like(x)
    for k in range(len(c) - 1, -1, -1):
        y = y * x + c[k]
    return np.mean(y**2)


@program(args=(0.4, 5), also=((0.4, 0), (0.4, 1)), level="python")
def chebyshev(x, n):
    if n == 0:
        return 1.0 + 0 * x
    previous, current = 1.0, x
    for _ in range(n - 1):
        previous, current = current, 2 * x * current - previous
    return current


@program(args=lambda rng: (rng.normal(size=4), 1.37), wrt=(0, 1))
def lagrange_interpolation(values, at):
    nodes = np.arange(4.0)
    total = 0.0
    for i in range(4):
        basis = 1.0
        for j in range(4):
            if i != j:
                basis *= (at - nodes[j]) / (nodes[i] - nodes[j])
        total += values[i] * basis
    return total**2


@program(args=lambda rng: (rng.normal(size=6), np.array([0.3, 2.7, 4.1])), wrt=(0, 1))
def linear_interpolation(table, at):
    s = 0.0
    for x in at:
        k = int(np.floor(x))
        t = x - k
        s += ((1 - t) * table[k] + t * table[k + 1]) ** 2
    return s


@program(args=lambda rng: (rng.normal(size=(4, 4)), 1.3, 2.6), wrt=(0, 1, 2))
def bilinear_interpolation(image, y, x):
    i, j = int(y), int(x)
    u, v = y - i, x - j
    top = (1 - v) * image[i, j] + v * image[i, j + 1]
    bottom = (1 - v) * image[i + 1, j] + v * image[i + 1, j + 1]
    return (1 - u) * top + u * bottom


@program(args=lambda rng: (rng.normal(size=5), 2.4), wrt=(0, 1))
def natural_cubic_spline(y, at):
    n = len(y) - 1
    l, mu, z = np.ones(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    for i in range(1, n):
        alpha = 3 * (y[i + 1] - 2 * y[i] + y[i - 1])
        l[i] = 4 - mu[i - 1]
        mu[i] = 1 / l[i]
        z[i] = (alpha - z[i - 1]) / l[i]
    c, b, d = np.zeros(n + 1), np.zeros(n), np.zeros(n)
    for j in range(n - 1, -1, -1):
        c[j] = z[j] - mu[j] * c[j + 1]
        b[j] = y[j + 1] - y[j] - (c[j + 1] + 2 * c[j]) / 3
        d[j] = (c[j + 1] - c[j]) / 3
    k = int(at)
    t = at - k
    return y[k] + b[k] * t + c[k] * t**2 + d[k] * t**3


@program(args=lambda rng: (rng.normal(size=(4, 2)), 0.35), wrt=(0, 1), level="python")
def de_casteljau(points, t):
    pts = [p for p in points]
    while len(pts) > 1:
        pts = [(1 - t) * a + t * b for a, b in zip(pts[:-1], pts[1:])]
    return pts[0] @ pts[0]


@program(args=(1.2, 0.4), wrt=(0, 1), level="python")
def trapezoid_integral(a, w, n=20):
    h = a / n
    total = 0.5 * (math.exp(0.0) + math.exp(-w * a * a))
    for i in range(1, n):
        x = i * h
        total += math.exp(-w * x * x)
    return total * h


@program(args=lambda rng: (1.1, rng.normal(size=3)), wrt=(0, 1))
def simpson_vectorised(b, c):
    x = np.linspace(0.0, 1.0, 9) * b
    f = c[0] + c[1] * np.sin(x) + c[2] * x**2
    weights = np.ones(9)
    weights[1:-1:2] = 4
    weights[2:-1:2] = 2
    return b / 8 / 3 * np.sum(weights * f) ** 2


@program(args=(0.8,))
def gauss_legendre(b):
    nodes = np.array([-0.7745966692414834, 0.0, 0.7745966692414834])
    weights = np.array([5 / 9, 8 / 9, 5 / 9])
    x = 0.5 * b * (nodes + 1)
    return 0.5 * b * np.dot(weights, np.exp(x) * np.cos(x))


@program(args=lambda rng: (rng.normal(size=8),), level="python")
def haar_wavelet(x):
    out = []
    a = x
    while len(a) > 1:
        out.append((a[::2] - a[1::2]) / math.sqrt(2))
        a = (a[::2] + a[1::2]) / math.sqrt(2)
    energy = a[0] ** 3
    for level, detail in enumerate(out):
        energy += 2.0**-level * np.sum(np.abs(detail) ** 3)
    return energy


@program(args=lambda rng: (rng.normal(size=8),))
def total_variation(x):
    d = np.sqrt((x[1:] - x[:-1]) ** 2 + 1e-2)
    return np.sum(d) + 0.5 * np.sum((x - 1) ** 2)


@program(args=lambda rng: (rng.normal(size=(5, 5)),))
def image_gradient_energy(u):
    gx = u[:, 1:] - u[:, :-1]
    gy = u[1:, :] - u[:-1, :]
    lap = u[1:-1, 1:-1] * 4 - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
    return np.sum(np.sqrt(gx[:-1] ** 2 + gy[:, :-1] ** 2 + 0.01)) + np.sum(lap**2)


@program(args=lambda rng: (rng.normal(size=9),))
def moving_average_by_running_sum(x):
    w, acc = 3, 0.0
    out = np.zeros(len(x) - w + 1)
    for i in range(len(x)):
        acc += x[i]
        if i >= w:
            acc -= x[i - w]
        if i >= w - 1:
            out[i - w + 1] = acc / w
    return np.sum(out**2) + np.prod(out[:2])


@program(args=lambda rng: (rng.normal(size=7), rng.uniform(0.5, 1, size=7)), wrt=(0, 1))
def soft_median(x, w):
    m = np.sum(w * x) / np.sum(w)
    for _ in range(3):
        w2 = w / np.sqrt((x - m) ** 2 + 0.1)
        m = np.sum(w2 * x) / np.sum(w2)
    return m


@program(args=lambda rng: (rng.normal(size=5),))
def soft_rank(x):
    ranks = np.zeros(5)
    for i in range(5):
        for j in range(5):
            if i != j:
                ranks[i] += 1 / (1 + np.exp(-(x[i] - x[j]) / 0.5))
    return np.sum(ranks * ranks * np.arange(5))


@program(args=lambda rng: (rng.normal(size=6),), level="python")
def discrete_cosine_transform(x):
    n = len(x)
    X = np.array([sum(x[k] * math.cos(math.pi / n * (k + 0.5) * f) for k in range(n)) for f in range(n)])
    X[3:] = 0.0
    return np.sum(X**2) - X[1] * X[2]


@program(args=lambda rng: (rng.uniform(0.2, 0.8, size=5),), tolerance=1e-5)
def continued_fraction(a):
    y = a[-1]
    for k in range(len(a) - 2, -1, -1):
        y = a[k] + 1 / (1 + y)
    return y
