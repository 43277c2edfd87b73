"""Kinetics, electrochemistry and properties of solutions."""

import numpy as np
from chempy.electrochemistry.nernst import nernst_potential
from chempy.electrolytes import A, davies_log_gamma, extended_log_gamma, ionic_strength, limiting_activity_product
from chempy.kinetics.arrhenius import ArrheniusParam, arrhenius_equation
from chempy.kinetics.eyring import EyringParam
from chempy.kinetics.integrated import binary_rev, dimerization_irrev, pseudo_irrev
from chempy.properties.sulfuric_acid_density_myhre_1998 import sulfuric_acid_density
from chempy.properties.water_density_tanaka_2001 import water_density
from chempy.properties.water_permittivity_bradley_pitzer_1979 import water_permittivity
from chempy.properties.water_viscosity_korson_1969 import water_viscosity

from tests.packages.case import case

REQUIREMENTS = ("chempy==0.10.2",)
FIELD = "chemistry"

CASES = [
    case("chempy.properties.water_density", lambda t: water_density(t), 283.15),
    case("chempy.properties.water_viscosity", lambda t: water_viscosity(t), 298.15),
    case("chempy.properties.water_permittivity", lambda t, p: water_permittivity(t, p), 298.15, 1.5),
    case("chempy.properties.sulfuric_acid_density", lambda w, t: sulfuric_acid_density(w, t), 0.5, 293.0),
    case("chempy.electrochemistry.nernst_potential", lambda a, b, t: nernst_potential(a, b, 1, t), 145.0, 15.0, 310.0),
    case("chempy.electrolytes.A", lambda e, t, r: A(e, t, r), 80.1, 293.15, 998.2071),
    case("chempy.electrolytes.davies_log_gamma", lambda i, a: davies_log_gamma(i, 2, a), 0.1, 0.5),
    case("chempy.electrolytes.extended_log_gamma", lambda i, a: extended_log_gamma(i, 2, a, 0.5, 0.3), 0.1, 4.5),
    case("chempy.electrolytes.ionic_strength", lambda m: ionic_strength({"Fe+3": m[0], "ClO4-": m[1]}), [0.1, 0.3]),
    case("chempy.electrolytes.limiting_activity_product",
         lambda i, t: limiting_activity_product(i, (1, 1), (2, -1), t, 80.1, 998.2), 0.1, 293.15),
    case("chempy.kinetics.arrhenius_equation", lambda a, e, t: arrhenius_equation(a, e, t), 1e10, 42e3, 273.15),
    case("chempy.kinetics.ArrheniusParam", lambda e, t: ArrheniusParam(1e10, e)(t), 40e3, 273.15),
    case("chempy.kinetics.EyringParam", lambda h, t: EyringParam(h, 1e2)(t), 40e3, 273.15),
    case("chempy.kinetics.integrated.pseudo_irrev", lambda t, k: np.sum(pseudo_irrev(t, k, 0.0, 1.0, 0.5)), [0.1, 0.2], 1.3),
    case("chempy.kinetics.integrated.binary_rev", lambda t, k: np.sum(binary_rev(t, k, 0.7, 0.0, 2.0, 0.5)), [0.1, 0.2], 1.3),
    case("chempy.kinetics.integrated.dimerization_irrev", lambda t, k: dimerization_irrev(t, k, 2.0), 0.2, 1.3),
]
