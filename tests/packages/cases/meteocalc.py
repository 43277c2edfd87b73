"""How warm it feels, by temperatures as objects."""

from meteocalc import Temp, dew_point, feels_like, heat_index, wind_chill

from tests.packages.case import case

REQUIREMENTS = ("meteocalc==1.1.0",)
FIELD = "meteorology"

CASES = [
    case("meteocalc.Temp.f", lambda t: Temp(t, "c").f + Temp(t, "k").c, 30.0),
    case("meteocalc.dew_point", lambda t, h: dew_point(temperature=t, humidity=h).c, 30.0, 40.0),
    case("meteocalc.heat_index", lambda t, h: heat_index(temperature=Temp(t, "c"), humidity=h).c, 33.0, 56.0),
    case("meteocalc.wind_chill", lambda t, w: wind_chill(temperature=Temp(t, "f"), wind_speed=w).f, 30.0, 8.0),
    case("meteocalc.feels_like", lambda t, h: feels_like(temperature=Temp(t, "c"), humidity=h, wind_speed=3.0).f, 33.0, 56.0),
]
