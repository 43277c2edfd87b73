import copy
import linecache
import pickle

import numpy as np
import pytest
from scipy import stats

from sourcead import errors, grad, value_and_grad
from sourcead.errors import ArgumentError, NonScalarError, NoRuleError, SourceADError, UnsupportedSyntaxError
from sourcead.ir.nodes import Origin
from sourcead.places.spelling import spelled

CLASSES = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, SourceADError)]


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Writes text to model.py in the working directory and returns its path."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = tmp_path / "model.py"
        path.write_text(text, encoding="utf-8")
        linecache.checkcache(str(path))
        return str(path)

    return write


def test_message_shows_file_line_reason_source_caret_and_what_to_write(file):
    at = Origin(file("def f(x):\n    return  x @ x\n"), 2, 12, 2, 17, "x @ x")
    assert str(SourceADError("no such product", at, "`x * x`")).splitlines() == [
        "model.py:2: no such product",
        "    return  x @ x",
        "            ^^^^^",
        "Write instead: `x * x`",
    ]


def test_carets_stand_under_the_columns_after_letters_of_several_bytes(file):
    line = 'y = "é→" + f(x)'
    start = len(line[:11].encode())
    at = Origin(file(line + "\n"), 1, start, 1, start + 4, "f(x)")
    shown, carets = str(SourceADError("why", at)).splitlines()[1:]
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "f(x)"


def test_carets_keep_tabs(file):
    at = Origin(file("\tif x:\ty = z\n"), 1, 11, 1, 12, "z")
    assert str(SourceADError("why", at)).splitlines()[2] == "    " + "     \t    ^"


def test_carets_of_a_statement_of_several_lines_end_with_the_first(file):
    at = Origin(file("y = f(a,\n      b)\n"), 1, 4, 2, 8, "f(a,\n  b)")
    assert str(SourceADError("why", at)).splitlines()[1:] == ["    y = f(a,", "        ^^^^"]


def test_text_of_the_statement_is_shown_when_the_file_is_gone():
    at = Origin("/nowhere/model.py", 7, 4, 7, 9, "x @ x")
    assert str(SourceADError("why", at)).splitlines() == ["/nowhere/model.py:7: why", "    x @ x"]


def test_text_of_the_statement_is_shown_when_the_line_is_another_now(file):
    at = Origin(file("something = else_entirely\n"), 1, 0, 1, 5, "x @ x")
    assert str(SourceADError("why", at)).splitlines()[1] == "    x @ x"


def test_hint_of_several_lines_is_indented_below():
    assert str(SourceADError("why", None, "a = 1\nb = 2")) == "why\nWrite instead:\n    a = 1\n    b = 2"


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("renewed", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy], ids=["pickle", "copy"])
def test_error_survives(cls, renewed):
    error = cls("why", Origin("/nowhere/model.py", 7, 4, 7, 9, "x @ x"), "y")
    again = renewed(error)
    assert type(again) is cls
    assert str(again) == str(error)
    assert again.at == error.at


@pytest.mark.parametrize("cls", [c for c in CLASSES if c is not SourceADError], ids=lambda c: c.__name__)
def test_class_says_what_fails_and_how_to_mend_it(cls):
    assert "Fails::" in cls.__doc__
    assert "Mended" in cls.__doc__


@pytest.mark.parametrize(
    "function, name",
    [
        (np.tanh, "np.tanh"),
        (np.linalg.svd, "np.linalg.svd"),
        (np.sum, "np.sum"),
        (np.fft.fft, "np.fft.fft"),
        (len, "len"),
    ],
)
def test_functions_are_spelled_as_users_write_them(function, name):
    assert spelled(function) == name


def test_missing_rule_names_the_function_and_shows_how_to_register_one():
    message = str(NoRuleError.of(np.linalg.svd))
    assert "np.linalg.svd" in message.splitlines()[0]
    assert "@adjoint(np.linalg.svd)" in message


def test_every_class_is_documented():
    from pathlib import Path

    text = (Path(__file__).parent.parent / "docs" / "errors.md").read_text()
    assert [c.__name__ for c in CLASSES if c is not SourceADError and f"## {c.__name__}" not in text] == []


def test_error_with_place_is_caught_as_its_base():
    with pytest.raises(SourceADError):
        raise UnsupportedSyntaxError("why")


def scaled(x, by, *, more=0.0):
    return x * by + more


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: scaled(x), "`scaled` is not given the argument `by`"),
        (lambda x: scaled(x, 2.0, 3.0), "`scaled` takes 2 positional arguments, and 3 are given"),
        (lambda x: scaled(x, 2.0, less=1.0), "`scaled` is given the argument `less`, which it does not take"),
        (lambda x: scaled(x, 2.0, by=1.0), "`scaled` is given the argument `by`, more than once"),
    ],
)
def test_call_that_does_not_fit_is_refused_where_it_stands(call, message):
    with pytest.raises(ArgumentError, match=f"test_errors.py:[0-9]+: {message}"):
        grad(call)(3.0)
    with pytest.raises(TypeError):
        call(3.0)


def only_if_positive(x):
    if x > 0:
        return x * x


def only_if_found(x):
    for i in range(3):
        if i > x:
            return x * i


def result_that_is_read_before(x):
    y = only_if_positive(x)
    assert y is None or y * 2 > y
    return y


def none_from_a_loop(x):
    t = 0.0
    for k in range(3):
        t += k * x
        if t > 5:
            return None
    return t


def none_or_a_number_from_a_loop(x):
    t = x
    for k in range(3):
        t = t * x
        if t < -5:
            return None
        if t > 5:
            return t
    if x > 0:
        return t * 2


@pytest.mark.parametrize(
    "function, x, gradient",
    [
        (only_if_positive, 2.0, 4.0), (only_if_found, 1.5, 2.0), (result_that_is_read_before, 2.0, 4.0), (none_from_a_loop, 1.5, 3.0),
        (none_or_a_number_from_a_loop, 2.0, 12.0), (none_or_a_number_from_a_loop, 1.0, 8.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=pytest.mark.compiled)])
def test_path_that_returns_none_raises(function, x, gradient, backend):
    assert grad(function, backend=backend)(x) == gradient
    assert value_and_grad(function, backend=backend)(x) == (function(x), gradient)
    for missing in (-2.0, 4.0):
        if function(missing) is None:
            with pytest.raises(TypeError, match=f"`{function.__name__}` returns None for these arguments"):
                grad(function, backend=backend)(missing)


@pytest.mark.parametrize("more", [lambda y: y, lambda y: [1.0, (y,)]])
def test_value_that_is_none_raises_beside_an_auxiliary_result(more):
    def with_more(x):
        y = only_if_positive(x)
        return y, more(y)

    assert value_and_grad(with_more, has_aux=True)(2.0) == ((4.0, more(4.0)), 4.0)
    with pytest.raises(TypeError, match="`with_more` returns None for these arguments"):
        value_and_grad(with_more, has_aux=True)(-2.0)


def test_none_that_a_helper_returns_from_a_loop_is_a_value():
    def first_large(x):
        for v in x:
            if v > 2:
                return v

    def f(x):
        y = first_large(x)
        return np.sum(x) if y is None else y * y

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 3.0])), [0.0, 6.0])
    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [1.0, 1.0])


def pieces(x):
    if x < 0:
        return x * x
    elif x < 1:
        return x**3
    elif x >= 1:
        return np.sin(x)


def test_the_path_that_raises_has_no_reverse_sweep():
    derivative = grad(pieces)
    assert [derivative(x) for x in (-2.0, 0.5, 3.0)] == pytest.approx([-4.0, 0.75, np.cos(3.0)])
    assert derivative.source.count("else:") == 1
    with pytest.raises(NonScalarError, match=r"def pieces(.|\n)*Write instead: end each path with `return`"):
        derivative(float("nan"))


def test_function_that_raises_on_one_path_is_not_refused():
    def inverse(x):
        if x > 0:
            return 1.0 / x
        raise ValueError("not positive")

    assert grad(inverse)(2.0) == -0.25
    with pytest.raises(ValueError, match="not positive"):
        grad(inverse)(-2.0)


def test_the_error_for_a_method_of_a_library_names_the_call():
    def f(p):
        return stats.skewnorm.logpdf(1.2, p)

    with pytest.raises(NoRuleError, match="no derivative rule for `stats.skewnorm.logpdf`\n") as caught:
        grad(f)(1.5)
    assert caught.value.instead.startswith("its formula; or `sourcead.opaque(stats.skewnorm.logpdf)`")
