"""The position of the sun by NREL's algorithm."""

import sunposition

from tests.packages.case import blend, case

REQUIREMENTS = ("sunposition==1.2.1",)
FIELD = "astronomy"

CASES = [
    case("sunposition.sunpos",
         lambda lat, lon: blend(*sunposition.sunpos(1066419030.0, lat, lon, 1830.14, 11.0, 820.0, 0.5667, 67.0)[:2]), 39.74, -105.18),
    case("sunposition.arcdist", lambda p, q: sunposition.arcdist(p, q), [30.0, 20.0], [40.0, 50.0]),
]
