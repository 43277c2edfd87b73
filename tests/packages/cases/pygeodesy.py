"""Geodesy in plain Python: points as objects with many bases."""

from pygeodesy import Datums, formy, utily, vector3d
from pygeodesy.ellipsoidalVincenty import LatLon as Vincenty
from pygeodesy.sphericalTrigonometry import LatLon

from tests.packages.case import case

REQUIREMENTS = ("PyGeodesy==26.10.26",)
FIELD = "geodesy"


def destined(lat, d):
    p = LatLon(lat, -1.7297).destination(d, 96.0217)
    return p.lat + 2 * p.lon


CASES = [
    case("pygeodesy.formy.haversine", lambda a, b: formy.haversine(a, 0.119, 48.857, b), 52.205, 2.351),
    case("pygeodesy.formy.equirectangular", lambda a, b: formy.equirectangular(a, 0.119, 48.857, b), 52.205, 2.351),
    case("pygeodesy.formy.bearing", lambda a, b: formy.bearing(a, 0.119, 48.857, b), 52.205, 2.351),
    case("pygeodesy.sphericalTrigonometry.LatLon.distanceTo",
         lambda a, b: LatLon(a, 0.119).distanceTo(LatLon(48.857, b)), 52.205, 2.351),
    case("pygeodesy.sphericalTrigonometry.LatLon.destination", destined, 53.3206, 124800.0),
    case("pygeodesy.sphericalTrigonometry.LatLon.crossTrackDistanceTo",
         lambda a, b: LatLon(a, -0.7972).crossTrackDistanceTo(LatLon(53.3206, -1.7297), LatLon(53.1887, b)), 53.2611, 0.1334),
    case("pygeodesy.ellipsoidalVincenty.LatLon.distanceTo",
         lambda a, b: Vincenty(a, -71.0833).distanceTo(Vincenty(40.7128, b)), 42.3541165, -74.006),
    case("pygeodesy.Ellipsoid", lambda f, lat: Datums.WGS84.ellipsoid.rocMeridional(lat) + f, 0.5, 52.0),
    case("pygeodesy.vector3d.Vector3d",
         lambda x, y: vector3d.Vector3d(x, y, 3.0).cross(vector3d.Vector3d(1.0, x, 2.0)).length, 1.0, 2.0),
    case("pygeodesy.utily.wrap180", lambda d: utily.wrap180(d) ** 2, 200.0),
]
