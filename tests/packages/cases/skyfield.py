"""Positions of stars, planets and places."""

import numpy as np
from skyfield import earthlib, functions, geometry, nutationlib, precessionlib, relativity, timelib
from skyfield.api import load, wgs84
from skyfield.keplerlib import propagate
from skyfield.toposlib import iers2010

from tests.packages.case import blend, case, stair

REQUIREMENTS = ("skyfield==1.55",)
FIELD = "astronomy"
TIMES = load.timescale(builtin=True)

CASES = [
    case("skyfield.functions.angle_between", lambda u, v: functions.angle_between(u, v), [1.0, 2.0, 3.0], [0.3, 0.4, -0.2]),
    case("skyfield.functions.to_spherical", lambda u: blend(*functions.to_spherical(u)), [1.0, 2.0, 3.0]),
    case("skyfield.functions.rot_x", lambda t: blend(functions.rot_x(t) @ functions.rot_z(t)), 0.4),
    case("skyfield.earthlib.earth_rotation_angle", lambda day: earthlib.earth_rotation_angle(2451545.0 + day), 0.3),
    case("skyfield.earthlib.refraction", lambda a, t, p: earthlib.refraction(a, t, p), 20.0, 10.0, 1010.0),
    case("skyfield.earthlib.terra", lambda lat, lon: blend(*earthlib.terra(lat, lon, 100.0, 1.7)), 0.7, 0.3),
    case("skyfield.precessionlib.compute_precession", lambda t: blend(precessionlib.compute_precession(t)) * 1e5, 2415020.0),
    case("skyfield.nutationlib.mean_obliquity", lambda t: nutationlib.mean_obliquity(t), 2415020.0),
    case("skyfield.nutationlib.fundamental_arguments", lambda t: blend(np.sin(nutationlib.fundamental_arguments(t))), 0.3),
    case("skyfield.geometry.intersect_line_and_sphere",
         lambda e, c: blend(*geometry.intersect_line_and_sphere(e, c, 1.5)), [0.2, 0.3, 0.9], [0.4, 0.5, 2.5]),
    case("skyfield.relativity.light_time_difference",
         lambda a, b: relativity.light_time_difference(a, b) * 1e3, [1.0, 2.0, 3.0], [0.3, 0.4, -0.2]),
    stair(case("skyfield.keplerlib.propagate",
               lambda r, v: blend(*propagate(r, v, 0.0, np.array([10.0, 12.0]), 0.000295912208)), [1.0, 0.2, 0.1], [0.001, 0.017, 0.0005]),
          "the universal anomaly is found by halving an interval until it has no inner points"),
    case("skyfield.wgs84.latlon", lambda lat, lon, h: blend(wgs84.latlon(lat, lon, elevation_m=h).itrs_xyz.au) * 1e5, 48.8, 2.3, 120.0),
    case("skyfield.timelib.julian_date", lambda d: timelib.julian_date(2020, 1, 1 + d) - 2450000.0, 3.4),
    case("skyfield.Time.gast", lambda d: TIMES.tt_jd(2458000.5 + d).gast, 0.3),
    case("skyfield.toposlib.Geoid.latlon", lambda lat: iers2010.latlon(lat, 10.0).itrs_xyz.km[2], 40.0),
]
