"""Arrays with units."""

import numpy as np
import quantities as pq

from tests.packages.case import case

REQUIREMENTS = ("quantities==0.16.4",)
FIELD = "units"

CASES = [
    case("quantities.Quantity.rescale", lambda x: (x * pq.m).rescale("ft").item(), 2.0),
    case("quantities.Quantity.__mul__", lambda x, y: float(((x * pq.m) * (y / pq.s)).magnitude), 2.0, 3.0),
    case("quantities.Quantity.sum", lambda x: np.sum((x * pq.m).magnitude), [2.0, 3.0]),
]
