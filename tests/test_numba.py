"""`backend="numba"` gives what NumPy mode gives, or says why it cannot."""

import dataclasses
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from sourcead import Numba, grad, value_and_grad
from sourcead.backends.load import load
from sourcead.errors import BackendError

pytest.importorskip("numba")

pytestmark = pytest.mark.sampled(5)



@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """Machine code of these tests goes into a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


RNG = np.random.default_rng(3)
SCALE = np.array([1.0, 2.0, 3.0])


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


def of_a_record(layer, x):
    return np.sum(np.tanh(layer.w @ x + layer.b) ** 2)


def of_nested_dicts(params, x):
    h = np.tanh(x @ params["in"]["w"] + params["in"]["b"])
    return np.mean(h @ params["out"])


def of_a_list(xs):
    total = 0.0
    for i, x in enumerate(xs):
        total = total + (i + 1) * np.sum(x * x)
    return total


def of_a_tuple(pair):
    a, (b, c) = pair
    return a * np.sum(b * c)


def shares_memory_with_itself(x):
    a = x.copy()
    a[::-1] += a
    return np.sum(a * a)


def in_float32(x):
    return np.sum(2.0 * x * x + x / 3 + 1)


def reductions(x):
    z = x - np.max(x, axis=1, keepdims=True)
    e = np.exp(z)
    return np.sum(np.log(e / np.sum(e, axis=1, keepdims=True)) * np.mean(x, axis=0)) + np.var(x)


def four_axes(x):
    y = x * 2.0
    y -= np.mean(x, axis=(0, 3), keepdims=True)
    return np.einsum("abcd,abcd->", y, y)


def integer_subscripts(x, i):
    y = x[i] * x[i, ::-1]
    y[[0, 1]] *= 3.0
    return np.sum(y * y)


def masks(x):
    y = x.copy()
    y[y < 0] = 0.5 * y[y < 0]
    return np.sum(np.where(x > 0.5, y * y, y))


def element_loops(x, n):
    h = 0.1
    for _ in range(n):
        for i in range(len(x)):
            h = np.sin(h) + x[i] * h
    return h


def while_and_break(x):
    y, k = x, 0
    while True:
        y = np.cos(y) * x
        k += 1
        if k > 10 or y > 2:
            break
    return y


def grows_a_list(x):
    states = [x]
    for _ in range(4):
        states.append(np.tanh(states[-1] * 1.5))
    return sum(np.sum(s) for s in states)


def power_of_a_setting(x, settings):
    y = x ** settings["power"]
    return np.sum(y) if settings["name"] == "p" else np.sum(y * x)


def saves_numbers_in_nests(x):
    y = 1.0
    for i in range(len(x)):
        for j in range(i):
            y = np.sin(y * x[j])
            if y > 0.5:
                y = y * y
            for k in range(j, i, 2):
                y = y * np.cos(x[k] * y)
    return y


def leaves_a_long_loop(x):
    y = x
    for i in range(10**12):
        y = np.sin(y) * 1.1
        if i > 4:
            break
    return y


def reads_a_global(x):
    return np.sum(SCALE * x * x)


def normal(*shape):
    return RNG.normal(size=shape)


CASES = {
    "a record": (of_a_record, (Layer(normal(3, 2), normal(3)), normal(2))),
    "nested dicts": (of_nested_dicts, ({"in": {"w": normal(3, 4), "b": normal(4)}, "out": normal(4, 2)}, normal(5, 3))),
    "a list": (of_a_list, ([normal(2), normal(3), normal(2)],)),
    "a tuple": (of_a_tuple, ((2.0, (normal(3), normal(3))),)),
    "memory shared with itself": (shares_memory_with_itself, (normal(5),)),
    "float32": (in_float32, (normal(5).astype(np.float32),)),
    "reductions": (reductions, (normal(4, 3),)),
    "four axes": (four_axes, (normal(2, 3, 2, 4),)),
    "integer subscripts": (integer_subscripts, (normal(5, 3), np.array([0, 2, 2, 4]))),
    "masks": (masks, (normal(7),)),
    "element loops": (element_loops, (normal(4), 3)),
    "while and break": (while_and_break, (1.3,)),
    "a list that grows": (grows_a_list, (normal(3),)),
    "power of a setting": (power_of_a_setting, (abs(normal(3)), {"power": 3, "name": "p"})),
    "numbers saved in nests": (saves_numbers_in_nests, (normal(7),)),
    "a long loop that is left": (leaves_a_long_loop, (0.7,)),
    "a global": (reads_a_global, (normal(3),)),
}


def leaves(x):
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in leaves(v)]
    if isinstance(x, (list, tuple)):
        return [leaf for v in x for leaf in leaves(v)]
    return leaves(list(vars(x).values())) if isinstance(x, Layer) else [x]


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_that_of_numpy_mode(name):
    f, args = CASES[name]
    value, expected = value_and_grad(f)(*args)
    found, got = value_and_grad(f, backend="numba")(*args)
    assert type(got) is type(expected) or isinstance(got, float)
    for a, b in zip([found, *leaves(got)], [value, *leaves(expected)], strict=True):
        single = np.asarray(b).dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-5 if single else 1e-12, atol=1e-14)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def test_loops_save_numbers_in_arrays():
    g = grad(saves_numbers_in_nests, backend="numba")
    text = g.lower(normal(5)).compiled_text
    assert ".append(" not in text and text.count("reserved(") >= 2


def test_arguments_stay_as_they_are():
    x = normal(5)
    before = x.copy()
    grad(shares_memory_with_itself, backend="numba")(x)
    np.testing.assert_array_equal(x, before)


@pytest.mark.compiled
@pytest.mark.parametrize("part", [slice(None, None, 2), slice(None, None, -1)])
def test_any_memory_layout_is_taken(part):
    x, y = normal(8, 6)[:, part], normal(6, 8).T[:, part]
    for a in (x, y):
        np.testing.assert_allclose(grad(reductions, backend="numba")(a), grad(reductions)(a), rtol=1e-12)


def test_a_global_is_read_at_each_call(monkeypatch):
    g = grad(reads_a_global, backend="numba")
    x = normal(3)
    np.testing.assert_allclose(g(x), 2 * SCALE * x)
    SCALE_BEFORE = SCALE.copy()
    SCALE[0] = 5.0
    try:
        np.testing.assert_allclose(g(x), 2 * SCALE * x)
    finally:
        SCALE[:] = SCALE_BEFORE
    monkeypatch.setitem(globals(), "SCALE", np.array([2.0, 2.0, 2.0]))
    np.testing.assert_allclose(g(x), 4 * x)


FACTOR = 2.0


def takes_a_global_on_one_side(x):
    factor = 1.0
    if x > 0:
        factor = FACTOR
    return factor * x


def test_a_global_that_one_arm_yields_is_read_at_each_call(monkeypatch):
    g = grad(takes_a_global_on_one_side, backend="numba")
    assert g(1.0) == 2.0
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert (g(1.0), g(-1.0)) == (3.0, 1.0)


def test_a_subscript_out_of_bounds_is_an_error():
    def beyond(x, i):
        total = 0.0
        for k in range(i):
            total = total + x[k] ** 2
        return total

    with pytest.raises(IndexError):
        grad(beyond, backend="numba")(normal(3), 4)


def text_in_a_loop(x):
    names = []
    for i in range(len(x)):
        names.append({"value": x[i], "name": f"{i}"})
    return sum(n["value"] ** 2 for n in sorted(names, key=lambda n: n["name"]))


def test_what_numba_cannot_compile_is_refused_with_the_line():
    with pytest.raises(BackendError, match=r"test_numba.py:\d+: Numba cannot compile"):
        grad(text_in_a_loop, backend="numba")(normal(3))


def test_a_float_in_a_list_of_integers_is_refused_and_not_cut_off():
    def writes_floats(x):
        found = [0] * len(x)
        for i in range(len(x)):
            found[i] = x[i] ** 2
        return found[0] * found[1]

    x = np.array([1.5, 2.5])
    try:
        got = grad(writes_floats, backend="numba")(x)
    except BackendError as error:
        assert "found[i] = x[i] ** 2" in str(error)
    else:
        np.testing.assert_allclose(got, grad(writes_floats)(x), rtol=1e-12)


def test_an_old_numba_is_an_error_that_says_what_to_install(monkeypatch):
    import numba

    monkeypatch.setattr(numba, "__version__", "0.61.2")
    with pytest.raises(BackendError, match="needs Numba 0.62 or later, and 0.61.2 is installed"):
        grad(lambda x: x * x, backend="numba")(3.0)


def test_a_missing_numba_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(BackendError, match="not installed"):
        grad(lambda x: x * x, backend="numba")(3.0)


def test_auto_falls_back_with_one_warning():
    g, x = grad(text_in_a_loop, backend="auto"), normal(3)
    np.testing.assert_allclose(g(x), 2 * x)  # by NumPy
    with pytest.warns(RuntimeWarning, match="NumPy runs what Numba cannot"):
        np.testing.assert_allclose(g(x), 2 * x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(g(x), 2 * x)


def test_auto_compiles_what_it_can():
    x = normal(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(grad(element_loops, backend="auto")(x, 2), grad(element_loops)(x, 2), rtol=1e-12)


def in_a_new_process(cache, name):
    """The gradient of a case, and how often machine code was found on disk."""
    script = f"""
import numpy as np
from sourcead.backends.numba.internals.kept_code import KeptCode
hits = []
load = KeptCode.load_overload
def counted(self, sig, target):
    found = load(self, sig, target)
    hits.append(found is not None)
    return found
KeptCode.load_overload = counted
from sourcead import grad
from tests.test_numba import CASES
f, args = CASES[{name!r}]
print(repr(np.asarray(grad(f, backend="numba")(*args)).tolist()), sum(hits))
"""
    environment = {**os.environ, "SOURCEAD_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    gradient, hits = done.stdout.rsplit(" ", 1)
    return eval(gradient), int(hits)


def test_machine_code_is_found_on_disk_by_the_next_process(tmp_path):
    first, none = in_a_new_process(tmp_path, "element loops")
    second, hits = in_a_new_process(tmp_path, "element loops")
    assert (none, hits) == (0, 1)
    assert first == second


@pytest.mark.compiled
def test_what_the_interpreter_takes_part_in_is_right_in_the_next_process_too(tmp_path):
    first, none = in_a_new_process(tmp_path, "four axes")
    second, hits = in_a_new_process(tmp_path, "four axes")
    assert (none, hits) == (0, 1)
    assert first == second


@pytest.mark.compiled
def test_machine_code_of_a_function_with_a_long_name_is_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path))
    f = load(f"def {'f' * 248}(x):\n    return 2.0 * x\n", "f" * 248, {})
    assert grad(f, backend="numba")(3.0) == 2.0
    assert any((tmp_path / "machine-code").iterdir())


@pytest.mark.compiled
@pytest.mark.parametrize("options", [{"fastmath": True}, {"boundscheck": False}, {"cache": False}])
def test_options_leave_the_gradient_right(options):
    x = normal(4, 3)
    np.testing.assert_allclose(grad(reductions, backend=Numba(**options))(x), grad(reductions)(x), rtol=1e-9)


def smoothed(a, n):
    for _ in range(n):
        a[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:] = np.tanh(a[1:])
    return np.sum(a**2)


def test_notes_say_what_numba_does_otherwise():
    notes = grad(smoothed, backend="numba").lower(np.linspace(0.0, 1.0, 9), 3).notes
    first = smoothed.__code__.co_firstlineno
    assert any(note.startswith(f"under Numba, statements (lines {first + 2}, {first + 3}) on parts of arrays are loops") for note in notes)
    assert f"under Numba, functions of whole arrays run NumPy's own loops: tanh (line {first + 3})" in notes
    assert not any("Numba" in note for note in grad(smoothed).lower(np.linspace(0.0, 1.0, 9), 3).notes)
