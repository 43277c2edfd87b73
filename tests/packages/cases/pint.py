"""Numbers with units."""

import pint

from tests.packages.case import case

REQUIREMENTS = ("Pint==0.24.4",)
FIELD = "units"
U = pint.UnitRegistry()

CASES = [
    case("pint.Quantity.to", lambda x: (x * U.meter).to("foot").magnitude, 2.0),
    case("pint.Quantity.__truediv__", lambda x, t: (U.Quantity(x, "meter") / U.Quantity(t, "second")).to("km/h").magnitude, 2.0, 3.0),
    case("pint.Quantity.m_as", lambda x: U.Quantity(x, "degC").m_as("kelvin"), 20.0),
]
