"""States that lie in a list have the names of the variables that an iteration puts there."""

import numpy as np

from sourcead import check_grads, grad

rng = np.random.default_rng(0)
LAYERS = [{"w": rng.standard_normal((9, 9)) * 0.4, "b": rng.standard_normal(9)} for _ in range(2)]
XS = rng.standard_normal((5, 9))


def stacked(layers, xs):
    states = [(np.zeros(9), np.ones(9)) for _ in layers]
    for x in xs:
        for k, layer in enumerate(layers):
            h, c = states[k]
            c = np.tanh(layer["w"] @ x + c)
            h = c * np.tanh(layer["w"] @ h + layer["b"])
            states[k] = (h, c)
            x = h
    return np.sum(x**2)


def shared(layers, xs):
    zeros = np.zeros(9)
    states = [zeros, zeros]
    for x in xs:
        for k, layer in enumerate(layers):
            h = np.tanh(layer["w"] @ x + states[k])
            states[k] = h
            x = h
    return np.sum(x**2) + np.sum(zeros)


def test_states_have_names_and_are_not_copied_to_others():
    text = grad(stacked).lower(LAYERS, XS).text
    assert "zeros = " not in text and "zeros_1" not in text and "ones" not in text.replace("np.ones", "")
    assert "h = np.zeros(9)" in text
    assert not any(line.strip() in ("zeros = h", "h = h_2", "c = c_2") for line in text.splitlines())


def test_gradients_are_central_differences():
    for f in (stacked, shared):
        check_grads(f, (LAYERS, XS), wrt=(0, 1))
        single = [{name: a.astype(np.float32) for name, a in layer.items()} for layer in LAYERS]
        for found, expected in zip(grad(f)(single, XS.astype(np.float32)), grad(f)(LAYERS, XS)):
            for name, d in expected.items():
                np.testing.assert_allclose(found[name], d, rtol=2e-3, atol=2e-4)


def softmaxes(start, moves):
    shifted = np.exp(start - np.max(start))
    others = np.exp(moves * 2.0)
    return np.sum(np.sin(np.exp(start - 1.0)) * np.sin(np.exp(moves - 2.0))) + np.sum(shifted * others)


def test_values_are_told_apart_by_what_they_are_computed_of():
    args = rng.standard_normal((2, 12))
    text = grad(softmaxes, wrt=(0, 1)).lower(*args).text
    assert "exp_start = " in text and "exp_moves = " in text and "exp_1" not in text
    check_grads(softmaxes, tuple(args))


def test_stages_that_are_computed_of_one_variable_are_numbered():
    def stages(w, z):
        first = np.tanh(z @ w)
        second = np.tanh((z + 0.5 * np.tanh(0.5 * np.tanh(z @ w) @ w)) @ w)
        return np.sum(first * second)

    text = grad(stages).lower(LAYERS[0]["w"], XS).text
    assert "tanh_z" not in text
    check_grads(stages, (LAYERS[0]["w"], XS))
