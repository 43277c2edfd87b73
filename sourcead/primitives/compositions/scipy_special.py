"""Compositions of functions of `scipy.special` from other functions of `scipy.special`."""

import math

from scipy import special

from sourcead.primitives.compositions import composed, refuse

composed({
    special.agm: lambda a, b: math.pi / 4 * (a + b) / special.ellipk(((a - b) / (a + b)) ** 2),
    special.comb: lambda N, k, exact=False, repetition=False: (
        refuse("`special.comb` of whole numbers: use `special.binom`") if exact or repetition else special.binom(N, k)
    ),
    special.perm: lambda N, k, exact=False: (
        refuse("`special.perm` of whole numbers: use `special.poch`") if exact else special.poch(N - k + 1, k)
    ),
    special.factorial: lambda n, exact=False: (
        refuse("`special.factorial` of whole numbers: use `special.gamma`") if exact else special.gamma(n + 1)
    ),
    special.zetac: lambda x: refuse("the derivative of `special.zetac` is not known"),
})
