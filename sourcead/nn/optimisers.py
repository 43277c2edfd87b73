"""Gradient descent: plain functions that update parameters in place, like PyTorch's optimisers of the same names.

sgd:      v = momentum v + g;  p -= rate v, with Nesterov p -= rate (g + momentum v)
adam:     m += (1 - b1) (g - m);  s += (1 - b2) (g² - s)
          p -= rate m / (1 - b1^t) / (sqrt(s / (1 - b2^t)) + epsilon)  at step t
adamw:    p -= rate decay p, then adam
rmsprop:  s += (1 - keep) (g² - s);  p -= rate g / (sqrt(s) + epsilon)

Weight decay adds `weight_decay p` to the gradient, except in `adamw`. Parameters are any structure of floating-point arrays (named
tuples, lists, dicts, records), and gradients are the same structure. `checkpoints.save` writes a state to a file.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sourcead.api.extending import leaves


@dataclass
class State:
    """The memory of an optimiser: the number of steps, and for each parameter running means of its gradient and of its square."""

    step: int = 0
    means: list[np.ndarray] = field(default_factory=list)
    squares: list[np.ndarray] = field(default_factory=list)


def arrays_of(structure: Any) -> list[np.ndarray]:
    """Return the arrays of a structure, in order.

    Raises:
        TypeError: a number in it is not an array and cannot be updated in place.

    Example:
        >>> [a.shape for a in arrays_of({"w": np.zeros((2, 3)), "rest": (np.zeros(3),)})]
        [(2, 3), (3,)]
    """
    if isinstance(structure, (list, tuple)) and all(isinstance(a, np.ndarray) for a in structure):
        return list(structure)
    found = list(leaves(structure))
    for where, leaf in found:
        if not isinstance(leaf, np.ndarray):
            what = f"the parameter {where.lstrip('.')} is no array but {leaf!r}, which cannot be updated in place"
            raise TypeError(f"{what}: write np.array({leaf!r})")
    return [leaf for _, leaf in found]


def stepped(parameters: Any, gradients: Any, state: State | None, weight_decay: float, *kinds: str) -> Iterator[tuple]:
    """Count a step; return each parameter with its gradient, decay added, and its running means of some kinds, zeros at first."""
    parameters, gradients = arrays_of(parameters), arrays_of(gradients)
    if state is not None:
        state.step += 1
    for kind in kinds:
        if not getattr(state, kind):
            setattr(state, kind, [np.zeros_like(p) for p in parameters])
    decayed = (g + weight_decay * p if weight_decay else g for p, g in zip(parameters, gradients, strict=True))
    rows = zip(parameters, decayed, *(getattr(state, kind) for kind in kinds), strict=True)
    return (tuple([np.reshape(a, 1) if np.ndim(a) == 0 else a for a in row]) for row in rows)  # what is made of a number is a number


def sgd(
    parameters: Any, gradients: Any, rate: float = 0.01, state: State | None = None, momentum: float = 0.0,
    nesterov: bool = False, weight_decay: float = 0.0,
) -> None:  # fmt: skip
    """Move the parameters down the gradient, in place.

    Args:
        parameters: Floating-point arrays; overwritten.
        gradients: One per parameter, of its shape.
        rate: The learning rate.
        state: A `State()`, overwritten; needed for momentum.
        momentum: The share of the last step that each step keeps (Polyak, 1964; Sutskever et al., 2013).
        nesterov: Look ahead along the momentum.
        weight_decay: How much of each parameter is added to its gradient.

    Raises:
        ValueError: There is momentum, and no state to keep it.

    Example:
        >>> w = np.array([1.0, 2.0])
        >>> sgd([w], [np.array([10.0, 0.0])], rate=0.05)
        >>> w
        array([0.5, 2. ])
    """
    if momentum and state is None:
        raise ValueError("momentum needs a state that keeps it from step to step: give sgd a State()")
    for parameter, gradient, *kept in stepped(parameters, gradients, state, weight_decay, *(["means"] if momentum else [])):
        for velocity in kept:
            velocity *= momentum
            velocity += gradient
            gradient = gradient + momentum * velocity if nesterov else velocity
        parameter -= rate * gradient


def adam_state(parameters: Any) -> State:
    """Return the state before the first step of Adam."""
    parameters = arrays_of(parameters)
    return State(0, [np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters])


def adam(
    parameters: Any, gradients: Any, state: State, rate: float = 0.001, decay: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8, weight_decay: float = 0.0,
) -> None:  # fmt: skip
    """Make a step of Adam, in place (Kingma and Ba, 2015, algorithm 1).

    Args:
        parameters: Floating-point arrays; overwritten.
        gradients: One per parameter, of its shape.
        state: A `State()` before the first step; overwritten.
        rate: The learning rate.
        decay: How much of the running mean of the gradient and of its square each step keeps.
        epsilon: Added to the root of the mean square.
        weight_decay: How much of each parameter is added to its gradient.

    Example:
        >>> w = np.array([1.0, 2.0])
        >>> adam([w], [np.array([10.0, 0.0])], State(), rate=0.25)
        >>> w
        array([0.75, 2.  ])
    """
    rows = stepped(parameters, gradients, state, weight_decay, "means", "squares")
    keep_mean, keep_square = decay
    # The corrections of the initial bias go into the rate and into epsilon, so that no array is scaled by them.
    root = (1 - keep_square**state.step) ** 0.5
    rate = rate * root / (1 - keep_mean**state.step)
    for parameter, gradient, mean, square in rows:
        part = np.subtract(gradient, mean)  # one array holds all intermediate results, because memory takes longer than arithmetic
        part *= 1 - keep_mean
        mean += part
        np.multiply(gradient, gradient, out=part)
        part -= square
        part *= 1 - keep_square
        square += part
        np.sqrt(square, out=part)
        part += epsilon * root
        np.divide(mean, part, out=part)
        part *= rate
        parameter -= part


def adamw(
    parameters: Any, gradients: Any, state: State, rate: float = 0.001, decay: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8, weight_decay: float = 0.01,
) -> None:  # fmt: skip
    """Make a step of Adam with weight decay that is separate from the gradient, in place (Loshchilov and Hutter, 2019, algorithm 2).

    Args:
        parameters, gradients, state, rate, decay, epsilon: As for `adam`.
        weight_decay: Each parameter shrinks by the rate times this.

    Example:
        >>> w = np.array([1.0, 2.0])
        >>> adamw([w], [np.array([10.0, 0.0])], State(), rate=0.25, weight_decay=0.4)
        >>> w
        array([0.65, 1.8 ])
    """
    parameters = arrays_of(parameters)
    for parameter in parameters:
        parameter *= 1 - rate * weight_decay
    adam(parameters, gradients, state, rate, decay, epsilon)


def rmsprop(
    parameters: Any, gradients: Any, state: State, rate: float = 0.01, keep: float = 0.99, epsilon: float = 1e-8,
    weight_decay: float = 0.0,
) -> None:  # fmt: skip
    """Make a step of RMSProp, in place (Tieleman and Hinton, 2012, lecture 6e).

    Args:
        parameters, gradients, state, rate, weight_decay: As for `adam`.
        keep: How much of the running mean of the squared gradient each step keeps.
        epsilon: Added to the root of the mean square.

    Example:
        >>> w = np.array([1.0, 2.0])
        >>> rmsprop([w], [np.array([10.0, 0.0])], State(), rate=0.05)
        >>> w.round(6)
        array([0.5, 2. ])
    """
    for parameter, gradient, square in stepped(parameters, gradients, state, weight_decay, "squares"):
        square += (1 - keep) * (gradient * gradient - square)
        parameter -= rate * gradient / (np.sqrt(square) + epsilon)


def clip_by_norm(gradients: Any, limit: float) -> float:
    """Scale gradients down, in place, so that their norm, taken over all of them together, is at most `limit`.

    Returns:
        The norm before scaling (Pascanu et al., 2013, algorithm 1).

    Example:
        >>> g = [np.array([3.0]), np.array([4.0])]
        >>> clip_by_norm(g, 1.0), g
        (5.0, [array([0.6]), array([0.8])])
    """
    gradients = arrays_of(gradients)
    norm = float(np.sqrt(sum(float(np.vdot(g, g)) for g in gradients)))
    if norm > limit:
        for gradient in gradients:
            gradient *= limit / norm
    return norm
