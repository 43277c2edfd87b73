"""The helpers that generated text calls: plain NumPy functions, in one file for each subject.

`.save` copies a helper and the helpers that it calls into the saved module, so a helper uses nothing but NumPy and other helpers.  The
compiler refers to the helpers through this package, as in `runtime.unbroadcast`.
"""

from typing import Any

from sourcead.runtime.broadcasting import like_arrays, like_sequence, unbroadcast, unbroadcast_each
from sourcead.runtime.checks import (
    as_python, check_apart, check_array, check_finite, check_first_result, check_fractions, check_layout,
    check_structure, computed, drawn, exception_of, handler_of, of_one_item, one_for_each, read_from_text, refuse_now,
    same_parts, seed, unhandled, unseen
)
from sourcead.runtime.compiler_hints import (
    first_root_of, first_root_of_system, found_by_search, has_more, is_integer, is_literal, last_derivative, root_of,
    root_of_system, stop_gradient, undefined, with_derivative_of
)
from sourcead.runtime.determinants import change_of_cofactors, cofactors
from sourcead.runtime.elementwise import (
    binary_exponent, digamma, direction, divide_or_zero, equal_shares, log_or_zero, lower_exponent, sigmoid, sinc_slope
)
from sourcead.runtime.matrices import matrix_norm_slope, matrix_power_cotangent, matrix_power_tangent, vector_norm_slope
from sourcead.runtime.products import (
    diagonals, einsum_back, einsum_cotangents, einsum_is_plain, einsum_terms, kron_cotangents, product_in_range,
    tensordot_back, tensordot_cotangents
)
from sourcead.runtime.reductions import (
    axis_size, combine_short, cumprod_cotangent, diff_cotangent, gradient_cotangent, middle_shares, places_of_quantiles,
    product_of_others, quantile_cotangent, reduce_short, running_winner_cotangent, split_axes
)
from sourcead.runtime.shapes import (
    are_cuts, diagonal_cotangent, inverse_axes, join_rows, linspace_weights, meshgrid_cotangents, pad_cotangent,
    repeat_cotangent, reversed_shift, roll_axis, split_cotangent, split_like, split_rows, tile_cotangent, unstack,
    windows_cotangent
)
from sourcead.runtime.signals import (
    convolve_cotangents, fit_axis, half_spectrum_weights, interp_cotangents, interval_around, polyval_cotangents,
    root_slopes
)
from sourcead.runtime.solutions import (
    check_root, frozen, held, moved_root, rows_of_vertex, solve_system, solve_system_again, system_solver
)
from sourcead.runtime.sparse_matrices import (
    entries_of_product, first_solution, found_solution, pairs_to_multiply, solve_operator, sparse_product,
    sparse_solution, sparse_solver, sparse_triplets
)
from sourcead.runtime.structures import (
    add, as_event, copy, fields_of, is_record, like_argument, make_record, map_parts, replaced_cotangent,
    zeros_if_assigned, zeros_like
)
from sourcead.runtime.subscripts import (
    assigned_cotangent, best_place, choose_cotangent, cotangent_at, count_trimmed, distinct_places, gather_cotangent,
    index_add, only_at, repeats, scatter, select_cotangents, shortest, shuffled_range, slice_bounds, sort_cotangent,
    sorted_order, take_along_cotangent, take_cotangent, with_added, without
)


def is_helper(fn: Any) -> bool:
    """Return whether a function is one of the helpers that generated text calls."""
    return f"{getattr(fn, '__module__', None)}.".startswith(f"{__name__}.")


def has_effects(fn: Any) -> bool:
    """Return whether a function that is called for its effect may have others than to check its arguments."""
    return fn in (unseen, drawn, shuffled_range) or not is_helper(fn) and fn is not getattr
