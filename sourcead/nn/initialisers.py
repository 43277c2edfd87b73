"""Starting values for parameters, drawn so that signals keep their size from layer to layer.

    Glorot and Bengio (2010), equation 16: variance 2 / (inputs + outputs)     He et al. (2015), equation 10: 2 / inputs

A uniform distribution on ±a has the variance a² / 3. A kernel of k elements makes k times as many inputs and outputs.
"""

import math

import numpy as np


def glorot_uniform(
    rng: np.random.Generator, inputs: int, outputs: int, dtype: type = np.float32, kernel: tuple[int, int] | None = None
) -> np.ndarray:
    """Draw weights uniformly from ±sqrt(6 / (inputs + outputs)) (Glorot and Bengio, 2010, equation 16).

    Args:
        rng: Where the numbers are drawn from.
        inputs: Rows of the matrix, or channels of the image.
        outputs: Columns of the matrix, or channels of the result.
        dtype: A floating-point type.
        kernel: The height and width of the kernels of a convolution; None for a matrix.

    Returns:
        An array of shape (inputs, outputs), or (outputs, inputs, *kernel).

    Example:
        >>> w = glorot_uniform(np.random.default_rng(0), 2, 4)
        >>> w.shape, w.dtype, bool(np.all(abs(w) <= 1))
        ((2, 4), dtype('float32'), True)
    """
    bound = math.sqrt(6 / ((inputs + outputs) * elements(kernel)))
    return rng.uniform(-bound, bound, shape_of(inputs, outputs, kernel)).astype(dtype)


def glorot_normal(
    rng: np.random.Generator, inputs: int, outputs: int, dtype: type = np.float32, kernel: tuple[int, int] | None = None
) -> np.ndarray:
    """Draw normal weights of variance 2 / (inputs + outputs); arguments and result are those of `glorot_uniform`.

    Example:
        >>> glorot_normal(np.random.default_rng(0), 3, 8, kernel=(5, 5)).shape
        (8, 3, 5, 5)
    """
    spread = math.sqrt(2 / ((inputs + outputs) * elements(kernel)))
    return (spread * rng.standard_normal(shape_of(inputs, outputs, kernel))).astype(dtype)


def he_uniform(
    rng: np.random.Generator, inputs: int, outputs: int, dtype: type = np.float32, kernel: tuple[int, int] | None = None
) -> np.ndarray:
    """Draw weights uniformly from ±sqrt(6 / inputs), for layers before a relu; arguments and result as of `glorot_uniform`.

    Example:
        >>> bool(np.all(abs(he_uniform(np.random.default_rng(0), 6, 4)) <= 1))
        True
    """
    bound = math.sqrt(6 / (inputs * elements(kernel)))
    return rng.uniform(-bound, bound, shape_of(inputs, outputs, kernel)).astype(dtype)


def he_normal(
    rng: np.random.Generator, inputs: int, outputs: int, dtype: type = np.float32, kernel: tuple[int, int] | None = None
) -> np.ndarray:
    """Draw normal weights of variance 2 / inputs, for layers before a relu; arguments and result as of `glorot_uniform`.

    Example:
        >>> he_normal(np.random.default_rng(0), 6, 4).shape
        (6, 4)
    """
    spread = math.sqrt(2 / (inputs * elements(kernel)))
    return (spread * rng.standard_normal(shape_of(inputs, outputs, kernel))).astype(dtype)


def orthogonal(rng: np.random.Generator, inputs: int, outputs: int, dtype: type = np.float32) -> np.ndarray:
    """Draw a matrix whose shorter axis has orthonormal vectors, uniformly among these (Saxe et al., 2014; Mezzadri, 2007, section 5).

    Args:
        rng: Where the numbers are drawn from.
        inputs, outputs: Rows and columns.
        dtype: A floating-point type.

    Example:
        >>> w = orthogonal(np.random.default_rng(0), 3, 5, float)
        >>> bool(np.allclose(w @ w.T, np.eye(3)))
        True
    """
    q, r = np.linalg.qr(rng.standard_normal((max(inputs, outputs), min(inputs, outputs))))
    q = q * np.sign(np.diag(r))  # else it depends on the algorithm which of ±q comes out
    return np.ascontiguousarray(q if inputs >= outputs else q.T, dtype)


def elements(kernel: tuple[int, int] | None) -> int:
    return math.prod(kernel or (1,))


def shape_of(inputs: int, outputs: int, kernel: tuple[int, int] | None) -> tuple[int, ...]:
    return (inputs, outputs) if kernel is None else (outputs, inputs, *kernel)
