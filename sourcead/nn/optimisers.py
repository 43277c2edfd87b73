"""Gradient descent: plain functions that update a sequence of parameter arrays in place.

sgd:   p -= rate * g
adam:  m += (1 - b1) (g - m);  s += (1 - b2) (g^2 - s)
       p -= rate * m / (1 - b1^t) / (sqrt(s / (1 - b2^t)) + epsilon)  at step t
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


def sgd(parameters: Sequence[np.ndarray], gradients: Sequence[np.ndarray], rate: float = 0.01) -> None:
    """Steps down the gradient, in place.

    Args:
        parameters: Floating-point arrays; overwritten.
        gradients: One per parameter, of its shape.
        rate: The learning rate.

    Example:
        >>> w = np.array([1.0, 2.0])
        >>> sgd([w], [np.array([10.0, 0.0])], rate=0.05)
        >>> w
        array([0.5, 2. ])
    """
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter -= rate * gradient


@dataclass
class AdamState:
    """What Adam remembers between steps: how many there were, and for each parameter the running means."""

    step: int
    means: list[np.ndarray]
    squares: list[np.ndarray]


def adam_state(parameters: Sequence[np.ndarray]) -> AdamState:
    """Gives the state before the first step of Adam."""
    return AdamState(0, [np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters])


def adam(
    parameters: Sequence[np.ndarray],
    gradients: Sequence[np.ndarray],
    state: AdamState,
    rate: float = 0.001,
    decay: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
) -> None:
    """Makes a step of Adam, in place (Kingma and Ba, 2015, algorithm 1).

    Args:
        parameters: Floating-point arrays; overwritten.
        gradients: One per parameter, of its shape.
        state: From `adam_state(parameters)`; overwritten.
        rate: The learning rate.
        decay: How much of the running mean of the gradient and of its square each step keeps.
        epsilon: Added to the root of the mean square.

    Example:
        >>> w = np.array([1.0, 2.0])
        >>> adam([w], [np.array([10.0, 0.0])], adam_state([w]), rate=0.25)
        >>> w
        array([0.75, 2.  ])
    """
    state.step += 1
    keep_mean, keep_square = decay
    # The corrections of the start-up bias are folded into the rate and into epsilon: no array is scaled by them.
    root = (1 - keep_square**state.step) ** 0.5
    rate = rate * root / (1 - keep_mean**state.step)
    for parameter, gradient, mean, square in zip(parameters, gradients, state.means, state.squares, strict=True):
        mean += (1 - keep_mean) * (gradient - mean)
        square += (1 - keep_square) * (gradient * gradient - square)
        parameter -= rate * mean / (np.sqrt(square) + epsilon * root)
