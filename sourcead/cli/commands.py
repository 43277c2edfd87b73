"""The commands, their options, and `main`."""

import argparse
import contextlib
import difflib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import TypeVar

import sourcead
from sourcead import errors
from sourcead.api.check import GradientMismatch
from sourcead.api.debug import debug
from sourcead.cli import check, doctor, show
from sourcead.cli.arguments import arguments_of
from sourcead.cli.derivatives import MODES, Asked, Call, derivative_of, program_of, with_directions
from sourcead.cli.targets import CommandError, is_method, resolved
from sourcead.cli.tried import tried
from sourcead.compile.generated import Generated
from sourcead.compile.viewing import page_of
from sourcead.errors import InternalError, SourceADError
from sourcead.language.tracebacks import is_ours
from sourcead.nn.checkpoints import CheckpointError
from sourcead.nn.data import DataError
from sourcead.nn.training import NotFiniteError

T = TypeVar("T")
DONE, FAILED, WRONG_USE = 0, 1, 2  # what `main` returns

ABOUT = """\
Look at the gradient of a Python function on NumPy arrays, write it as a module, and check it.

The function is FILE.py:FUNCTION or PACKAGE.MODULE:FUNCTION; a method is FILE.py:CLASS.METHOD. Its file is imported.
"""
EXAMPLES = """\
examples:
  sourcead show model.py:loss                                             the text for arguments of any type
  sourcead show model.py:loss --args "float32[100, 784], float32[784]"    the text for arrays of these types
  sourcead show model.py:loss --args "np.ones(3), n=5" --diff --notes     beside the function, with what each loop saves
  sourcead html model.py:loss --args "float64[3], n=5" -o page.html       a page: the function beside its gradient, loops, memory
  sourcead emit model.py:loss --args data.npz -o loss_gradient.py         a module that needs NumPy alone
  sourcead check model.py:loss --args "np.linspace(0, 1, 5)"              against difference quotients, with times
  sourcead debug model.py:loss --args "np.zeros(5)"                       where the first NaN or infinity arises
  sourcead explain AliasError                                             what an error means, and what to write instead
  sourcead doctor                                                         versions, engines, caches, threads

--args is Python, as between the parentheses of a call, with `np` and the names of the function's module.
float32[100, 784] is an array of that dtype and shape, filled with random numbers; float64 alone is one number.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and return 0, 1 if it failed (a refusal, a derivative that is wrong), or 2 if it was not written as it should be."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except CommandError as error:
        print(f"sourcead: {error}", file=sys.stderr)
        return WRONG_USE
    except (SourceADError, InternalError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        if isinstance(error, SourceADError) and type(error).__name__ in vars(errors):
            print(f"`sourcead explain {type(error).__name__}` says more.", file=sys.stderr)
        return FAILED
    except CalledFunctionFails as error:
        print(error, file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


class CalledFunctionFails(Exception):
    """The user's function raised an error while a command called it."""


@contextlib.contextmanager
def calls_of_user() -> Iterator[None]:
    """Tell an error that the user's function raises without the frames of this package, which has no part in it."""
    try:
        yield
    except (SourceADError, InternalError, GradientMismatch):
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = next((place for place, frame in enumerate(frames) if not is_ours(frame.filename)), None)
        if own is None:
            raise
        shown = "".join(traceback.format_list(frames[own:]))
        kind = "".join(traceback.format_exception_only(error)).rstrip()
        raise CalledFunctionFails(f"The function raises an error for these arguments:\n{shown}{kind}") from error


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser("sourcead", description=ABOUT, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--version", action="version", version=f"sourcead {sourcead.__version__}")
    commands = found.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable, what: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
        added.set_defaults(run=run)
        return added

    shown = command("show", show_text, "print the text that computes the gradient")
    _function(shown)
    _derivative(shown)
    shown.add_argument("--diff", action="store_true", help="the user's lines beside the lines that come from them")
    shown.add_argument("--notes", action="store_true", help="what each loop saves, with the bytes for these arguments")
    shown.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto, which is on a terminal")

    viewed = command("html", write_page, "write a page that shows the function beside its gradient, and what each statement became")
    _function(viewed)
    _derivative(viewed)
    viewed.add_argument("--profile", action="store_true", help="with the time of each line of both sides")
    viewed.add_argument("--one-policy", action="store_true", help="do not measure the memory under other checkpoint policies")
    viewed.add_argument("-o", "--output", metavar="FILE.html", required=True, help="the page; a file of that name is replaced")

    emitted = command("emit", emit, "write the gradient as a module that needs NumPy alone")
    _function(emitted)
    _derivative(emitted)
    emitted.add_argument("-o", "--output", metavar="FILE.py", required=True, help="the module; a file of that name is replaced")

    checked = command("check", check_derivative, "compare the gradient with difference quotients and forward mode, and time it")
    _function(checked)
    checked.add_argument("--wrt", metavar="NAMES", help="the parameters to differentiate by, divided by commas; default: the first")

    watched = command("debug", find_fault, "run the gradient once and tell where its first NaN or infinity arose")
    _function(watched)
    _derivative(watched)

    explained = command("explain", explain, "say what an error means, and what to write instead")
    explained.add_argument("name", nargs="?", metavar="ERROR", help="the class of the error; default: list all")

    command("doctor", tell, "tell what this machine has: versions, engines, caches, threads")
    return found


def _function(added: argparse.ArgumentParser) -> None:
    added.add_argument("target", metavar="FILE.py:FUNCTION", help="or PACKAGE.MODULE:FUNCTION")
    added.add_argument("--args", metavar="ARGS", help="the arguments: Python, types such as float32[100, 784], or a .npz file")


def _derivative(added: argparse.ArgumentParser) -> None:
    added.add_argument("--mode", choices=MODES, help="default: what the function is decorated with, else grad")
    added.add_argument("--wrt", metavar="NAMES", help="the parameters to differentiate by, divided by commas; default: the first")
    added.add_argument("--backend", choices=("numpy", "numba", "auto"), help="default: numpy")
    policies = "auto|store|states|recompute|segments:N|revolve:N"
    added.add_argument("--checkpoint", metavar=policies, help="what loops save for the reverse sweep; default: auto")
    added.add_argument("--budget", metavar="200MB", help="the memory that --checkpoint auto may fill with states of loops")
    added.add_argument("--readable", action="store_true", help="a name and memory of its own for each value")


def _asked(options: argparse.Namespace) -> tuple[Generated, Call | None]:
    """Return the derivative that the options ask for, and the arguments of the user's function."""
    function, module = resolved(options.target)
    asked = Asked(options.mode, options.wrt, options.checkpoint, options.budget, options.backend, options.readable)
    made = derivative_of(function, asked)
    if is_method(made.primal):
        owner = made.primal.__qualname__.rpartition(".")[0]
        needed(options.args, "a method needs an object", f"{owner}(...), float64[3]")
    return made, arguments_of(options.args, inspect.signature(made.primal), vars(module))


def needed(given: T | None, why: str, example: str = "float64[3], 2.0") -> T:
    """Return the arguments, or raise an error if there are none."""
    if given is None:
        raise CommandError(f"{why}; give them with --args, such as --args \"{example}\"")
    return given


def show_text(options: argparse.Namespace) -> int:
    """Print the generated text."""
    made, given = _asked(options)
    program, notes = program_of(made, with_directions(made, given))
    if given is not None:
        with calls_of_user():
            tried(made.primal, *given)
    colours = show.in_colours(sys.stdout, options.color)
    print(show.side_by_side(program, colours) if options.diff else show.listing(program, colours))
    if options.notes:
        print(f"\n{show.notes_of(notes)}")
    return DONE


def write_page(options: argparse.Namespace) -> int:
    """Write the page of a derivative."""
    made, given = _asked(options)
    if options.profile:
        needed(given, "times are measured at some arguments")
    args, kwargs = with_directions(made, given)
    with calls_of_user():
        page_of(made, args, kwargs, options.profile, not options.one_policy).save(options.output)
    print(f"{options.output} shows {made!r}")
    return DONE


def emit(options: argparse.Namespace) -> int:
    """Write the generated text as a module."""
    made, given = _asked(options)
    given = needed(given, "a module is written for arguments of some types")
    args, kwargs = with_directions(made, given)
    with calls_of_user():
        tried(made.primal, *given)
    made.save(options.output, *args, **kwargs)
    print(f"{options.output} has the function {program_of(made, (args, kwargs))[0].name}")
    return DONE


def check_derivative(options: argparse.Namespace) -> int:
    """Print the report on a derivative; it fails if a line of the report does."""
    made, given = _asked(argparse.Namespace(**vars(options), mode=None, checkpoint=None, budget=None, backend=None, readable=False))
    given = needed(given, "a derivative is checked at some arguments")
    args, kwargs = given
    bound = inspect.signature(made.primal).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise CommandError(f"check takes arguments by position; {', '.join(bound.kwargs)} can be given by name alone")
    wrt = made.wrt[0] if made._single else made.wrt
    try:
        with calls_of_user():
            lines = check.report(made.primal, wrt, bound.args)
    except GradientMismatch as error:
        lines = [check.Line("derivatives", str(error), passed=False)]
    words = {True: "ok", False: "WRONG", None: "left out"}
    print(show.table([(words[line.passed], line.what, line.outcome) for line in lines]))
    return FAILED if any(line.passed is False for line in lines) else DONE


def find_fault(options: argparse.Namespace) -> int:
    """Print where the first NaN or infinity arose; it fails if the result is not finite."""
    made, given = _asked(options)
    given = needed(given, "a derivative is run at some arguments")
    args, kwargs = with_directions(made, given)
    with calls_of_user():
        found = debug(made)(*args, **kwargs)
    print(found)
    return DONE if found.finite else FAILED


def explain(options: argparse.Namespace) -> int:
    """Print what an error class says of itself, or the list of them."""
    own = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Exception) and c.__module__ == errors.__name__]
    classes = {c.__name__: c for c in (*own, NotFiniteError, CheckpointError, DataError)}
    if options.name is None:
        print(show.table([(name, inspect.getdoc(c).partition("\n\n")[0].replace("\n", " ")) for name, c in classes.items()]))
        return DONE
    name = next((n for n in classes if n.lower() == options.name.rpartition(".")[2].lower()), None)
    if name is None:
        close = difflib.get_close_matches(options.name, classes, 1)
        hint = f"did you mean {close[0]}?" if close else "`sourcead explain` lists all"
        raise CommandError(f"there is no error {options.name}; {hint}")
    print(f"{name}: {inspect.getdoc(classes[name])}")
    return DONE


def tell(options: argparse.Namespace) -> int:
    """Print what this machine has."""
    for title, rows in doctor.sections():
        print(f"{title}\n{show.table([(f'  {name}', what) for name, what in rows])}\n")
    return DONE
