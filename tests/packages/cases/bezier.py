"""Bezier curves and triangles."""

import bezier
import numpy as np
from bezier.hazmat import curve_helpers

from tests.packages.case import blend, case

REQUIREMENTS = ("bezier==2024.6.20",)
FIELD = "geometry"
NODES = [[0.0, 0.625, 1.0, 1.7], [0.0, 0.5, 0.5, 0.2]]

CASES = [
    case("bezier.Curve.evaluate", lambda n, s: blend(bezier.Curve(n, degree=3).evaluate(s)), NODES, 0.4),
    case("bezier.Curve.length", lambda n: bezier.Curve(n, degree=3).length, NODES),
    case("bezier.Curve.elevate", lambda n: blend(bezier.Curve(n, degree=3).elevate().nodes), NODES),
    case("bezier.hazmat.curve_helpers.evaluate_multi",
         lambda n, s: blend(curve_helpers.evaluate_multi(np.asfortranarray(n), s)), NODES, [0.2, 0.6]),
    case("bezier.hazmat.curve_helpers.subdivide_nodes", lambda n: blend(*curve_helpers.subdivide_nodes(n)), NODES),
    case("bezier.hazmat.curve_helpers.get_curvature",
         lambda n, s: curve_helpers.get_curvature(n, curve_helpers.evaluate_hodograph(s, n), s), NODES, 0.4),
    case("bezier.hazmat.curve_helpers.reduce_pseudo_inverse", lambda n: blend(curve_helpers.reduce_pseudo_inverse(n)), NODES),
]
