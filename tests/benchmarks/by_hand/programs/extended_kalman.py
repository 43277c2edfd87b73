"""The log-likelihood of an extended Kalman filter: a pendulum with friction, seen by its horizontal position."""

import numpy as np

WRT = ("theta",)


def inputs(size, dtype):
    steps = {"small": 6, "full": 300}[size]
    rng = np.random.default_rng(0)
    ys = np.sin(0.8 * np.cos(0.05 * 3 * np.arange(steps))) + 0.1 * rng.standard_normal(steps)
    return np.array([9.0, 0.3, -2.0, -3.0], dtype), ys.astype(dtype), dtype(0.05)


def primal(theta, ys, dt):
    gravity, friction = theta[0], theta[1]
    r, q = np.exp(theta[2]), np.exp(theta[3])
    m = np.zeros(2, ys.dtype) + 0.5
    p = np.eye(2, dtype=ys.dtype)
    loss = 0.0
    for y in ys:
        jacobian = np.array([[1.0, dt], [-dt * gravity * np.cos(m[0]), 1.0 - dt * friction]])
        m = np.array([m[0] + dt * m[1], m[1] - dt * (gravity * np.sin(m[0]) + friction * m[1])])
        p = jacobian @ p @ jacobian.T + q * dt * np.eye(2, dtype=ys.dtype)
        h = np.array([np.cos(m[0]), 0.0])
        ph = p @ h
        s = h @ ph + r
        e = y - np.sin(m[0])
        gain = ph / s
        m = m + gain * e
        p = p - np.outer(gain, ph)
        loss = loss + 0.5 * (e * e / s + np.log(s))
    return loss / len(ys)


def by_hand(theta, ys, dt):
    gravity, friction, r, q = theta[0], theta[1], np.exp(theta[2]), np.exp(theta[3])
    noise = q * dt * np.eye(2, dtype=ys.dtype)
    m = np.full(2, 0.5, ys.dtype)
    p = np.eye(2, dtype=ys.dtype)
    saved = []
    for y in ys:
        m0, p0 = m, p
        f = np.array([[1, dt], [-dt * gravity * np.cos(m[0]), 1 - dt * friction]], ys.dtype)
        m = np.array([m[0] + dt * m[1], m[1] - dt * (gravity * np.sin(m[0]) + friction * m[1])], ys.dtype)
        p = f @ p @ f.T + noise
        c = np.cos(m[0])
        ph = c * p[:, 0]
        s = c * ph[0] + r
        e = y - np.sin(m[0])
        saved.append((m0, p0, f, m, p, c, ph, s, e))
        m = m + ph * (e / s)
        p = p - np.outer(ph, ph / s)
    d_m, d_p = np.zeros(2, ys.dtype), np.zeros((2, 2), ys.dtype)
    d_gravity = d_friction = d_r = d_q = 0.0
    for m0, p0, f, m, p, c, ph, s, e in reversed(saved):
        d_ph = d_m * (e / s) - (d_p + d_p.T) @ ph / s
        d_e = (e + d_m @ ph) / s
        d_s = 0.5 * (s - e * e) / s**2 - e * (d_m @ ph) / s**2 + ph @ d_p @ ph / s**2
        d_r += d_s
        d_ph[0] += c * d_s
        d_c = ph[0] * d_s + d_ph @ p[:, 0]
        d_p = d_p.copy()
        d_p[:, 0] += c * d_ph
        d_m1 = np.array([d_m[0] - c * d_e - np.sin(m[0]) * d_c, d_m[1]])
        d_q += dt * (d_p[0, 0] + d_p[1, 1])
        d_f = d_p @ f @ p0.T + d_p.T @ f @ p0
        d_p = f.T @ d_p @ f
        sin, cos = np.sin(m0[0]), np.cos(m0[0])
        d_gravity -= dt * (cos * d_f[1, 0] + sin * d_m1[1])
        d_friction -= dt * (d_f[1, 1] + m0[1] * d_m1[1])
        d_m = f.T @ d_m1
        d_m[0] += dt * gravity * sin * d_f[1, 0]
    return np.array([d_gravity, d_friction, r * d_r, q * d_q]).astype(ys.dtype) / len(ys)
