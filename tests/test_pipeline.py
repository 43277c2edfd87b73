"""Every pass of the plan leaves IR that the verifier accepts and that means what it meant, on a sample of the corpus."""

import pytest

from tests.programs import all_programs
from tests.snapshots import store
from tests.snapshots.passes import problems_of

SAMPLE = sorted(all_programs(), key=store.file_name)[::60]


@pytest.mark.parametrize("program", SAMPLE, ids=store.file_name)
def test_every_pass_leaves_well_formed_ir_that_computes_the_same(program):
    problems, ran, compared = problems_of(program, ("grad", "jvp"), evaluated=True)
    assert not problems
    assert compared > 3 or program.level != "basic"
