"""Inference of Luce's model of choice."""

import choix

from tests.packages.case import blend, case

REQUIREMENTS = ("choix==0.4.1",)
FIELD = "statistics"
DATA = [(1, 0), (0, 2), (2, 1), (1, 2), (0, 1)]
RANKINGS = [(1, 0, 2), (0, 2, 1), (2, 1, 0)]

CASES = [
    case("choix.log_likelihood_pairwise", lambda p: choix.log_likelihood_pairwise(DATA, p), [0.1, 0.3, -0.4]),
    case("choix.log_likelihood_rankings", lambda p: choix.log_likelihood_rankings(RANKINGS, p), [0.1, 0.3, -0.4]),
    case("choix.probabilities", lambda p: blend(choix.probabilities([0, 2, 1], p)), [0.1, 0.3, -0.4]),
    case("choix.lsr_pairwise", lambda alpha: blend(choix.lsr_pairwise(3, DATA, alpha=alpha)), 0.1),
    case("choix.lsr_pairwise_dense",
         lambda m: blend(choix.lsr_pairwise_dense(m, alpha=0.01)), [[0.0, 2.0, 1.0], [1.5, 0.0, 3.0], [2.5, 1.0, 0.0]]),
    case("choix.rmse", lambda a, b: choix.rmse(a, b), [0.1, 0.3, -0.4], [0.2, 0.1, -0.3]),
]
