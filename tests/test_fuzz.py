"""A budgeted run of random programs, and the generator's own promises."""

import inspect
import time

import pytest

from tests.fuzz import check
from tests.fuzz.check import judge, load, run, smaller, unjudgeable
from tests.fuzz.generate import generate
from tests.harness import Outcome

PROGRAMS = 10
SECONDS = 12


def test_random_programs_are_never_wrong_and_never_crash():
    counts, failures = run(range(PROGRAMS), until=time.monotonic() + SECONDS)
    assert not failures, "\n\n".join(f"seed {seed}: {o.status}: {o.detail}\n{text}" for seed, text, o in failures[:3])
    judged = sum(n for key, n in counts.items() if key[0] != "unjudged")
    assert judged >= 0.5 * sum(counts.values()), counts


@pytest.mark.long
def test_random_programs_drawn_by_hypothesis():
    hypothesis = pytest.importorskip("hypothesis")

    @hypothesis.settings(max_examples=15, deadline=None, derandomize=True, database=None)
    @hypothesis.given(seed=hypothesis.strategies.integers(10_000, 2**32), size=hypothesis.strategies.integers(2, 10))
    def never_wrong(seed, size):
        outcome, _ = judge(generate(seed, size))
        assert outcome is None or outcome.ok, f"{outcome.status}: {outcome.detail}\n{generate(seed, size)}"

    never_wrong()


def test_generator_is_reproducible():
    assert [generate(seed) for seed in range(20)] == [generate(seed) for seed in range(20)]


def test_most_generated_programs_run_and_are_smooth():
    reasons = [unjudgeable(load(generate(seed))) for seed in range(1000, 1060)]
    assert sum(reason is None for reason in reasons) >= 45, reasons
    assert not [r for r in reasons if r and r.startswith("raises")]


def test_generator_covers_the_constructs():
    text = "\n".join(generate(seed) for seed in range(400))
    wanted = (
        "while ", "for ", "elif ", "else:", "break", "continue", ".append(", "np.add.at", "out=", ".T", ".reshape(",
        "lambda", "zip(", "enumerate(", "+= ", "/= ", "np.where", "@", "[::-1]", ".copyto", "not (", "return u",
    )  # fmt: skip
    assert not [w for w in wanted if w not in text]


@pytest.mark.long
def test_shrinking_keeps_the_failure(monkeypatch):
    """With a checker that calls every program with a while loop wrong, what is left is little more than the loop."""

    def verdict(p):
        return "wrong" if "while " in inspect.getsource(p.function) else "right"

    monkeypatch.setattr(check, "check_program", lambda p, rng, seconds: Outcome(p, verdict(p), "central differences"))
    seed = next(s for s in range(200) if "while " in statements(generate(s)))
    small = smaller(generate(seed), ("wrong", "number"), seconds=5)
    assert "while " in small
    assert len(statements(small).splitlines()) < 0.5 * len(statements(generate(seed)).splitlines())


def statements(text):
    return text.partition("def program")[2].partition("def make_args")[0]
