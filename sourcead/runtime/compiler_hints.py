"""Functions that tell the compiler something and compute nothing."""

import numpy as np


def stop_gradient(x):
    """The argument itself, taken as a constant by differentiation.

    Args:
        x: a number, an array, or a structure of them.

    Returns:
        `x`, the same object. What is written to it under one name is not read under the other where it is differentiated
        (`AliasError`): write to a copy.

    Example:
        >>> from sourcead import grad, stop_gradient
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    return x


def undefined(what):
    """In a rule, the cotangent of a parameter whose derivative is unknown: an error if it is needed; NaN if the rule runs as Python."""
    return np.nan


def is_literal(x):
    """In a rule that is compiled, whether `x` is a literal in the program; False if the rule runs as Python."""
    return False
