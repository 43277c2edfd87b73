"""Negative log-likelihood of a Kalman filter: its transition matrix and the logarithms of its variances are sought."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("F", "log_q", "log_r")


def inputs(size, dtype):
    steps, states, seen = {"small": (4, 3, 2), "full": (200, 6, 2)}[size]
    rng = np.random.default_rng(0)
    F = 0.8 * np.eye(states, dtype=dtype) + normal(rng, dtype, states, states, scale=0.05)
    H = normal(rng, dtype, seen, states)
    ys = normal(rng, dtype, steps, seen)
    return F, normal(rng, dtype, states, scale=0.2), normal(rng, dtype, seen, scale=0.2), H, ys


def primal(F, log_q, log_r, H, ys):
    n = len(F)
    Q, R = np.diag(np.exp(log_q)), np.diag(np.exp(log_r))
    m, P = np.zeros(n, F.dtype), np.eye(n, dtype=F.dtype)
    nll = 0.0
    for y in ys:
        m = F @ m
        P = F @ P @ F.T + Q
        v = y - H @ m
        S = H @ P @ H.T + R
        nll = nll + 0.5 * (v @ np.linalg.solve(S, v) + np.linalg.slogdet(S)[1])
        K = P @ H.T @ np.linalg.inv(S)
        m = m + K @ v
        P = P - K @ H @ P
    return nll


def by_hand(F, log_q, log_r, H, ys):
    n = len(F)
    Q, R = np.diag(np.exp(log_q)), np.diag(np.exp(log_r))
    m, P = np.zeros(n, F.dtype), np.eye(n, dtype=F.dtype)
    saved = []
    for y in ys:
        Pp = F @ P @ F.T + Q
        mp = F @ m
        v = y - H @ mp
        Si = np.linalg.inv(H @ Pp @ H.T + R)
        saved.append((m, P, Pp, v, Si))
        K = Pp @ H.T @ Si
        m = mp + K @ v
        P = Pp - K @ (H @ Pp)

    d_F, d_Q, d_R = np.zeros_like(F), np.zeros_like(Q), np.zeros_like(R)
    d_m, d_P = np.zeros_like(m), np.zeros_like(P)
    for m, P, Pp, v, Si in reversed(saved):
        e = Si @ v
        HP = H @ Pp
        d_PG = d_P @ HP.T @ Si @ H  # d_P stays symmetric
        H_d_m = HP @ d_m
        d_e = Si @ H_d_m
        d_S = 0.5 * (Si - np.outer(e, e)) - np.outer(d_e, e) + Si @ HP @ d_P @ HP.T @ Si
        d_Pp = d_P - d_PG - d_PG.T + np.outer(d_m, H.T @ e) + H.T @ d_S @ H
        d_mp = d_m - H.T @ (e + d_e)
        d_R += d_S
        d_Q += d_Pp
        d_Pp = 0.5 * (d_Pp + d_Pp.T)
        d_F += np.outer(d_mp, m) + 2 * d_Pp @ F @ P
        d_m = F.T @ d_mp
        d_P = F.T @ d_Pp @ F
    return d_F, np.diag(d_Q) * np.diag(Q), np.diag(d_R) * np.diag(R)
