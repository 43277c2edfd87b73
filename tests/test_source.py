import functools
import importlib
import linecache
import os
import sys

import gast
import numpy as np
import pytest

from sourcead.backends.load import load
from sourcead.errors import NoSourceError, SourceADError
from sourcead.frontend.find_source import find_source, unwrap


def decorated(*args, **kwargs):
    return lambda f: f


@decorated(
    1,
    wrt=("w", "u"),
)
def plain(x, y=2.0):
    for _ in range(3):  # three times
        x = (x
             + y)  # fmt: skip
    return x


def around(k):
    def inner(x):
        return [x * k for _ in range(3)]

    return inner


def doubling(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2 * f(*args, **kwargs)

    return wrapper


@doubling
def wrapped(x):
    return x


class Model:
    def __init__(self):
        self.__k = 2.0

    def method(self, x):
        return self.__k * x

    def __call__(self, x):
        return super().__repr__() and x


first, second, third = lambda x: x + 1, lambda x: x + 2, lambda x: lambda y: y + x
twice, again = (lambda x: x), (lambda x: x)


def text_of(f):
    source = find_source(f)
    return gast.unparse(source.node) if hasattr(gast, "unparse") else gast.dump(source.node)


def test_decorators_of_several_lines_stand_above_the_function():
    source = find_source(plain)
    assert isinstance(source.node, gast.FunctionDef)
    assert source.lines[source.node.lineno - 1].startswith("def plain")
    assert source.file == __file__
    assert source.defaults == {"y": 2.0}


def test_nested_function_has_its_closure():
    source = find_source(around(5))
    assert {name: cell.cell_contents for name, cell in source.closure.items()} == {"k": 5}


def test_globals_are_those_of_the_module():
    assert find_source(plain).globals is globals()


@pytest.mark.parametrize("f, constant", [(first, 1), (second, 2)])
def test_lambda_is_told_from_others_on_its_line(f, constant):
    assert find_source(f).node.body.right.value == constant


def test_lambda_in_a_lambda():
    assert find_source(third).node.args.args[0].id == "x"
    assert find_source(third(1.0)).node.args.args[0].id == "y"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no columns before Python 3.11")
def test_equal_lambdas_on_a_line_are_told_by_their_columns():
    assert find_source(twice).node.col_offset < find_source(again).node.col_offset


def test_lambdas_that_differ_in_what_they_close_over():
    k = 3
    f, g = (lambda x: x * k), (lambda x: k * x)
    assert isinstance(find_source(f).node.body.left, gast.Name) and find_source(f).node.body.left.id == "x"
    assert find_source(g).node.body.left.id == "k"


def test_wrapper_of_a_decorator_is_not_passed_over():
    assert find_source(wrapped).name == "wrapper"


def test_method_gives_function_and_instance():
    model = Model()
    assert find_source(model.method).name == "method"
    assert unwrap(model.method)[1] == (model,)


def test_object_with_call_gives_its_method():
    model = Model()
    assert find_source(model).name == "__call__"
    assert unwrap(model) == (Model.__call__, (model,), {})


def test_partial_gives_the_arguments_it_binds():
    inner = functools.partial(plain, 1.0)
    assert unwrap(functools.partial(inner, y=3.0)) == (plain, (1.0,), {"y": 3.0})


def test_cached_function_is_its_function():
    assert unwrap(functools.lru_cache(plain))[0] is plain


def test_numba_function_is_its_python_function():
    numba = pytest.importorskip("numba")
    assert unwrap(numba.njit(plain))[0] is plain


def test_loaded_text_is_found():
    f = load("def f(x):\n    return x + 1\n", "f", {})
    assert find_source(f).node.body[0].lineno == 2


def test_origin_of_a_statement_is_its_text_dedented():
    source = find_source(plain)
    loop = source.node.body[0]
    origin = source.origin(loop.body[0])
    assert origin.text == "x = (x\n     + y)"
    assert linecache.getline(origin.file, origin.line)[origin.col :].startswith("x = (x")


def test_origin_of_a_loop_is_its_first_line():
    source = find_source(plain)
    origin = source.origin(source.node.body[0])
    assert origin.text == "for _ in range(3):"
    assert (origin.end_line, origin.end_col) == (origin.line, origin.col + len(origin.text))


@pytest.mark.parametrize("f", [len, np.sin, np.dot, int, "".join], ids=lambda f: f.__name__)
def test_what_has_no_python_source_is_refused(f):
    with pytest.raises(NoSourceError, match="What to do"):
        find_source(f)


def test_what_is_no_function_is_refused():
    with pytest.raises(SourceADError, match="not a function"):
        find_source(3.0)


def test_exec_without_text_is_refused():
    namespace = {}
    exec("def f(x): return x", namespace)
    with pytest.raises(NoSourceError, match="not kept"):
        find_source(namespace["f"])


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes and imports a module; a second call writes it anew without importing."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    times = iter(range(1_000_000_000, 2_000_000_000, 100))

    def write(text):
        path = tmp_path / "written_module.py"
        path.write_text(text)
        os.utime(path, (next(times),) * 2)
        importlib.invalidate_caches()

    yield write
    sys.modules.pop("written_module", None)


def test_file_edited_after_import_is_refused(module):
    module("def f(x):\n    return x\n")
    f = importlib.import_module("written_module").f
    module("def f(x):\n    return 2 * x\n")
    with pytest.raises(NoSourceError, match="edited"):
        find_source(f)


def test_edited_file_is_found_again_after_reload(module):
    module("def f(x):\n    return x\n")
    loaded = importlib.import_module("written_module")
    assert text_of(loaded.f)
    module("def f(x):\n    return 3 * x\n")
    importlib.reload(loaded)
    assert find_source(loaded.f).node.body[0].value.left.value == 3


def test_text_read_before_the_edit_is_still_what_runs(module):
    module("def f(x):\n    return x\n")
    f = importlib.import_module("written_module").f
    linecache.getlines(f.__code__.co_filename)
    module("def f(x):\n    return 2 * x\n")
    assert isinstance(find_source(f).node.body[0].value, gast.Name)


def test_function_with_assertions_rewritten_by_pytest_is_found():
    def checked(x):
        assert x > 0, "positive"
        return x

    assert find_source(checked).name == "checked"


def test_function_inside_with_a_constant_default_is_found():
    def outer(x):
        def inner(u, n=3):
            return u * n

        double, treble = (lambda u, n=2: u * n), (lambda u, n=3: u * n)
        return inner(x) + double(x) * treble(x)

    assert find_source(outer).name == "outer"
