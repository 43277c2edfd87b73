"""Convolution and pools: values and derivatives of both modes and orders, against PyTorch and central differences."""

import numpy as np
import pytest

from sourcead import check_grads, grad, jvp
from sourcead.nn import convolution
from sourcead.nn.convolution import conv2d
from sourcead.nn.pooling import avg_pool2d, max_pool2d

pytestmark = pytest.mark.sampled(3)

# batch, channels, height, width; outputs, kernel height, kernel width; stride, padding
CONVOLUTIONS = [
    (2, 3, 7, 6, 4, 3, 3, 1, 0),
    (1, 1, 5, 5, 1, 3, 3, 2, 1),  # batch 1, one channel, stride 2, padding
    (3, 2, 5, 5, 3, 5, 5, 1, 0),  # the kernel is the image
    (2, 1, 9, 8, 2, 3, 2, (2, 3), (1, 2)),
    (1, 1, 1, 1, 1, 1, 1, 1, 0),
    (2, 3, 8, 8, 9, 1, 1, 1, 0),
    (2, 3, 8, 8, 9, 1, 1, 2, 0),  # pixels that no kernel meets
    (3, 1, 5, 7, 2, 4, 2, 3, 2),
    (0, 2, 5, 5, 3, 3, 3, 1, 1),  # an empty batch
]
# batch, channels, height, width; window, stride, padding
POOLS = [
    (2, 3, 7, 6, 2, None, 0),
    (1, 1, 5, 5, 3, 1, 1),
    (3, 2, 5, 5, 5, 5, 0),
    (2, 1, 9, 8, (3, 2), (2, 3), (1, 1)),
    (1, 1, 1, 1, 1, 1, 0),
    (2, 3, 8, 8, 3, 2, 1),
    (2, 3, 8, 8, 2, 3, 0),
]


def wave(x, w, b, stride, padding):
    return np.sum(np.sin(conv2d(x, w, b, stride, padding)))


def wave_of_max(x, size, stride, padding):
    return np.sum(np.sin(max_pool2d(x, size, stride, padding)))


def wave_of_mean(x, size, stride, padding):
    return np.sum(np.sin(avg_pool2d(x, size, stride, padding)))


def convolution_arrays(case, dtype=np.float64):
    batch, channels, height, width, outputs, tall, wide, _, _ = case
    rng = np.random.default_rng(0)
    shapes = ((batch, channels, height, width), (outputs, channels, tall, wide), (outputs,))
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


@pytest.mark.parametrize("buffer", [1 << 20, 1])  # of all rows at once, of one at a time
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolution_is_that_of_pytorch(case, buffer, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(convolution, "BUFFER_BYTES", buffer)
    *_, stride, padding = case
    arrays = convolution_arrays(case)
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    expected = torch.nn.functional.conv2d(*theirs, stride=stride, padding=padding)
    torch.sin(expected).sum().backward()
    np.testing.assert_allclose(conv2d(*arrays, stride, padding), expected.detach().numpy(), rtol=1e-12, atol=1e-13)
    for one, other in zip(grad(wave, wrt=("x", "w", "b"))(*arrays, stride, padding), theirs, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other.grad.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", CONVOLUTIONS[:-1], ids=str)
def test_derivatives_of_convolution_are_numerical_ones(case):
    check_grads(wave, (*convolution_arrays(case), *case[-2:]), wrt=("x", "w", "b"))


def test_second_derivatives_of_convolution():
    def total(x, w, b):
        d_x, d_w, d_b = grad(wave, wrt=("x", "w", "b"))(x, w, b, 2, 1)
        return np.sum(d_x**2) + np.sum(d_w**2) + np.sum(d_b**3)

    check_grads(total, convolution_arrays((2, 2, 5, 4, 3, 3, 3, 2, 1)), wrt=("x", "w", "b"))


def test_the_cotangent_of_the_input_is_not_computed_where_nobody_asks():
    def loss(w, b, x):
        return np.sum(conv2d(x, w, b) ** 2)

    x, w, b = convolution_arrays(CONVOLUTIONS[0])
    d = grad(loss, wrt=("w", "b"))
    d(w, b, x)
    assert "conv2d_weights(" in d.source and "conv2d_input(" not in d.source


def test_without_a_bias():
    x, w, _ = convolution_arrays(CONVOLUTIONS[0])
    check_grads(lambda x, w: np.sum(np.sin(conv2d(x, w, stride=2, padding=1))), (x, w), wrt=("x", "w"))


@pytest.mark.parametrize("mixed", [(np.float32,) * 3, (np.float32, np.float64, np.float32), (np.float64, np.float32, np.float32)])
def test_cotangents_have_the_dtype_of_what_they_belong_to(mixed):
    arrays = [a.astype(dtype) for a, dtype in zip(convolution_arrays(CONVOLUTIONS[0]), mixed)]
    assert conv2d(*arrays).dtype == np.result_type(*mixed)
    for d, dtype in zip(grad(wave, wrt=("x", "w", "b"))(*arrays, 1, 0), mixed):
        assert d.dtype == dtype


def test_images_of_integers_are_taken_for_numbers():
    x, w, b = convolution_arrays(CONVOLUTIONS[0])
    whole = np.arange(x.size).reshape(x.shape) % 7
    d_w = grad(wave, wrt="w")
    np.testing.assert_allclose(d_w(whole, w, b, 1, 0), d_w(whole.astype(float), w, b, 1, 0), rtol=1e-13)


def test_any_order_in_memory_gives_the_same():
    x, w, b = convolution_arrays(CONVOLUTIONS[0])
    turned = np.asfortranarray(x)[:, :, ::-1][:, :, ::-1]
    for one, other in zip(grad(wave, wrt=("x", "w", "b"))(turned, w, b, 1, 0), grad(wave, wrt=("x", "w", "b"))(x, w, b, 1, 0)):
        np.testing.assert_array_equal(one, other)


def test_a_network_may_write_into_what_a_layer_returns():
    def loss(x, w, b):
        h = conv2d(x, w, b)
        h *= 0.1 * h
        flat = h.reshape(len(h), -1)
        flat[:, 0] *= 3.0
        return np.sum(np.sin(flat)) + np.sum(np.cos(max_pool2d(x, 2)))

    check_grads(loss, convolution_arrays(CONVOLUTIONS[0]), wrt=("x", "w", "b"))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("case", POOLS, ids=str)
@pytest.mark.parametrize("name", ["max", "avg"])
def test_pools_are_those_of_pytorch(name, case, ties):
    torch = pytest.importorskip("torch")
    *shape, size, stride, padding = case
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, shape).astype(float) if ties else rng.normal(size=shape)
    other = torch.tensor(x, requires_grad=True)
    pool = {"max": torch.nn.functional.max_pool2d, "avg": torch.nn.functional.avg_pool2d}[name]
    expected = torch.sin(pool(other, size, stride, padding)).sum()
    expected.backward()
    f = {"max": wave_of_max, "avg": wave_of_mean}[name]
    np.testing.assert_allclose(f(x, size, stride, padding), expected.item(), rtol=1e-12)
    d_x = grad(f)(x, size, stride, padding)
    np.testing.assert_allclose(d_x, other.grad.numpy(), rtol=1e-9, atol=1e-13)
    _, slope = jvp(f, (x, size, stride, padding), (x, None, None, None))
    np.testing.assert_allclose(slope, np.sum(d_x * x), rtol=1e-12)


@pytest.mark.parametrize("case", POOLS, ids=str)
@pytest.mark.parametrize("f", [wave_of_max, wave_of_mean])
def test_derivatives_of_pools_are_numerical_ones_to_second_order(f, case):
    *shape, size, stride, padding = case
    x = np.random.default_rng(0).permutation(np.prod(shape)).reshape(shape) / np.prod(shape)  # no two pixels are close
    check_grads(f, (x, size, stride, padding), order=2)


@pytest.mark.parametrize("pool", [max_pool2d, avg_pool2d])
def test_float32_stays_float32_in_pools(pool):
    x = np.random.default_rng(0).normal(size=(2, 3, 6, 6)).astype(np.float32)
    assert pool(x, 2).dtype == np.float32
    assert grad(lambda x: np.sum(pool(x, 2) ** 2))(x).dtype == np.float32


MISFITS = {
    "channels": (lambda: conv2d(np.ones((2, 3, 5, 5)), np.ones((4, 2, 3, 3))), "conv2d", (2, 3, 5, 5), (4, 2, 3, 3)),
    "kernel": (lambda: conv2d(np.ones((2, 3, 5, 5)), np.ones((4, 3, 6, 3))), "conv2d", (2, 3, 5, 5), (4, 3, 6, 3)),
    "bias": (lambda: conv2d(np.ones((2, 3, 5, 5)), np.ones((4, 3, 3, 3)), np.ones(3)), "conv2d", (4, 3, 3, 3), (3,)),
    "rank": (lambda: conv2d(np.ones((3, 5, 5)), np.ones((4, 3, 3, 3))), "conv2d", (3, 5, 5), (4, 3, 3, 3)),
    "window": (lambda: max_pool2d(np.ones((2, 3, 5, 5)), 6), "max_pool2d", (2, 3, 5, 5), (6, 6)),
    "padding": (lambda: avg_pool2d(np.ones((2, 3, 5, 5)), 2, padding=2), "avg_pool2d", (2, 3, 5, 5), (2, 2)),
    "image": (lambda: max_pool2d(np.ones((3, 5, 5)), 2), "max_pool2d", (3, 5, 5), (2, 2)),
}


@pytest.mark.parametrize("name", MISFITS)
def test_shapes_that_do_not_fit_are_named(name):
    call, layer, *shapes = MISFITS[name]
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(f"{layer}: ") and all(str(shape) in str(error.value) for shape in shapes)


def test_the_error_comes_out_of_a_gradient_too():
    with pytest.raises(ValueError, match=r"conv2d: the shapes \(2, 3, 5, 5\), \(4, 2, 3, 3\) and \(4,\)"):
        grad(wave)(np.ones((2, 3, 5, 5)), np.ones((4, 2, 3, 3)), np.ones(4), 1, 0)


def test_a_saved_gradient_needs_numpy_alone(tmp_path):
    def loss(w, b, x):
        return np.sum(max_pool2d(conv2d(x, w, b), 2) ** 2)

    x, w, b = convolution_arrays(CONVOLUTIONS[0])
    d = grad(loss, wrt=("w", "b"))
    expected = d(w, b, x)
    d.save(tmp_path / "saved.py")
    text = (tmp_path / "saved.py").read_text()
    assert "sourcead" not in "".join(line for line in text.splitlines() if line.startswith(("import", "from")))
    namespace = {}
    exec(compile(text, "saved.py", "exec"), namespace)
    for one, other in zip(namespace["loss_grad"](w, b, x), expected):
        np.testing.assert_array_equal(one, other)
