"""Single names, keys and texts from outside that once became code, were read as others, or broke the compiler."""

import ast
import linecache
import runpy
import sys
import types

import numpy as np
import pytest

from sourcead import grad, jacobian, jvp, vjp
from sourcead.backends.save import standalone
from sourcead.compile.assertions import checked
from sourcead.emit.text.printing import to_text
from sourcead.errors import UnsupportedValueError
from sourcead.ir.types import Array

pytestmark = pytest.mark.sampled(2)

X = np.array([[1.0, 2.0], [3.0, 4.0]])


def defined(text, name="f", file="<model>", **space):
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec", dont_inherit=True), space)
    return space[name]


def saved(gradient, folder):
    """The function in the module that is saved."""
    gradient.save(folder / "saved.py")
    (function,) = (f for name, f in runpy.run_path(str(folder / "saved.py")).items() if name.endswith("_grad"))
    return function


PARTS = ["print()", "w[print()]", "learning rate", "'", "a'b\"c\"\"\"d", "{print()}", "#", "\\", "\n", "ﬁ", "class"]


@pytest.mark.parametrize("name", PARTS)
def test_saved_modules_take_parts_by_any_name(name, tmp_path, capfd):
    record = types.SimpleNamespace(**{name: X})
    gradient = grad(lambda p: np.sum(getattr(p, name) ** 2))
    gradient(record)
    assert np.all(vars(saved(gradient, tmp_path)(record))[name] == 2 * X)
    gradient = grad(lambda p: np.sum(p[name] ** 2))
    gradient({name: X})
    again = saved(gradient, tmp_path)
    assert np.all(again({name: X})[name] == 2 * X) and capfd.readouterr().out == ""
    with pytest.raises(AssertionError, match="made for other (types|shapes)"):
        again({name: X[0]})


@pytest.mark.parametrize("parameter", ["np", "len", "getattr", "type", "sad_key", "sad_table", "slice", "zip", "all"])
def test_parameters_may_have_the_names_that_the_text_uses(parameter, tmp_path):
    text = f"def f({parameter}, k):\n    return xp.sum({parameter}['w'][0:2] ** 2) * k['a b']\n"
    gradient = grad(defined(text, xp=np))
    args = {"w": X}, {"a b": 3.0}
    assert np.all(gradient(*args)["w"] == 6 * X) and np.all(saved(gradient, tmp_path)(*args)["w"] == 6 * X)


def test_locals_may_have_the_names_that_the_saved_module_uses(tmp_path):
    gradient = grad(defined("def f(p):\n    len = p['w'] * 2.0\n    np = len * len\n    return xp.sum(np)\n", xp=np))
    assert np.all(gradient({"w": X})["w"] == 8 * X) and np.all(saved(gradient, tmp_path)({"w": X})["w"] == 8 * X)


@pytest.mark.parametrize("name, read_as", [("ﬁ", "fi"), ("ſ", "s"), ("𝐱", "x"), ("µ", "μ")])
def test_names_that_python_reads_as_others_are_kept(name, read_as):
    record = types.SimpleNamespace(**{name: 2.0, read_as: 5.0})
    gradient = grad(lambda p: getattr(p, name) ** 2 + getattr(p, read_as) * 3.0)(record)
    assert vars(gradient) == {name: 4.0, read_as: 3.0}


@pytest.mark.parametrize("name", ["__debug__", "cls", "self", "x²", "½"])
def test_attributes_of_any_name_have_derivatives(name):
    record = types.SimpleNamespace(**{name: 2.0})
    assert vars(grad(lambda p: getattr(p, name) ** 2)(record)) == {name: 4.0}


@pytest.mark.parametrize("name", ["learning rate", "x)", "²"])
def test_parts_with_any_name_are_added_to(name):
    layers = [types.SimpleNamespace(**{name: X * k}) for k in range(3)]

    def f(layers, x):
        total = 0.0
        for _ in range(2):
            for layer in layers:
                total = total + np.sum(getattr(layer, name) * x)
        return total

    assert all(np.all(vars(d)[name] == 2 * X) for d in grad(f)(layers, X))


@pytest.mark.parametrize("file", ["caf\udce9.py", "a\"b'c.py", "a\nb.py", "\n__comment_9__\n", "a\\nb.py", '"""', "a\r.py"])
def test_files_may_have_any_name(file, tmp_path):
    gradient = grad(defined("def f(x):\n    y = xp.sin(x)\n    return xp.sum(y * y)\n", file=file, xp=np))
    expected = 2 * np.sin(X) * np.cos(X)
    np.testing.assert_allclose(gradient(X), expected)
    np.testing.assert_allclose(saved(gradient, tmp_path)(X), expected)


@pytest.mark.parametrize("name", ["a\x00b", "\ud800", "class", "x\n", "f)"])
def test_functions_may_have_any_name(name):
    f = defined("def f(x):\n    return x ** 2\n")
    f.__name__ = name
    assert grad(f)(3.0) == 6.0


HUGE = 10**5000  # Python refuses to write it in digits


def test_integers_of_any_length_are_keys_and_values():
    assert grad(lambda p: p["x"] ** 2)({"x": 3.0, HUGE: 2.0}) == {"x": 6.0, HUGE: 0.0}
    assert grad(lambda x, k: x**2 if k > 5 else x)(3.0, HUGE) == 6.0
    assert grad(lambda x, k=HUGE: x**2 if k > 5 else x)(3.0) == 6.0


class Text(str):
    __slots__ = ()

    def __repr__(self):
        return "print('code')"


def test_text_of_a_class_is_not_written_as_its_repr_says(tmp_path, capfd):
    mode = Text("fast")
    gradient = grad(lambda x, k: x**2 if k == mode else x)
    assert gradient(3.0, mode) == 6.0 and capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "f, error",
    [
        (lambda x: np.sum(np.einsum("", x, x)), ValueError),
        (lambda x: np.sum(np.einsum("ij,jk,kl->il", x, x)), ValueError),
        (lambda x: np.sum(np.zeros(2, dtype=",k.,0 ") + x), SyntaxError),
    ],
)
def test_texts_that_numpy_refuses_raise_its_error(f, error):
    with pytest.raises(error):
        f(X)
    with pytest.raises(error):
        grad(f)(X)


def test_saved_module_imports_only_modules_of_their_own_name():
    fake = types.ModuleType("os\nprint('code')")
    with pytest.raises(UnsupportedValueError, match="`fake` cannot be imported"):
        standalone("def f(x):\n    return fake.scale * x\n", "f", {"fake": fake})


def test_saving_imports_no_module_because_a_class_names_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    with pytest.raises(UnsupportedValueError, match="`Planted`"):
        standalone("def f(x):\n    return Planted(x)\n", "f", {"Planted": type("Planted", (), {"__module__": "this"})})
    assert "this" not in sys.modules


@pytest.mark.parametrize("name", ["np", "len", "zip"])
def test_global_data_may_have_the_names_that_the_text_uses(name):
    f = defined(f"def f(x):\n    return xp.sum(x ** 2) * xp.sum({name}) * x[0, 0]\n", xp=np, **{name: [1.0, 2.0]})
    gradient = grad(f)
    np.testing.assert_allclose(gradient(X), 6 * X + [[90.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("name", ["x)", "a b", "class", "ﬁ"])
def test_an_assertion_of_a_saved_module_is_made_of_names_alone(name):
    built = types.SimpleNamespace(plain=types.SimpleNamespace(name="f"), written=(), compared=())
    with pytest.raises(ValueError, match="is not a name"):
        checked("def f(x):\n    return x\n", built, {name: Array(np.dtype(float), (2,))}, {"x": name}, {})
    text = to_text(ast.Assert(ast.Name("x", ast.Load()), ast.Constant(name)), {})
    assert ast.parse(text).body[0].msg.value == name
    with pytest.raises(ValueError, match="is not a name"):
        to_text(ast.Assert(ast.Name(name, ast.Load()), None), {})


@pytest.mark.parametrize("name", ["x", "t_x", "f_grad", "f_jvp", "f_tangent", "d_y"])
def test_a_global_called_as_a_parameter_or_the_derivative_is_read_at_each_call(name):
    f = defined(f"{name} = 3.0\ndef g(w):\n    return w * {name} * np.sin(w)\ndef f(x):\n    return g(x)\n", file=f"<{name}>", np=np)
    space = f.__globals__
    slopes = [grad(f), lambda x: jvp(f, (x,), (1.0,))[1], jacobian(f), lambda x: vjp(f, x)[1](1.0)]
    for value in (3.0, 4.0):
        space[name] = value
        for slope in slopes:
            assert slope(2.0) == pytest.approx(value * (np.sin(2.0) + 2.0 * np.cos(2.0)))


@pytest.mark.parametrize("name", ["eigh", "pinv"])
def test_a_function_whose_derivative_has_the_name_of_a_helper(name):
    text = {"eigh": "return np.linalg.eigh(a)[0]", "pinv": "return np.linalg.pinv(a)"}[name]
    f = defined(f"def {name}(a):\n    {text}\n", name, f"<{name}>", np=np)
    a = np.diag([1.0, 2.0, 3.0]) + 0.1
    steps = [(f(a + d) - f(a - d)) / 2e-5 for d in np.eye(9).reshape(9, 3, 3) * 1e-5]
    found = np.moveaxis(np.array(steps), 0, -1).reshape(*np.shape(f(a)), 3, 3)
    np.testing.assert_allclose(np.sum(jacobian(f)(a) * (a + a.T), axis=(-1, -2)), np.sum(found * (a + a.T), axis=(-1, -2)), rtol=1e-6)
