"""Vectors of space and of relativity, as objects in several coordinates."""

import vector

from tests.packages.case import case

REQUIREMENTS = ("vector==1.9.0",)
FIELD = "physics"

CASES = [
    case("vector.obj rho", lambda x, y: vector.obj(x=x, y=y).rho, 3.0, 4.0),
    case("vector.obj cross", lambda x, y: vector.obj(x=x, y=y, z=1.0).cross(vector.obj(x=1.0, y=2.0, z=y)).mag, 3.0, 4.0),
    case("vector.obj mass", lambda pt, e: vector.obj(pt=pt, phi=0.3, eta=0.5, E=e).mass, 3.0, 9.0),
    case("vector.obj boostX", lambda b, x: vector.obj(x=x, y=2.0, z=3.0, t=9.0).boostX(b).t, 0.3, 1.0),
    case("vector.obj deltaR", lambda a, b: vector.obj(pt=1.0, phi=a, eta=b).deltaR(vector.obj(pt=2.0, phi=0.4, eta=1.1)), 1.2, 0.3),
    case("vector.obj rotateZ", lambda a, x: vector.obj(x=x, y=2.0).rotateZ(a).y, 0.3, 1.0),
    case("vector.VectorObject3D.__add__",
         lambda x, y: (vector.VectorObject3D(x=x, y=y, z=1.0) + vector.obj(x=1.0, y=2.0, z=y)).theta, 3.0, 4.0),
]
