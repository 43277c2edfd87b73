"""Marks, names and numbers inside globals decide what is lowered, and a text that relied on them is made anew when they change."""

import numpy as np
import pytest

from sourcead import grad
from sourcead.compile import pipeline


class Mark:
    def __init__(self, name):
        self.name = name


START, END = Mark("start"), Mark("end")
BEGIN = START
NUMBERS = {"wgs": 2, "grs": 1}
SHAPES = {1: (6378.0, "GRS"), 2: [6371.0, 0.3]}
SPACES = {"lab": {"name": "lab", "white": np.array([0.9, 1.0, 1.1])}, "xyz": {"name": "xyz"}, "short": "xyz"}
AXES = set("JMh")
PATHS = [({"name": "lab", "white": START}, "up"), ({"name": "xyz", "other": END}, "down")]


def of_number(x, name="wgs"):
    return x * SHAPES[NUMBERS[name.lower()]][0]


def of_marks(x):
    if BEGIN is START and START is not END:
        x = 3.0 * x
    return x * (2.0 if PATHS[0][0]["white"] is START else 5.0)


def filled(node, mark, values):
    node = dict(node)
    for key in node:
        if node[key] is mark:
            node[key] = values[key]
    return node


def of_paths(x):
    given = {"name": "lab", "white": x, "other": 7.0}
    for node, way in PATHS:
        node = filled(filled(node, START, given), END, given)
        x = x * node["white"] if way == "up" else x + node["other"]
    return x


def of_names(x):
    space = SPACES[SPACES["short"]]
    return x ** 2 if space["name"] == "xyz" else x


def of_set(x):
    return x ** 3 if AXES.issuperset("JM") else x


def of_letters(x):
    total = 0.0
    for letter in SPACES["short"]:
        total = total + {"x": x, "y": x * x, "z": 2.0}[letter]
    return total


@pytest.mark.parametrize("f", [of_number, of_marks, of_paths, of_names, of_set, of_letters])
def test_what_a_part_of_a_global_is_decides(f):
    assert grad(f)(1.5) == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6)


@pytest.mark.parametrize("f, holder, key, new", [
    (of_number, NUMBERS, "wgs", 1),
    (of_number, SHAPES, 2, [6000.0, 0.1]),
    (of_marks, PATHS[0][0], "white", END),
    (of_marks, globals(), "BEGIN", END),
    (of_paths, PATHS[0][0], "white", END),
    (of_paths, PATHS, 1, ({"name": "xyz", "white": START}, "up")),
    (of_names, SPACES, "short", "lab"),
    (of_names, SPACES["xyz"], "name", "abc"),
    (of_letters, SPACES, "short", "yyx"),
])  # fmt: skip
def test_a_change_of_the_part_is_seen(f, holder, key, new):
    g, before = grad(f), holder[key]
    g(1.5)
    try:
        holder[key] = new
        assert g(1.5) == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6)
    finally:
        holder[key] = before
    assert g(1.5) == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6)


def test_a_set_that_changes_is_seen():
    g = grad(of_set)
    assert g(2.0) == 12.0
    AXES.discard("J")
    try:
        assert g(2.0) == 1.0
    finally:
        AXES.add("J")
    assert g(2.0) == 12.0


def test_two_names_of_one_global_are_one_object():
    def f(x):
        return x * 2.0 if BEGIN is START else x * 3.0

    assert grad(f)(1.0) == 2.0


def with_settings(settings):
    def f(x):
        return x ** 2 if settings["kind"] == "square" else x ** 3

    return f


def test_a_function_made_anew_with_the_same_settings_uses_the_same_text(monkeypatch):
    lowered = []
    first = pipeline.lower_function
    monkeypatch.setattr(pipeline, "lower_function", lambda *args, **ways: lowered.append(args) or first(*args, **ways))
    for kind, derivative, texts in (("square", 6.0, 1), ("square", 6.0, 1), ("cube", 27.0, 2), ("square", 6.0, 3)):
        assert grad(with_settings({"kind": kind}))(3.0) == derivative
        assert len(lowered) <= texts
