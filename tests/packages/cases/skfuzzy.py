"""Fuzzy logic."""

import numpy as np
import skfuzzy as fuzz

from tests.packages.case import blend, case

REQUIREMENTS = ("scikit-fuzzy==0.5.0", "networkx==3.6.1")
FIELD = "control"
X = np.linspace(0.05, 9.95, 12)

CASES = [
    case("skfuzzy.trimf", lambda a, b, c: blend(fuzz.trimf(X, [a, b, c])), 1.1, 4.2, 8.3),
    case("skfuzzy.gaussmf", lambda m, s: blend(fuzz.gaussmf(X, m, s)), 4.2, 1.3),
    case("skfuzzy.gbellmf", lambda a, b, c: blend(fuzz.gbellmf(X, a, b, c)), 2.0, 3.0, 4.2),
    case("skfuzzy.sigmf", lambda b, c: blend(fuzz.sigmf(X, b, c)), 4.2, 1.3),
    case("skfuzzy.defuzz centroid", lambda a, b: fuzz.defuzz(X, fuzz.trimf(X, [a, b, 8.3]), "centroid"), 1.1, 4.2),
    case("skfuzzy.interp_membership", lambda v: fuzz.interp_membership(X, fuzz.gaussmf(X, 4.0, 1.3), v), 3.3),
    case("skfuzzy.cmeans_predict",
         lambda c: blend(fuzz.cluster.cmeans_predict(np.array([[0.1, 0.9, 0.3], [0.2, 0.4, 0.8]]), c, 2, 0.001, 3, seed=1)[0]),
         [[0.2, 0.3], [0.8, 0.6]]),
]
