"""Vectors as subclasses of arrays."""

from vectormath import Vector2, Vector3, Vector3Array

from tests.packages.case import blend, case

REQUIREMENTS = ("vectormath==0.2.2",)
FIELD = "geometry"

CASES = [
    case("vectormath.Vector3.length", lambda x, y: Vector3(x, y, 3.0).length, 1.0, 2.0),
    case("vectormath.Vector3.cross", lambda x, y: Vector3(x, y, 3.0).cross(Vector3(1.0, y, x)).z, 1.0, 2.0),
    case("vectormath.Vector2.angle", lambda x, y: Vector2(x, y).angle(Vector2(1.0, 3.0)), 1.0, 0.5),
    case("vectormath.Vector3Array.length", lambda a: blend(Vector3Array(a).length), [[1.0, 2.0, 3.0], [0.5, 0.1, 0.2]]),
]
