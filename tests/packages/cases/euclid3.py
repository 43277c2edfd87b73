"""Vectors, quaternions and shapes for games, as objects with operators."""

from euclid3 import Line2, Line3, Matrix3, Matrix4, Plane, Point2, Point3, Quaternion, Sphere, Vector2, Vector3

from tests.packages.case import blend, case

REQUIREMENTS = ("euclid3==0.1",)
FIELD = "games"

CASES = [
    case("euclid3.Vector3.normalized", lambda x, y: blend(list(Vector3(x, y, 3.0).normalized())), 1.0, 2.0),
    case("euclid3.Vector3.cross", lambda x, y: abs(Vector3(x, y, 3.0).cross(Vector3(y, 1.0, x))), 1.0, 2.0),
    case("euclid3.Vector2.angle", lambda x, y: Vector2(x, y).angle(Vector2(1.0, 3.0)), 1.0, 0.5),
    case("euclid3.Vector3.reflect", lambda x, y: blend(list(Vector3(x, y, 3.0).reflect(Vector3(0.0, 0.6, 0.8)))), 1.0, 2.0),
    case("euclid3.Matrix4.new_rotate_axis",
         lambda a, x: blend(list(Matrix4.new_rotate_axis(a, Vector3(0.0, 1.0, 0.0)) * Vector3(x, 2.0, 3.0))), 0.3, 1.0),
    case("euclid3.Matrix3.rotate", lambda a, x: blend(list(Matrix3.new_translate(1.0, 2.0).rotate(a) * Point2(x, 2.0))), 0.3, 1.0),
    case("euclid3.Matrix4.inverse", lambda a, x: Matrix4.new_rotatex(a).translate(x, 2.0, 3.0).inverse().d, 0.3, 1.0),
    case("euclid3.Quaternion.new_rotate_axis",
         lambda a, x: blend(list(Quaternion.new_rotate_axis(a, Vector3(1.0, 1.0, 0.0)) * Vector3(x, 2.0, 3.0))), 0.3, 1.0),
    case("euclid3.Quaternion.new_interpolate",
         lambda a, t: Quaternion.new_interpolate(
             Quaternion.new_rotate_axis(a, Vector3(1.0, 0.0, 0.0)), Quaternion.new_rotate_axis(1.2, Vector3(0.0, 1.0, 0.0)), t).w,
         0.3, 0.4),
    case("euclid3.Line2.intersect",
         lambda x, y: blend(list(Line2(Point2(x, 0.0), Vector2(1.0, 1.0)).intersect(Line2(Point2(0.0, y), Vector2(1.0, -1.0))))), 0.5, 2.0),
    case("euclid3.Line3.connect",
         lambda x, y: Line3(Point3(x, 0.0, 0.0), Vector3(1.0, 1.0, 0.2)).connect(Point3(0.0, y, 1.0)).length, 0.5, 2.0),
    case("euclid3.Plane.intersect",
         lambda x, k: blend(list(Plane(Vector3(0.0, 0.6, 0.8), k).intersect(
             Line3(Point3(x, 0.0, 0.0), Vector3(1.0, 1.0, 0.2))))), 0.5, 2.0),
    case("euclid3.Sphere.connect", lambda r, x: Sphere(Point3(x, 0.0, 0.0), float(r)).connect(Point3(4.0, 5.0, 6.0)).length, 1.0, 0.5),
]
