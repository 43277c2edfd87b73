"""Programs as syntax trees: the function and the helpers of its module that it calls, and modules made of such trees."""

import ast
import copy
import dataclasses
import inspect
import itertools
import linecache
import sys
import tempfile
import textwrap
import types
from pathlib import Path

from tests.metamorphic.trees import all_names

FOLDER = tempfile.TemporaryDirectory(prefix="sourcead-metamorphic-")
NUMBERS = itertools.count()


@dataclasses.dataclass
class Unit:
    """The definitions of a program, in order; the one called `main` is the program.

    Attributes:
        body: statements of a module.
        main: the name of the program's function.
        scope: the names of the module that the program came from.
    """

    body: list
    main: str
    scope: dict

    @property
    def text(self):
        made = ast.fix_missing_locations(ast.Module(copy.deepcopy(self.body), []))
        return ast.unparse(made) + "\n"

    def names(self):
        """Every name that is used or that a module already has."""
        return all_names(ast.Module(self.body, [])) | set(self.scope)

    def function(self):
        return next(s for s in self.body if isinstance(s, ast.FunctionDef) and s.name == self.main)


def tree_of(function):
    """The definition of a function that was written with `def`, without the decorators that record programs; or None."""
    if not isinstance(function, types.FunctionType) or function.__closure__ or hasattr(function, "__wrapped__"):
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    if not isinstance(tree, ast.FunctionDef) or tree.name != function.__name__:
        return None
    tree.decorator_list = [d for d in tree.decorator_list if not ast.unparse(d).startswith("program")]
    return None if tree.decorator_list else without_docstring(tree)


def without_docstring(tree):
    if ast.get_docstring(tree, clean=False) is not None:
        tree.body = tree.body[1:] or [ast.Pass()]
    return tree


def unit_of(function):
    """The `Unit` of a function and of the functions of its module that it calls, or None if its source does not say everything."""
    scope = getattr(function, "__globals__", {})
    tree = tree_of(function)
    if tree is None or scope.get(function.__name__) is not function:
        return None
    body, seen, todo = [], {tree.name}, [tree]
    while todo:
        one = todo.pop()
        body.insert(0, one)
        for called in sorted(all_names(one) - seen):
            found = scope.get(called)
            helper = tree_of(found) if getattr(found, "__globals__", None) is scope else None
            if helper is not None and helper.name == called:
                seen.add(called)
                todo.append(helper)
    return Unit(body, tree.name, {k: v for k, v in scope.items() if not k.startswith("__")})


def load(unit, scope=None):
    """The function of a unit, in a module of its own with the names that the original module has."""
    title = f"rewritten_{next(NUMBERS)}"
    path = Path(FOLDER.name) / f"{title}.py"
    path.write_text(unit.text, encoding="utf-8")
    module = types.ModuleType(title)
    module.__dict__.update(unit.scope if scope is None else scope)
    module.__file__ = str(path)
    sys.modules[title] = module
    exec(compile(unit.text, str(path), "exec"), module.__dict__)
    return getattr(module, unit.main)


def unload(function):
    """Forgets the module of a loaded function."""
    sys.modules.pop(function.__module__, None)
    path = function.__globals__["__file__"]
    linecache.cache.pop(path, None)
    Path(path).unlink(missing_ok=True)
