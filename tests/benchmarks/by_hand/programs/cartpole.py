"""The cost of a plan for a pole on a cart, over a batch of beginnings, by semi-implicit Euler steps."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("actions",)


def inputs(size, dtype):
    steps, batch = {"small": (5, 3), "full": (200, 256)}[size]
    rng = np.random.default_rng(0)
    return normal(rng, dtype, steps, batch), normal(rng, dtype, batch, 4, scale=0.1), 0.02, 0.1, 0.5


def primal(actions, state0, dt, mass, length):
    x, v, theta, omega = state0[:, 0], state0[:, 1], state0[:, 2], state0[:, 3]
    cost = 0.0
    for u in actions:
        sin, cos = np.sin(theta), np.cos(theta)
        force = u + mass * sin * (length * omega**2 + 9.81 * cos)
        acc = force / (1.0 + mass * sin**2)
        alpha = (9.81 * sin + acc * cos) / length
        v = v + dt * acc
        omega = omega + dt * alpha
        x = x + dt * v
        theta = theta + dt * omega
        cost = cost + np.sum(x**2 + 10.0 * (1.0 - np.cos(theta)) + 0.1 * v**2 + 0.1 * omega**2) + 0.01 * np.sum(u**2)
    return cost / len(actions)


def by_hand(actions, state0, dt, mass, length):
    steps = len(actions)
    x, v, theta, omega = state0.T
    trace = []
    for u in actions:
        sin, cos, omega0 = np.sin(theta), np.cos(theta), omega
        inertia = 1.0 + mass * sin**2
        acc = (u + mass * sin * (length * omega**2 + 9.81 * cos)) / inertia
        v = v + dt * acc
        omega = omega + dt * (9.81 * sin + acc * cos) / length
        x = x + dt * v
        theta = theta + dt * omega
        trace.append((sin, cos, omega0, inertia, acc, x, v, theta, omega))
    d_x, d_v, d_theta, d_omega = np.zeros((4, len(state0)), state0.dtype)
    d_actions = 0.02 * actions
    for t in reversed(range(steps)):
        sin, cos, omega0, inertia, acc, x, v, theta, omega = trace[t]
        d_x += 2.0 * x
        d_theta += 10.0 * np.sin(theta)
        d_v += 0.2 * v + dt * d_x
        d_omega += 0.2 * omega + dt * d_theta
        d_alpha = dt / length * d_omega
        d_force = (dt * d_v + d_alpha * cos) / inertia
        d_actions[t] += d_force
        d_sin = 9.81 * d_alpha + d_force * mass * (length * omega0**2 + 9.81 * cos - 2.0 * acc * sin)
        d_cos = d_alpha * acc + 9.81 * mass * d_force * sin
        d_omega += 2.0 * mass * length * d_force * sin * omega0
        d_theta += d_sin * cos - d_cos * sin
    d_actions /= steps
    return d_actions
