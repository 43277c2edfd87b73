"""Distributions of SciPy that are called with their parameters first, and methods of what that returns."""

import numpy as np
import pytest
from scipy.stats import expon, gamma, multivariate_normal, norm, skewnorm

from sourcead import NoRuleError, grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

X = np.array([0.7, 1.4])


def by_keyword(x):
    return np.sum(norm(loc=x[0], scale=x[1]).pdf(np.array([0.1, 0.5, 1.1])))


def kept_in_an_object(x):
    class Filter:
        def __init__(self, spread):
            self.noise = norm(0.3, spread)
            self.weights = np.ones(3) / 3

        def update(self, z):
            self.weights = self.weights * self.noise.pdf(z)
            self.weights = self.weights / np.sum(self.weights)

    particles = Filter(x[0])
    for z in (0.2, 0.9):
        particles.update(z - x[1] * np.array([0.1, 0.2, 0.3]))
    return np.sum(particles.weights * np.array([1.0, 2.0, 4.0]))


def in_a_list(x):
    parts = [norm(x[0]), expon(scale=x[1]), gamma(1.7, 0.0, x[0])]
    return sum(part.logpdf(x[1] + k) + part.cdf(0.8) for k, part in enumerate(parts))


def chosen_in_a_branch(x):
    noise = norm(x[0], 1.0) if x[1] > 1 else norm(0.0, x[0])
    return noise.logsf(0.4) + noise.ppf(0.3)


def of_vectors(x):
    return multivariate_normal(mean=x, cov=np.eye(2) * x[0]).logpdf(np.array([0.3, 0.4]))


@pytest.mark.parametrize("f", [by_keyword, kept_in_an_object, in_a_list, chosen_in_a_branch, of_vectors], ids=lambda f: f.__name__)
def test_methods_of_a_distribution_with_its_parameters(f):
    assert judged_in_all_modes(f, X) == "right"


def test_a_method_without_a_rule_says_its_name():
    with pytest.raises(NoRuleError, match="skewnorm"):
        grad(lambda x: skewnorm(x[0], x[1]).pdf(0.3))(X)
