"""Cubic smoothing splines."""

from csaps import CubicSmoothingSpline, csaps

from tests.packages.case import blend, case

REQUIREMENTS = ("csaps==1.3.3",)
FIELD = "statistics"
X, Y, XI = [0.0, 1.0, 2.2, 3.1, 4.0], [0.1, 0.9, 1.2, 0.4, -0.3], [0.5, 1.5, 3.5]

CASES = [
    case("csaps.csaps", lambda y, p: blend(csaps(X, y, XI, smooth=p)), Y, 0.85),
    case("csaps.CubicSmoothingSpline", lambda x, y: blend(CubicSmoothingSpline(x, y, smooth=0.8)(XI)), X, Y),
    case("csaps.csaps weights", lambda w: blend(csaps(X, Y, XI, weights=w, smooth=0.85)), [1.0, 0.5, 0.7, 1.0, 0.9]),
]
