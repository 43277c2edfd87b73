"""Functions that a decorator makes by `exec`, at once or when they are called first, and that keep their text in `_code`."""

import itertools

import numpy as np
import pytest

from sourcead import NoSourceError, check_grads, grad

numbers = itertools.count()


def made(name, function, change):
    text = f"def {name}(x, *others):\n    return {name}_wrapped({name}_change(x), *others)\n"
    found = {f"{name}_wrapped": function, f"{name}_change": change}
    exec(compile(text, f"{Lazily} compilation {next(numbers)}", "exec"), found)
    found[name]._code = text
    return found[name]


class Lazily:
    """Change the first argument of a function by another function; what does so is made when it is called first."""

    def __init__(self, change):
        self.change = change

    def __call__(self, function):
        def func(*args, wrapper=None, **kwargs):
            return Lazily._lazy_compile(wrapper)(*args, **kwargs)

        func.__wrapped__, func.__argmap__ = function, self
        func.__kwdefaults__ = {"wrapper": func}
        return func

    @staticmethod
    def _lazy_compile(func):
        real = made(func.__wrapped__.__name__, func.__wrapped__, func.__argmap__.change)
        func.__code__, func.__kwdefaults__ = real.__code__, None
        func.__globals__.update(real.__globals__)
        func.__dict__.update(real.__dict__)
        return func


def cubed(x):
    return x ** 3


@Lazily(cubed)
def scaled(x, factor):
    return factor * x


@Lazily(np.sin)
def called_before(x):
    return x * x


def test_a_function_that_is_compiled_at_its_first_call():
    check_grads(lambda x: scaled(x, 2.0) + scaled(x, x), (1.3,))
    assert scaled(2.0, 3.0) == 24.0


def test_a_function_that_was_called_before():
    called_before(1.0)
    check_grads(called_before, (0.7,))
    check_grads(lambda x: called_before(x) * x, (0.7,))


def test_a_function_that_keeps_its_text():
    check_grads(made("kept", cubed, np.cos), (0.7,))


def test_a_text_that_is_not_what_runs_is_not_taken_for_it():
    function = made("other", cubed, np.cos)
    function._code = function._code.replace("return", "return 2 *")
    with pytest.raises(NoSourceError):
        grad(function)(0.7)
