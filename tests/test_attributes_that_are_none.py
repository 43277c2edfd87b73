"""An attribute that only some runs assign is otherwise that of its class, also where that is None."""

import pytest

from sourcead import UnsupportedSyntaxError, check_grads, grad


class Search:
    best = None
    pair = None
    found = None

    def look(self, x):
        if x > 0:
            self.best = x * x
            self.pair = x, x * x
            self.found = [x, 3.0 * x]
        return self


def number(x):
    search = Search().look(x)
    return 2 * x if search.best is None else search.best * x


def pair(x):
    search = Search().look(x)
    return search.pair[1] * x if search.pair else 5 * x


def no_pair(x):
    search = Search().look(x)
    return 5 * x if not search.pair else search.pair[0] * x


def items(x):
    search = Search().look(x)
    return 2 * x if search.found is None else search.found[1] * x


@pytest.mark.parametrize("f", [number, pair, no_pair])
@pytest.mark.parametrize("x", [1.5, -1.5])
def test_the_attribute_of_the_class_is_read_where_none_was_assigned(f, x):
    check_grads(f, (x,))


def test_a_list_or_none_is_not_decided_where_it_is_read():
    with pytest.raises(UnsupportedSyntaxError, match="a list of 2 on one side"):
        grad(items)(1.5)


def test_a_result_that_is_none_has_no_gradient():
    def f(x):
        return Search().look(x).best

    assert grad(f)(1.5) == 3.0
    with pytest.raises(TypeError, match="returns None"):
        grad(f)(-1.5)
