"""Damaged variations of what a file holds."""

import numpy as np


def damaged(content: bytes, number: int) -> bytes:
    """A variation of some content: flipped bits, a cut, a hole, a piece twice or gone, something appended, or nothing but noise."""
    rng = np.random.default_rng(number)
    made = bytearray(content)
    at, to = sorted(int(i) for i in rng.integers(0, len(content), 2))
    match number % 10:
        case 0 | 1 | 2:  # one bit, mostly; near the ends, where headers and checksums are, as often as elsewhere
            places = (rng.integers(0, len(made)), rng.integers(0, min(64, len(made))), len(made) - 1 - rng.integers(0, min(64, len(made))))
            made[places[number % 3]] ^= 1 << int(rng.integers(0, 8))
        case 3:  # many bits
            for i in rng.integers(0, len(made), 150):
                made[i] ^= 1 << int(rng.integers(0, 8))
        case 4 | 5:
            del made[at:]
        case 6:
            made[at : to + 1] = bytes(to + 1 - at)
        case 7:
            del made[at : to + 1]
        case 8:
            made[at:at] = rng.bytes(int(rng.integers(1, 100))) if number % 20 == 8 else made[at : to + 1]
        case 9:
            made[:] = rng.bytes(int(rng.integers(0, 2 * len(made))))
    return bytes(made)
