"""Rows that a loop reads by its index are read as a person would read them."""

import numpy as np

from sourcead import check_grads, grad

rng = np.random.default_rng(0)
W, XS, LABELS = rng.standard_normal((9, 9)) * 0.4, rng.standard_normal((10, 9)), rng.integers(0, 9, 10)


def text(f, *args, **options):
    return grad(f, **options).lower(*args).text


def network(w, xs):
    h = np.zeros(9)
    for x in xs:
        h = np.tanh(w @ h + x)
    return np.sum(h**2)


def forward_algorithm(scores, labels, xs):
    alpha = np.zeros(9)
    for i in range(len(labels)):
        label = labels[i]
        alpha = np.log(np.exp(alpha) @ np.exp(scores)) + scores[:, label] + np.tanh(alpha) * xs[i]
    return np.sum(alpha)


def turned(w, v, xs):
    total = 0.0
    for x in xs:
        total = total + np.sum(np.tanh(w @ x) * np.sin(v @ x))
    return total


def test_the_index_and_the_row_stand_in_the_head_of_the_loop():
    written = text(network, W, XS, wrt=(0, 1))
    assert "for i, x in enumerate(xs):" in written
    check_grads(network, (W, XS))


def test_a_part_that_the_reverse_sweep_reads_once_has_no_name():
    reverse = text(forward_algorithm, W, LABELS, XS, wrt=(0, 2)).split("# reverse")[1]
    assert "label = " not in reverse and "labels[i]" in reverse
    check_grads(forward_algorithm, (W, LABELS, XS), wrt=(0, 2))


def test_a_part_that_is_read_several_times_keeps_its_name():
    check_grads(turned, (W, W.T.copy(), XS))
    assert "transpose_x" not in text(turned, W, W.T.copy(), XS, wrt=(0, 1))


def test_a_part_is_not_read_behind_a_write_to_its_array():
    def shifted(a, w):
        a = a.copy()
        for i in range(len(a) - 1):
            row = a[i]
            a[i + 1] = np.tanh(w @ row) * a[i + 1]
            a[i] = 0.5 * row * row
        return np.sum(np.sin(a))

    check_grads(shifted, (XS, W))
