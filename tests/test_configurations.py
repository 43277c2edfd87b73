"""Settings from outside of a function: namespaces, models, dataclasses and other objects, as globals and as arguments; loggers and bars."""

import argparse
import collections
import copy
import dataclasses
import enum
import json
import logging
import os
import types

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, value_and_grad
from sourcead.errors import AliasError, SourceADError

V = np.array([1.0, 2.0, 3.0])


@dataclasses.dataclass(frozen=True)
class Frozen:
    lr: float = 0.5
    name: str = "adam"


class Plain:
    def __init__(self):
        self.lr, self.name = 0.5, "adam"


class Looked:
    """Attributes that are looked up in a dict, as many libraries of configurations do."""

    def __init__(self, values):
        self._values = values

    def __getattr__(self, name):
        return self._values[name]


class Native(json.JSONDecoder):
    """An object of a library's class, whose data is not seen."""

    lr, name = 0.5, "adam"


Named = collections.namedtuple("Named", "lr name")


def model():
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        lr: float = 0.5
        name: str = "adam"

        @property
        def doubled(self):
            return 2 * self.lr

    return Model()


def of_attrs():
    attrs = pytest.importorskip("attrs")
    return attrs.make_class("Settings", ["lr", "name"], frozen=True)(0.5, "adam")


KINDS = {
    "argparse": lambda: argparse.Namespace(lr=0.5, name="adam"),
    "SimpleNamespace": lambda: types.SimpleNamespace(lr=0.5, name="adam"),
    "pydantic": model,
    "attrs": of_attrs,
    "a dataclass": Frozen,
    "a named tuple": lambda: Named(0.5, "adam"),
    "a class": Plain,
    "attributes that are looked up": lambda: Looked({"lr": 0.5, "name": "adam"}),
    "an opaque object": Native,
}


def weighted(x, settings):
    return settings.lr * np.sum(x**2)


def by_name(x, settings):
    return np.sum(x) if settings.name == "sgd" else np.sum(x**3)


@pytest.mark.parametrize("kind", KINDS)
def test_settings_are_arguments_and_globals(kind):
    settings = KINDS[kind]()
    for f, expected in ((weighted, V), (by_name, 3 * V**2)):
        np.testing.assert_allclose(grad(f)(V, settings), expected)
        np.testing.assert_allclose(value_and_grad(lambda x, f=f: f(x, settings))(V)[1], expected)
    np.testing.assert_allclose(hvp(weighted)(V, settings, V), V)


@pytest.mark.parametrize("kind", ["argparse", "pydantic", "a class", "attributes that are looked up", "an opaque object"])
def test_new_values_are_seen_in_the_next_call(kind):
    settings = KINDS[kind]()
    g = grad(lambda x: weighted(x, settings))
    np.testing.assert_allclose(g(V), V)
    if kind == "attributes that are looked up":
        settings._values["lr"] = 2.0
    else:
        settings.lr = 2.0
    np.testing.assert_allclose(g(V), 4 * V)
    np.testing.assert_allclose(grad(weighted)(V, settings), 4 * V)


def test_a_namespace_is_differentiated_as_an_object():
    found = grad(lambda p: np.sum(p.w**2) * p.scale)(argparse.Namespace(w=V, scale=2.0))
    np.testing.assert_allclose(found.w, 4 * V)
    assert type(found) is argparse.Namespace and found.scale == 14


class Method(enum.Enum):
    EULER = "euler"
    MIDPOINT = "midpoint"


@dataclasses.dataclass(frozen=True)
class Solver:
    step: float = 0.5
    method: Method = Method.EULER
    others: tuple = (Method.MIDPOINT, 2.0)


ORDERS = {Method.EULER: 1.0, Method.MIDPOINT: 2.0}


@pytest.mark.parametrize("f", [
    lambda x, c: x * ORDERS[c.method],
    lambda x, c: x if c.method is Method.EULER else 2 * x,
    lambda x, c: x * ORDERS[dataclasses.asdict(c)["method"]],
    lambda x, c: x * ORDERS[copy.deepcopy(c).method],
    lambda x, c: x * len(c.method.value) - (4 if c.method.name == "EULER" else 6) * x,
])  # fmt: skip
def test_members_of_enumerations_are_known_in_settings(f):
    gradient = grad(f)
    for method in (Method.EULER, Method.MIDPOINT, Method.EULER):
        assert gradient(3.0, Solver(method=method)) == pytest.approx(f(1.0, Solver(method=method)))


def test_the_gradient_of_a_structure_has_none_for_members_of_enumerations():
    found = grad(lambda c: 2.0 * c.step)(Solver())
    assert (found.step, found.method, found.others) == (2.0, None, (None, 0.0))
    assert grad(lambda p: p[0] ** 2)([3.0, Method.EULER]) == [6.0, None]


def test_properties_of_a_model_are_read():
    np.testing.assert_allclose(grad(lambda x, m: m.doubled * np.sum(x))(V, model()), np.ones(3))


def test_attributes_that_may_be_looked_up_are_asked_for_at_run_time():
    settings = types.SimpleNamespace(lr=0.5)

    def with_default(x, s):
        return np.sum(x) * (s.momentum if hasattr(s, "momentum") else 3.0)

    np.testing.assert_allclose(grad(with_default)(V, settings), 3 * np.ones(3))


def test_arrays_of_opaque_objects_are_not_written():
    holder = Native()
    holder.w = np.ones(3)

    def writes(x, h):
        w = h.w
        w[0] = 5.0
        return np.sum(w * x)

    with pytest.raises(AliasError, match="writing to it would change it for everybody"):
        grad(writes)(V, holder)
    assert holder.w[0] == 1


def test_the_environment_and_parsers_are_read():
    def of_environment(x):
        return np.sum(x) if os.environ.get("SOURCEAD_NO_SUCH_VARIABLE") else np.sum(x**2)

    def of_text(x):
        return np.sum(x) * json.loads('{"lr": 0.5}')["lr"]

    np.testing.assert_allclose(grad(of_environment)(V), 2 * V)
    np.testing.assert_allclose(grad(of_text)(V), 0.5 * np.ones(3))


log = logging.getLogger("configurations")


@pytest.mark.parametrize("name", ["configurations", "configurations.inner"])
def test_loggers_report_as_print_does(name, caplog):
    def logs(x):
        log.info("the sum is %.1f", np.sum(x))
        logging.getLogger(name).warning("a square")
        return np.sum(x**2)

    gradient = grad(logs)
    with caplog.at_level(logging.INFO):
        np.testing.assert_allclose(gradient(V), 2 * V)
    assert 'logger.info("the sum is %.1f", np.sum(x))' in gradient.source
    assert [r.getMessage() for r in caplog.records if r.name.startswith("configurations")] == ["the sum is 6.0", "a square"]


def test_bars_of_progress_are_the_items_that_they_show():
    tqdm = pytest.importorskip("tqdm")

    def loops(x):
        total = 0.0
        for i in tqdm.tqdm(range(len(x)), desc="sums"):
            total = total + x[i] ** 2
        for i in tqdm.trange(2):
            total = total + x[i]
        return total

    check_grads(loops, (V,))


def test_sparse_matrices_are_multiplied():
    sparse = pytest.importorskip("scipy.sparse")
    a = sparse.csr_matrix(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]]))
    weights = np.array([1.0, 10.0])
    for f in (lambda x, a: np.sum(weights * a.dot(x)), lambda x, a: np.sum(weights * (a @ x)), lambda x, b: weights @ a.dot(x)):
        np.testing.assert_allclose(grad(f)(V, a), [1, 32, 40])
    np.testing.assert_allclose(grad(lambda x, a: np.sum(a.multiply(x)) ** 2)(V, a), 2 * np.sum(a.toarray() * V) * a.toarray().sum(axis=0))


@pytest.mark.parametrize(("f", "args", "message"), [
    (lambda x, c: c.sum * np.sum(x), (V, V), r"call it, as in `.sum\(\)`"),
    (lambda x, c: np.sum(c.encode(x)), (V, json.JSONEncoder()), "the method `encode` of an object of the class json.JSONEncoder"),
], ids=["a method without its call", "an active argument"])  # fmt: skip
def test_what_is_refused_is_said_in_terms_of_the_program(f, args, message):
    with pytest.raises(SourceADError, match=message):
        grad(f)(*args)
