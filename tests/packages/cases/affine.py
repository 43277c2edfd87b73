"""Affine transformations of the plane."""

from affine import Affine

from tests.packages.case import blend, case

REQUIREMENTS = ("affine==3.0.1", "attrs==26.1.0")
FIELD = "geometry"

CASES = [
    case("affine.Affine.rotation", lambda a, x: blend(Affine.rotation(a) * (x, 2.0)), 30.0, 1.5),
    case("affine.Affine.translation",
         lambda x, y, s: blend((Affine.translation(x, y) * Affine.scale(s, 2.0)) * (1.0, 2.0)), 0.3, 0.5, 2.0),
    case("affine.Affine.__invert__", lambda a, x: blend(~(Affine.rotation(a) * Affine.shear(10.0, x)) * (1.0, 2.0)), 30.0, 5.0),
    case("affine.Affine.determinant", lambda a, b: Affine(a, b, 1.0, 0.4, 2.0, 3.0).determinant, 1.5, 0.3),
]
