"""Checks programs in forward mode, the tangent in a random direction, and their second derivatives.

    python -m tests.harness --mode forward      every program; the other options as there
    python -m tests.harness --mode second

The tangent t in the direction v must agree with central differences of f along v, and with the gradient g of reverse mode:
t = <g, v>, to rounding.  The product of the Hessian with v must agree with central differences of the gradient along v, and
with the gradient of <g, v>.
"""

import copy
import functools
from dataclasses import replace

import numpy as np

from tests.harness import (
    RELATIVE_STEP, Outcome, Wrong, args_again, check_raises, default_tolerance, first_line, last_frame, leaves,
    positions, primal_of, quietly, same_bits, short, steps, time_limit, tree_map, widened
)
from tests.programs import rng_for


def direction(argument, rng):
    """A random tangent of an argument."""

    def drawn(leaf, _path):
        size = steps(leaf, 1.0)  # in proportion to the argument
        if isinstance(leaf, np.ndarray):
            return np.asarray(size * rng.standard_normal(leaf.shape), leaf.dtype)
        value = float(size * rng.standard_normal())
        return type(leaf)(value) if isinstance(leaf, np.floating) else value

    return tree_map(drawn, argument)


def value_along(function, args, at, tangents, step):
    """The numbers in f(x + step v), in float64."""
    moved = [tree_map(widened, a) for a in args]
    for position, tangent in zip(at, tangents):
        along = leaves(tangent)

        def shift(leaf, path, along=along):
            if isinstance(leaf, np.ndarray):
                return widened(leaf) + step * along[path].astype(float)
            return float(leaf) + step * float(along[path])

        moved[position] = tree_map(shift, args[position])
    return numbers(function(*moved))


def numbers(value):
    """The numbers and float arrays in a result, one after the other."""
    return np.concatenate([np.zeros(0), *(np.ravel(leaf).astype(float) for leaf in leaves(value).values())])


def derivative_along(function, args, at, tangents):
    """The numerical derivative along the tangents, and what rounding may contribute to it."""
    h = RELATIVE_STEP
    far, near = ([value_along(function, args, at, tangents, s * step) for s in (1, -1)] for step in (h, h / 2))
    noise = 50 * np.finfo(float).eps * max(np.abs([*far, *near]).max(initial=1e-3), 1e-3) / h
    return (8 * (near[0] - near[1]) - (far[0] - far[1])) / (6 * h), noise


def gradient_of(p, args, at):
    """The gradient of reverse mode as a sequence over the arguments in wrt; None if it is refused."""
    from sourcead import grad
    from sourcead.errors import SourceADError

    try:
        with quietly():
            found = grad(p.function, wrt=p.wrt)(*args)
    except SourceADError:
        return None
    return found if isinstance(p.wrt, (tuple, list)) else (found,)


def check_direction(p, push, make_args, rng):
    """Raise Wrong unless the tangent is right in one random direction."""
    expected, printed = primal_of(p, make_args())
    args, untouched = make_args(), make_args()
    at = positions(p.function, p.wrt, len(args))
    tangents = [direction(args[k], rng) for k in at]
    kept = copy.deepcopy(tangents)
    named = dict(zip(push.directions, tangents))
    with quietly() as out:
        value, tangent = push(*args, **named)
    if not same_bits(args, untouched) or not same_bits(tangents, kept):
        raise Wrong("the function changed its arguments")
    if out.getvalue() != printed:
        raise Wrong(f"printed {out.getvalue()!r}, the program itself {printed!r}")
    low = any(default_tolerance(leaf) > 1e-3 for k in at for leaf in leaves(args[k]).values())
    shapes = [[np.shape(leaf) for leaf in leaves(x).values()] for x in (value, tangent, expected)]
    if shapes[0] != shapes[2] or shapes[1] != shapes[2]:
        raise Wrong(f"the value has the shapes {shapes[0]}, the tangent {shapes[1]}, the result {shapes[2]}")
    if not np.allclose(numbers(value), numbers(expected), rtol=1e-4 if low else 1e-11, atol=1e-13, equal_nan=True):
        raise Wrong(f"gives the value {short(value)}, the function {short(expected)}")
    found = numbers(tangent)
    gradients = gradient_of(p, make_args(), at)
    scale = np.abs(found).max(initial=0.0)
    if gradients is not None:
        products = [
            np.asarray(g, float) * np.asarray(leaves(v)[path], float)
            for gradient, v in zip(gradients, tangents)
            for path, g in leaves(gradient).items()
        ]
        dot = sum(float(np.sum(part)) for part in products)
        scale = max(scale, sum(float(np.sum(np.abs(part))) for part in products))
        if not abs(dot - found[0]) <= (1e-3 if low else 1e-10) * scale + 1e-300:
            raise Wrong(f"the tangent is {found[0]:.12g}, and <gradient, direction> is {dot:.12g}")
    with quietly():
        numeric, noise = derivative_along(p.function, untouched, at, tangents)
    allowed = (p.tolerance or (1e-2 if low else 1e-6)) * max(scale, np.abs(numeric).max(initial=0.0)) + noise
    if not (np.abs(numeric - found) <= allowed).all():
        raise Wrong(f"the tangent is {short(found)}, central differences give {short(numeric)}")
    with quietly():
        _, again = push(*make_args(), **named)
    if not same_bits(again, tangent):
        raise Wrong("a second call gives another tangent")


def check_forward(p, rng=None, seconds=60):
    """The Outcome of one program in forward mode; see `harness.check_program`."""
    from sourcead import pushforward
    from sourcead.errors import SourceADError

    rng = rng_for() if rng is None else rng
    try:
        with time_limit(seconds):
            push = pushforward(p.function, wrt=p.wrt)
            for variant in range(1 + len(p.also)):
                make_args = functools.partial(args_again, p, rng, variant)
                if p.raises is None:
                    check_direction(p, push, make_args, rng_for(variant))
                else:
                    args = make_args()
                    at = positions(p.function, p.wrt, len(args))
                    named = {t: direction(args[k], rng_for()) for t, k in zip(push.directions, at)}
                    check_raises(p, functools.partial(push, **named), args)
    except SourceADError as error:
        return Outcome(p, "refused", f"{type(error).__name__}: {first_line(error)}", error)
    except Wrong as error:
        return Outcome(p, "wrong", str(error), error)
    except Exception as error:  # whatever else escapes is the compiler's fault
        return Outcome(p, "internal", f"{type(error).__name__}: {first_line(error)}{last_frame(error)}", error)
    return Outcome(replace(p, or_right=True), "right")  # what is refused for its result only has a tangent


def gradient_along(gradient, args, at, tangents, step):
    """The numbers in the gradient at x + step v."""
    moved = list(args)
    for position, tangent in zip(at, tangents):
        along = leaves(tangent)
        moved[position] = tree_map(lambda leaf, path, along=along: leaf + step * along[path], args[position])
    return numbers(gradient(*moved))


def check_products(p, make_args, rng):
    """Raise Wrong unless the product of the Hessian with a random direction is right in both ways."""
    from sourcead import grad, hvp, vjp

    args = make_args()
    at = positions(p.function, p.wrt, len(args))
    several = isinstance(p.wrt, (tuple, list))
    tangents = tuple(direction(args[k], rng) for k in at)
    low = any(default_tolerance(leaf) > 1e-3 for k in at for leaf in leaves(args[k]).values())
    gradient, product = grad(p.function, wrt=p.wrt), hvp(p.function, wrt=p.wrt)
    with quietly():
        found = numbers(product(*args, tangents if several else tangents[0]))
        again = numbers(product(*make_args(), tangents if several else tangents[0]))
        _, pullback = vjp(gradient, *make_args(), wrt=p.wrt)
        reverse = numbers(pullback(tangents if several else tangents[0]))
    if not np.array_equal(found, again, equal_nan=True):
        raise Wrong("a second call gives another product")
    scale = max(np.abs(found).max(initial=0.0), 1e-6)
    if not (np.abs(reverse - found) <= (1e-2 if low else 1e-8) * scale + 1e-300).all():
        raise Wrong(f"forward over reverse gives {short(found)}, reverse over reverse {short(reverse)}")
    if low:
        return
    h = RELATIVE_STEP
    with quietly():
        far, near = ([gradient_along(gradient, make_args(), at, tangents, s * step) for s in (1, -1)] for step in (h, h / 2))
    numeric = (8 * (near[0] - near[1]) - (far[0] - far[1])) / (6 * h)
    size = np.abs([*far, *near]).max(initial=1e-3)
    allowed = (p.tolerance or 1e-5) * max(scale, np.abs(numeric).max(initial=0.0)) + 200 * np.finfo(float).eps * size / h
    if not (np.abs(numeric - found) <= allowed).all():
        raise Wrong(f"the product is {short(found)}, central differences of the gradient give {short(numeric)}")


def check_second(p, rng=None, seconds=60):
    """The Outcome of the second derivatives of one program."""
    from sourcead.errors import SourceADError

    rng = rng_for() if rng is None else rng
    try:
        with time_limit(seconds):
            check_products(p, functools.partial(args_again, p, rng, 0), rng_for())
    except SourceADError as error:
        return Outcome(p, "refused", f"{type(error).__name__}: {first_line(error)}", error)
    except Wrong as error:
        return Outcome(p, "wrong", str(error), error)
    except Exception as error:
        if p.raises is not None and isinstance(error, p.raises):
            return Outcome(p, "right")
        return Outcome(p, "internal", f"{type(error).__name__}: {first_line(error)}{last_frame(error)}", error)
    return Outcome(replace(p, or_right=True), "right")
