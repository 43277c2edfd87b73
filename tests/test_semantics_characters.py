"""Texts that are made in the run: their characters are walked, counted and collected."""

import pytest

from tests.semantics import judged_in_all_modes, made

PROGRAMS = {
    "bits that are set": "bin(k).count('1') * x",
    "bits of a text": "x * sum(int(c) for c in bin(k)[2:])",
    "digits": "x * sum(map(int, str(k + 100)))",
    "pairs": "x * sum(1 for a, b in zip(bin(k), bin(k + 1)) if a != b)",
    "letters": "x * len(set(str(k))) + len(list(hex(k)))",
    "a list of them": "x * len([c for c in f'{k:08b}' if c == '0'])",
    "the greatest": "x * int(max(str(k + 120)))",
    "sorted": "x * int(''.join(sorted(str(k + 120))))",
    "of a known text": "x * len(list(str(5)))",
}


@pytest.mark.parametrize("value", PROGRAMS.values(), ids=PROGRAMS)
def test_characters_of_a_text(value):
    f = made(f"return {value}", "x, k")
    for k in (5, 0, 12):
        assert judged_in_all_modes(f, 2.0, k) == "right"
