"""Functions of `scipy.special` whose results carry no derivative, such as zeros, nodes and whole numbers."""

from scipy import special

from sourcead.primitives.registry import enter

NAMES = """
gammasgn bernoulli euler stirling2 factorial2 factorialk round errstate seterr geterr test
ai_zeros bi_zeros bei_zeros beip_zeros ber_zeros berp_zeros kei_zeros keip_zeros ker_zeros kerp_zeros kelvin_zeros erf_zeros
fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros y0_zeros y1_zeros y1p_zeros yn_zeros
ynp_zeros mathieu_even_coef mathieu_odd_coef roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_hermite
roots_hermitenorm roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_legendre c_roots h_roots he_roots
l_roots p_roots ps_roots s_roots t_roots ts_roots u_roots us_roots
"""

enter(*(getattr(special, name) for name in NAMES.split() if hasattr(special, name)), constant=True)
enter(special.errstate, special.seterr, special.geterr, examples=False)
