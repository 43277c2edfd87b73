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


def found_by_search(x, like=None):
    """Return `x`, a constant for derivatives of every order.

    It has the shape and dtype of `like`, if that is given; if that is an integer, it is an array of float64 of so many axes.
    """
    return x


def with_derivative_of(held, x):
    """Return `held`, a constant, with the derivatives of every order of `x`, which is nearly the same."""
    return held


def root_of_system(x, value, jacobian):
    """Return `x`, a root like that of `root_of` of a function of an array of one axis, with this value and Jacobian there."""
    return x


def first_root_of(x, value, slope):
    """Return `x` like `root_of`, in the derivative of one: it has one derivative itself."""
    return x


def first_root_of_system(x, value, jacobian):
    """Return `x` like `root_of_system`, in the derivative of one: it has one derivative itself."""
    return x


def last_derivative(d):
    """Return the derivative of a first root, which has none."""
    return d
