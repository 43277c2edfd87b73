"""Initialisers, optimisers, schedules and the training loop."""

import linecache
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import FileError
from sourcead.nn import initialisers, schedules
from sourcead.nn.data import split
from sourcead.nn.layers import Dense, dense
from sourcead.nn.losses import cross_entropy
from sourcead.nn.optimisers import State, adam, adamw, arrays_of, clip_by_norm, rmsprop, sgd
from sourcead.nn.training import History, NotFiniteError, fit

# Initialisers


@pytest.mark.parametrize("kernel", [None, (3, 5)])
@pytest.mark.parametrize(
    "name, variance",
    [
        ("glorot_uniform", lambda n, m: 2 / (n + m)), ("glorot_normal", lambda n, m: 2 / (n + m)),
        ("he_uniform", lambda n, m: 2 / n), ("he_normal", lambda n, m: 2 / n),
    ],
)  # fmt: skip
def test_starting_values_have_their_variance(name, variance, kernel):
    k = math.prod(kernel or (1,))
    w = getattr(initialisers, name)(np.random.default_rng(0), 80, 120, np.float64, kernel)
    assert w.shape == ((80, 120) if kernel is None else (120, 80, *kernel)) and w.dtype == np.float64
    np.testing.assert_allclose([w.mean() + 1, w.var()], [1, variance(80 * k, 120 * k)], rtol=0.05)
    if "uniform" in name:
        assert np.abs(w).max() <= math.sqrt(3 * variance(80 * k, 120 * k))


@pytest.mark.parametrize("shape", [(5, 5), (7, 3), (3, 7)])
def test_orthogonal_matrices_keep_lengths(shape):
    w = initialisers.orthogonal(np.random.default_rng(0), *shape)
    assert w.shape == shape and w.dtype == np.float32 and w.flags.c_contiguous
    product = w.T @ w if shape[0] >= shape[1] else w @ w.T
    np.testing.assert_allclose(product, np.eye(min(shape)), atol=1e-6)


# Optimisers


class Network(NamedTuple):
    hidden: Dense
    rest: list


def structure(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return Network(Dense(*(rng.normal(size=s).astype(dtype) for s in ((3, 2), (2,)))), [{"scale": rng.normal(size=2).astype(dtype)}])


OPTIMISERS = {
    "sgd": (sgd, {"rate": 0.1}, "SGD", {"lr": 0.1}),
    "momentum": (sgd, {"rate": 0.1, "momentum": 0.9}, "SGD", {"lr": 0.1, "momentum": 0.9}),
    "nesterov": (sgd, {"rate": 0.1, "momentum": 0.9, "nesterov": True}, "SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    "decay": (sgd, {"rate": 0.1, "momentum": 0.5, "weight_decay": 0.2}, "SGD", {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.2}),
    "adam": (adam, {"rate": 0.1}, "Adam", {"lr": 0.1}),
    "adam, decay": (adam, {"rate": 0.1, "weight_decay": 0.2}, "Adam", {"lr": 0.1, "weight_decay": 0.2}),
    "adamw": (adamw, {"rate": 0.1, "weight_decay": 0.2}, "AdamW", {"lr": 0.1, "weight_decay": 0.2}),
    "rmsprop": (rmsprop, {"rate": 0.1}, "RMSprop", {"lr": 0.1}),
    "rmsprop, decay": (rmsprop, {"rate": 0.1, "keep": 0.9, "weight_decay": 0.2}, "RMSprop", {"lr": 0.1, "alpha": 0.9, "weight_decay": 0.2}),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimisers_make_the_steps_of_pytorch(name):
    torch = pytest.importorskip("torch")
    update, options, theirs, their_options = OPTIMISERS[name]
    ours, state = structure(), State()
    others = [torch.tensor(a, requires_grad=True) for a in arrays_of(ours)]
    optimizer = getattr(torch.optim, theirs)(others, **their_options)
    for step in range(6):
        gradient = structure(seed=step + 1)
        update(ours, gradient, state=state, **options)
        for other, g in zip(others, arrays_of(gradient), strict=True):
            other.grad = torch.tensor(g)
        optimizer.step()
    for one, other in zip(arrays_of(ours), others, strict=True):
        np.testing.assert_allclose(one, other.detach().numpy(), rtol=1e-9)
    assert state.step == 6


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimisers_write_in_place_keep_float32_and_leave_gradients_alone(name):
    update, options, *_ = OPTIMISERS[name]
    parameters, gradient, state = structure(dtype=np.float32), structure(1, np.float32), State()
    arrays, before = arrays_of(parameters), [g.copy() for g in arrays_of(gradient)]
    old = [a.copy() for a in arrays]
    update(parameters, gradient, state=state, **options)
    assert all(a is b for a, b in zip(arrays, arrays_of(parameters)))
    assert all(a.dtype == np.float32 and np.any(a != o) for a, o in zip(arrays, old))
    assert {a.dtype for a in [*state.means, *state.squares]} <= {np.dtype(np.float32)}
    for g, b in zip(arrays_of(gradient), before):
        np.testing.assert_array_equal(g, b)


def test_momentum_without_a_state_is_refused():
    with pytest.raises(ValueError, match="State"):
        sgd([np.ones(2)], [np.ones(2)], momentum=0.9)


def test_numbers_that_cannot_be_updated_are_refused():
    with pytest.raises(TypeError, match=r"\['b'\] is no array but 2.0"):
        sgd({"w": np.ones(2), "b": 2.0}, {"w": np.ones(2), "b": 1.0})


def test_clipping_is_that_of_pytorch():
    torch = pytest.importorskip("torch")
    for limit in (0.5, 100.0):
        gradient = structure()
        others = [torch.zeros(a.shape, dtype=torch.float64, requires_grad=True) for a in arrays_of(gradient)]
        for other, g in zip(others, arrays_of(gradient)):
            other.grad = torch.tensor(g)
        expected = torch.nn.utils.clip_grad_norm_(others, limit)
        np.testing.assert_allclose(clip_by_norm(gradient, limit), expected.item())
        for one, other in zip(arrays_of(gradient), others):
            np.testing.assert_allclose(one, other.grad.numpy(), rtol=1e-5)


def test_schedules_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    pairs = [
        (schedules.stepped(0.5, 3, 0.2), lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.2)),
        (schedules.exponential(0.5, 0.9), lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9)),
        (schedules.cosine(0.5, 10, least=0.1), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 10, 0.1)),
        (schedules.constant(0.5), lambda o: torch.optim.lr_scheduler.ConstantLR(o, 1.0)),
    ]
    for ours, theirs in pairs:
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.5)
        scheduler = theirs(optimizer)
        for step in range(10):
            np.testing.assert_allclose(ours(step), optimizer.param_groups[0]["lr"], rtol=1e-9)
            optimizer.step()
            scheduler.step()


# Data


def test_a_split_shares_out_all_rows():
    x, y = np.arange(10), np.arange(10) * 2
    (x1, y1), (x2, y2) = split(np.random.default_rng(0), 0.25, x, y)
    assert len(x2) == 2 and sorted([*x1, *x2]) == list(range(10))
    np.testing.assert_array_equal(2 * np.concatenate([x1, x2]), np.concatenate([y1, y2]))
    with pytest.raises(ValueError, match="one length"):
        split(np.random.default_rng(0), 0.5, x, y[:-1])


# Training


class Classifier(NamedTuple):
    hidden: Dense
    out: Dense


def classifier(dtype=np.float32):
    rng = np.random.default_rng(0)
    weights = initialisers.glorot_uniform(rng, 4, 8, dtype), initialisers.glorot_uniform(rng, 8, 3, dtype)
    return Classifier(*(Dense(w, np.zeros(w.shape[1], dtype)) for w in weights))


@value_and_grad
def loss(p, x, labels):
    return cross_entropy(dense(np.tanh(dense(x, *p.hidden)), *p.out), labels)


def blobs(count=90):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, count)
    return (rng.normal(size=(count, 4)) + 2 * np.eye(4)[labels]).astype(np.float32), labels


def share_right(p):
    x, labels = blobs()
    return {"accuracy": np.mean(np.argmax(dense(np.tanh(dense(x, *p.hidden)), *p.out), axis=1) == labels)}


def test_training_learns_and_records():
    p = classifier()
    history = fit(loss, p, blobs(), epochs=20, batch=25, rate=0.02, evaluate=share_right, progress=False)
    assert len(history.losses) == 80 and len(history.seconds) == len(history.results) == 20
    assert history.losses[-1] < 0.5 * history.losses[0] and history.results[-1]["accuracy"] > 0.85


RUNS = {
    "adam": {"update": adam, "rate": 0.02},
    "nesterov": {"update": sgd, "rate": schedules.cosine(0.1, 16), "momentum": 0.9, "nesterov": True, "clip": 0.5},
    "rmsprop": {"update": rmsprop, "rate": 0.01, "weight_decay": 0.01},
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_is_resumed_ends_with_the_same_weights(name, tmp_path):
    options = {"batch": 25, "progress": False, "rng": 5, **RUNS[name]}
    whole, parts = classifier(), classifier()
    expected = fit(loss, whole, blobs(), epochs=4, **options)
    file = tmp_path / "run.npz"
    fit(loss, parts, blobs(), epochs=2, checkpoint=file, **options)
    fresh = classifier()
    history = fit(loss, fresh, blobs(), epochs=4, checkpoint=file, **options)
    for one, other in zip(arrays_of(fresh), arrays_of(whole), strict=True):
        np.testing.assert_array_equal(one, other)
    assert history.losses == expected.losses and len(history.results) == 4
    again = fit(loss, fresh, blobs(), epochs=4, checkpoint=file, **options)  # nothing is left to do
    assert again.losses == expected.losses


def test_a_run_stopped_in_the_middle_of_an_epoch_goes_on_from_its_beginning(tmp_path):
    options = {"batch": 25, "progress": False, "epochs": 3}
    whole, stopped = classifier(), classifier()
    fit(loss, whole, blobs(), **options)
    calls = []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return loss(*arguments)

    with pytest.raises(KeyboardInterrupt):
        fit(interrupted, stopped, blobs(), checkpoint=tmp_path / "run.npz", **options)
    fresh = classifier()
    fit(loss, fresh, blobs(), checkpoint=tmp_path / "run.npz", **options)
    for one, other in zip(arrays_of(fresh), arrays_of(whole), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("generator", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_any_generator_goes_on_where_it_was(generator, tmp_path):
    options = {"batch": 25, "progress": False}
    whole, fresh = classifier(), classifier()
    fit(loss, whole, blobs(), epochs=2, rng=np.random.Generator(generator(3)), **options)
    fit(loss, classifier(), blobs(), epochs=1, rng=np.random.Generator(generator(3)), checkpoint=tmp_path / "run.npz", **options)
    fit(loss, fresh, blobs(), epochs=2, rng=np.random.Generator(generator(9)), checkpoint=tmp_path / "run.npz", **options)
    np.testing.assert_array_equal(fresh.hidden.w, whole.hidden.w)


def test_nan_stops_with_the_step_the_parameter_and_the_last_good_weights():
    p, x, labels = classifier(), *blobs()
    seen = []

    def poisoned(p, x, labels):
        seen.append([a.copy() for a in arrays_of(p)])
        value, gradient = loss(p, x, labels)
        if len(seen) == 6:
            gradient.out.w[1, 2] = np.nan
        return value, gradient

    with pytest.raises(NotFiniteError, match="step 6: .* first in the parameter out.w") as error:
        fit(poisoned, p, (x, labels), batch=25, progress=False)
    assert error.value.step == 6 and error.value.parameter == "out.w"
    for one, other in zip(arrays_of(p), seen[4], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_loss_that_explodes_stops_with_finite_weights():
    w = np.zeros(4, np.float32)
    x = blobs()[0]

    def squares(w, x):
        return np.mean((x @ w - 1) ** 2)

    with np.errstate(all="ignore"), pytest.raises(NotFiniteError, match="the loss is inf") as error:
        fit(value_and_grad(squares), w, (x,), batch=10, update=sgd, rate=1e3, epochs=9, progress=False)
    assert error.value.step > 2 and np.all(np.isfinite(w)) and np.abs(w).max() > 1e6


def test_nan_in_the_data_is_told_from_nan_in_the_parameters():
    p, (x, labels) = classifier(), blobs()
    x[70] = np.nan
    before = [a.copy() for a in arrays_of(p)]
    with pytest.raises(NotFiniteError, match="the loss is nan") as error:
        fit(loss, p, (x, labels), batch=90, progress=False)
    assert error.value.step == 1 and error.value.parameter == "hidden.w"
    for one, other in zip(arrays_of(p), before):
        np.testing.assert_array_equal(one, other)


def test_a_plot_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    history = History([3.0, 2.0, 1.0], [0.1], [{"accuracy": 0.5}])
    for name, file, start in (("run.png", "run.png", b"\x89PNG"), ("other", "other.png", b"\x89PNG"), ("run.svg", "run.svg", b"<?xml")):
        history.plot(tmp_path / name)
        assert (tmp_path / file).read_bytes().startswith(start)
    with pytest.raises(FileError, match="make the folder .*missing first"):
        history.plot(tmp_path / "missing" / "run.png")


def test_the_network_of_the_readme_trains():
    text = (Path(__file__).parents[1] / "README.md").read_text()
    blocks = [block.partition("```")[0] for block in text.split("```python\n")[1:]]
    (block,) = [block for block in blocks if "sourcead.nn.training" in block]
    namespace = {}
    linecache.cache["readme_network.py"] = (len(block), None, block.splitlines(True), "readme_network.py")
    exec(compile(block, "readme_network.py", "exec"), namespace)
    assert len(namespace["history"].losses) == 300
