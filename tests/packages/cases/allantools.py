"""Stability of clocks."""

import allantools

from tests.packages.case import blend, case

REQUIREMENTS = ("AllanTools==2024.6",)
FIELD = "statistics"
PHASE = [0.1, 0.4, 0.3, 0.9, 1.4, 1.1, 1.8, 2.2, 2.0, 2.9, 3.1, 3.6]

CASES = [
    case(f"allantools.{name}", lambda x, f=f: blend(f(x, rate=1.0, data_type="phase", taus=[1, 2])[1]), PHASE)
    for name, f in ((name, getattr(allantools, name)) for name in ("adev", "oadev", "mdev", "hdev", "tdev", "totdev", "pdev"))
] + [case("allantools.frequency2phase", lambda f: blend(allantools.frequency2phase(f, 2.0)), PHASE)]
