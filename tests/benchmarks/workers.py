"""What is compared, each engine in a process of its own; and the training epochs of the recurrent network.

One process per engine keeps the thread pools of NumPy, PyTorch and JAX from spinning in each other's way; the parent
asks one at a time, so that all others wait.
"""

import contextlib
import importlib
import multiprocessing
import os
import tempfile
import tracemalloc

import numpy as np

from examples import mnist_rnn
from sourcead.nn.data import load
from sourcead.nn.memory import keep_freed_memory
from tests.benchmarks.by_hand import recurrent as by_hand
from tests.benchmarks.timing import THREAD_VARIABLES

GENERATED, BY_HAND, REUSING = "generated", "hand-written", "hand-written, buffers reused"
TORCH, JAX = "PyTorch", "jax.jit"
KERNEL_VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # they hold OpenBLAS, and it alone, to an older processor's kernels


def epoch_of(engine, data_spec):
    """A function that trains one epoch with SGD, going on where the last call ended."""
    keep_freed_memory()
    data = load(data_spec)
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


def peak_bytes(run):
    """The most memory that Python and NumPy hold at a time during `run()`, beyond what they hold before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@contextlib.contextmanager
def environment(variables):
    """Sets environment variables, or with None unsets them, for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    set_all(variables)
    try:
        yield
    finally:
        set_all(before)


def set_all(variables):
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class Worker:
    """A process that runs what `make(*args)` gives; `worker()` runs it, `worker.bytes()` and `worker.peak()` count its memory.

    Every library chooses its kernels by the processor, as it does for its users: `KERNEL_VARIABLES` are unset.

    Args:
        make, args: a function at the top level of a module, and what it takes.
        threads: how many threads and cores there are; None is as many as the engine takes by itself. With one, what BLAS
            allocates to share out the work is not counted.
    """

    def __init__(self, make, *args, threads=None):
        context = multiprocessing.get_context("spawn")
        self.pipe, other_end = context.Pipe()
        self.process = context.Process(target=serve, args=(make, args, threads, other_end), daemon=True)
        number = dict.fromkeys(THREAD_VARIABLES, str(threads)) if threads else {}
        with environment({**dict.fromkeys(KERNEL_VARIABLES), **number}):
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
        self.pipe.send("run")
        return self.answer()

    def bytes(self):
        self.pipe.send("bytes")
        return self.answer()

    def peak(self):
        self.pipe.send("peak")
        return self.answer()

    def answer(self):
        try:
            answer = self.pipe.recv()
        except EOFError:
            raise RuntimeError("the worker died") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def serve(make, args, threads, pipe):
    """Runs when told to, until told to stop; an exception is sent back."""
    try:
        if threads and threads > 1 and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
        run = make(*args)
        pipe.send(None)
        orders = {"run": run, "bytes": lambda: allocated_bytes(run), "peak": lambda: peak_bytes(run)}
        while (order := pipe.recv()) != "stop":
            answer = orders[order]()
            pipe.send(answer if isinstance(answer, int) else None)
    except Exception as error:  # whatever it is, the parent reports it
        pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))
