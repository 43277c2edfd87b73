"""Comfort of people by the physics of heat, with validated inputs and results as data classes."""

from pythermalcomfort import models, utilities

from tests.packages.case import case

REQUIREMENTS = ("pythermalcomfort==4.8.1", "numba==0.68.1")
FIELD = "meteorology"

CASES = [
    case("pythermalcomfort.models.heat_index_rothfusz",
         lambda t, r: models.heat_index_rothfusz(tdb=t, rh=r, round_output=False).hi, 35.0, 50.0),
    case("pythermalcomfort.models.pmv_ppd_iso",
         lambda t, r, v: models.pmv_ppd_iso(tdb=t, tr=25.0, vr=v, rh=r, met=1.2, clo=0.5, round_output=False).pmv, 25.0, 50.0, 0.1),
    case("pythermalcomfort.models.wbgt", lambda a, b: models.wbgt(twb=a, tg=b, round_output=False).wbgt, 25.0, 32.0),
    case("pythermalcomfort.models.humidex", lambda t, r: models.humidex(tdb=t, rh=r, round_output=False).humidex, 25.0, 50.0),
    case("pythermalcomfort.models.utci", lambda t, v: models.utci(tdb=t, tr=25.0, v=v, rh=50.0, round_output=False).utci, 25.0, 1.0),
    case("pythermalcomfort.models.wind_chill_temperature",
         lambda t, v: models.wind_chill_temperature(tdb=t, v=v, round_output=False).wct, -5.0, 5.5),
    case("pythermalcomfort.models.at", lambda t, r, v: models.at(tdb=t, rh=r, v=v, round_output=False).at, 25.0, 30.0, 0.1),
    case("pythermalcomfort.utilities.psy_ta_rh", lambda t, r: utilities.psy_ta_rh(t, r).wet_bulb_tmp, 21.0, 56.0),
]
