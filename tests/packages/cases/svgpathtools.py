"""Paths of SVG as objects, with points as complex numbers."""

from svgpathtools import Arc, CubicBezier, Line, Path, QuadraticBezier

from tests.packages.case import case

REQUIREMENTS = ("svgpathtools==1.8.0", "svgwrite==1.4.3")
FIELD = "geometry"


def cubic(p):
    return CubicBezier(complex(p[0], p[1]), complex(p[2], p[3]), complex(p[4], p[5]), complex(p[6], p[7]))


def both(z):
    return z.real + 2 * z.imag


P = [300.0, 100.0, 100.0, 100.0, 200.0, 200.0, 200.0, 300.0]

CASES = [
    case("svgpathtools.CubicBezier.point", lambda p, t: both(cubic(p).point(t)), P, 0.3),
    case("svgpathtools.CubicBezier.derivative", lambda p, t: both(cubic(p).derivative(t)), P, 0.3),
    case("svgpathtools.CubicBezier.unit_tangent", lambda p, t: both(cubic(p).unit_tangent(t)), P, 0.3),
    case("svgpathtools.CubicBezier.curvature", lambda p, t: cubic(p).curvature(t), P, 0.3),
    case("svgpathtools.QuadraticBezier.length",
         lambda a, b: QuadraticBezier(complex(a, 1.0), complex(2.0, b), complex(3.0, -1.0)).length(), 0.0, 4.0),
    case("svgpathtools.Line.length", lambda a, b: Line(complex(a, 1.0), complex(2.0, b)).length(), 0.0, 4.0),
    case("svgpathtools.Line.rotated", lambda a, d: both(Line(complex(a, 1.0), 2 + 3j).rotated(d, 0j).end), 0.5, 40.0),
    case("svgpathtools.Path.point",
         lambda p, t: both(Path(cubic(p), Line(200 + 300j, complex(p[0], 350.0))).point(t)), P, 0.7),
    case("svgpathtools.Arc.point", lambda r, t: both(Arc(0j, complex(r, 50.0), 20, 0, 1, 60 + 30j).point(t)), 60.0, 0.4),
]
