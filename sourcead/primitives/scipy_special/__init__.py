"""Rules of `scipy.special`, and its functions whose results carry no derivative, such as zeros, nodes and whole numbers."""

from scipy import special

from sourcead.primitives.registry import elementwise, enter
from sourcead.runtime import undefined


def known_in_last(first: str, rules: dict, second: str = "its second argument") -> None:
    """Enter rules of elementwise functions whose derivative is known in the last argument only, and not in their orders and parameters.

    Args:
        first, second: what the first two arguments are, for the error if their cotangents are needed.
        rules: {function, or tuple of functions: rule}, as for `elementwise`; a rule gives the cotangent of the last argument.
    """
    elementwise({functions: with_unknown(rule, first, second) for functions, rule in rules.items()})


def with_unknown(rule, first: str, second: str):
    """Return the rule of two to four arguments with undefined cotangents of all but the last."""
    third = "its third argument"
    match rule.__code__.co_argcount:
        case 4:
            return lambda y, a, x, d_y: (undefined(first), rule(y, a, x, d_y))
        case 5:
            return lambda y, a, b, x, d_y: (undefined(first), undefined(second), rule(y, a, b, x, d_y))
    return lambda y, a, b, c, x, d_y: (undefined(first), undefined(second), undefined(third), rule(y, a, b, c, x, d_y))


CONSTANT = """
gammasgn bernoulli euler stirling2 factorial2 factorialk round errstate seterr geterr test
ai_zeros bi_zeros bei_zeros beip_zeros ber_zeros berp_zeros kei_zeros keip_zeros ker_zeros kerp_zeros kelvin_zeros erf_zeros
fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros y0_zeros y1_zeros y1p_zeros yn_zeros
ynp_zeros mathieu_even_coef mathieu_odd_coef roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_hermite
roots_hermitenorm roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_legendre c_roots h_roots he_roots
l_roots p_roots ps_roots s_roots t_roots ts_roots u_roots us_roots
"""

enter(*(getattr(special, name) for name in CONSTANT.split() if hasattr(special, name)), constant=True)
enter(special.errstate, special.seterr, special.geterr, examples=False)
