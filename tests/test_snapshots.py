"""What the compiler makes of a sample of the corpus is what it made when tests/snapshots/digests.txt was written."""

import pytest

from tests.programs import all_programs
from tests.snapshots import store
from tests.snapshots.passes import problems_of
from tests.snapshots.work import differences, snapshots

EVERY = 120
EVERY_IN_LONG_TESTS = 40
KINDS = ("grad", "vjp", "jvp", "hvp", "states", "compiled")


@pytest.mark.parametrize("every", [EVERY, pytest.param(EVERY_IN_LONG_TESTS, marks=pytest.mark.long)])
def test_a_sample_of_the_snapshots_is_as_it_was(every):
    names = sorted(map(store.file_name, all_programs()))[::every]
    found = snapshots(names, KINDS, 1, 1)
    assert not differences(found, KINDS), "if this is meant: write the snapshots and their digests anew, and read what changed"


def test_what_is_refused_says_what_it_said():
    names = sorted(name for name in map(store.file_name, all_programs()) if name.startswith("refused."))
    assert not differences(snapshots(names, ("grad",), 1, 1), ("grad",))


def test_a_changed_text_is_found():
    name = store.file_name(all_programs()[0])
    found = snapshots([name], ("grad",), 1, 1)
    text, seconds = found[name]
    assert differences({name: (text.replace("d_", "e_"), seconds)}, ("grad",)) == [f"{name} grad"]


def test_numba_s_own_passes_are_looked_between_too():
    (program,) = all_programs(name="nussinov")
    problems, ran, _ = problems_of(program, ("compiled",))
    assert not problems and ran > 50
