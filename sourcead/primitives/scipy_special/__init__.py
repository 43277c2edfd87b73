"""Rules of `scipy.special`."""

from sourcead.primitives.registry import elementwise
from sourcead.runtime import undefined


def known_in_last(first: str, rules: dict, second: str = "its second argument") -> None:
    """Enter rules of elementwise functions whose derivative is known in the last argument only, and not in their orders and parameters.

    Args:
        first, second: what the first two arguments are, for the error if their cotangents are needed.
        rules: {function, or tuple of functions: rule}, as for `elementwise`; a rule gives the cotangent of the last argument.
    """
    elementwise({functions: with_unknown(rule, first, second) for functions, rule in rules.items()})


def with_unknown(rule, first: str, second: str):
    """Return the rule of two to four arguments with undefined cotangents of all but the last."""
    third = "its third argument"
    match rule.__code__.co_argcount:
        case 4:
            return lambda y, a, x, d_y: (undefined(first), rule(y, a, x, d_y))
        case 5:
            return lambda y, a, b, x, d_y: (undefined(first), undefined(second), rule(y, a, b, x, d_y))
    return lambda y, a, b, c, x, d_y: (undefined(first), undefined(second), undefined(third), rule(y, a, b, c, x, d_y))
