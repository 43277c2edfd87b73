"""Physical optics."""

from prysm import refractive, thinfilm, thinlens
from prysm.coordinates import cart_to_polar, make_rotation_matrix
from prysm.polynomials import jacobi, zernike_nm

from tests.packages.case import blend, case

REQUIREMENTS = ("prysm==0.21.1",)
FIELD = "optics"

CASES = [
    case("prysm.thinlens.singlet_efl", lambda a, b, n: thinlens.singlet_efl(a, b, 5.0, n), 0.02, -0.01, 1.5),
    case("prysm.thinlens.twolens_bfl", lambda a, b, t: thinlens.twolens_bfl(a, b, t), 50.0, 80.0, 10.0),
    case("prysm.thinlens.defocus_to_image_displacement",
         lambda w, f: thinlens.defocus_to_image_displacement(w, f, 0.55), 0.5, 4.0),
    case("prysm.thinfilm.multilayer_stack_rt",
         lambda d, w: abs(thinfilm.multilayer_stack_rt([(1.38, d), (1.52, 1.0)], w, "p", aoi=10.0)[0]), 0.1, 0.55),
    case("prysm.thinfilm.snell_aor", lambda n, t: thinfilm.snell_aor(1.0, n, t), 1.5, 20.0),
    case("prysm.refractive.sellmeier",
         lambda w, a: refractive.sellmeier(w, a, [0.006, 0.02, 103.5]), 0.55, [1.04, 0.23, 1.01]),
    case("prysm.refractive.cauchy", lambda w, a, b: refractive.cauchy(w, a, b, 0.0003), 0.55, 1.5, 0.004),
    case("prysm.polynomials.zernike_nm", lambda r, t: blend(zernike_nm(4, 2, r, t)), [0.2, 0.5, 0.9], [0.1, 0.4, 2.0]),
    case("prysm.polynomials.jacobi", lambda x: blend(jacobi(5, 1.0, 2.0, x)), [0.2, 0.5, 0.9]),
    case("prysm.coordinates.cart_to_polar", lambda x, y: blend(*cart_to_polar(x, y, vec_to_grid=False)), [0.2, 0.5], [0.1, 0.4]),
    case("prysm.coordinates.make_rotation_matrix", lambda a: blend(make_rotation_matrix((a, 10.0, 20.0))), 30.0),
]
