"""Calibrates Heston's model of stochastic volatility to prices of options, through complex characteristic functions.

The price of a call is an integral of the characteristic function, by Gauss and Legendre (Albrecher, Mayer, Schoutens and Tistaert, "The
little Heston trap", 2007: their form does not jump between branches of the logarithm). The parameters keep their bounds.

    python examples/heston.py --plot heston.png
    python examples/heston.py --show-gradient
"""

import argparse

import numpy as np
from comparison import picture

from sourcead import grad, minimize

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
ALONG = 60.0 * (NODES + 1)  # the integral ends at 120, where nothing is left of it


def characteristic(u, maturity, p):
    """Gives the characteristic function of the logarithm of the price, relative to the price today, without interest."""
    drift = p["speed"] - p["correlation"] * p["volatility"] * 1j * u
    d = np.sqrt(drift**2 + p["volatility"] ** 2 * (1j * u + u**2))
    g = (drift - d) / (drift + d)
    decay = np.exp(-d * maturity)
    c = p["speed"] * p["level"] / p["volatility"] ** 2 * ((drift - d) * maturity - 2 * np.log((1 - g * decay) / (1 - g)))
    return np.exp(c + p["start"] * (drift - d) / p["volatility"] ** 2 * (1 - decay) / (1 - g * decay))


def call_price(strikes, maturity, p):
    """Gives the prices of calls with these strikes, of shape (n,), relative to the price today."""
    x = -np.log(strikes)[:, None]
    near = np.real(np.exp(1j * ALONG * x) * characteristic(ALONG - 1j, maturity, p) / (1j * ALONG)) @ WEIGHTS * 60.0
    far = np.real(np.exp(1j * ALONG * x) * characteristic(ALONG, maturity, p) / (1j * ALONG)) @ WEIGHTS * 60.0
    return (0.5 + near / np.pi) - strikes * (0.5 + far / np.pi)


def misfit(p, strikes, maturities, prices):
    """Gives the sum of the squared differences from prices of shape (maturities, strikes), in thousandths."""
    total = 0.0
    for maturity, row in zip(maturities, prices):
        total += np.sum((1000 * (call_price(strikes, maturity, p) - row)) ** 2)
    return total


TRUE = {"start": 0.04, "level": 0.09, "speed": 1.5, "volatility": 0.6, "correlation": -0.7}
LOWEST = {"start": 0.005, "level": 0.005, "speed": 0.1, "volatility": 0.1, "correlation": -0.95}
HIGHEST = {"start": 0.5, "level": 0.5, "speed": 5.0, "volatility": 1.5, "correlation": 0.5}


def draw(axes, strikes, maturities, prices, p) -> None:
    for maturity, row, colour in zip(maturities, prices, ("tab:blue", "tab:orange", "tab:green", "tab:red")):
        axes.plot(strikes, 100 * (row - np.maximum(1 - strikes, 0)), "o", color=colour, label=f"given, {maturity:g} years")
        fitted = call_price(strikes, maturity, p)
        axes.plot(strikes, 100 * (fitted - np.maximum(1 - strikes, 0)), color=colour)
    axes.set(xlabel="strike / price today", ylabel="price of a call above its value now (%)", title="points: given, lines: fitted")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--noise", type=float, default=1e-4, help="of the prices, relative to the price today (default: 0.0001)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the prices and the fit")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated gradient")
    options = parser.parse_args(argv)
    strikes, maturities = np.linspace(0.7, 1.3, 13), np.array([0.25, 0.5, 1.0, 2.0])
    rng = np.random.default_rng(0)
    prices = np.array([call_price(strikes, t, TRUE) + options.noise * rng.normal(size=strikes.size) for t in maturities])
    start = {"start": 0.1, "level": 0.1, "speed": 1.0, "volatility": 0.4, "correlation": -0.2}
    found = minimize(misfit, start, strikes, maturities, prices, bounds=(LOWEST, HIGHEST), options={"maxiter": 300, "ftol": 1e-12})
    print(f"misfit {found.fun:.4g} after {found.nit} iterations")
    for name, value in found.x.items():
        print(f"  {name:12} {value:8.4f}, made with {TRUE[name]:g}")
    picture(options.plot, lambda axes: draw(axes, strikes, maturities, prices, found.x))
    if options.show_gradient:
        gradient = grad(misfit)
        gradient(start, strikes, maturities, prices)
        print(gradient.source)
    return found


if __name__ == "__main__":
    main()
