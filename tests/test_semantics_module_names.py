"""`globals()`: the names of the module, looked up one by one."""

import pytest

from sourcead import UnsupportedSyntaxError, grad, jvp

SCALE = 3.0


def twice(x):
    return 2 * x


def cubed(x):
    return x**3


def by_name(x, which="twice"):
    y = globals()[f"{which}"](x) * globals()["SCALE"]
    if "missing" not in globals():
        y = y * x
    return y * globals().get("other", 5.0)


def test_functions_and_numbers_are_found_by_name():
    assert grad(by_name)(2.0) == pytest.approx(120.0)
    assert grad(by_name)(2.0, "cubed") == pytest.approx(4 * 8 * 15)
    assert jvp(by_name, (2.0,), (1.0,))[1] == pytest.approx(120.0)


def test_a_name_that_changes_is_seen(monkeypatch):
    d = grad(by_name)
    assert d(2.0) == pytest.approx(120.0)
    monkeypatch.setitem(globals(), "SCALE", 4.0)
    assert d(2.0) == pytest.approx(160.0)
    monkeypatch.setitem(globals(), "missing", 1)
    assert d(2.0) == pytest.approx(40.0)
    monkeypatch.setitem(globals(), "other", 2.0)
    assert d(2.0) == pytest.approx(16.0)


def test_a_missing_name_is_a_key_error():
    with pytest.raises(KeyError, match="no name 'nothing'"):
        grad(by_name)(2.0, "nothing")

    def handled(x):
        try:
            return globals()["nothing"](x)
        except KeyError:
            return x * x

    assert grad(handled)(3.0) == 6.0


def writes(x):
    globals()["SCALE"] = x
    return SCALE * x


def walks(x):
    for name in globals():
        x = x * 2
    return x


@pytest.mark.parametrize("f", [writes, walks])
def test_other_uses_are_refused(f):
    with pytest.raises(UnsupportedSyntaxError):
        grad(f)(2.0)
