"""Curves and surfaces of splines, as objects."""

from geomdl import NURBS, BSpline, fitting, helpers, linalg, operations, utilities

from tests.packages.case import blend, case

REQUIREMENTS = ("geomdl==5.4.0",)
FIELD = "geometry"
POINTS = [[5.0, 5.0], [10.0, 10.0], [20.0, 15.0], [35.0, 15.0]]


def curve_of(points, kind=BSpline):
    curve = kind.Curve()
    curve.degree = 3
    curve.ctrlpts = [list(p) for p in points]
    curve.knotvector = utilities.generate_knot_vector(curve.degree, len(curve.ctrlpts))
    return curve


def surface(points, u, v):
    surf = BSpline.Surface()
    surf.degree_u = 2
    surf.degree_v = 2
    surf.set_ctrlpts([list(p) for p in points], 3, 3)
    surf.knotvector_u = [0, 0, 0, 1, 1, 1]
    surf.knotvector_v = [0, 0, 0, 1, 1, 1]
    return blend(surf.evaluate_single((u, v)))


def rational(weights, u):
    curve = NURBS.Curve()
    curve.degree = 2
    curve.ctrlpts = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    curve.weights = list(weights)
    curve.knotvector = [0, 0, 0, 1, 1, 1]
    return blend(curve.evaluate_single(u))


NET = [[i, j, 0.3 * i * j + 0.1 * i] for i in range(3) for j in range(3)]

CASES = [
    case("geomdl.BSpline.Curve.evaluate_single", lambda p, u: blend(curve_of(p).evaluate_single(u)), POINTS, 0.3),
    case("geomdl.BSpline.Curve.derivatives", lambda p, u: blend(curve_of(p).derivatives(u, order=2)), POINTS, 0.3),
    case("geomdl.BSpline.Surface.evaluate_single", surface, NET, 0.3, 0.6),
    case("geomdl.NURBS.Curve.evaluate_single", rational, [1.0, 0.7, 1.0], 0.3),
    case("geomdl.helpers.basis_function",
         lambda u: blend(helpers.basis_function(2, [0, 0, 0, 0.5, 1, 1, 1], 2, u)), 0.3),
    case("geomdl.linalg.vector_normalize", lambda v: blend(linalg.vector_normalize(v)), [1.0, 2.0, 3.0]),
    case("geomdl.linalg.lu_solve", lambda a, b: blend(linalg.lu_solve(a, b)), [[4.0, 1.0], [2.0, 3.0]], [[1.0], [2.0]]),
    case("geomdl.operations.translate",
         lambda p, v: blend(operations.translate(curve_of(p), (v[0], v[1])).ctrlpts), POINTS, [1.0, 2.0]),
    case("geomdl.fitting.interpolate_curve",
         lambda p: blend(fitting.interpolate_curve([list(q) for q in p], 2).evaluate_single(0.4)), POINTS),
]
