"""Training epochs of the recurrent network, each engine in a process of its own.

One process per engine keeps the thread pools of NumPy, PyTorch and JAX from spinning in each other's way; the parent
asks one at a time, so that all others wait.
"""

import contextlib
import importlib
import multiprocessing
import os
import tempfile

import numpy as np

from examples import mnist_rnn
from sourcead.nn.data import load
from tests.benchmarks import by_hand

GENERATED, BY_HAND, REUSING = "generated", "hand-written", "hand-written, buffers reused"
TORCH, JAX = "PyTorch", "jax.jit"
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def epoch_of(engine, data):
    """A function that trains one epoch with SGD, going on where the last call ended."""
    rng = np.random.default_rng(0)
    parameters = mnist_rnn.initial_parameters(rng)
    if engine in (TORCH, JAX):
        peer = importlib.import_module(f"tests.benchmarks.{'torch' if engine == TORCH else 'jax'}_rnn")
        return peer.epoch(data, parameters, mnist_rnn.RATES["sgd"], mnist_rnn.BATCH, mnist_rnn.STEPS)
    functions = {
        GENERATED: mnist_rnn.loss,
        BY_HAND: by_hand.rnn_loss_and_gradients,
        REUSING: by_hand.rnn_loss_and_gradients_reusing_buffers,
    }
    update = mnist_rnn.updater("sgd", parameters)

    def run():
        for _ in mnist_rnn.train_epoch(functions[engine], parameters, update, data, rng):
            pass

    return run


def allocated_bytes(run):
    """All bytes that `run()` asks for, freed or not: what memray calls the total of memory allocated."""
    import memray

    freeing = {memray.AllocatorType.FREE, memray.AllocatorType.MUNMAP}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.bin")
        with memray.Tracker(path):
            run()
        with memray.FileReader(path) as reader:
            return sum(record.size for record in reader.get_allocation_records() if record.allocator not in freeing)


@contextlib.contextmanager
def environment(**variables):
    """Sets environment variables for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


class Worker:
    """A process that trains with one engine; `worker()` trains an epoch, `worker.bytes()` counts what one allocates.

    With `one_thread`, BLAS has no threads of its own, so that what it allocates to share out the work is not counted.
    """

    def __init__(self, engine, data_spec, one_thread=False):
        context = multiprocessing.get_context("spawn")
        self.pipe, other_end = context.Pipe()
        self.process = context.Process(target=serve, args=(engine, data_spec, other_end), daemon=True)
        with environment(**dict.fromkeys(THREAD_VARIABLES, "1")) if one_thread else contextlib.nullcontext():
            self.process.start()
        other_end.close()
        self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self.pipe.send("stop")
        self.process.join(timeout=10)

    def __call__(self):
        self.pipe.send("epoch")
        return self.answer()

    def bytes(self):
        self.pipe.send("bytes")
        return self.answer()

    def answer(self):
        try:
            answer = self.pipe.recv()
        except EOFError:
            raise RuntimeError("the worker died") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def serve(engine, data_spec, pipe):
    """Trains when told to, until told to stop; an exception is sent back."""
    try:
        run = epoch_of(engine, load(data_spec))
        pipe.send(None)
        while (order := pipe.recv()) != "stop":
            pipe.send(run() if order == "epoch" else allocated_bytes(run))
    except Exception as error:  # whatever it is, the parent reports it
        pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))
