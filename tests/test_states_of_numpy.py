"""What a program asks of NumPy's handling of errors, and gives back, changes no number and no derivative."""

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes

X = np.array([0.7, 1.4])


def given_back_by_stars(x):
    before = np.seterr(invalid="ignore", divide="ignore")
    y = x * np.log(x)
    np.seterr(**before)
    return np.sum(y)


def given_back_by_name(x):
    asked = np.geterr()
    before = np.seterr(all="ignore")
    y = np.sum(x**3)
    np.seterr(divide=before["divide"], over=asked["over"])
    return y


def given_back_in_a_finally(x):
    settings = np.seterr(all="warn")
    try:
        return np.prod(x)
    finally:
        np.seterr(**settings)


@pytest.mark.parametrize("f", [given_back_by_stars, given_back_by_name, given_back_in_a_finally], ids=lambda f: f.__name__)
def test_settings_that_are_given_back(f):
    assert judged_in_all_modes(f, X) == "right"


def test_the_settings_stay_as_they_were():
    before = np.geterr()
    grad(given_back_by_stars)(X)
    assert np.geterr() == before
