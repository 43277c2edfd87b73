"""HSLuv, colours by hue, saturation and lightness that people see."""

import hsluv

from tests.packages.case import blend, case, stair

REQUIREMENTS = ("hsluv==5.0.5",)
FIELD = "colour"

CASES = [
    stair(case("hsluv.hsluv_to_rgb", lambda h, s, v: blend(hsluv.hsluv_to_rgb([h, s, v])), 120.0, 60.0, 50.0),
          "it rounds its results to ten decimals, and the derivative of `round` is zero"),
    case("hsluv.rgb_to_hsluv", lambda r, g, b: blend(hsluv.rgb_to_hsluv([r, g, b])), 0.3, 0.6, 0.2),
    case("hsluv.rgb_to_hpluv", lambda r, g, b: blend(hsluv.rgb_to_hpluv((r, g, b))), 0.3, 0.5, 0.4),
]
