"""The power of wind turbines."""

import numpy as np
from windpowerlib import density, power_output, temperature, wind_speed

from tests.packages.case import blend, case

REQUIREMENTS = ("windpowerlib==0.2.2",)
FIELD = "energy"
SPEEDS, POWERS = np.array([0.0, 4.0, 8.0, 12.0, 25.0]), np.array([0.0, 40.0, 600.0, 2000.0, 2000.0])

CASES = [
    case("windpowerlib.wind_speed.hellman", lambda v: blend(wind_speed.hellman(v, 10.0, 100.0, roughness_length=0.15)), [5.0, 6.5]),
    case("windpowerlib.wind_speed.logarithmic_profile",
         lambda v, z: blend(wind_speed.logarithmic_profile(v, 10.0, 100.0, z)), [5.0, 6.5], 0.15),
    case("windpowerlib.density.barometric", lambda p, t: blend(density.barometric(p, 10.0, 100.0, t)), [101125.0], [267.0]),
    case("windpowerlib.density.ideal_gas", lambda p, t: blend(density.ideal_gas(p, 10.0, 100.0, t)), [101125.0], [267.0]),
    case("windpowerlib.temperature.linear_gradient", lambda t: blend(temperature.linear_gradient(t, 2.0, 100.0)), [267.0, 268.0]),
    case("windpowerlib.power_output.power_curve", lambda v: blend(power_output.power_curve(v, SPEEDS, POWERS)), [5.0, 9.5]),
    case("windpowerlib.power_output.power_curve_density_correction",
         lambda v, d: blend(power_output.power_curve(v, SPEEDS, POWERS, d, density_correction=True)), [5.0, 9.5], [1.2, 1.3]),
]
