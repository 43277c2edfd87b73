"""Solar radiation."""

from datetime import datetime

import numpy as np
import solarpy

from tests.packages.case import blend, case

REQUIREMENTS = ("solarpy==0.1.3",)
FIELD = "energy"
DATE = datetime(2019, 2, 13, 10, 30)

CASES = [
    case("solarpy.theta", lambda lat, b: solarpy.theta(DATE, lat, b, 15.0), 43.0, 45.0),
    case("solarpy.theta_z", lambda lat: solarpy.theta_z(DATE, lat), 43.0),
    case("solarpy.beam_irradiance", lambda h, lat: solarpy.beam_irradiance(h, DATE, lat), 500.0, 43.0),
    case("solarpy.irradiance_on_plane",
         lambda v, h: solarpy.irradiance_on_plane(v, h, DATE, 43.0), [0.0, 0.3, -0.9], 500.0),
    case("solarpy.pressure", lambda h: solarpy.pressure(h), 2500.0),
    case("solarpy.lla2ecef", lambda lat, lng, h: blend(solarpy.lla2ecef(lat, lng, h)), 43.0, 2.0, 1000.0),
    case("solarpy.air_mass_kastenyoung1989", lambda z: solarpy.air_mass_kastenyoung1989(np.deg2rad(z), 500.0), 50.0),
]
