"""Thin films by transfer matrices."""

import numpy as np
import tmm

from tests.packages.case import case

REQUIREMENTS = ("tmm==0.2.0",)
FIELD = "optics"
N = [1.0, 2.2, 3.3 + 0.3j, 1.0]

CASES = [
    case("tmm.coh_tmm s", lambda d, th: tmm.coh_tmm("s", N, [np.inf, d, 300.0, np.inf], th, 400.0)["R"], 100.0, 0.1),
    case("tmm.coh_tmm p", lambda d, lam: tmm.coh_tmm("p", N, [np.inf, d, 300.0, np.inf], 0.2, lam)["T"], 100.0, 400.0),
    case("tmm.unpolarized_RT", lambda d: tmm.unpolarized_RT(N, [np.inf, d, 300.0, np.inf], 0.3, 400.0)["R"], 100.0),
    case("tmm.ellips", lambda d: tmm.ellips(N, [np.inf, d, 300.0, np.inf], 0.3, 400.0)["psi"], 100.0),
    case("tmm.absorp_in_each_layer",
         lambda d: tmm.absorp_in_each_layer(tmm.coh_tmm("s", N, [np.inf, d, 300.0, np.inf], 0.1, 400.0))[2], 100.0),
    case("tmm.inc_tmm",
         lambda d: tmm.inc_tmm("s", N, [np.inf, d, 300.0, np.inf], ["i", "c", "i", "i"], 0.1, 400.0)["R"], 100.0),
    case("tmm.position_resolved",
         lambda d, z: tmm.position_resolved(1, z, tmm.coh_tmm("p", N, [np.inf, d, 300.0, np.inf], 0.1, 400.0))["absor"] + d,
         100.0, 37.0),
]
