"""Aerodynamics."""

from skaero.atmosphere import coesa
from skaero.gasdynamics import isentropic, shocks

from tests.packages.case import blend, case

REQUIREMENTS = ("scikit-aero==0.1",)
FIELD = "aviation"

CASES = [
    case("skaero.atmosphere.coesa.table", lambda h: blend(*coesa.table(h)), 8000.0),
    case("skaero.gasdynamics.isentropic.IsentropicFlow", lambda m, g: isentropic.IsentropicFlow(g).p_p0(m), 2.0, 1.4),
    case("skaero.gasdynamics.isentropic.A_Astar", lambda m: isentropic.IsentropicFlow(1.4).A_Astar(m), 2.0),
    case("skaero.gasdynamics.isentropic.mach_from_area_ratio",
         lambda a: blend(isentropic.mach_from_area_ratio(isentropic.IsentropicFlow(1.4), a)), 2.0),
    case("skaero.gasdynamics.shocks.NormalShock", lambda m: shocks.NormalShock(m).p2_p1, 2.0),
]
