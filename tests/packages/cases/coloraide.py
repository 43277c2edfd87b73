"""Colours as objects, in many spaces."""

from coloraide import Color

from tests.packages.case import blend, case

REQUIREMENTS = ("coloraide==8.13.1",)
FIELD = "colour"
RGB = [0.3, 0.6, 0.2]

CASES = [
    case("coloraide.Color.convert lab", lambda c: blend(Color("srgb", list(c)).convert("lab").coords()), RGB),
    case("coloraide.Color.convert oklab", lambda c: blend(Color("srgb", list(c)).convert("oklab").coords()), RGB),
    case("coloraide.Color.convert hsl", lambda c: blend(Color("srgb", list(c)).convert("hsl").coords()), RGB),
    case("coloraide.Color.luminance", lambda c: Color("srgb", list(c)).luminance(), RGB),
    case("coloraide.Color.contrast", lambda c: Color("srgb", list(c)).contrast("white"), RGB),
    case("coloraide.Color.delta_e",
         lambda c: Color("srgb", list(c)).delta_e(Color("srgb", [0.4, 0.5, 0.1]), method="2000"), RGB),
    case("coloraide.Color.mix", lambda c, t: blend(Color("srgb", list(c)).mix("blue", t, space="srgb").coords()), RGB, 0.4),
    case("coloraide.Color.distance", lambda c: Color("srgb", list(c)).distance("purple", space="lab"), RGB),
]
