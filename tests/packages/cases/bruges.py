"""Geophysics: reflections, rocks and wavelets."""

import numpy as np
from bruges import filters, reflection, rockphysics

from tests.packages.case import blend, case

REQUIREMENTS = ("bruges==0.5.4",)
FIELD = "geophysics"
VP1, VS1, R1, VP2, VS2, R2 = 2350.0, 1150.0, 2100.0, 2650.0, 1390.0, 2250.0

CASES = [
    case("bruges.reflection.shuey", lambda a, b, t: float(reflection.shuey(a, VS1, R1, VP2, b, R2, t)), VP1, VS2, 15.0),
    case("bruges.reflection.akirichards", lambda a, b, t: blend(reflection.akirichards(a, VS1, R1, VP2, b, R2, t).real), VP1, VS2, 15.0),
    case("bruges.reflection.zoeppritz_rpp", lambda a, b: blend(reflection.zoeppritz_rpp(a, VS1, R1, VP2, b, R2, 15.0).real), VP1, VS2),
    case("bruges.reflection.zoeppritz", lambda a, b: blend(reflection.zoeppritz(a, VS1, R1, VP2, b, R2, 15.0).real), VP1, VS2),
    case("bruges.reflection.fatti", lambda a, b: blend(reflection.fatti(a, VS1, R1, VP2, b, R2, 15.0)), VP1, VS2),
    case("bruges.rockphysics.moduli_dict", lambda a, b: sum(rockphysics.moduli_dict(a, b, R1).values()), VP1, VS1),
    case("bruges.rockphysics.bulk", lambda a, b: rockphysics.bulk(vp=a, vs=b, rho=R1), VP1, VS1),
    case("bruges.rockphysics.smith_fluidsub",
         lambda a, phi: blend(
             *rockphysics.smith_fluidsub(a, VS1, R1, phi, 1000.0, 700.0, 0.3, 0.1, 2.8e9, 0.9e9, 25e9, 37e9, 0.1)[:2]), VP1, 0.25),
    case("bruges.filters.ricker", lambda f: blend(filters.ricker(0.08, 0.004, f)[0]), 25.0),
    case("bruges.rockphysics.rho_brine", lambda t, s: rockphysics.rho_brine(t, 30e6, s), 80.0, 0.035),
    case("bruges.rockphysics.backus",
         lambda v: blend(*rockphysics.backus(v, np.array(v) / 2, np.full(5, 2200.0), 3, 1.0)), [2300.0, 2500.0, 2700.0, 2400.0, 2200.0]),
]
