"""Gradients of `loop_kernels` as a person writes them for Numba."""

import math

import numba
import numpy as np


@numba.njit(error_model="numpy")
def lorenz(sigma, rho, beta, dt, steps):
    """With respect to the first three."""
    xs, ys, zs = np.empty(steps), np.empty(steps), np.empty(steps)
    x, y, z = 1.0, 1.0, 1.0
    for i in range(steps):
        xs[i], ys[i], zs[i] = x, y, z
        x, y, z = x + dt * sigma * (y - x), y + dt * (x * (rho - z) - y), z + dt * (x * y - beta * z)
    d_x, d_y, d_z = 2 * x, 2 * y, 2 * z
    d_sigma = d_rho = d_beta = 0.0
    for i in range(steps - 1, -1, -1):
        x, y, z = xs[i], ys[i], zs[i]
        d_sigma += d_x * dt * (y - x)
        d_rho += d_y * dt * x
        d_beta -= d_z * dt * z
        d_x, d_y, d_z = (
            d_x * (1 - dt * sigma) + d_y * dt * (rho - z) + d_z * dt * y,
            d_x * dt * sigma + d_y * (1 - dt) + d_z * dt * x,
            d_z * (1 - dt * beta) - d_y * dt * x,
        )
    return d_sigma, d_rho, d_beta


@numba.njit(error_model="numpy")
def pendulum(angle, speed, damping, dt, steps):
    """With respect to the first three."""
    angles, speeds = np.empty(steps), np.empty(steps)
    for i in range(steps):
        angles[i], speeds[i] = angle, speed
        speed = speed - dt * (math.sin(angle) + damping * speed)
        angle = angle + dt * speed
    d_angle, d_speed, d_damping = 2 * angle, 2 * speed, 0.0
    for i in range(steps - 1, -1, -1):
        d_speed += dt * d_angle
        d_damping -= d_speed * dt * speeds[i]
        d_angle -= d_speed * dt * math.cos(angles[i])
        d_speed -= d_speed * dt * damping
    return d_angle, d_speed, d_damping


@numba.njit(error_model="numpy")
def jacobi_1d(a, steps):
    """With respect to the array: the cotangent of a sweep is gathered, as the sweep is."""
    n = len(a)
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])
    d_a, d_b = 2 * a, np.zeros(n)
    for _ in range(steps):
        back(d_a, d_b)
        back(d_b, d_a)
    return d_a + d_b


@numba.njit(error_model="numpy")
def back(d_a, d_b):
    """The reverse of a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])."""
    n = len(d_a)
    d_b[0] += 0.33333 * d_a[1]
    d_b[1] += 0.33333 * (d_a[1] + d_a[2])
    for i in range(2, n - 2):
        d_b[i] += 0.33333 * (d_a[i - 1] + d_a[i] + d_a[i + 1])
    d_b[n - 2] += 0.33333 * (d_a[n - 3] + d_a[n - 2])
    d_b[n - 1] += 0.33333 * d_a[n - 2]
    d_a[1 : n - 1] = 0.0


@numba.njit(error_model="numpy")
def cholesky(a):
    """With respect to the matrix (Giles 2008, section 2.4, element by element)."""
    n = len(a)
    l, d_l, d_a = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            l[i, j] = s / l[j, j] if j < i else math.sqrt(s)
    for i in range(n):
        d_l[i, i] = 1 / l[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i, -1, -1):
            if j == i:
                d_a[i, i] = 0.5 * d_l[i, i] / l[i, i]
                d_s = d_a[i, i]
            else:
                d_s = d_l[i, j] / l[j, j]
                d_l[j, j] -= d_s * l[i, j]
                d_a[i, j] = d_s
            for k in range(j - 1, -1, -1):
                d_l[i, k] -= d_s * l[j, k]
                d_l[j, k] -= d_s * l[i, k]
    return d_a
