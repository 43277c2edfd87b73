"""Functions that pass a hint to the compiler and compute nothing."""

import numpy as np


def stop_gradient(x):
    """Return the argument itself, which differentiation treats as a constant.

    Args:
        x: a number, an array, or a structure of them.

    Returns:
        `x`, the same object. A function that is differentiated must not write to it under one name and read it under the
        other (AliasError): write to a copy.

    Example:
        >>> from sourcead import grad, stop_gradient
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    return x


def undefined(what):
    """Mark the cotangent of a parameter as unknown in a rule: an error if it is needed, NaN if the rule runs as Python."""
    return np.nan


def is_literal(x):
    """Return whether `x` is a literal in the program, in a rule that is compiled; False if the rule runs as Python."""
    return False


def is_integer(x):
    """Return whether `x` is an integer, or an array of integers, in a rule that is compiled; False if the rule runs as Python."""
    return False


def has_more(x, axis, number):
    """Return whether `x` surely has more elements than a number along an axis, in a rule that is compiled; False if it runs as Python."""
    return False


def root_of(x, value, slope):
    """Return `x`, a root of a function with this value and slope there; its tangent is `t_x - t_value / slope`, whatever `t_x` is."""
    return x


def found_by_search(x):
    """Return `x`, a constant for derivatives of every order."""
    return x


def first_root_of(x, value, slope):
    """Return `x` like `root_of`, in the derivative of one: it has one derivative itself."""
    return x


def last_derivative(d):
    """Return the derivative of `first_root_of`, which has none."""
    return d
