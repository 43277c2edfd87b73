"""Masses of molecules."""

from molmass import Formula, elements

from tests.packages.case import case

REQUIREMENTS = ("molmass==2026.1.8",)
FIELD = "chemistry"

CASES = [
    case("molmass.Formula.mass", lambda m: m / Formula("C8H10N4O2").mass, 3.0),
    case("molmass.elements.ELEMENTS", lambda n: n * elements.ELEMENTS["C"].mass, 2.0),
]
