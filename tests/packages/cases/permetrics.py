"""Measures of regressions."""

from permetrics import RegressionMetric

from tests.packages.case import case

REQUIREMENTS = ("permetrics==2.1.0",)
FIELD = "statistics"
TRUE, PREDICTED = [3.0, -0.5, 2.0, 7.0, 5.0, 6.0], [2.5, 0.1, 2.2, 8.0, 5.25, 5.5]


def of(name):
    return case(f"permetrics.RegressionMetric.{name}", lambda t, p: getattr(RegressionMetric(t, p), name)(), TRUE, PREDICTED)


CASES = [of(name) for name in ("root_mean_squared_error", "nash_sutcliffe_efficiency", "willmott_index", "kling_gupta_efficiency",
                               "pearson_correlation_coefficient", "mean_absolute_scaled_error")]
