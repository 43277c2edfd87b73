"""Gradients over shards: the same bits in every place and for any number of workers, and no loss where a worker dies."""

import concurrent.futures
import importlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from sourcead import ArgumentError, grad, value_and_grad
from sourcead.api.extending import leaves
from sourcead.distributed import grad_over
from sourcead.distributed.parts import Failure, Share
from sourcead.distributed.places import InPool
from sourcead.distributed.sending import Boxed, Sent, dumped, loaded, sendable
from sourcead.distributed.tree import blocks, tree_sum
from sourcead.nn.checkpoints import CheckpointError
from sourcead.nn.training import fit

RNG = np.random.default_rng(0)
SHARDS = [(RNG.normal(size=(20 + k, 5)), RNG.normal(size=20 + k)) for k in range(7)]
X, Y = (np.concatenate(arrays) for arrays in zip(*SHARDS))


@dataclass
class Model:
    w: np.ndarray
    b: float


class Layer(NamedTuple):
    w: np.ndarray
    b: np.ndarray


class OfTwoArguments(Exception):
    def __init__(self, what, number):
        super().__init__(f"{what} {number}")


@value_and_grad
def loss(p, x, y):
    return np.sum((np.tanh(x @ p.w) + p.b - y) ** 2)


@value_and_grad
def nested_loss(p, x, y):
    return np.sum((np.tanh(x @ p["layers"][0].w) * p["layers"][0].b[0] + p["rest"][0] - y) ** 2)


@value_and_grad(wrt=("w", "b"))
def loss_of_two(w, b, x, y):
    return np.sum((x @ w + b - y) ** 2)


@value_and_grad
def checked_loss(p, x, y):
    if len(x) == 22:
        raise OfTwoArguments("a shard of", len(x))
    return np.sum((x @ p.w - y) ** 2)


def slow_loss(p, x, y):
    time.sleep(0.4)
    return loss(p, x, y)


MODEL = Model(RNG.normal(size=5), 0.3)
NESTED = {"layers": [Layer(RNG.normal(size=5), np.ones(1))], "rest": (np.array([0.5]),)}


class Direct(concurrent.futures.Executor):
    """An executor that sends its tasks and results as bytes, and runs them at once."""

    _max_workers = 3

    def __init__(self):
        self.sizes = []

    def submit(self, function, /, *args):
        task = pickle.dumps((function, args))
        self.sizes.append(len(task))
        function, args = pickle.loads(task)
        future = concurrent.futures.Future()
        future.set_result(pickle.loads(pickle.dumps(function(*args))))
        return future


def same(found, expected):
    assert type(found[1]) is type(expected[1])
    pairs = zip(leaves(found), leaves(expected), strict=True)
    assert all(a == b and np.array_equal(x, y) and np.asarray(x).dtype == np.asarray(y).dtype for (a, x), (b, y) in pairs)


# The tree


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13, 100])
@pytest.mark.parametrize("workers", [1, 2, 3, 7, 64])
def test_blocks_of_any_number_of_workers_have_the_sum_of_one(count, workers):
    def add(a, b):
        return f"({a} {b})"

    found = blocks(count, workers)
    assert [k for block in found for k in block] == list(range(count))
    assert tree_sum((tree_sum(map(str, block), add) for block in found), add) == tree_sum(map(str, range(count)), add)


def test_blocks_keep_workers_busy():
    assert [len(b) for b in blocks(8, 2)] == [4, 4] and len(blocks(1000, 2)) <= 8 and len(blocks(1000, 1000)) == 1000


# Here


def test_the_sum_over_shards_is_the_gradient_of_all_rows():
    value, gradient = grad_over(loss, SHARDS)(MODEL)
    expected = loss(MODEL, X, Y)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(gradient.w, expected[1].w, rtol=1e-12)
    np.testing.assert_allclose(gradient.b, expected[1].b, rtol=1e-12)


def test_weights_multiply_values_and_gradients():
    weights = [len(x) / len(X) for x, _ in SHARDS]
    value, gradient = grad_over(loss, SHARDS, weights=weights)(MODEL)
    terms = [(w * v, w * d.w) for w, (v, d) in zip(weights, (loss(MODEL, *shard) for shard in SHARDS))]
    np.testing.assert_allclose(value, sum(v for v, _ in terms), rtol=1e-13)
    np.testing.assert_allclose(gradient.w, sum(d for _, d in terms), rtol=1e-12)


def test_structures_and_several_parameters_are_summed():
    value, gradient = grad_over(nested_loss, SHARDS)(NESTED)
    expected = nested_loss(NESTED, X, Y)
    assert isinstance(gradient["layers"][0], Layer) and isinstance(gradient["rest"], tuple)
    for (_, a), (_, b) in zip(leaves(gradient), leaves(expected[1]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    _, (d_w, d_b) = grad_over(loss_of_two, SHARDS)(MODEL.w, 0.3)
    np.testing.assert_allclose(d_w, loss_of_two(MODEL.w, 0.3, X, Y)[1][0], rtol=1e-12)
    np.testing.assert_allclose(d_b, loss_of_two(MODEL.w, 0.3, X, Y)[1][1], rtol=1e-12)


def test_float32_stays():
    p = Model(MODEL.w.astype(np.float32), np.float32(0.3))
    value, gradient = grad_over(loss, [(x.astype(np.float32), y.astype(np.float32)) for x, y in SHARDS], weights=[0.5] * 7)(p)
    assert value.dtype == gradient.w.dtype == np.float32


def test_shards_are_tuples_single_arguments_or_functions_that_load_them():
    square = value_and_grad(lambda p, x: np.sum((p * x) ** 2))
    loads = []
    found = grad_over(square, [SHARDS[0][1], (SHARDS[1][1],), lambda: loads.append(1) or SHARDS[2][1]])
    for _ in range(2):
        assert found(2.0)[0] == pytest.approx(sum(np.sum((2 * SHARDS[k][1]) ** 2) for k in range(3)))
    assert loads == [1]


# Executors


@pytest.mark.parametrize("function, p", [(loss, MODEL), (nested_loss, NESTED)])
def test_executors_have_the_bits_of_this_process(function, p):
    expected = grad_over(function, SHARDS)(p)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        same(grad_over(function, SHARDS, pool)(p), expected)
    total = grad_over(function, [*SHARDS[:6], lambda: SHARDS[6]], Direct())
    same(total(p), expected)
    same(total(p), expected)


def test_a_process_gets_function_and_shards_once_and_again_if_it_is_a_new_one(monkeypatch):
    pool = Direct()
    total = grad_over(loss, SHARDS, pool)
    first = total(MODEL)
    tasks, pool.sizes = pool.sizes, []
    same(total(MODEL), first)
    assert len(pool.sizes) == len(tasks) and 2 * max(pool.sizes) < min(tasks)
    monkeypatch.setattr("sourcead.distributed.places._blocks", {})
    same(total(MODEL), first)


@pytest.mark.long
def test_processes_have_the_bits_of_this_one():
    expected = grad_over(loss, SHARDS)(MODEL)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        total = grad_over(loss, SHARDS, pool)
        for _ in range(3):
            same(total(MODEL), expected)
        with pytest.raises(OfTwoArguments, match="a shard of 22") as caught:
            grad_over(checked_loss, SHARDS, pool)(MODEL)
    text = str(caught.value.__cause__)
    assert "shard 2" in text and "test_distributed.py" in text and 'raise OfTwoArguments("a shard of", len(x))' in text


# What is sent


def test_a_function_is_made_once_in_a_process():
    sent = Sent.of(loss)
    assert Sent.of(loss).digest == sent.digest and sent.function() is pickle.loads(pickle.dumps(sent)).function()


def test_a_derivative_of_the_main_program_is_sent_as_code_with_its_text(monkeypatch):
    pytest.importorskip("cloudpickle")
    monkeypatch.setattr(loss, "__module__", "__main__")
    content = dumped(loss)
    monkeypatch.undo()
    remade = loaded(content)
    assert remade is not loss and b"def nested_loss" in content
    same(remade(MODEL, X, Y), loss(MODEL, X, Y))


def test_arrays_that_arrive_unaligned_or_may_not_be_written_are_copied():
    box = Boxed.of((np.arange(5.0), "text"))
    memory = np.zeros(48, np.uint8)
    memory[1:41] = box.memory[0]
    for part in (memory[1:41], np.frombuffer(box.memory[0].tobytes(), np.uint8)):
        array, text = Boxed(box.content, [part]).thing()
        assert array.flags.aligned and array.flags.writeable and text == "text" and np.array_equal(array, np.arange(5.0))


class NotPickled(Exception):
    def __init__(self):
        super().__init__("with a lock")
        self.lock = threading.Lock()


@pytest.mark.parametrize("error, kind", [
    (ValueError("a"), ValueError), (OfTwoArguments("a", 1), OfTwoArguments), (KeyError("a"), KeyError), (NotPickled(), RuntimeError),
])  # fmt: skip
def test_errors_of_any_constructor_travel(error, kind):
    made = loaded(sendable(error))
    assert type(made) is kind and str(error) in str(made)


# Errors


@pytest.mark.parametrize("client", [None, Direct()])
def test_an_error_of_a_shard_is_raised_with_its_number_and_line(client):
    with pytest.raises(OfTwoArguments, match="a shard of 22") as caught:
        grad_over(checked_loss, SHARDS, client)(MODEL)
    text = str(caught.value.__cause__)
    assert "shard 2" in text and 'raise OfTwoArguments("a shard of", len(x))' in text

    def missing():
        raise FileNotFoundError("no such shard")

    with pytest.raises(FileNotFoundError, match="no such shard"):
        grad_over(loss, [SHARDS[0], missing], client)(MODEL)


def test_a_refusal_of_the_compiler_names_the_line():
    def unknown(p, x, y):
        return np.sum(np.frompyfunc(lambda a: a, 1, 1)(p.w))

    with pytest.raises(Exception, match=r"test_distributed\.py:\d+"):
        grad_over(value_and_grad(unknown), SHARDS)(MODEL)


@pytest.mark.parametrize("function, shards, options, reason", [
    (grad(lambda p, x: p * x), [1.0], {}, "without the value"),
    (value_and_grad(lambda p, x: (p * x, 1), has_aux=True), [1.0], {}, "auxiliary data"),
    (loss, X, {}, "a ndarray, and not a list"),
    (loss, [], {}, "there are no shards"),
    (loss, SHARDS, {"weights": [1.0]}, "1 weights for 7 shards"),
    (loss, SHARDS, {"client": "tcp://127.0.0.1:1"}, "`client` is a str"),
    (None, SHARDS, {}, "is a NoneType and no function"),
])  # fmt: skip
def test_what_is_refused(function, shards, options, reason):
    with pytest.raises(ArgumentError, match=reason):
        grad_over(function, shards, **options)


def test_a_function_of_another_result_is_refused():
    with pytest.raises(ArgumentError, match="does not return a value and a gradient"):
        grad_over(lambda p, x, y: p.w, SHARDS)(MODEL)


def test_the_first_failure_wins():
    pool = Direct()
    place = InPool(pool, checked_loss, SHARDS + SHARDS)
    found = place.total((MODEL,), [Share()] * 14, lambda count: None)
    assert isinstance(found, Failure) and found.position == 2


# Training


@value_and_grad
def mean_loss(p, x, y):
    return np.mean((x @ p.w + p.b[0] - y) ** 2)


def trained(function=mean_loss, **options):
    p = Layer(np.zeros(5), np.zeros(1))
    history = fit(function, p, (X, Y), **{"epochs": 3, "batch": 20, "rate": 0.05, "progress": False, **options})
    return np.concatenate([*p, history.losses])


def test_training_over_shards_is_training_on_batches_to_rounding():
    np.testing.assert_allclose(trained(shards=4), trained(), rtol=1e-9)
    np.testing.assert_allclose(trained(shards=1000, batch=3), trained(batch=3), rtol=1e-9)


def test_training_with_a_client_has_the_bits_of_shards_here():
    expected = trained(shards=8)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert np.array_equal(trained(client=pool), expected)
    assert np.array_equal(trained(client=Direct()), expected)


@pytest.mark.long
def test_training_on_dask_has_the_bits_of_shards_here(local_client):
    assert np.array_equal(trained(client=local_client, shards=3), trained(shards=3))


def test_a_loss_that_is_a_sum_is_told_from_a_mean():
    def total_loss(p, x, y):
        return np.sum((x @ p.w + p.b[0] - y) ** 2)

    function = value_and_grad(total_loss)
    np.testing.assert_allclose(trained(function, shards=4, rate=0.01), trained(function, rate=0.01), rtol=1e-9)


def test_a_sum_is_told_from_a_mean_also_where_the_first_batches_do_not_tell():
    def late(p, x, y):  # no batch of one row tells
        return np.sum((x @ p.w + p.b[0] - y) ** 2)

    function = value_and_grad(late)
    np.testing.assert_allclose(trained(function, shards=2, batch=1), trained(function, batch=1), rtol=1e-9)
    zero = value_and_grad(lambda p, x, y: np.sum((x @ p.w + p.b[0]) ** 2 * (p.w[0] != 0)) + 0 * p.b[0])
    np.testing.assert_allclose(trained(zero, shards=2), trained(zero), rtol=1e-9)


def test_a_loss_that_is_neither_a_mean_nor_a_sum_is_refused_with_shards():
    def normalised(p, x, y):
        z = x @ p.w + p.b[0]
        return np.mean((z - np.mean(z) - y) ** 2 + z**2)

    p = Layer(np.ones(5), np.ones(1))
    with pytest.raises(ArgumentError, match="neither the mean nor the sum of the losses of its parts"):
        fit(value_and_grad(normalised), p, (X, Y), shards=4, progress=False)
    assert np.array_equal(p.w, np.ones(5))


def test_a_run_over_shards_resumes_bit_for_bit_and_not_with_others(tmp_path):
    file = tmp_path / "run.npz"
    expected = trained(shards=4, epochs=3)
    trained(shards=4, epochs=2, checkpoint=file)
    with pytest.raises(CheckpointError, match="shards"):
        trained(shards=5, epochs=3, checkpoint=file)
    assert np.array_equal(trained(shards=4, epochs=3, checkpoint=file, client=Direct()), expected)


@pytest.mark.parametrize("shards", [0, 1.5])
def test_shards_are_a_number_of_parts(shards):
    with pytest.raises(ArgumentError, match="no number of parts of the data"):
        trained(shards=shards)


# Dask


@pytest.fixture(scope="module")
def local_client():
    """A client with two workers in this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_dask_has_the_bits_of_this_process(local_client):
    expected = grad_over(loss, SHARDS)(MODEL)
    same(grad_over(loss, SHARDS, local_client)(MODEL), expected)
    future = local_client.submit(lambda: SHARDS[0], pure=False)
    with grad_over(loss, [future, lambda: SHARDS[1], *SHARDS[2:]], local_client) as total:
        same(total(MODEL), expected)
    with pytest.raises(OfTwoArguments, match="a shard of 22"):
        grad_over(checked_loss, SHARDS, local_client)(MODEL)
    many = [(x[k : k + 1], y[k : k + 1]) for x, y in SHARDS for k in range(len(x))]
    same(grad_over(loss, many, local_client)(MODEL), grad_over(loss, many)(MODEL))


@pytest.mark.long
def test_futures_need_their_client(local_client):
    future = local_client.submit(lambda: SHARDS[0], pure=False)
    with pytest.raises(ArgumentError, match="there is no client"):
        grad_over(loss, [future])
    with pytest.raises(ArgumentError, match="none of Dask"):
        grad_over(loss, [future], Direct())


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_is_killed_loses_nothing(workers):
    distributed = pytest.importorskip("distributed")
    expected = grad_over(loss, SHARDS)(MODEL)
    settings = importlib.import_module("dask").config.set({"distributed.deploy.lost-worker-timeout": "120s"})  # for busy machines
    with (
        settings,
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        total = grad_over(slow_loss, SHARDS, client)
        same(total(MODEL), expected)
        for _ in range(2):
            victim = next(iter(client.run(os.getpid).values()))
            timer = threading.Timer(0.6, os.kill, (victim, signal.SIGKILL))
            timer.start()
            same(total(MODEL), expected)
            timer.join()
        for process in client.run(os.getpid).values():
            os.kill(process, signal.SIGKILL)
        same(total(MODEL), expected)


@pytest.mark.long
def test_the_example_has_the_bits_of_one_process(tmp_path):
    pytest.importorskip("distributed")
    root, picture = Path(__file__).parents[1], tmp_path / "a.png"
    command = [sys.executable, str(root / "examples" / "shards.py"), "--data", "digits", "--steps", "6", "--plot", str(picture)]
    environment = {**os.environ, "PYTHONPATH": str(root), "DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "120s"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0 and "equal bit for bit" in done.stdout, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_nothing_of_dask_is_read_without_a_client():
    code = "import sys, sourcead.distributed, sourcead.nn.training\nprint({'dask', 'distributed', 'cloudpickle'} & set(sys.modules))"
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "set()\n"
