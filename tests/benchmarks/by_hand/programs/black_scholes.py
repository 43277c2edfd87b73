"""The value of a portfolio of European calls and puts; the greeks are its gradient."""

import numpy as np
from scipy.special import ndtr

from tests.benchmarks.by_hand.drawn import normal

WRT = ("spot", "volatility", "rate")


def inputs(size, dtype):
    n = {"small": 5, "full": 50000}[size]
    rng = np.random.default_rng(0)
    return (
        (80 + 40 * rng.random(n)).astype(dtype),
        (0.1 + 0.3 * rng.random(n)).astype(dtype),
        dtype(0.03),
        (80 + 40 * rng.random(n)).astype(dtype),
        (0.2 + 2 * rng.random(n)).astype(dtype),
        rng.random(n) < 0.5,
        normal(rng, dtype, n),
    )


def primal(spot, volatility, rate, strike, years, is_call, holdings):
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * ndtr(d1) - discounted * ndtr(d2)
    put = discounted * ndtr(-d2) - spot * ndtr(-d1)
    return np.sum(holdings * np.where(is_call, call, put))


def by_hand(spot, volatility, rate, strike, years, is_call, holdings):
    roots = np.sqrt(years)
    spread = volatility * roots
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    discounted = strike * np.exp(-rate * years)
    delta = ndtr(d1)
    delta -= ~is_call
    vega = spot * np.exp(-0.5 * d1**2)
    vega *= roots
    vega /= np.sqrt(2 * np.pi).astype(spot.dtype)
    rho = ndtr(d1 - spread)
    rho -= ~is_call
    rho *= discounted
    rho *= years
    return holdings * delta, holdings * vega, holdings @ rho
