"""The carbonate system of seawater."""

import PyCO2SYS as pyco2
from PyCO2SYS.equilibria import p1atm

from tests.packages.case import case

REQUIREMENTS = ("PyCO2SYS==1.8.3.4",)
FIELD = "oceanography"

CASES = [
    case("PyCO2SYS.sys",
         lambda a, d: float(pyco2.sys(par1=a, par2=d, par1_type=1, par2_type=2)["pH"]), 2300.0, 2100.0),
    case("PyCO2SYS.equilibria.p1atm.kCO2_W74",
         lambda t, s: p1atm.kCO2_W74(t, s) * 1e2, 298.15, 35.0),
    case("PyCO2SYS.equilibria.p1atm.kBOH3_TOT_D90b", lambda t, s: p1atm.kBOH3_TOT_D90b(t, s) * 1e9, 298.15, 35.0),
]
