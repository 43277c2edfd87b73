"""Cox's partial likelihood of samples in the order of their times."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("beta",)


def inputs(size, dtype):
    n, features = {"small": (6, 3), "full": (5000, 40)}[size]
    rng = np.random.default_rng(0)
    return normal(rng, dtype, features, scale=0.1), normal(rng, dtype, n, features), rng.random(n) < 0.7


def primal(beta, x, event):
    eta = x @ beta
    at_risk = np.cumsum(np.exp(eta)[::-1])[::-1]
    return -np.sum((eta - np.log(at_risk))[event]) / np.sum(event)


def by_hand(beta, x, event):
    risks = np.exp(x @ beta)
    at_risk = np.cumsum(risks[::-1])[::-1]
    risks *= np.cumsum(event / at_risk)
    risks -= event
    risks /= np.sum(event)
    return risks @ x
