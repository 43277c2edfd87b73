"""Orbits of satellites from two-line elements."""

import math

from sgp4.api import jday
from sgp4.earth_gravity import wgs72
from sgp4.ext import invjday, rv2coe
from sgp4.io import twoline2rv
from sgp4.model import Satrec
from sgp4.propagation import gstime

from tests.packages.case import blend, case

REQUIREMENTS = ("sgp4==2.27",)
FIELD = "orbits"
FIRST = "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991"
SECOND = "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482"
ISS = Satrec.twoline2rv(FIRST, SECOND)
GPS = twoline2rv(
    "1 28129U 03058A   06175.57071136 -.00000104  00000-0  10000-3 0   459",
    "2 28129  54.7298 324.8098 0048506 266.2640  93.1663  2.00562768 18443", wgs72,
)  # fmt: skip


def position(jd, fraction):
    satellite = Satrec.twoline2rv(FIRST, SECOND)
    error, r, v = satellite.sgp4(2458827.0 + jd, fraction)
    return blend(*r, *v)


def position_of_known_satellite(jd, fraction):
    error, r, v = ISS.sgp4(2458827.0 + jd, fraction)
    return blend(*r, *v)


def position_by_date(hour):  # a Julian date is rounded to 40 microseconds, so differences need a slow satellite and more than seconds
    r, v = GPS.propagate(2006, 6, 26, hour)
    return blend(*r, *v)


def minutes_of_the_day(day):
    year, month, day, hour, minute, second = invjday(2458827.0 + day)
    return 60.0 * hour + minute + second / 60.0


def from_elements(bstar, ecco, argpo, inclo, mo, no_kozai, nodeo):
    satellite = Satrec()
    satellite.sgp4init(0, "i", 25544, 25545.69339541, bstar, 0.0, 0.0, ecco, argpo, inclo, mo, no_kozai, nodeo)
    error, r, v = satellite.sgp4(2458827.5, 0.3)
    return blend(*r, *v)


CASES = [
    case("sgp4.model.Satrec.sgp4", position, 0.5, 0.362605),
    case("sgp4.model.Satrec.sgp4 of a global object", position_of_known_satellite, 0.5, 0.362605),
    case("sgp4.model.Satellite.propagate", position_by_date, 12.3),
    case("sgp4.model.Satrec.sgp4init", from_elements, 3.8792e-5, 7.417e-4, 0.3083, 0.9013, 1.4947, 0.0676, 3.6861),
    case("sgp4.propagation.gstime", lambda day: math.sin(gstime(2458827.0 + day)), 0.362605),
    case("sgp4.api.jday", lambda minute, second: jday(2019, 12, 9, 12, minute, second)[1], 13.0, 19.5),
    case("sgp4.ext.invjday", minutes_of_the_day, 0.3626),
    case("sgp4.ext.rv2coe",
         lambda r, v: blend(*rv2coe(r, v, 398600.4418)[:8]), [6524.834, 6862.875, 6448.296], [4.901327, 5.533756, -1.976341]),
]
