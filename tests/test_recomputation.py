"""What the reverse sweep of a loop computes again, because that is cheaper than to save it."""

import numpy as np
import pytest

from sourcead import Segments, check_grads, grad, hvp
from sourcead.ad.residuals.minimum_cut import INFINITE, minimum_node_cut

rng = np.random.default_rng(0)


def normal(*shape, dtype=float):
    return (0.3 * rng.normal(size=shape)).astype(dtype)


def attraction(x, masses, steps):
    for _ in range(steps):
        d = x[None, :, :] - x[:, None, :]
        r2 = np.sum(d**2, axis=-1) + 0.1
        x = x + 0.01 * np.sum(masses[:, None] * d * r2[:, :, None] ** -1.5, axis=1)
    return np.sum(x**2)


def attraction_in_functions(x, masses, steps):
    def force(differences):
        squares = np.sum(differences * differences, axis=2) + 0.1
        return differences * np.expand_dims(np.power(squares, -1.5), 2)

    for _ in range(steps):
        x = x + 0.01 * np.sum(masses[:, None] * force(x[None] - x[:, None]), axis=1)
    return np.sum(x**2)


def gates(x, w, steps):
    c = x
    h = x
    for _ in range(steps):
        z = h @ w
        i = 1 / (1 + np.exp(-z))
        c = c * i + z * (1 - i)
        h = i * np.tanh(c)
    return np.sum(h**2)


def small_matrices(p, f, steps):
    for _ in range(steps):
        p = f @ p @ f.T + np.eye(6)
        k = p @ np.linalg.inv(p + np.eye(6))
        p = p - k @ p
    return np.sum(p**2)


def gates_in_parts(x, w, steps):
    hidden = x.shape[1]
    c = h = x
    for _ in range(steps):
        z = h @ w
        i = 1 / (1 + np.exp(-(z[:, :hidden] + c)))
        f = 1 / (1 + np.exp(-(z[:, hidden : 2 * hidden] - c)))
        c = f * c + i * np.tanh(z[:, 2 * hidden :])
        h = np.tanh(c)
    return np.sum(h**2)


def slopes_of_a_network(x, w, steps):
    for _ in range(steps):
        first = np.tanh(x @ w) @ w.T
        x = x + 0.1 * np.tanh((x + 0.1 * first) @ w) @ w.T
    return np.sum(x**2)


def exponential_in_an_arm(x, w, steps):
    for t in range(steps):
        if t % 2:
            y = np.exp(x * w)
            x = x + 0.1 * y * np.sum(y * x, axis=0)
        else:
            x = x * np.log(1.5 + x * x)
    return np.sum(x**2)


def of_an_overwritten_array(x, w, steps):
    for t in range(steps):
        y = np.exp(x[t] * w)
        x[t + 1] = y * np.log(2 + y)
    return np.sum(x**2)


PROGRAMS = {
    attraction: (normal(9, 3), normal(9) + 2, 3),
    attraction_in_functions: (normal(9, 3), normal(9) + 2, 3),
    gates: (normal(9, 10), normal(10, 10), 3),
    gates_in_parts: (normal(9, 10), normal(10, 30), 3),
    slopes_of_a_network: (normal(9, 4), normal(4, 10), 3),
    small_matrices: (np.eye(6) + normal(6, 6), normal(6, 6), 3),
    exponential_in_an_arm: (normal(9, 10), normal(9, 10), 4),
    of_an_overwritten_array: (normal(5, 12), normal(12), 4),
}  # fmt: skip
each = pytest.mark.parametrize(("program", "args"), PROGRAMS.items(), ids=lambda v: getattr(v, "__name__", ""))


@each
def test_gradients_are_those_of_numerical_differentiation(program, args):
    check_grads(program, args, wrt=(0, 1))


@each
@pytest.mark.parametrize("policy", ["store", "states", "recompute", Segments(2)], ids=str)
def test_gradients_are_those_of_every_policy(program, args, policy):
    expected = grad(program, wrt=(0, 1))(*args)
    for a, b in zip(grad(program, wrt=(0, 1), checkpoint=policy)(*args), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@each
def test_products_with_the_hessian_are_right(program, args):
    step, t = 1e-6, normal(*args[0].shape)
    gradient = grad(program)
    shifted = [gradient(args[0].copy() + s * step * t, *args[1:]) for s in (1, -1)]
    np.testing.assert_allclose(hvp(program)(*args, t), (shifted[0] - shifted[1]) / (2 * step), rtol=1e-5, atol=1e-7)


def code_of(text):
    """The lines of a text that are no comments."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def saved_values(program, args):
    """The values that the note on the loop names as saved."""
    (note,) = [n for n in grad(program, wrt=(0, 1)).lower(*args).notes if "saves" in n]
    return note.split("saves", 1)[1].split(";")[0]


@pytest.mark.parametrize("program", [attraction, attraction_in_functions], ids=lambda f: f.__name__)
def test_matrices_of_pairs_are_computed_again_from_the_points(program):
    assert saved_values(program, PROGRAMS[program]).count("(9, 9") == 0


def test_a_hyperbolic_tangent_of_what_is_saved_anyway_is_computed_again():
    assert saved_values(gates, PROGRAMS[gates]).count("float64") <= 4
    assert "tanh" not in saved_values(gates, PROGRAMS[gates])


def test_gates_are_saved_and_not_the_parts_that_they_are_computed_of():
    code = code_of(grad(gates_in_parts, wrt=(0, 1)).lower(*PROGRAMS[gates_in_parts]).text)
    assert code.count("np.exp(") == 2 and code.count("z[:, ") == 3


def test_a_chain_of_layers_is_not_computed_again_from_its_narrow_input():
    assert code_of(grad(slopes_of_a_network, wrt=(0, 1)).lower(*PROGRAMS[slopes_of_a_network]).text).count("np.tanh(") == 2


def test_products_of_large_matrices_are_not_computed_again():
    assert code_of(grad(gates, wrt=(0, 1)).lower(*PROGRAMS[gates]).text).count("h @ w") == 1


def test_the_policy_store_computes_nothing_again():
    assert code_of(grad(attraction, checkpoint="store").lower(*PROGRAMS[attraction]).text).count("** -1.5") == 1


def mixture(means, scales, x):
    total = 0.0
    for i in range(x.shape[0]):
        t = 0.0
        for k in range(means.shape[0]):
            s = 0.0
            for j in range(x.shape[1]):
                z = (x[i, j] - means[k, j]) * np.exp(scales[k, j])
                s += scales[k, j] - 0.5 * z * z
            t += np.exp(s)
        total += np.log(t)
    return total


def test_the_innermost_of_three_compiled_loops_saves_no_exponentials():
    args = normal(8, 9), normal(8, 9), normal(10, 9)
    innermost = grad(mixture, wrt=(0, 1), backend="numba").lower(*args).notes
    assert any("saves nothing" in note for note in innermost if "range(x.shape[1])" in note)


def test_numbers_in_loops_of_python_are_saved():
    args = normal(8, 9), normal(8, 9), normal(10, 9)
    assert code_of(grad(mixture, wrt=(0, 1), backend="numpy").lower(*args).text).count("np.exp(scales") == 1


def test_a_cut_leaves_paths_that_are_cheaper_to_leave():
    nodes, edges = {"a": 5, "b": 4, "c": 4}, [("a", "b"), ("a", "c")]
    free = {"a": INFINITE}
    assert minimum_node_cut(nodes, edges, free, ["b", "c"]) == {"a"}
    assert minimum_node_cut(nodes, edges, free | {"b": 3, "c": 3}, ["b", "c"]) == {"b", "c"}
    assert minimum_node_cut(nodes, edges, free | {"b": 1, "c": 1}, ["b", "c"]) == {"a"}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def four_gates(w, v, xs):
    n = v.shape[1]
    h, c = np.zeros((3, n)), np.zeros((3, n))
    total = 0.0
    for x in xs:
        z = np.concatenate([x, h], axis=1) @ w
        i, f, o = sigmoid(z[:, :n]), sigmoid(z[:, n : 2 * n]), sigmoid(z[:, 2 * n : 3 * n])
        c = f * c + i * np.tanh(z[:, 3 * n :])
        h = o * np.tanh(c)
        total += np.sum((h @ v.T) ** 2)
    return total


def test_gates_are_saved_which_are_as_large_together_as_what_they_are_computed_of():
    args = normal(20, 40), normal(9, 10), normal(5, 3, 10)
    gradient = grad(four_gates, (0, 1))
    gradient(*args)
    reverse = [line for line in gradient.source.split("# reverse")[1].split("\n") if "# return" not in line]
    assert "np.exp(" not in "".join(reverse)
    check_grads(four_gates, args, wrt=(0, 1))
