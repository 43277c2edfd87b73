"""Indices of how warm it feels."""

import thermofeel as tf

from tests.packages.case import blend, case

REQUIREMENTS = ("thermofeel==2.3.0",)
FIELD = "meteorology"
T2, TD, RH, VA = [303.0, 309.0], [291.0, 296.0], [42.0, 60.0], [2.0, 3.5]

CASES = [
    case("thermofeel.calculate_relative_humidity_percent", lambda t, d: blend(tf.calculate_relative_humidity_percent(t, d)), T2, TD),
    case("thermofeel.calculate_heat_index_simplified", lambda t, r: blend(tf.calculate_heat_index_simplified(t, r)), T2, RH),
    case("thermofeel.calculate_heat_index_adjusted", lambda t, d: blend(tf.calculate_heat_index_adjusted(t, d)), T2, TD),
    case("thermofeel.calculate_utci", lambda t, v, m, d: blend(tf.calculate_utci(t, v, m, td_k=d)), T2, VA, [310.0, 320.0], TD),
    case("thermofeel.calculate_wbgt", lambda t, m, v, d: blend(tf.calculate_wbgt(t, m, v, d)), T2, [310.0, 320.0], VA, TD),
    case("thermofeel.calculate_wind_chill", lambda t, v: blend(tf.calculate_wind_chill(t, v)), [270.0, 265.0], VA),
    case("thermofeel.calculate_humidex", lambda t, d: blend(tf.calculate_humidex(t, d)), T2, TD),
    case("thermofeel.calculate_normal_effective_temperature",
         lambda t, v, r: blend(tf.calculate_normal_effective_temperature(t, v, r)), T2, VA, RH),
    case("thermofeel.calculate_mrt_from_bgt", lambda t, b, v: blend(tf.calculate_mrt_from_bgt(t, b, v)), T2, [312.0, 318.0], VA),
]
