"""Checks programs' gradients against central differences, and reports.

    python -m tests.harness                     every program: counts by level, one line per failure
    python -m tests.harness --level basic -k lu  a part
    python -m tests.harness --source elman       the generated text of one program
    python -m tests.harness --self-check         the corpus itself: runs, finite, deterministic, smooth at its arguments

The numerical gradient is D = (4 D(h/2) - D(h)) / 3 with D(h) = (f(x + h e) - f(x - h e)) / 2h, in float64 whatever the
program's dtype, so that its error is O(h^4) + O(eps |f| / h).
"""

import argparse
import collections
import contextlib
import copy
import dataclasses
import functools
import inspect
import io
import signal
import sys
import threading
import time
import traceback
import warnings

import numpy as np

from tests.programs import LEVELS, all_programs, rng_for

RELATIVE_STEP = 3e-4
STATUSES = ("right", "refused", "wrong", "internal")


class Wrong(Exception):
    """The gradient, or what the gradient function did, is not right; the message says how."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one program: a status of `STATUSES`, one line of detail, and the exception, if any."""

    program: object
    status: str
    detail: str = ""
    error: BaseException | None = None

    @property
    def ok(self):
        """Whether this is what the program's level asks for."""
        level = self.program.level
        if level == "basic":
            return self.status == "right"
        if level == "python":
            return self.status in ("right", "refused")
        return self.status == "refused" or (self.program.or_right and self.status == "right")


# ---------------------------------------------------------------------------------------------------- trees of numbers


def is_number(value):
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_float_array(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def attributes(value):
    """The attributes of a plain object or dataclass that hold its data."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(getattr(value, "__dict__", {}))


def is_record(value):
    if isinstance(value, type):
        return False
    return dataclasses.is_dataclass(value) or (hasattr(value, "__dict__") and not inspect.isroutine(value))


def tree_map(function, value, path=""):
    """`value` rebuilt with `function(leaf, path)` in place of each number and float array; the rest is copied."""
    if is_number(value) or is_float_array(value):
        return function(value, path)
    if isinstance(value, np.ndarray):
        return same_layout(value, value.dtype)
    if is_namedtuple(value):
        return type(value)(*(tree_map(function, v, f"{path}.{k}") for k, v in zip(value._fields, value)))
    if isinstance(value, (tuple, list)):
        return type(value)(tree_map(function, v, f"{path}[{i}]") for i, v in enumerate(value))
    if isinstance(value, dict):
        return type(value)((k, tree_map(function, v, f"{path}[{k!r}]")) for k, v in value.items())
    if is_record(value):
        made = copy.copy(value)
        for k, v in attributes(value).items():
            object.__setattr__(made, k, tree_map(function, v, f"{path}.{k}"))
        return made
    return value


def leaves(value):
    """The numbers and float arrays in `value`, by path."""
    found = {}

    def collect(leaf, path):
        found[path] = leaf
        return leaf

    tree_map(collect, value)
    return found


def same_bits(a, b):
    """Whether two argument trees are equal in type, shape, dtype and every bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same_bits, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same_bits(a[k], b[k]) for k in a)
    if is_record(a) and not callable(a):
        return same_bits(attributes(a), attributes(b))
    if isinstance(a, (float, np.floating)):
        return np.asarray(a).tobytes() == np.asarray(b).tobytes()
    if isinstance(a, (int, str, bool, type(None), bytes)):
        return a == b
    return True


# ----------------------------------------------------------------------------------------------------- numerical side


def positions(function, wrt, count):
    """The positions of the parameters named by `wrt` among the arguments."""
    names = None
    result = []
    for one in wrt if isinstance(wrt, (tuple, list)) else (wrt,):
        if isinstance(one, str):
            names = names or list(inspect.signature(function).parameters)
            one = names.index(one)
        result.append(one % count)
    return result


def same_layout(array, dtype):
    """A copy in another dtype with the same memory layout, gaps and directions of the strides included."""
    if array.flags.forc or 0 in array.strides:
        return array.astype(dtype, order="K")
    strides = [s // array.itemsize for s in array.strides]
    reach = [(n - 1) * s for n, s in zip(array.shape, strides)]
    before = -sum(r for r in reach if r < 0)
    memory = np.zeros(1 + sum(map(abs, reach)), dtype)
    made = np.lib.stride_tricks.as_strided(memory[before:], array.shape, [s * memory.itemsize for s in strides])
    made[...] = array
    return made


def widened(leaf, _path=""):
    """A leaf in float64, copied."""
    if isinstance(leaf, np.ndarray):
        return same_layout(leaf, np.float64)
    return leaf if isinstance(leaf, (int, float)) else leaf.item()


@contextlib.contextmanager
def quietly():
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("ignore")
        yield out


def evaluate(function, args, position, shift):
    """f at the arguments widened to float64, with `shift(leaf, path)` applied in the argument at `position`."""
    moved = [tree_map(shift if i == position else widened, a) for i, a in enumerate(args)]
    return float(function(*moved))


def symmetric_values(function, args, position, path, index, step):
    """f(x + h e) and f(x - h e) along one element of one leaf."""

    def shifted(amount):
        def shift(leaf, at):
            if at != path:
                return widened(leaf)
            if not isinstance(leaf, np.ndarray):
                return float(leaf) + amount
            moved = widened(leaf)
            moved[index] += amount
            return moved

        return evaluate(function, args, position, shift)

    return shifted(step), shifted(-step)


def steps(leaf, relative=RELATIVE_STEP):
    """A step for each element: in proportion to it, but not far below the leaf's scale."""
    size = np.abs(np.asarray(leaf, dtype=np.float64))
    scale = size.max() if size.size else 1.0
    return relative * np.maximum(size, 0.3 * scale or 1.0)


@dataclasses.dataclass
class Numeric:
    """The numerical derivative by one leaf, element by element."""

    derivative: np.ndarray
    noise: np.ndarray  # what rounding may contribute
    kink: np.ndarray  # how far the derivatives from the left and the right differ, where they do not converge


def numeric_gradient(function, args, position, relative=RELATIVE_STEP):
    """The `Numeric` of each leaf of one argument, by path."""
    value = evaluate(function, args, position, widened)
    result = {}
    for path, leaf in leaves(args[position]).items():
        step = steps(leaf, relative)
        derivative, kink = np.zeros(step.shape), np.zeros(step.shape)
        noise = 50 * np.finfo(float).eps * max(abs(value), 1e-3) / step
        for index in np.ndindex(step.shape):
            h = step[index]
            far = symmetric_values(function, args, position, path, index, h)
            near = symmetric_values(function, args, position, path, index, h / 2)
            derivative[index] = (8 * (near[0] - near[1]) - (far[0] - far[1])) / (6 * h)
            bends = abs(far[0] - 2 * value + far[1]) / h, abs(near[0] - 2 * value + near[1]) / (h / 2)
            kink[index] = bends[1] if bends[1] > 0.75 * bends[0] and bends[1] > 10 * noise[index] else 0.0
        result[path] = Numeric(derivative, noise, kink)
    return result


# ------------------------------------------------------------------------------------------------------ what is checked


def check_structure(gradient, argument, path="gradient"):
    """Raise Wrong unless the gradient has the argument's structure, shapes and dtypes."""
    if is_float_array(argument) or isinstance(argument, np.floating):
        if argument.ndim and not isinstance(gradient, np.ndarray):
            raise Wrong(f"{path} is a {type(gradient).__name__}, the argument an array")
        if np.shape(gradient) != argument.shape:
            raise Wrong(f"{path} has shape {np.shape(gradient)}, the argument {argument.shape}")
        if isinstance(gradient, (np.ndarray, np.generic)) and gradient.dtype != argument.dtype:
            raise Wrong(f"{path} has dtype {gradient.dtype}, the argument {argument.dtype}")
    elif is_number(argument):
        if not isinstance(gradient, float):
            raise Wrong(f"{path} is a {type(gradient).__name__} where the argument is a {type(argument).__name__}")
    elif isinstance(argument, (tuple, list)):
        if type(gradient) is not type(argument) or len(gradient) != len(argument):
            raise Wrong(f"{path} is {short(gradient)}, the argument a {type(argument).__name__} of {len(argument)}")
        for i, (g, a) in enumerate(zip(gradient, argument)):
            check_structure(g, a, f"{path}[{i}]")
    elif isinstance(argument, dict):
        if not isinstance(gradient, dict) or set(gradient) != set(argument):
            raise Wrong(f"{path} is {short(gradient)}, the argument has the keys {list(argument)}")
        for key in argument:
            check_structure(gradient[key], argument[key], f"{path}[{key!r}]")
    elif is_record(argument):
        if type(gradient) is not type(argument):
            raise Wrong(f"{path} is a {type(gradient).__name__}, the argument a {type(argument).__name__}")
        for key, value in attributes(argument).items():
            if key not in attributes(gradient):
                raise Wrong(f"{path}.{key} is missing")
            check_structure(getattr(gradient, key), value, f"{path}.{key}")


def check_numbers(gradient, argument, numeric, tolerance, path="gradient"):
    """Raise Wrong where the gradient differs from the numeric one of the same argument."""
    found = leaves(gradient)
    for key, at_leaf in numeric.items():
        expected, noise = at_leaf.derivative, at_leaf.noise
        got = np.asarray(found[key], dtype=np.float64)
        if not got.size:
            continue
        allowed = (tolerance or default_tolerance(leaves(argument)[key])) * np.abs(expected).max() + noise
        off = ~(np.abs(got - expected) <= allowed)
        if off.any():
            at = tuple(int(i) for i in np.unravel_index(np.argmax(off), off.shape))
            where = f"{path}{key}{list(at) if at else ''}"
            raise Wrong(
                f"{where} is {got[at]:.9g}, central differences give {expected[at]:.9g} ({off.sum()} of {off.size} off)"
            )


def default_tolerance(leaf):
    return 1e-2 if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.itemsize < 8 else 1e-6


def arrays_in(value):
    return {path: leaf for path, leaf in leaves(value).items() if isinstance(leaf, np.ndarray) and leaf.size}


def check_memory(gradients, args):
    """Raise Wrong where a gradient's memory is not its own to write."""
    mine = arrays_in(gradients)
    for path, array in mine.items():
        if not array.flags.writeable:
            raise Wrong(f"gradient{path} is read-only")
        if any(n > 1 and s == 0 for n, s in zip(array.shape, array.strides)):
            raise Wrong(f"gradient{path} repeats the same memory")
        for other_path, other in arrays_in(args).items():
            if np.shares_memory(array, other):
                raise Wrong(f"gradient{path} shares memory with args{other_path}")
        for other_path, other in mine.items():
            if other_path < path and np.shares_memory(array, other):
                raise Wrong(f"gradient{path} shares memory with gradient{other_path}")


def spoil(gradients):
    """Overwrite the arrays, to find out whether the next call would hand out the same memory."""
    for array in arrays_in(gradients).values():
        array[...] = 1e300 if array.dtype == np.float64 else 1e30


def short(value, width=80):
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"


def primal_of(p, args):
    """The value, and what the program prints, on a copy of its arguments."""
    with quietly() as out:
        value = p.function(*args)
    return value, out.getvalue()


def check_value(gradient_with_value, args, expected, single=False):
    """Raise Wrong unless value_and_grad gives the program's value; returns its gradients."""
    with quietly():
        value, gradients = gradient_with_value(*args)
    single = single or np.asarray(expected).dtype.itemsize < 8
    if np.shape(value) != () or not np.allclose(
        value, expected, rtol=1e-5 if single else 1e-11, atol=1e-13, equal_nan=True
    ):
        raise Wrong(f"value_and_grad gives the value {short(value)}, the function {short(expected)}")
    return gradients


def check_once(p, gradient_function, gradient_with_value, make_args):
    """Raise Wrong unless the gradient functions are right on the arguments that `make_args` makes."""
    expected, printed = primal_of(p, make_args())
    args, untouched = make_args(), make_args()
    with quietly() as out:
        gradients = gradient_function(*args)
    if not same_bits(args, untouched):
        raise Wrong("the gradient function changed its arguments")
    if out.getvalue() != printed:
        raise Wrong(f"printed {out.getvalue()!r}, the program itself {printed!r}")

    several = isinstance(p.wrt, (tuple, list))
    at = positions(p.function, p.wrt, len(args))
    if several and not (isinstance(gradients, tuple) and len(gradients) == len(at)):
        raise Wrong(f"the gradient is {short(gradients)}, not a tuple of {len(at)}")
    by_argument = gradients if several else (gradients,)
    for position, gradient in zip(at, by_argument):
        check_structure(gradient, args[position])
    check_memory(by_argument, args)
    for position, gradient in zip(at, by_argument):
        with quietly():
            numeric = numeric_gradient(p.function, untouched, position)
        check_numbers(gradient, args[position], numeric, p.tolerance, f"gradient of argument {position}")

    first = copy.deepcopy(by_argument)
    spoil(by_argument)
    with quietly():
        again = gradient_function(*make_args())
    if not same_bits(first, tuple(again) if several else (again,)):
        raise Wrong("a second call gives another gradient")
    single = p.tolerance is not None and p.tolerance > 1e-3  # numbers in float64 that were computed from float32
    with_value = check_value(gradient_with_value, make_args(), expected, single)
    for key, leaf in leaves(first).items():
        other = leaves(with_value if several else (with_value,)).get(key)
        if other is None or not np.allclose(
            other, leaf, rtol=1e-4 if single or default_tolerance(leaf) > 1e-3 else 1e-9, atol=1e-12
        ):
            raise Wrong(f"value_and_grad gives gradient{key} = {short(other)}, grad {short(leaf)}")


def args_again(p, rng, variant):
    """The program's arguments, each time the same."""
    return p.make_args(copy.deepcopy(rng), variant)


class TimeLimit(Exception):
    """A program ran longer than the limit."""


@contextlib.contextmanager
def time_limit(seconds):
    """Raise TimeLimit in the block after some seconds; does nothing off the main thread."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def expire(_signal, _frame):
        raise TimeLimit(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def last_frame(error):
    """`file:line in function` of the innermost frame, for a one-line report."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    frame = frames[-1]
    return f" [{'/'.join(frame.filename.split('/')[-2:])}:{frame.lineno} in {frame.name}]"


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " | ".join(lines)[:300]


def check_program(p, rng=None, seconds=60, checkpoint="auto"):
    """The Outcome of one program.

    Args:
        p: a `Program`.
        rng: the generator for its arguments (default: `rng_for(0)`); its state is copied for each call.
        seconds: the time limit; a program that runs longer counts as an internal error.
        checkpoint: what its loops save.
    """
    from sourcead import grad, value_and_grad
    from sourcead.errors import SourceADError

    rng = rng_for() if rng is None else rng
    try:
        with time_limit(seconds):
            gradient_function = grad(p.function, wrt=p.wrt, checkpoint=checkpoint)
            gradient_with_value = value_and_grad(p.function, wrt=p.wrt, checkpoint=checkpoint)
            for variant in range(1 + len(p.also)):
                make_args = functools.partial(args_again, p, rng, variant)
                if p.raises is None:
                    check_once(p, gradient_function, gradient_with_value, make_args)
                else:
                    check_raises(p, gradient_function, make_args())
    except SourceADError as error:
        return Outcome(p, "refused", f"{type(error).__name__}: {first_line(error)}", error)
    except Wrong as error:
        return Outcome(p, "wrong", str(error), error)
    except Exception as error:  # whatever else escapes is the compiler's fault
        return Outcome(p, "internal", f"{type(error).__name__}: {first_line(error)}{last_frame(error)}", error)
    return Outcome(p, "right")


def check_raises(p, gradient_function, args):
    from sourcead.errors import SourceADError

    try:
        with quietly():
            got = gradient_function(*args)
    except SourceADError:
        raise
    except p.raises:
        return
    raise Wrong(f"gave {short(got)} where the program raises {p.raises.__name__}")


# ---------------------------------------------------------------------------------------------- the corpus, by itself


def self_check(p, rng=None):
    """What is wrong with the program itself, as a list of lines: it must run, and be deterministic, finite and smooth."""
    rng = rng_for() if rng is None else rng
    faults, largest = [], 0.0
    for variant in range(1 + len(p.also)):
        with quietly():
            of_variant, scale = check_itself(p, copy.deepcopy(rng), variant)
        faults += of_variant
        largest = max(largest, scale)
    if largest < 1e-9 and "zero" not in p.tags and p.raises is None:
        faults.append("its gradient is zero (tag it so, if meant)")
    return faults


def check_itself(p, rng, variant):
    """(faults, largest element of the gradient) of the program at one of its argument tuples."""

    def make_args():
        return p.make_args(copy.deepcopy(rng), variant)

    if not same_bits(make_args(), make_args()):
        return ["its arguments are not deterministic"], 0.0
    if p.raises is not None:
        try:
            p.function(*make_args())
        except p.raises:
            return [], 0.0
        return [f"does not raise {p.raises.__name__}"], 0.0
    args = make_args()
    one, two = p.function(*make_args()), p.function(*make_args())
    if np.shape(one) != () or not np.isfinite(float(one)):
        return [f"its value is {short(one)}"], 0.0
    if float(one) != float(two):
        return ["its value is not deterministic"], 0.0
    faults, largest = [], 0.0
    for position in positions(p.function, p.wrt, len(args)):
        near = numeric_gradient(p.function, args, position, RELATIVE_STEP)
        far = numeric_gradient(p.function, args, position, 3 * RELATIVE_STEP)
        for path, at_leaf in near.items():
            g = at_leaf.derivative
            if not g.size:
                continue
            scale, off = np.abs(g).max(), np.abs(far[path].derivative - g)
            largest = max(largest, scale)
            if not np.isfinite(scale):
                faults.append(f"argument {position}{path}: not finite")
            elif (off > 3e-7 * scale + at_leaf.noise).any():
                faults.append(f"argument {position}{path}: not smooth, {off.max() / max(scale, 1e-30):.1g} relative")
            elif (at_leaf.kink > 1e-4 * scale).any():
                faults.append(f"argument {position}{path}: a kink of {at_leaf.kink.max():.1g}")
    return faults, largest


# -------------------------------------------------------------------------------------------------------- command line


def report(outcomes, elapsed, verbose=False):
    """Print one line per failure or refusal, then the counts by level."""
    for outcome in outcomes:
        if outcome.ok and (outcome.status == "right" or outcome.program.level == "refuse") and not verbose:
            continue
        mark = "ok  " if outcome.ok else "FAIL"
        print(
            f"{mark} {outcome.status:8} {outcome.program.level:6} {outcome.program.theme}.{outcome.program.name}: {outcome.detail}"
        )
    print()
    print(f"{'level':8}" + "".join(f"{s:>10}" for s in STATUSES) + f"{'as asked':>12}")
    for level in LEVELS:
        of_level = [o for o in outcomes if o.program.level == level]
        counts = collections.Counter(o.status for o in of_level)
        if of_level:
            asked = sum(o.ok for o in of_level)
            print(f"{level:8}" + "".join(f"{counts[s]:10}" for s in STATUSES) + f"{asked:6} / {len(of_level)}")
    print(f"{len(outcomes)} programs in {elapsed:.1f} s")


def policy_called(text):
    """The checkpoint policy of a command line: `states`, `Revolve(3)`, `Auto(2kB)`."""
    import sourcead

    name, bracket, number = text.rstrip(")").partition("(")
    return getattr(sourcead, name)(int(number) if number.isdigit() else number) if bracket else name


def show_source(p, checkpoint):
    from sourcead import grad

    made = grad(p.function, wrt=p.wrt, checkpoint=checkpoint)
    print(inspect.getsource(p.function))
    with quietly():
        made(*p.make_args(rng_for()))
    print(made.source)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.harness", description=__doc__.splitlines()[0])
    parser.add_argument("--level", choices=LEVELS)
    parser.add_argument("-k", metavar="NAME", help="programs whose name contains this, or with this tag or module")
    parser.add_argument("--mode", choices=("reverse", "forward", "second"), default="reverse", help="of differentiation")
    parser.add_argument("--checkpoint", metavar="POLICY", default="auto", type=policy_called, help='"states", "Revolve(3)", ...')
    parser.add_argument("--backend", choices=("numpy", "numba"), default="numpy", help="numba: compare with NumPy mode")
    parser.add_argument("--source", metavar="NAME", help="print one program and its generated gradient")
    parser.add_argument("--seed", type=int, default=0, help="of the programs' arguments")
    parser.add_argument("--self-check", action="store_true", help="check the programs themselves, without sourcead")
    parser.add_argument("--list", action="store_true", help="list the programs")
    parser.add_argument("-v", action="store_true", help="also what went right")
    parser.add_argument("--trace", action="store_true", help="print tracebacks of internal errors")
    parser.add_argument("-x", action="store_true", help="stop at the first failure")
    options = parser.parse_args(argv)

    if options.source:
        show_source(next(p for p in all_programs() if p.name == options.source), options.checkpoint)
        return 0
    chosen = all_programs(options.level, options.k)
    if not chosen:
        print(f"there is no program for -k {options.k}" if options.k else f"there is no program of the level {options.level}")
        return 2
    if options.list:
        for p in chosen:
            print(f"{p.level:6} {p.theme}.{p.name} wrt={p.wrt!r} {' '.join(p.tags)}")
        return 0
    if options.self_check:
        return self_check_all([p for p in chosen if p.level != "refuse" or p.or_right], options.seed)
    if options.backend == "numba":
        from tests.harness_numba import check_all

        return int(not check_all(chosen, jobs=2, verbose=options.v))
    check = functools.partial(check_program, checkpoint=options.checkpoint)
    if options.mode == "forward":
        from tests.forward import check_forward as check
    elif options.mode == "second":
        from tests.forward import check_second as check
    started, outcomes = time.perf_counter(), []
    for p in chosen:
        outcomes.append(check(p, rng_for(options.seed)))
        if options.trace and outcomes[-1].status == "internal":
            traceback.print_exception(outcomes[-1].error, file=sys.stdout)
        if options.x and not outcomes[-1].ok:
            break
    report(outcomes, time.perf_counter() - started, options.v)
    return int(not all(o.ok for o in outcomes))


def self_check_all(programs, seed):
    bad = 0
    for p in programs:
        try:
            faults = self_check(p, rng_for(seed))
        except Exception as error:
            faults = [f"{type(error).__name__}: {error}{last_frame(error)}"]
        for fault in faults:
            print(f"{p.theme}.{p.name}: {fault}")
        bad += bool(faults)
    print(f"{len(programs)} programs, {bad} at fault")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
