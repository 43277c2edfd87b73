"""The page of a derivative: which lines come from which, what it draws, and how it behaves in a browser."""

import numpy as np
import pytest

from sourcead import Revolve, Segments, grad

W, X = np.full((4, 4), 0.3), np.linspace(0, 1, 4)


def loss(w, x, n):
    h = np.zeros(len(w))
    for _ in range(n):
        h = np.tanh(w @ h + x)
    return np.sum(h ** 2)


# -- what statements know ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy, saves", [
    ("auto", ["hs = np.empty((max_n, 4))", "hs[i] = h"]),
    ("states", ["hs.append(h)"]),
    (Segments(2), ["hs_1.append(h)", "hs.append(h)"]),
    (Revolve(2), ["states.append((i, h))", "hs.append(h)", "states.append((start, h_1))", "hs.append(h_1)", "hs.append(h_1)"]),
], ids=str)  # fmt: skip
def test_what_is_saved_is_known_after_all_passes(policy, saves):
    program = grad(loss, wrt=("w", "x"), checkpoint=policy)._latest(W, X, 5).built.plain
    lines, statements = program.text.splitlines(), program.statements()
    assert [lines[n - 1].strip() for n, stmt in statements.items() if isinstance(n, int) and stmt.saves] == saves
