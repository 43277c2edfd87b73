"""Functions that optimizers are tested with."""

import benchmark_functions as bf

from tests.packages.case import case

REQUIREMENTS = ("benchmark-functions==1.1.4",)
FIELD = "optimization"
POINT = [0.3, -0.4, 0.7]
SCHWEFEL, ACKLEY, ROSENBROCK, GRIEWANK = bf.Schwefel(3), bf.Ackley(3), bf.Rosenbrock(3), bf.Griewank(3)

CASES = [
    case("benchmark_functions.Schwefel", lambda x: SCHWEFEL(x), [25.0, -34.6, 112.0]),
    case("benchmark_functions.Ackley", lambda x: ACKLEY(x), POINT),
    case("benchmark_functions.Rosenbrock", lambda x: ROSENBROCK(x), POINT),
    case("benchmark_functions.Griewank", lambda x: GRIEWANK(x), POINT),
    case("benchmark_functions.Michalewicz", lambda x: bf.Michalewicz(n_dimensions=3, m=2)(x), [1.0, 1.5, 1.2]),
]
