"""Positions of the sun and the moon."""

import datetime

from astral import LocationInfo, Observer, sun

from tests.packages.case import case

REQUIREMENTS = ("astral==3.2",)
FIELD = "astronomy"
WHEN = datetime.datetime(2020, 6, 1, 14, 30, tzinfo=datetime.timezone.utc)

CASES = [
    case("astral.sun.elevation", lambda lat, lon: sun.elevation(Observer(lat, lon), WHEN), 51.5, -0.12),
    case("astral.sun.azimuth", lambda lat, lon: sun.azimuth(Observer(lat, lon), WHEN), 51.5, -0.12),
    case("astral.sun.hour_angle", lambda lat, d: sun.hour_angle(lat, d, 90.8, sun.SunDirection.RISING), 51.5, 20.0),
    case("astral.sun.eq_of_time", lambda jc: sun.eq_of_time(jc), 0.2),
    case("astral.sun.declination", lambda jc: sun.sun_declination(jc), 0.2),
    case("astral.LocationInfo.observer",
         lambda lat: sun.zenith(LocationInfo("London", "England", "UTC", lat, -0.12).observer, WHEN), 51.5),
    case("astral.sun.refraction_at_zenith", lambda z: sun.refraction_at_zenith(z), 70.0),
]
