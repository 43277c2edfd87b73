"""The source of a function is the text that compiles to its code, wherever that stands now."""

import functools
import importlib
import linecache
import os
import re
import sys
import types

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import NoSourceError
from sourcead.frontend.find_source import find_source


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a module and returns it, imported; a further call writes it anew, as an editor does, and returns the old one."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    times = iter(range(1_000_000_000, 2_000_000_000, 100))

    def write(text, name="found_module"):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        os.utime(path, (next(times),) * 2)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield write
    for name in [name for name, module in sys.modules.items() if str(getattr(module, "__file__", "")).startswith(str(tmp_path))]:
        del sys.modules[name]


FUNCTIONS = {
    "a function": ("def f(x):\n    return 2 * x\n", lambda m: m.f),
    "a function with a decorator": (
        "def twice(g):\n    return lambda x: 2 * g(x)\n@twice\ndef f(x):\n    return x\n",
        lambda m: m.f,
    ),
    "a method with private names": (
        "class C:\n    def __init__(self):\n        self.__k = 2.0\n    def f(self, x):\n        return self.__k * x\n",
        lambda m: m.C().f,
    ),
    "a method that calls its base": (
        "class B:\n    def f(self, x):\n        return x\nclass C(B):\n    def f(self, x):\n        return 2 * super().f(x)\n",
        lambda m: m.C().f,
    ),
    "a closure": ("def outer(k):\n    def f(x):\n        return k * x\n    return f\n", lambda m: m.outer(2.0)),
    "a default": ("def f(x, k=2.0, *, n=1.0):\n    def g(z, k=3):\n        return z * k / 3\n    return g(k * n * x)\n", lambda m: m.f),
    "the second lambda on a line": ("f, g = (lambda x: 3 * x), (lambda x: 2 * x)\n", lambda m: m.g),
    "the second of two equal lambdas": ("f, g = (lambda x: 2 * x), (lambda x: 2 * x)\n", lambda m: m.g),
    "a lambda over several lines": ("f = [1, lambda x: (\n    2\n    * x\n)]\n", lambda m: m.f[1]),
    "constants that are folded": ("def f(x):\n    return (3 - 1) * x * (2 ** 3 / 8) if 'a' 'b' in ('ab', 'c') else x\n", lambda m: m.f),
    "annotations": ("from __future__ import annotations\ndef f(x: float) -> no.name:\n    k: int = 2\n    return k * x\n", lambda m: m.f),
    "statements that do nothing": (
        "def f(x):\n    '''Text.'''\n    try:\n        pass\n    except ValueError:\n        pass\n"
        "    while False:\n        pass\n    if 0: x = 1\n    assert x > 0\n    return 2 * x\n",
        lambda m: m.f,
    ),
    "an import in a function": (
        "def f(x):\n    try:\n        import nothing\n    except ImportError:\n        pass\n    return 2 * x\n",
        lambda m: m.f,
    ),
    "guarded imports": (
        "import contextlib\ntry:\n    import math\nexcept ImportError:\n    math = None\nwith contextlib.nullcontext():\n    import cmath\n"
        "if True:\n    import math as m2\n    def f(x):\n        return 2 * math.exp(m2.log(x)) + 0 * cmath.pi\n",
        lambda m: m.f,
    ),
}  # fmt: skip


@pytest.fixture(params=FUNCTIONS)
def case(request):
    return FUNCTIONS[request.param]


def test_a_function_is_found(written, case):
    text, get = case
    assert grad(get(written(text)))(1.0) == 2.0


def test_a_function_that_was_moved_is_found_where_it_stands_now(written, case):
    text, get = case
    f = get(written(text))
    written("# a line\n\n" + text)
    assert grad(f)(1.0) == 2.0
    assert find_source(f).lines[:2] == ["# a line\n", "\n"]


def test_a_function_that_was_changed_is_refused(written, case):
    text, get = case
    f = get(written(text))
    written(re.sub(r"\bx\b", "other", text))
    with pytest.raises(NoSourceError, match="edited after it was imported") as caught:
        grad(f)(1.0)
    assert "importlib.reload" in str(caught.value)


@pytest.mark.parametrize("before, after", [("2.0 * x", "2 * x"), ("0.0 * x", "-0.0 * x"), ("x * y", "y * x"), ("abs(x)", "max(x)")])
def test_a_small_change_is_refused(written, before, after):
    f = written(f"def f(x, y=1.0):\n    return {before}\n").f
    written(f"def f(x, y=1.0):\n    return {after}\n")
    with pytest.raises(NoSourceError):
        find_source(f)


def test_a_function_that_was_copied_is_the_nearest_copy(written):
    one = "def f(x):\n    return 2 * x\n"
    f = written("\n" * 10 + one).f
    written(one + "\n" * 10 + one)
    assert find_source(f).node.lineno == 13


def test_a_function_that_changed_its_module_level_for_a_class_is_found(written):
    f = written("def f(x):\n    return 2 * x\n").f
    written("class C:\n    def f(x):\n        return 2 * x\n")
    assert find_source(f).node.col_offset == 4


def test_a_file_that_no_longer_parses_is_refused(written):
    f = written("def f(x):\n    return 2 * x\n").f
    path, text = f.__code__.co_filename, "def f(x:\n"
    with open(path, "w") as file:
        file.write(text)
    with pytest.raises(NoSourceError, match="line 1 of .*does not parse as Python: .*\n.*complete the edit or undo it"):
        find_source(f)


def test_a_change_beside_what_ast_cannot_write_is_refused(written):
    long = "def long(x):\n    return " + " + ".join(["x"] * 2000) + "\n"
    f = written("def f(x):\n    return 2 * x\n" + long).f
    written("def f(x):\n    return 3 * x\n" + long)
    with pytest.raises(NoSourceError, match="edited after it was imported"):
        find_source(f)
    assert grad(written("def f(x):\n    return 3 * x\n" + long, "another_module").f)(1.0) == 3.0


def test_a_function_that_another_calls_says_why_it_has_no_source(written):
    f = written("def f(x):\n    return 2 * x\n").f
    written("def f(x):\n    return 3 * x\n")
    with pytest.raises(NoSourceError, match="edited after it was imported") as caught:
        grad(lambda x: f(x) * 2)(1.0)
    assert "@adjoint(f)" in str(caught.value) and "importlib.reload" in str(caught.value) and "^" in str(caught.value)


def test_a_saved_module_holds_the_text_of_a_moved_function(written, tmp_path):
    module = written("def f(k):\n    return 2 * k\n\ndef g(x, k=3):\n    return x * [f][0](k)\n")
    written("def other(k):\n    return 5 * k\n\ndef f(k):\n    return 2 * k\n\ndef g(x, k=3):\n    return x * [f][0](k)\n")
    assert find_source(module.f).text == "def f(k):\n    return 2 * k"


def test_private_names_of_a_class_are_what_python_calls_them(written):
    module = written("""
class _Inner:
    class __Part:
        def __init__(self, v):
            self.__v = v

        def value(self):
            return self.__v

    def __scaled(self, __x, __by=2.0):
        __kept = __x
        def __local():
            return __kept * __by
        return __local()

    def f(self, x):
        return self.__scaled(x, 3.0) + self.__Part(x).value()

def f(x):
    return _Inner().f(x)
""")
    assert module.f(2.0) == 8.0
    assert (grad(module._Inner().f)(2.0), grad(module.f)(2.0)) == (4.0, 4.0)


def test_lines_end_where_python_ends_them(written):
    f = written("MARK = '\\f'\n# \x0c \u2028 \x1c a comment\n\x0c\ndef f(x):\n    return 2 * x\n").f
    assert find_source(f).text == "def f(x):\n    return 2 * x"


@pytest.mark.parametrize("changed", ["__code__", "__defaults__", "__kwdefaults__"])
def test_derivatives_follow_a_function_that_is_changed_in_place(changed):
    def f(x, k=2.0, *, n=1.0):
        return k * n * x

    def other(x, k=3.0, *, n=2.0):
        return 5 * k * n * x

    derivative, of_caller, second = grad(f), grad(lambda x: f(x) * 10), grad(lambda x: grad(f)(x) * x)
    assert (derivative(1.0), of_caller(1.0), second(1.0)) == (2.0, 20.0, 2.0)
    setattr(f, changed, getattr(other, changed))
    slope = f(1.0)
    assert (derivative(1.0), of_caller(1.0), second(1.0)) == (slope, 10 * slope, slope) and slope != 2.0
    assert derivative.lower(1.0).text == derivative.source


def test_a_module_in_a_zip_file(tmp_path, monkeypatch):
    import zipfile

    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as file:
        file.writestr("zipped_module.py", "import numpy as np\ndef f(x):\n    return np.sum(2 * x)\n")
    monkeypatch.syspath_prepend(tmp_path / "zipped.zip")
    module = importlib.import_module("zipped_module")
    del sys.modules["zipped_module"]
    assert grad(module.f)(1.0) == 2.0


def test_a_module_without_its_py_file_is_refused(written, tmp_path):
    f = written("def f(x):\n    return 2 * x\n").f
    os.remove(f.__code__.co_filename)
    with pytest.raises(NoSourceError, match="cannot be read\n.*install the package with its .py files"):
        grad(f)(1.0)


def test_wrappers_and_partials_are_what_is_differentiated(written):
    module = written(
        "import functools\ndef tripled(f):\n    @functools.wraps(f)\n    def wrapper(*args):\n        return 3 * f(*args)\n"
        "    return wrapper\n@tripled\ndef f(x, k=2.0):\n    return k * x\n"
    )  # fmt: skip
    assert (grad(module.f)(1.0), grad(module.f.__wrapped__)(1.0)) == (6.0, 2.0)
    assert grad(functools.partial(module.f.__wrapped__, k=5.0))(1.0) == 5.0


def test_a_text_of_another_name_in_linecache_is_found():
    text = "import math\ndef f(x):\n    return math.exp(x) * 2\n"
    linecache.cache["<typed 1>"] = len(text), None, text.splitlines(True), "<typed 1>"
    namespace = {}
    for statement in compile(text, "<typed 1>", "exec", 0x400).body:  # as prompts do
        exec(compile(__import__("ast").Module([statement], []), "<typed 1>", "exec"), namespace)
    assert isinstance(namespace["f"], types.FunctionType) and grad(namespace["f"])(0.0) == np.float64(2.0)


def test_the_time_to_find_nested_lambdas_does_not_double_with_each_level(written):
    nested = "x"
    for k in range(40):
        nested = f"(lambda a{k}: np.sin({nested}) + a{k})(x)"
    f = written(f"import numpy as np\ndef f(x):\n    return {nested}\n").f
    assert find_source(f).node.name == "f"
