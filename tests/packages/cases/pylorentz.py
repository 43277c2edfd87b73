"""Vectors of special relativity."""

from pylorentz import Momentum4, Position4

from tests.packages.case import case

REQUIREMENTS = ("pylorentz==0.3.3",)
FIELD = "physics"

CASES = [
    case("pylorentz.Momentum4.m", lambda e, x, y, z: Momentum4(e, x, y, z).m, 10.0, 1.0, 2.0, 3.0),
    case("pylorentz.Momentum4.e_eta_phi_pt", lambda e, eta, phi, pt: Momentum4.e_eta_phi_pt(e, eta, phi, pt).p_x, 90.0, 0.4, 0.7, 20.0),
    case("pylorentz.Momentum4.boost_particle",
         lambda e, x: Position4(1.0, 2.0, x, 4.0).boost_particle(Momentum4(e, 1.0, 2.0, 3.0)).x, 10.0, 3.0),
    case("pylorentz.Vector4.__add__", lambda e, x: ((Momentum4(e, 1.0, 2.0, 3.0) + Momentum4(20.0, x, 2.0, 1.0)) * 2).eta, 10.0, 3.0),
]
