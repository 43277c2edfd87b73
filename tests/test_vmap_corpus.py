"""`vmap` of the programs of the corpus, over three members near the arguments of each: values and gradients are those of a loop."""

import contextlib
import copy
import io
import warnings

import numpy as np
import pytest

from sourcead import SourceADError, grad, vjp, vmap
from sourcead.compile.member_loop import MemberLoop, map_arrays
from sourcead.compile.structures import is_leaf, leaves
from sourcead.ir.records import map_value, parts_of
from tests.programs import all_programs, rng_for

MEMBERS = 3
SPREADS = (0.1, 1e-4)  # how far apart the members are; the second for programs that fail farther away
BY_DESIGN = {"writes_a_global", "mutable_default"}  # what is left in a global or a default is that of one call


def is_mapped(x):
    return isinstance(x, float | np.floating) or isinstance(x, np.ndarray) and x.dtype.kind == "f"


def axes_of(x):
    """The axes of an argument: 0 for numbers and arrays of floats."""
    if is_leaf(x) or not list(parts_of(x)):
        return 0 if is_mapped(x) else None
    return map_value(x, axes_of)


def batch_of(x, spread, rng):
    """An argument of several members."""
    if not is_leaf(x):
        return map_value(x, lambda part: batch_of(part, spread, rng))
    if not is_mapped(x):
        return x
    return np.stack([x * (1 + spread * rng.normal(size=np.shape(x))) for _ in range(MEMBERS)]).astype(np.asarray(x).dtype)


def assert_close(got, want):
    for (place, a), (_, b) in zip(leaves(got, "result"), leaves(want, "result"), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape, place
        size = np.max(np.abs(b), where=np.isfinite(b), initial=1e-3)
        tolerance = 2e-3 if np.float32 in (a.dtype, b.dtype) else 1e-7
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * size, err_msg=place)


def batches(p):
    """The arguments of the members, their axes and the results of a loop; None if the program takes no floats or fails."""
    args = p.make_args(rng_for(0))
    axes = tuple(map(axes_of, args))
    if any(is_mapped(leaf) for _, leaf in leaves(args)):
        for spread in SPREADS:
            rng = np.random.default_rng(0)
            xs = tuple(batch_of(x, spread, rng) for x in args)
            with contextlib.suppress(Exception):
                return xs, axes, MemberLoop(p.function, axes, 0)(*copy.deepcopy(xs))
    return None


def gradients_of_members(p, xs, axes):
    """The gradients of a loop, by argument in wrt; None if the program is refused or raises an error."""
    try:
        made, found = grad(p.function, wrt=p.wrt, verify=False), []
    except SourceADError:
        return None
    for k in range(MEMBERS):
        own = [map_arrays(lambda a, axis, k=k: np.take(a, k, axis), copy.deepcopy(x), axis) for x, axis in zip(xs, axes)]
        try:
            found.append(made(*own))
        except Exception:
            return None
    return MemberLoop(p.function, 0, 0).joined(found, 0)


@pytest.mark.sampled(80)
@pytest.mark.parametrize("p", list(all_programs()), ids=lambda p: f"{p.theme}.{p.name}")
def test_values_and_gradients_are_those_of_a_loop(p):
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        made = batches(p)
        if made is None:
            pytest.skip("no floats, or an error in the loop")
        xs, axes, want = made
        gradients = gradients_of_members(p, xs, axes)
        try:
            many = vmap(p.function, in_axes=axes, verify=False)
            value, pullback = vjp(many, *copy.deepcopy(xs), wrt=p.wrt, verify=False)
            got = many(*copy.deepcopy(xs))
        except SourceADError:
            if gradients is None or p.name in BY_DESIGN:
                pytest.skip("refused alone too")
            raise
        assert_close(got, want)
        assert_close(value, want)
        if gradients is not None:
            for (place, d), (_, own) in zip(leaves(pullback(np.ones_like(value)), "d"), leaves(gradients, "d"), strict=True):
                if np.shape(d) == np.shape(own):  # else it is that of what is the same for all members
                    assert_close(d, own)
