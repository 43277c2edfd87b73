"""`scipy.ndimage` between the elements of an image: values beside SciPy's, derivatives beside central differences."""

import numpy as np
import pytest
from scipy import ndimage

from sourcead import UnsupportedArgumentError, grad, hvp
from sourcead.primitives import scipy_images
from tests.semantics import judged_in_all_modes

RNG = np.random.default_rng(0)
ROWS, COLUMNS = np.meshgrid(np.arange(9.0), np.arange(8.0), indexing="ij")
IMAGE = np.exp(-((ROWS - 4) ** 2 + (COLUMNS - 3.3) ** 2) / 8.0)
P = np.array([0.31, -0.42])


@pytest.mark.parametrize("mode", ["constant", "nearest", "mirror", "reflect", "grid-wrap"])
@pytest.mark.parametrize("order", range(6))
def test_values_are_those_of_scipy(mode, order):
    for shape in ((9,), (7, 1), (5, 6, 4)):
        image = RNG.normal(size=shape)
        at = np.array([RNG.uniform(-3, n + 3, 40) for n in shape])
        at[:, 0], at[:, 1] = 0.0, np.array(shape) - 1.0
        expected = ndimage.map_coordinates(image, at, order=order, mode=mode, cval=1.5)
        np.testing.assert_allclose(scipy_images.map_coordinates(image, at, order=order, mode=mode, cval=1.5), expected, atol=1e-12)


def turned(p):
    at = np.stack([ROWS + p[0] + 0.1 * COLUMNS, COLUMNS - 0.1 * ROWS + p[1]])
    return np.mean((ndimage.map_coordinates(IMAGE, at, order=3, mode="reflect") - IMAGE) ** 2)


def of_the_image(p):
    return np.sum(ndimage.map_coordinates(np.sin(p[0] * IMAGE + p[1]), [[1.5, 3.3], [2.2, 4.4]], order=2, cval=0.5) ** 2)


def by_lines(p):
    return np.sum(ndimage.map_coordinates(IMAGE * p[0], [ROWS + p[1], COLUMNS + 0.25], order=1, mode="nearest") ** 2)


def moved(p):
    return np.mean((ndimage.shift(IMAGE, p, mode="mirror") - IMAGE) ** 2)


def stretched(p):
    matrix = np.array([[1.0 + 0.1 * p[0], 0.1], [-0.05, 1.0]])
    return np.mean((ndimage.affine_transform(IMAGE, matrix, offset=[p[1], 0.3], order=3, mode="grid-wrap") - IMAGE) ** 2)


@pytest.mark.parametrize("f", [of_the_image, by_lines], ids=lambda f: f.__name__)
def test_derivative(f):
    assert judged_in_all_modes(f, P) == "right"


@pytest.mark.long
@pytest.mark.parametrize("f", [turned, moved, stretched], ids=lambda f: f.__name__)
def test_derivative_of_the_place(f):
    assert judged_in_all_modes(f, P) == "right"
    step, h = np.array([0.3, -0.5]), 1e-6
    np.testing.assert_allclose(hvp(f)(P, step), (grad(f)(P + h * step) - grad(f)(P - h * step)) / (2 * h), rtol=1e-4)


@pytest.mark.long
def test_image_that_moves_in_a_loop():
    def f(p):
        image = IMAGE
        for _ in range(3):
            image = ndimage.map_coordinates(image, [ROWS - p[0], COLUMNS - p[1]], order=3, mode="grid-wrap")
        return np.sum(image**3)

    assert judged_in_all_modes(f, P) == "right"


def test_images_of_integers_are_refused():
    with pytest.raises(UnsupportedArgumentError, match="not of floating point"):
        grad(lambda p: np.sum(ndimage.map_coordinates(np.arange(9).reshape(3, 3), np.array([[0.5], [1.0]]) * p)))(1.0)
