"""Reference ellipsoids and their gravity."""

import boule as bl

from tests.packages.case import case

REQUIREMENTS = ("boule==0.6.0",)
FIELD = "geodesy"

CASES = [
    case("boule.WGS84.normal_gravity", lambda lat, h: bl.WGS84.normal_gravity((20.0, lat, h)), 45.0, 500.0),
    case("boule.WGS84.geocentric_radius", lambda lat: bl.WGS84.geocentric_radius(lat), 45.0),
    case("boule.WGS84.geodetic_to_spherical", lambda lat, h: bl.WGS84.geodetic_to_spherical((20.0, lat, h))[2], 45.0, 500.0),
    case("boule.Ellipsoid.gravity_pole",
         lambda a, f: bl.Ellipsoid(name="e", semimajor_axis=a, flattening=f, geocentric_grav_const=3.98e14,
                                   angular_velocity=7.29e-5).gravity_pole, 6378137.0, 0.00335),
]
