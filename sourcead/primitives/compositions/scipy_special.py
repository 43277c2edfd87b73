"""scipy.special: functions that are others of scipy.special."""

import math

from scipy import special

from sourcead.primitives.compositions import composed, refuse


@composed(special.agm)
def agm(a, b):
    return math.pi / 4 * (a + b) / special.ellipk(((a - b) / (a + b)) ** 2)


@composed(special.comb)
def comb(N, k, exact=False, repetition=False):
    if exact or repetition:
        refuse("`special.comb` of whole numbers: use `special.binom`")
    return special.binom(N, k)


@composed(special.perm)
def perm(N, k, exact=False):
    if exact:
        refuse("`special.perm` of whole numbers: use `special.poch`")
    return special.poch(N - k + 1, k)


@composed(special.factorial)
def factorial(n, exact=False):
    if exact:
        refuse("`special.factorial` of whole numbers: use `special.gamma`")
    return special.gamma(n + 1)


@composed(special.zetac)
def zetac(x):
    refuse("the derivative of `special.zetac` is not known")
