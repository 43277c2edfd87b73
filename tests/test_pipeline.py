"""Every stage of the compiler leaves IR that the verifier accepts, on the whole corpus."""

import numpy as np
import pytest

from sourcead import SourceADError, grad, passes
from sourcead.compile import gradient as dispatch, pipeline
from sourcead.ir.verify import verify
from tests.programs import all_programs

STAGES = ("simplify", "fill_lists", "add_to_parts", "ask_current_versions", "clear_late", "assign_memory")


@pytest.fixture
def verified(monkeypatch):
    """The compiler with the verifier after each stage; counts how often it ran."""
    count = [0]

    def checked(function):
        verify(function)
        count[0] += 1
        return function

    def after(run):
        return lambda *args, **kwargs: checked(run(*args, **kwargs))

    monkeypatch.setattr(passes, "PASSES", tuple(map(after, passes.PASSES)))
    for name in STAGES:
        monkeypatch.setattr(pipeline, name, after(getattr(pipeline, name)))
    lower, differentiate = pipeline.lower_function, pipeline.differentiate

    def lowered(*args):
        result = lower(*args)
        checked(result.function)
        return result

    def differentiated(*args):
        function, notes = differentiate(*args)
        return checked(function), notes

    monkeypatch.setattr(pipeline, "lower_function", lowered)
    monkeypatch.setattr(pipeline, "differentiate", differentiated)
    monkeypatch.setattr(dispatch, "_SHARED", type(dispatch._SHARED)())
    return count


@pytest.mark.slow
@pytest.mark.parametrize("level", ["basic", "python"])
def test_every_stage_is_verified_on_the_corpus(verified, level):
    programs = [p for p in all_programs() if p.level == level][::6]
    assert len(programs) > 40
    compiled = 0
    for program in programs:
        try:
            grad(program.function, wrt=program.wrt).lower(*program.make_args(np.random.default_rng(0)))
            compiled += 1
        except SourceADError:
            assert level != "basic"
    assert compiled > 40
    assert verified[0] > 10 * compiled
