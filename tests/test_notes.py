"""What `.lower(*args)` tells of each loop: what it saves, with the shape and bytes that it has for these arguments."""

import contextlib
import dataclasses
import io
import re

import numpy as np
import pytest

from sourcead import Auto, Revolve, Segments, SourceADError, checkpoint, grad, runtime, value_and_grad
from sourcead.ad.residuals.notes import amount, described
from sourcead.analysis.sizes_at_call import sizes_in
from sourcead.ir import evaluate
from sourcead.ir.types import Array, ListT
from tests.harness import all_programs, rng_for


def network(w, xs):
    h = np.zeros((50, 32), np.float32)
    for x in xs:
        h = np.tanh(h @ w + x)
    return np.sum(h)


NETWORK = (np.zeros((32, 32), np.float32), np.zeros((9, 50, 32), np.float32))


@pytest.mark.parametrize("policy, words", [
    ("auto", "saves in each iteration h (float32 (50, 32), 6.4 kB); carries h backward"),
    ("store", "saves in each iteration h (float32 (50, 32), 6.4 kB); carries h backward"),
    ("states", "saves h (float32 (50, 32), 6.4 kB) on entry to each iteration"),
    (Segments(4), "saves h (float32 (50, 32), 6.4 kB) every 4 iterations; runs a segment again at a time"),
    (Revolve(5), "saves at most 5 states at a time, placed by the binomial schedule: h (float32 (50, 32), 6.4 kB); runs again from"),
    ("recompute", "saves nothing; computes h (float32 (50, 32), 6.4 kB) again from the start for each iteration; rebuilds x"),
    (Auto("1GB"), "saves as many states as fit into 1 GB, placed by the binomial schedule: h (float32 (50, 32), 6.4 kB)"),
], ids=str)  # fmt: skip
def test_every_policy_tells_what_it_saves_with_shape_and_bytes(policy, words):
    notes = grad(network, checkpoint=policy).lower(*NETWORK).notes
    assert re.fullmatch(r"line \d+, `for x in xs:`: .*", notes[0])
    assert words in notes[0], notes


def of_numbers(x, n):
    """The sizes follow from integers."""
    u = np.zeros((len(x) + 2, 2 * n - 1))
    for t in range(3):
        u[1:-1] += np.sinh(u[:-2]) * x[:, None] * t
    return np.sum(u)


def of_parts(x, idx):
    h = x[2:-1, None] * np.ones(3)
    for _ in range(4):
        h = np.sinh(h) * x[idx, None]
    return np.sum(h)


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


def of_layers(layers, x):
    states = [np.zeros(len(layer.b)) for layer in layers]
    for t in range(3):
        for k, layer in enumerate(layers):
            x = states[k] = np.tanh(layer.w @ x + states[k])
    return np.sum(x)


def shrinking(x):
    for _ in range(3):
        x = x[1:] * np.cos(x[:-1])
    return np.sum(x)


def of_two_shapes(x, more):
    """The layers have other shapes, so no size is told."""
    for w in more:
        x = np.tanh(w @ x)
    return np.sum(x)


def chosen(x, flag):
    for _ in range(4):
        y = np.exp(x[:3] if flag > 0 else x[:4])
        x = x * np.sum(y * y)
    return np.sum(x)


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape)


LAYERS = [Layer(normal(30, 30), normal(30)) for _ in range(3)]


@pytest.mark.parametrize("f, args, words", [
    (of_numbers, (normal(50), 11), ["u_item (float64 (50, 21), 8.4 kB)", "sinh (float64 (50, 21), 8.4 kB)", "together 16.8 kB"]),
    (of_parts, (normal(30), np.arange(27)), ["sinh_h (float64 (27, 3), 648 B)", "h (float64 (27, 3), 648 B)", "together 1.3 kB"]),
    (of_layers, (LAYERS, normal(30)), ["x (float64 (30,), 240 B)"]),
    (shrinking, (normal(40),), ["x (float64 (?,))"]),
    (of_two_shapes, (normal(20), [normal(30, 20), normal(20, 30)]), ["x (float64 (?,))"]),
], ids=lambda v: getattr(v, "__name__", None))  # fmt: skip
def test_sizes_are_those_for_the_arguments(f, args, words):
    notes = " ".join(grad(f).lower(*args).notes)
    for each in words:
        assert each in notes


def test_sizes_follow_the_arguments_of_the_call_and_not_of_the_first():
    made = grad(of_numbers)
    assert "(50, 21)" in made.lower(normal(50), 11).notes[0]
    assert "(60, 39)" in made.lower(normal(60), 20).notes[0]


def test_sizes_are_open_without_arguments():
    for f, args, words in ((network, NETWORK, "h (float32 (50, ?));"), (of_numbers, (normal(50), 11), "u_item (float64 (?, ?))")):
        made = grad(f)
        made(*args)
        assert words in made.lower().notes[0]


def nested(x, n):
    for _ in checkpoint(range(n), Revolve(2)):
        y = x
        for _ in checkpoint(range(3), "states"):
            y = np.sin(y) * x
        x = y
    return np.sum(x)


def test_each_loop_of_a_nest_has_one_note_the_outer_first():
    notes = grad(nested).lower(normal(10), 4).notes
    assert [re.sub(".*: saves ", "", note.partition(" (")[0]) for note in notes] == [
        "at most 2 states at a time, placed by the binomial schedule: x", "y"]  # fmt: skip


@pytest.mark.parametrize("policy", ["states", Segments(3), Revolve(2), "recompute"], ids=str)
def test_a_loop_is_told_once_and_a_segment_as_well(policy):
    notes = grad(network, checkpoint=policy).lower(*NETWORK).notes
    assert len(notes) == (2 if isinstance(policy, Segments) else 1)


def test_what_is_rebuilt_is_named():
    def f(x, w):
        for _ in range(3):
            gate = np.exp(w @ x)
            x = gate * x + np.sin(gate)
        return np.sum(x)

    (note,) = grad(f, checkpoint="states").lower(normal(9), normal(9, 9)).notes
    assert note.endswith("rebuilds gate, parts of expressions")
    (note,) = grad(f, checkpoint="store").lower(normal(9), normal(9, 9)).notes
    assert "gate (float64 (9,), 72 B)" in note and "rebuilds" not in note


def test_forward_mode_has_no_notes_and_functions_without_loops_neither():
    def f(x):
        return np.sum(np.sin(x))

    assert value_and_grad(f).lower(normal(9)).notes == ()


@pytest.mark.parametrize("size, text", [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (6400, "6.4 kB"), (8_000_000, "8 MB")])
def test_amounts(size, text):
    assert amount(size) == text


def test_types_in_words():
    assert described(Array(np.dtype("f4"), (3,))) == "float32 (3,)"
    assert described(ListT(Array(np.dtype("f8"), None))) == "list of float64"


# -- the sizes that are told are those that the values have ----------------------------------------------------------------------------


class Watched(dict):
    """What variables are bound to, every array compared with the sizes that are told."""

    def __init__(self, numbers, given):
        super().__init__(given)
        self.numbers, self.seen = numbers, 0

    def compare(self, t, x, name):
        match t, x:
            case Array(_, tuple() as dims), np.ndarray(ndim=rank) if rank == len(dims):
                for dim, size in zip(dims, x.shape):
                    assert self.numbers.get(dim, size) == size, f"{name}: {t}, {x.shape}"
                    self.seen += dim in self.numbers
            case ListT(item), list():
                for each in x:
                    self.compare(item, each, name)

    def __setitem__(self, v, x):
        self.compare(v.type, x, v)
        super().__setitem__(v, x)

    def update(self, pairs):
        for v, x in pairs:
            self[v] = x


def watched(f, args, **options):
    """The arrays whose sizes were told, all of them rightly."""
    made = grad(f, **options)
    made.lower(*args)
    notes = made._latest(*args).built.notes
    if not notes.loops:
        return 0
    given = made._bound(args, {})
    env = Watched(sizes_in(notes.forward, given), {p: runtime.copy(given[p.name]) for p in notes.forward.params})
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        evaluate._run(notes.forward.body, env)
    return env.seen


@pytest.mark.parametrize("f, args", [
    (network, NETWORK), (of_numbers, (normal(50), 11)), (of_parts, (normal(30), np.arange(27))), (of_layers, (LAYERS, normal(30))),
    (nested, (normal(10), 4)), (chosen, (normal(10), 1.0)), (chosen, (normal(10), -1.0)),
], ids=lambda v: getattr(v, "__name__", None))  # fmt: skip
def test_told_sizes_are_right(f, args):
    assert watched(f, args) > 0


@pytest.mark.parametrize("f, args", [(shrinking, (normal(40),)), (of_two_shapes, (normal(20), [normal(30, 20), normal(20, 30)]))])
def test_no_size_is_told_that_changes(f, args):
    watched(f, args)


THEMES = ("loops", "dynamics", "stencils", "written_containers", "dynamic_programming", "networks", "records", "sequences")
LOOPS = [p for level in ("basic", "python") for p in all_programs(level) if p.theme in THEMES]


@pytest.mark.slow
@pytest.mark.parametrize("p", LOOPS[::6], ids=lambda p: f"{p.theme}.{p.name}")
def test_told_sizes_are_right_in_programs_of_the_corpus(p):
    try:
        watched(p.function, p.make_args(rng_for(0)), wrt=p.wrt)
    except SourceADError:
        pytest.skip("refused")
