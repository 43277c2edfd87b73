"""Errors of forecasts of rivers."""

import HydroErr as he

from tests.packages.case import case

REQUIREMENTS = ("HydroErr==2.0.0", "numba==0.68.1")
FIELD = "hydrology"
SIM, OBS = [5.1, 7.3, 9.4, 2.2, 6.1], [4.7, 6.9, 10.0, 2.5, 6.8]

CASES = [case(f"HydroErr.{name}", lambda s, o, f=f: f(s, o), SIM, OBS)
         for name, f in ((name, getattr(he, name))
                          for name in ("rmse", "nse", "kge_2009", "pearson_r", "mape", "d", "sid", "watt_m", "r_squared", "ve"))]
