"""Prices of options and their sensitivities, as classes with a base."""

import blackscholes as bs

from tests.packages.case import case

REQUIREMENTS = ("blackscholes==0.2.2",)
FIELD = "finance"


def greeks(s, sigma):
    call = bs.BlackScholesCall(S=s, K=50.0, T=1.0, r=0.0025, sigma=sigma, q=0.01)
    return sum(call.get_core_greeks().values())


CASES = [
    case("blackscholes.BlackScholesCall.price",
         lambda s, k, t, r, v: bs.BlackScholesCall(S=s, K=k, T=t, r=r, sigma=v).price(), 55.0, 50.0, 1.0, 0.0025, 0.15),
    case("blackscholes.BlackScholesCall.get_core_greeks", greeks, 55.0, 0.15),
    case("blackscholes.BlackScholesPut.vanna", lambda s, v: bs.BlackScholesPut(s, 50.0, 1.0, 0.0025, v, 0.01).vanna(), 55.0, 0.15),
    case("blackscholes.Black76Call.theta", lambda f, v: bs.Black76Call(F=f, K=50.0, T=1.0, r=0.0025, sigma=v).theta(), 55.0, 0.15),
    case("blackscholes.BinaryCall.price", lambda s, v: bs.BinaryCall(S=s, K=50.0, T=1.0, r=0.0025, sigma=v).price(), 55.0, 0.15),
    case("blackscholes.BlackScholesStraddleLong.delta",
         lambda s, v: bs.BlackScholesStraddleLong(S=s, K=50.0, T=1.0, r=0.0025, sigma=v).delta(), 55.0, 0.15),
    case("blackscholes.BlackScholesIronCondorLong.price",
         lambda s, v: bs.BlackScholesIronCondorLong(S=s, K1=20.0, K2=25.0, K3=45.0, K4=50.0, T=1.0, r=0.0025, sigma=v).price(),
         35.0, 0.15),
    case("blackscholes.BlackScholesButterflyLong.gamma",
         lambda s, v: bs.BlackScholesButterflyLong(S=s, K1=40.0, K2=50.0, K3=60.0, T=1.0, r=0.0025, sigma=v).gamma(), 55.0, 0.15),
]
