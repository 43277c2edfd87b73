"""The helpers of generated text are differentiable in both modes, so that derivatives can be differentiated again."""

# ruff: noqa: E501  (tables of cases)

import types

import numpy as np
import pytest

from sourcead import grad, jvp, runtime
from sourcead.primitives.table import record_of
from sourcead.runtime import matrices as runtime_matrices, tangents as runtime_tangents, triangular
from tests.entered_rules import registered
from tests.test_tangent_rules import agrees

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(3)
v3, v4, v5, a34, a44, t234 = (rng.normal(size=s) for s in (3, 4, 5, (3, 4), (4, 4), (2, 3, 4)))
well = a44 + 3 * np.eye(4)
spd = well @ well.T

places = np.array([0, 0, 2, 1, 2]), np.array([0, 1, 2, 1, 0])
v33 = rng.normal(size=5) + 4 * (places[0] == places[1])


def solve(b, transposed):
    a = np.zeros((3, 3))
    np.add.at(a, places, v33)
    return np.linalg.solve(a.T if transposed else a, b)


RULES = [
    (runtime.sparse_product, (v33, *places, 3, v3), [0, 4]), (runtime.sparse_product, (v33, *places, 4, a34), [0, 4]),
    (runtime.entries_of_product, (v3, v3 + 1, *places), [0, 1]), (runtime.entries_of_product, (a34, a34 + 1, *places), [0, 1]),
    (runtime.sparse_solution, (solve, v33, *places, v3, False), [4]), (runtime.sparse_solution, (solve, v33, *places, a34, True), [4]),
    (runtime.found_solution, (solve(v3, False), solve, v33, *places, v3), []),
    (runtime.unbroadcast, (t234, a34), [0]), (runtime.unbroadcast, (t234, np.zeros((3, 1))), [0]), (runtime.unbroadcast, (t234, 1.0), [0]),
    (runtime.unbroadcast, (v4, a34), [0]), (runtime.unbroadcast, (2.0, a34), [0]), (runtime.unbroadcast, (a34, v4.tolist()), [0]),
    (runtime.unbroadcast_each, ((a34, a34 + 1), (v4, a34)), [0]), (runtime.like_arrays, ([v4, v3], [v4[:, None], v3]), [0]),
    (runtime.like_sequence, (v3, [1.0, 2.0, 3.0]), [0]), (runtime.like_argument, (2.0, a34), [0]), (runtime.add, (a34, a34), [0, 1]),
    (runtime.add, ([v3, 1.0], [v3, 2.0]), [0, 1]), (runtime.one_for_each, ((a34, v3), 2, "f"), [0]), (runtime.copy, (a34,), [0]), (runtime.scatter, (v3, [0, 0, 2], v4), [0]),
    (runtime.assigned_cotangent, (v4, np.array([0, 0, 2]), v3), [0]), (runtime.assigned_cotangent, (a34, (slice(None), 1), 0.0), [0]),
    (runtime.replaced_cotangent, (a34, a34), [0]), (runtime.replaced_cotangent, (2.0, a34), [0]),
    (runtime.divide_or_zero, (a34, v4), [0, 1]), (runtime.sigmoid, (a34,), [0]), (runtime.log_or_zero, (np.abs(a34),), [0]), (runtime.lower_exponent, (v3, np.abs(v3)), [0]),
    (runtime.equal_shares, (2.0, 3.0, (3.0, 3.0, 1.0)), [0]), (runtime_tangents.share_of_winners, ((1.0, 2.0), 3.0, (3.0, 3.0)), [0]),
    (runtime.running_winner_cotangent, (v4, np.maximum.accumulate(v4), v4, 0), [0]),
    (runtime_tangents.running_winner_tangent, (a34, a34, np.maximum.accumulate(a34, 1), 1), [0]),
    (runtime.sort_cotangent, (a34, a34), [0]), (runtime.sort_cotangent, (np.arange(12.0), a34, None), [0]), (runtime.choose_cotangent, (v3, [0, 1, 1], [v3, v3]), [0]),
    (runtime.select_cotangents, (v3, [v3 > 1, v3 > 0], [v3, 2 * v3], 0.5), [0]), (runtime.quantile_cotangent, (a34[:2], a34, [0.2, 0.7], 0), []),
    (runtime.quantile_cotangent, (rng.normal(size=(2, 4)), a34, [0.2, 0.7], 0), [0]), (runtime_tangents.quantile_tangent, (a34, a34, [0.2, 0.7], 1, True), [0]),
    (runtime.diff_cotangent, (a34, 5, 1, 1), [0]), (runtime.gradient_cotangent, (v4, v4, (), None, 2), [0]), (runtime.gather_cotangent, (v3, [0, 0, 3], a44), [0]),
    (runtime.pad_cotangent, (rng.normal(size=(5, 6)), a34, 1, "constant"), [0]), (runtime.pad_cotangent, (rng.normal(size=(5, 6)), a34, 1, "reflect"), [0]),
    (runtime.diagonal_cotangent, (v3, a34, 1), [0]), (runtime.diagonal_cotangent, (a34[:2, :3], t234, 0, 1, 2), [0]),
    (runtime.windows_cotangent, (rng.normal(size=(2, 3, 2, 2)), a34, (2, 2)), [0]), (runtime.windows_cotangent, (rng.normal(size=(3, 2, 3)), a34, 3, 1), [0]),
    (runtime.diagonals, (a44, "ii->i"), [0]), (runtime.tile_cotangent, (rng.normal(size=8), v4, 2), [0]), (runtime.repeat_cotangent, (rng.normal(size=8), v4, 2), [0]),
    (runtime.repeat_cotangent, (rng.normal(size=(3, 4)), a34[:2], [1, 2], 0), [0]), (runtime.split_like, (rng.normal(size=7), [v3, v4]), [0]),
    (runtime.split_cotangent, ([v4, v4[:0], v4[2:]], v4, [4, 2]), [0]), (runtime.split_cotangent, ([a34[:, :1], a34[:, 1:]], a34, (1,), 1), [0]),
    (runtime.unstack, (a34, (v4, v4, v4)), [0]), (runtime.unstack, (a34, [v3, v3, v3, v3], 1), [0]), (runtime.meshgrid_cotangents, ((a34, a34), (v4, v3)), [0]),
    (runtime.meshgrid_cotangents, ((v4[None], v3[:, None]), (v4, v3)), [0]), (runtime.take_cotangent, (a34, a44, [0, 0, 3], 0), [0]),
    (runtime.take_along_cotangent, (a34, a34, np.argsort(a34, 1), 1), [0]), (runtime.fit_axis, (a34, 2, 1), [0]), (runtime.fit_axis, (a34, 6, 0), [0]),
    (runtime.with_added, ((v3, v4), 1, v4), [0, 2]), (runtime.with_added, ([v3, v4], 0, v3), [0, 2]), (runtime.with_added, (a34, 1, v4), [0, 2]),
    (runtime.tensordot_cotangents, (rng.normal(size=(2, 4)), t234, rng.normal(size=(4, 3, 4)), ((1, 2), (1, 0))), [0, 1, 2]),
    (runtime.tensordot_cotangents, (rng.normal(size=(2, 3, 2, 3)), t234, rng.normal(size=(2, 4, 3)), (-1, -2)), [0, 1, 2]),
    (runtime.kron_cotangents, (rng.normal(size=(12, 16)), a34, a44), [0, 1, 2]), (runtime.cofactors, (well,), [0]), (runtime.change_of_cofactors, (well, a44), [0, 1]), (triangular.inverse_lower, (well,), [0]), (triangular.lower_half, (well,), [0]), (triangular.solve_lower, (well, v4), [0, 1]), (triangular.solve_lower, (well, a44, True), [0, 1]), (runtime.cofactors, (np.stack([well, spd]),), [0]),
    *((runtime.convolve_cotangents, (rng.normal(size=len(np.convolve(v5, v3, m))), v5, v3, m), [0, 1, 2]) for m in ("full", "same", "valid")),
    (runtime.convolve_cotangents, (rng.normal(size=4), v4, v3, "same", True), [0, 1, 2]),
    (runtime.einsum_cotangents, (rng.normal(size=(3, 4)), "ij,jk,kl->il", (a34, a44, a44)), [0, 2]), (runtime.einsum_cotangents, (2.0, "ii->", (a44,)), [0]),
    (runtime.product_in_range, (np.abs(a34), np.abs(a44)), [0, 1]), (runtime.product_in_range, (np.abs(v3), np.abs(a34)), [0, 1]),
    (runtime.join_rows, (t234,), [0]), (runtime.split_rows, (rng.normal(size=(6, 5)), t234), [0]),
    (runtime_tangents.einsum_tangents, ((a34, a44, a44), rng.normal(size=(3, 4)), "ij,jk,kl->il", (a34, a44, a44)), [0]),
]  # fmt: skip


@pytest.mark.parametrize("case", RULES, ids=lambda c: c[0].__name__)
def test_rules_of_helpers(case):
    fn, args, wrt = case
    if wrt:
        agrees(fn, args, wrt=wrt, tolerance=1e-5)


# Helpers without a rule are opened: the body is differentiated.
OPENED = {
    runtime.sinc_slope: lambda x: runtime.sinc_slope(x, np.sinc(x)),
    runtime.reduce_short: lambda x: sum(runtime.reduce_short(f, a44[..., None] * x[1:3], (1, 2)) for f in (np.add, np.multiply, np.maximum, np.minimum)),
    runtime.combine_short: lambda x: runtime.combine_short(np.multiply, a44[..., None] * x[1:3], x ** 2, (1, 2)),
    runtime.roll_axis: lambda x: runtime.roll_axis(a44 * x, 1) * runtime.roll_axis(x, -2) + runtime.roll_axis(a44 * x, 3, 1),
    runtime.product_of_others: lambda x: runtime.product_of_others(x),
    runtime.cumprod_cotangent: lambda x: runtime.cumprod_cotangent(x[::-1], x, 0),
    runtime_tangents.cumprod_tangent: lambda x: runtime_tangents.cumprod_tangent(x[::-1], x, np.cumprod(x), 0),
    runtime.digamma: lambda x: runtime.digamma(x[0]) + runtime.digamma(-x[3]),
    runtime.root_slopes: lambda x: runtime.root_slopes(x[:2], x),
    runtime.matrix_power_cotangent: lambda x: runtime.matrix_power_cotangent(spd * x, spd + x[:, None], 3),
    runtime.matrix_power_tangent: lambda x: runtime.matrix_power_tangent(spd * x, spd + x[:, None], -2),
    runtime.direction: lambda x: runtime.direction(x + 1j * x[::-1] ** 2),
    runtime.vector_norm_slope: lambda x: runtime.vector_norm_slope(x, 3),
    runtime.matrix_norm_slope: lambda x: runtime.matrix_norm_slope(a44 * x, "nuc"),
    runtime.interp_cotangents: lambda x: runtime.interp_cotangents(x, np.array([0.1, 0.7, 1.3, 1.8]), np.arange(4.0) / 2, x)[0],
    runtime_tangents.interp_slope: lambda x: runtime_tangents.interp_slope(np.array([0.1, 0.7, 1.3]), np.arange(4.0) / 2, x),
    runtime.polyval_cotangents: lambda x: runtime.polyval_cotangents(x, x, x)[1],
    runtime_tangents.part_of_convolution: lambda x: runtime_tangents.part_of_convolution(np.convolve(x, x), x, x, "same"),
    runtime_matrices.cholesky_cotangent: lambda x: runtime_matrices.cholesky_cotangent(a44 * x, np.tril(well) + np.diag(x)),
    runtime_matrices.cholesky_tangent: lambda x: runtime_matrices.cholesky_tangent(a44 * x, np.tril(well + np.diag(x))),
    runtime_matrices.eigh_cotangent: lambda x: runtime_matrices.eigh_cotangent(x, a44 * x, x, a44 + x),
    runtime_matrices.eigh_tangent: lambda x: runtime_matrices.eigh_tangent(a44 * x, x, a44 + x)[1],
    runtime_matrices.qr_cotangent: lambda x: runtime_matrices.qr_cotangent((a44 * x, a44), (a44 + x, np.triu(well) + np.diag(x)), a44),
    runtime_matrices.qr_tangent: lambda x: runtime_matrices.qr_tangent(a44 * x, a44 + x, np.triu(well) + np.diag(x), a44)[1],
    runtime_matrices.svd_left_tangent: lambda x: runtime_matrices.svd_left_tangent(a44 * x, a44, x, well + x),
    runtime_matrices.svd_cotangent: lambda x: runtime_matrices.svd_cotangent((a44 * x, x, a44), (a44, x, well + x), a44, False),
    runtime_matrices.lstsq_cotangents: lambda x: runtime_matrices.lstsq_cotangents(x, x, well + np.diag(x), v4)[0],
    runtime_matrices.lstsq_tangents: lambda x: runtime_matrices.lstsq_tangents(a44 * x, v4, x, well + np.diag(x), v4)[0],
    runtime_matrices.planar_cross_cotangents: lambda x: runtime_matrices.planar_cross_cotangents(x, a44[:, :2] * x[:2], a44[:, 1:3] + x[2:], -1)[0],
    runtime_matrices.pinv_cotangent: lambda x: runtime_matrices.pinv_cotangent(a44 * x, a44 + x, well),
    runtime_matrices.pinv_tangent: lambda x: runtime_matrices.pinv_tangent(a44 * x, a44 + x, well),
}  # fmt: skip


@pytest.mark.parametrize("helper", OPENED, ids=lambda f: f.__name__)
def test_helpers_without_a_rule_are_opened(helper):
    call, x, t_x = OPENED[helper], np.array([0.4, 0.9, 1.4, 0.2]), rng.normal(size=4)
    weights = rng.normal(size=np.shape(call(x)))

    def value(x):
        return np.sum(np.real(weights * call(x)))

    expected = (value(x + 1e-6 * t_x) - value(x - 1e-6 * t_x)) / 2e-6
    assert jvp(value, (x,), (t_x,))[1] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert np.sum(grad(value)(x) * t_x) == pytest.approx(jvp(value, (x,), (t_x,))[1], rel=1e-9, abs=1e-9)


# Parts of opened helpers, helpers about shapes and text, and those that text never calls with what is differentiated.
PARTS = set("""conjugate_transpose conjugate over_gaps with_diagonal one_triangle from_triangle tall_qr_cotangent eig_cotangent eig_tangent
only_at read_from_text _put_inverse places_of_quantiles read_triangle banded_cotangents banded_tangent frechet inverse_frechet
make_record is_record refuse_now fields_of map_parts repeats index_add cotangent_at check_layout check_fractions check_structure as_python computed stop_gradient undefined is_literal is_integer has_more inverse_axes reversed_shift einsum_terms
einsum_is_plain einsum_back tensordot_back unseen as_event rows_after factors lu_cotangent lu_tangent same_parts check_array check_finite are_cuts check_apart of_one_item drawn frozen held""".split())  # fmt: skip


def test_every_helper_is_differentiable():
    registered()
    for module in (runtime, runtime_tangents, runtime_matrices, triangular):
        for helper in vars(module).values():
            if isinstance(helper, types.FunctionType) and helper not in (runtime.is_helper, runtime.has_effects):
                assert record_of(helper).has_rule or record_of(helper).no_derivative or helper in OPENED or helper.__name__ in PARTS, helper


def test_each_rule_of_a_helper_is_tested():
    ruled = {f for f in registered() if runtime.is_helper(f)}
    of_roots = {"root_of", "first_root_of", "root_of_system", "first_root_of_system", "last_derivative", "with_derivative_of"}
    of_roots |= {"moved_root", "solve_system", "solve_system_again"}
    # which compute nothing, or take a function: tests/test_rules_of_roots.py, test_solvers.py, test_solver_forms.py
    assert {f.__name__ for f in ruled - {c[0] for c in RULES}} <= {"without", *of_roots}
