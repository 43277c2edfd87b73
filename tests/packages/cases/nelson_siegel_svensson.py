"""Curves of interest rates."""

import numpy as np
from nelson_siegel_svensson import NelsonSiegelCurve, NelsonSiegelSvenssonCurve
from nelson_siegel_svensson.calibrate import betas_ns_ols, errorfn_ns_ols

from tests.packages.case import blend, case

REQUIREMENTS = ("nelson-siegel-svensson==0.5.0", "click==8.5.1")
FIELD = "finance"
T = [0.5, 1.0, 5.0, 10.0]
Y = [0.01, 0.011, 0.02, 0.025]

CASES = [
    case("nelson_siegel_svensson.NelsonSiegelSvenssonCurve.__call__",
         lambda a, b, tau, t: blend(NelsonSiegelSvenssonCurve(a, b, 0.03, -0.02, tau, 3.0)(t)), 0.028, -0.03, 2.0, T),
    case("nelson_siegel_svensson.NelsonSiegelCurve.zero", lambda a, t: NelsonSiegelCurve(a, -0.03, 0.02, 2.0).zero(t), 0.028, 3.0),
    case("nelson_siegel_svensson.NelsonSiegelCurve.forward",
         lambda tau, t: blend(NelsonSiegelCurve(0.03, -0.03, 0.02, tau).forward(t)), 2.0, T),
    case("nelson_siegel_svensson.calibrate.betas_ns_ols",
         lambda tau, y: blend(betas_ns_ols(tau, np.array(T), y)[0].factors(np.array(T))) + betas_ns_ols(tau, np.array(T), y)[0].beta1,
         2.0, Y),
    case("nelson_siegel_svensson.calibrate.errorfn_ns_ols", lambda tau, y: errorfn_ns_ols(tau, np.array(T), y), 2.0, Y),
]
