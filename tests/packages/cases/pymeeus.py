"""Astronomical algorithms: angles, epochs and planets as objects."""

from pymeeus.Angle import Angle
from pymeeus.Coordinates import angular_separation, equatorial2ecliptical, mean_obliquity
from pymeeus.CurveFitting import CurveFitting
from pymeeus.Earth import Earth
from pymeeus.Epoch import Epoch
from pymeeus.Interpolation import Interpolation
from pymeeus.Sun import Sun

from tests.packages.case import blend, case

REQUIREMENTS = ("PyMeeus==0.5.12",)
FIELD = "astronomy"


def separated(a, d):
    return float(angular_separation(Angle(a), Angle(d), Angle(201.2983), Angle(-11.1614)))


def converted(a, d):
    lon, lat = equatorial2ecliptical(Angle(a), Angle(d), Angle(23.4392911))
    return lon() + 2 * lat()


def sun(day):
    lon, lat, r = Sun.apparent_geocentric_position(Epoch(1992, 10, day))
    return lon() + r


CASES = [
    case("pymeeus.Angle.Angle", lambda x, y: float(Angle(x) + Angle(y) * 2.0), 23.44, 11.2),
    case("pymeeus.Angle.Angle.rad", lambda x: (Angle(x) / 3.0).rad(), 23.44),
    case("pymeeus.Coordinates.angular_separation", separated, 213.9154, 19.1825),
    case("pymeeus.Coordinates.equatorial2ecliptical", converted, 116.328942, 28.026183),
    case("pymeeus.Interpolation.Interpolation",
         lambda y, x: Interpolation([7, 8, 9], list(y))(x), [0.884226, 0.877366, 0.870531], 8.18125),
    case("pymeeus.CurveFitting.CurveFitting.linear_fitting",
         lambda y: blend(CurveFitting([73.0, 38.0, 35.0, 42.0], list(y)).linear_fitting()), [90.4, 125.3, 161.8, 143.4]),
    case("pymeeus.Earth.Earth.distance",
         lambda a, b: Earth().distance(Angle(a), Angle(48.8), Angle(77.0), Angle(b))[0], -2.3, 38.9),
    case("pymeeus.Sun.Sun.apparent_geocentric_position", sun, 13.3),
    case("pymeeus.Epoch.Epoch", lambda d: Epoch(1987, 6, d).jde(), 19.5),
    case("pymeeus.Coordinates.mean_obliquity", lambda d: float(mean_obliquity(1987, 4, d)), 10.5),
]
