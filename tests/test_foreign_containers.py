"""Dicts of classes of their own, mappings that are no dicts, and data frames: right, or refused with what to write."""

import collections
import collections.abc
import types

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError, UnsupportedValueError, WrtError

pytestmark = pytest.mark.sampled(3)


class Attributes(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Tenfold(dict):
    def __getitem__(self, key):
        return dict.__getitem__(self, key) * 10


class Config(collections.abc.Mapping):
    """What `omegaconf.DictConfig` is like: its methods are code of a library, which is not looked into."""

    __module__ = "omegaconf.dictconfig"

    def __init__(self, values):
        self.__dict__["_content"] = values

    def __getattr__(self, name):
        return self.__dict__["_content"][name]

    def __getitem__(self, key):
        return self.__dict__["_content"][key]

    def __iter__(self):
        return iter(self.__dict__["_content"])

    def __len__(self):
        return len(self.__dict__["_content"])


VALUES = {"w": 2.0, "b": 3.0}
DICTS = [Attributes(VALUES), collections.OrderedDict(VALUES), collections.Counter(w=2, b=3), collections.defaultdict(float, VALUES)]
MAPPINGS = [types.MappingProxyType(VALUES), collections.UserDict(VALUES), collections.ChainMap(VALUES, {"c": 1.0}), Config(VALUES)]
UNREAD = [m for m in MAPPINGS if not isinstance(m, collections.UserDict)]  # the class of which is not lowered by its source
TENFOLD = Tenfold(VALUES)
READS = {
    "subscript": lambda m, x: m["w"] * x**2,
    "get": lambda m, x: m.get("w") * m.get("other", 1.0) * x**2,
    "length": lambda m, x: len(m) * x,
    "in": lambda m, x: x**2 if "w" in m else x,
}
WALKS = {
    "items": lambda m, x: sum(v * x for _, v in m.items()),
    "values": lambda m, x: sum(m.values()) * x,
    "keys": lambda m, x: sum(m[k] * x for k in m.keys()),  # noqa: SIM118
    "for": lambda m, x: sum(m[k] * x for k in m),
    "dict": lambda m, x: dict(m)["w"] * x,
}


def places(f, m):
    """The function with the mapping as a closure variable, an attribute, an item and an argument."""
    holder, items = types.SimpleNamespace(m=m), [{"m": m}]
    return {
        "closure": lambda x: f(m, x),
        "attribute": lambda x: f(holder.m, x),
        "item": lambda x: f(items[0]["m"], x),
    }


def agree(f):
    np.testing.assert_allclose(grad(f)(1.5), (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("m", DICTS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("name", [*READS, *WALKS])
def test_classes_of_dicts_are_read_as_dicts(m, name):
    for f in places({**READS, **WALKS}[name], m).values():
        agree(f)


@pytest.mark.parametrize("m", MAPPINGS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("name", READS)
def test_mappings_that_are_no_dicts_are_read_by_key(m, name):
    for f in places(READS[name], m).values():
        agree(f)
    f = READS[name]
    assert grad(lambda x, m: f(m, x))(1.5, m) == grad(lambda x: f(m, x))(1.5)


@pytest.mark.parametrize("name", ["items", "values", "keys", "for"])
def test_a_walk_through_a_dict_of_the_user_s_classes_is_what_its_source_says(name):
    for f in places(WALKS[name], collections.UserDict(VALUES)).values():
        agree(f)
    assert grad(lambda p: p["w"] ** 2)(collections.UserDict(VALUES)) == {"w": 4.0, "b": 0.0}


@pytest.mark.parametrize("m", UNREAD, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("name", WALKS)
def test_a_walk_through_a_mapping_that_is_no_dict_is_refused(m, name):
    for f in places(WALKS[name], m).values():
        with pytest.raises(SourceADError, match=r"one by one(.|\n)*which `dict\(...\)` makes of it outside"):
            grad(f)(1.5)


@pytest.mark.parametrize("m", UNREAD, ids=lambda m: type(m).__name__)
def test_a_mapping_that_is_no_dict_carries_no_derivative(m):
    if isinstance(m, collections.ChainMap):
        assert grad(lambda p: p["w"] ** 2)(m)["w"] == 2 * m["w"]
    else:
        with pytest.raises(WrtError, match=r"`dict\(p\)`"):
            grad(lambda p: p["w"] ** 2)(m)
    with pytest.raises(WrtError, match=r"`p\['m'\]` in wrt is a (.|\n)*`dict\(p\['m'\]\)`"):
        grad(lambda p: p["m"]["w"] ** 2 * p["x"])({"m": m, "x": 1.0})


def test_attributes_of_a_configuration_of_a_library():
    agree(lambda x: MAPPINGS[-1].w * x**2)


def test_attributes_of_a_dict_are_items_if_its_class_says_so_and_else_refused_with_the_subscript():
    agree(lambda x: DICTS[0].w * x)
    with pytest.raises(SourceADError, match=r"`.w` is no attribute of a dict(.|\n)*a subscript, `\['w'\]`"):
        grad(lambda x, p: p.w * x)(1.0, dict(DICTS[0]))


@pytest.mark.parametrize("name", [*READS, *WALKS])
def test_a_dict_whose_class_reads_its_items_in_a_way_of_its_own_is_refused(name):
    for f in places({**READS, **WALKS}[name], TENFOLD).values():
        with pytest.raises(SourceADError, match=r"is a Tenfold, a dict whose class has a `__getitem__` of its own(.|\n)*`dict\("):
            grad(f, verify=False)(1.5)
    with pytest.raises(UnsupportedValueError, match="Tenfold"):
        grad(lambda x, m: m["w"] * x)(1.5, TENFOLD)


def test_a_class_of_dicts_that_is_called_inside_is_refused_with_what_to_write():
    with pytest.raises(SourceADError, match=r"`.*\(...\)` holds what is differentiated(.|\n)*`dict\(...\)`"):
        grad(lambda x: Attributes({"w": x})["w"])(1.0)


@pytest.mark.parametrize("cls", [collections.UserDict, collections.Counter])
def test_a_class_of_dicts_of_the_standard_library_that_is_called_inside_does_what_it_does(cls):
    np.testing.assert_allclose(grad(lambda x: cls({"w": x})["w"] ** 2)(1.5), 3.0)


def test_a_class_of_dicts_that_is_called_inside_does_what_its_methods_say():
    np.testing.assert_allclose(grad(lambda x: Tenfold({"w": x**2})["w"])(1.5), 30)


class Frame:
    """What is asked of a data frame or a series of pandas."""

    __module__ = "pandas"

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


FRAME = Frame()


@pytest.mark.parametrize("f", [lambda x: np.sum(np.asarray(FRAME) * x), lambda x: np.sum(FRAME.values * x)], ids=["converted", "attribute"])
def test_where_a_data_frame_is_to_be_converted_is_said(f):
    with pytest.raises(UnsupportedValueError, match=r"Write instead: `np.asarray\(FRAME\)`, made outside of your function"):
        grad(f)(1.0)
    with pytest.raises(UnsupportedValueError, match=r"Write instead: `np.asarray\(p\['data'\]\)`$"):
        grad(lambda x, p: x)(1.0, {"data": FRAME})
