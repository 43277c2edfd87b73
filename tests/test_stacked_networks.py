"""The stacked Elman network in 80 ways of writing it, each with two kinds of operands: the same gradients, and the same products."""

import linecache
import re

import numpy as np
import pytest

from sourcead import grad
from tests import stacked_networks
from tests.stacked_networks import network, ways

LAYERS, SIZE = 3, 9
WAYS = {name: (source, container) for name, source, container in ways()}
CHANGES_KIND = re.compile(r"array, (?!in place)")  # an array at first, a list after the first time: no type is known of its items
sampled = pytest.mark.sampled(12)


def written(name):
    """The function that is written in this way."""
    source, file = WAYS[name][0], f"<{name}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    namespace = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def arrays_of(container, gradient):
    """The arrays of a gradient, layer by layer."""
    if container == "dict of lists":
        return [[gradient[name][k] for name in "wub"] for k in range(len(gradient["b"]))]
    if container == "dicts":
        return [[layer[name] for name in "wub"] for layer in gradient]
    return [[layer.w, layer.u, layer.b] if hasattr(layer, "w") else list(layer) for layer in gradient]


def by_hand(layers, xs, concatenated):
    """The gradient of the network, layer by layer: written by hand, for parameters in tuples."""
    states = [[np.zeros_like(xs[0])] * len(layers)]
    for x in xs:
        hs = []
        for (w, u, b), h in zip(layers, states[-1]):
            x = np.tanh(np.concatenate((x, h), axis=1) @ w + b if concatenated else x @ w + h @ u + b)
            hs.append(x)
        states.append(hs)
    d_layers = [[np.zeros_like(a) for a in layer] for layer in layers]
    d_hs = [np.zeros_like(h) for h in states[-1]]
    d_hs[-1] += 2 * states[-1][-1]
    for t in reversed(range(len(xs))):
        for k in reversed(range(len(layers))):
            (w, u, _), (d_w, d_u, d_b) = layers[k], d_layers[k]
            d_z = d_hs[k] * (1 - states[t + 1][k] ** 2)
            x, h = states[t + 1][k - 1] if k else xs[t], states[t][k]
            d_b += np.sum(d_z, axis=0)
            if concatenated:
                d_w += np.concatenate((x, h), axis=1).T @ d_z
                d_x, d_hs[k] = np.split(d_z @ w.T, 2, axis=1)
            else:
                d_w += x.T @ d_z
                d_u += h.T @ d_z
                d_x, d_hs[k] = d_z @ w.T, d_z @ u.T
            if k:
                d_hs[k - 1] += d_x
    return d_layers


@sampled
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("times, rows", [(10, 8), (1, 1)])
def test_gradients(name, times, rows):
    concatenated, container = "concatenated" in name, WAYS[name][1]
    xs = np.random.default_rng(1).normal(size=(times, rows, SIZE))
    found = grad(written(name))(network(container, LAYERS, SIZE, concatenated), xs)
    expected = by_hand(network("tuples", LAYERS, SIZE, concatenated), xs, concatenated)
    for ours, theirs in zip(arrays_of(container, found), expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def products(name):
    """The number of products of matrices in each loop, from the text of the gradient."""
    layers = network(WAYS[name][1], LAYERS, SIZE, "concatenated" in name)
    text = grad(written(name)).lower(layers, np.random.default_rng(1).normal(size=(10, 8, SIZE))).text
    found: dict[int, int] = {}
    for line in re.sub(r" *#.*", "", text).splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        found[depth] = found.get(depth, 0) + line.count(" @ ")
    return {depth: n for depth, n in found.items() if n}


@sampled
@pytest.mark.parametrize("name", [name for name in WAYS if not CHANGES_KIND.search(name)])
def test_all_ways_get_the_same_products(name):
    """Two products in the loop over time, forward and backward; all others are those of all times, in the loop over layers."""
    expected = {3: 3} if "concatenated" in name else {2: 4, 3: 2}
    assert products(name) == expected


def test_there_are_as_many_ways_as_said():
    parts = stacked_networks.CONTAINERS, stacked_networks.BEGIN, stacked_networks.UPDATE, stacked_networks.OPERANDS
    assert len(WAYS) == np.prod(list(map(len, parts))) == 160
