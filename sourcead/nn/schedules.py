"""Learning rates that change during training, as functions of the step, which counts from 0."""

import math
from collections.abc import Callable


def constant(rate: float) -> Callable[[int], float]:
    """Return the same rate at every step."""
    return lambda step: rate


def stepped(rate: float, every: int, factor: float = 0.1) -> Callable[[int], float]:
    """Return a rate that is multiplied by `factor` after every `every` steps.

    Example:
        >>> [stepped(1.0, 2, 0.5)(step) for step in range(5)]
        [1.0, 1.0, 0.5, 0.5, 0.25]
    """
    return lambda step: rate * factor ** (step // every)


def exponential(rate: float, factor: float) -> Callable[[int], float]:
    """Return a rate that is multiplied by `factor` at every step.

    Example:
        >>> exponential(1.0, 0.5)(3)
        0.125
    """
    return lambda step: rate * factor**step


def cosine(rate: float, steps: int, warm_up: int = 0, least: float = 0.0) -> Callable[[int], float]:
    """Return a rate that rises along a line for `warm_up` steps and falls along half a cosine to `least` (Loshchilov and Hutter, 2017).

    Example:
        >>> [round(cosine(1.0, 4, warm_up=2)(step), 3) for step in range(6)]
        [0.5, 1.0, 1.0, 0.5, 0.0, 0.0]
    """

    def at(step: int) -> float:
        if step < warm_up:
            return rate * (step + 1) / warm_up
        share = min(1.0, (step - warm_up) / max(1, steps - warm_up))
        return least + (rate - least) * (1 + math.cos(math.pi * share)) / 2

    return at
