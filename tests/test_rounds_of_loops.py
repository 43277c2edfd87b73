"""How often the body of a loop is lowered until what it carries from one iteration to the next is known."""

import numpy as np

from sourcead import grad
from sourcead.frontend.control import loop_variants

X = np.array([0.5, 0.75, 0.25])


def series(c, x):
    y, k = 0.0, len(c)
    while k > 0:
        k -= 1
        y = y * x + c[k]
    return y


def listed(x):
    return series([x[0], x[1] * 2.0, 0.5], x[2])


def test_a_loop_that_reads_the_items_of_a_list_is_not_lowered_again_for_what_the_items_share(monkeypatch):
    rounds, lowered = [], loop_variants._iteration

    def counted(lo, *rest):
        rounds.append(lo.scope.source.name)
        return lowered(lo, *rest)

    monkeypatch.setattr(loop_variants, "_iteration", counted)
    x2 = X[2]
    np.testing.assert_allclose(grad(listed)(X), [1.0, 2 * x2, 2 * X[1] + 2 * 0.5 * x2], rtol=1e-12)
    assert rounds == ["series", "series"]  # again since the kind of the result changes
