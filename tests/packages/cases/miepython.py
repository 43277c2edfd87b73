"""Light scattered by spheres (Mie)."""

import miepython

from tests.packages.case import blend, case

REQUIREMENTS = ("miepython==3.3.0",)
FIELD = "optics"

CASES = [
    case("miepython.efficiencies", lambda d, lam: blend(*miepython.efficiencies(1.5 - 0.1j, d, lam)), 100.0, 314.0),
    case("miepython.efficiencies_mx", lambda x: miepython.efficiencies_mx(1.5 - 1j, x)[0], 2.5),
    case("miepython.efficiencies_mx m", lambda n, k: miepython.efficiencies_mx(n - 1j * k, 3.0)[0], 1.5, 0.2),
    case("miepython.S1_S2", lambda x, mu: abs(miepython.S1_S2(1.5 - 0.5j, x, mu)[0][0]), 3.0, [0.3, 0.5]),
    case("miepython.i_unpolarized", lambda x, mu: blend(miepython.i_unpolarized(1.5 - 0.5j, x, mu)), 3.0, [0.3, 0.5]),
    case("miepython.small_sphere", lambda x: blend(*miepython.small_sphere(1.5 - 0.5j, x)), 0.01),
    case("miepython.an_bn", lambda x: abs(miepython.an_bn(1.5 - 0.5j, x)[0][1]), 3.0),
]
