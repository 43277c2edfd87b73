"""A process for each engine of the table, which makes one program after the other and times it when told to.

Thread pools and compilers of several engines would be in each other's way in one process; the parent asks one at a time.
"""

import contextlib
import multiprocessing
import os
import tempfile
import time
import warnings

from sourcead.nn.memory import keep_freed_memory
from tests.benchmarks import peers
from tests.benchmarks.programs import numbers, programs
from tests.benchmarks.workers import KERNEL_VARIABLES, environment


class Engine:
    """The process of an engine; an order that takes longer than its limit ends it, and the next one starts it again."""

    def __init__(self, name: str, tiny: bool = False):
        self.name, self.tiny = name, tiny
        self.process = None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, other_end = context.Pipe()
        self.process = context.Process(target=serve, args=(self.name, self.tiny, other_end), daemon=True)
        with environment(dict.fromkeys(KERNEL_VARIABLES)):
            self.process.start()
        other_end.close()

    def stop(self):
        if self.process is None:
            return
        with contextlib.suppress(BrokenPipeError, OSError):
            self.pipe.send(None)
        self.process.join(timeout=10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process = None

    def ask(self, order: str, *args, limit: float = 60.0):
        """The answer; `Left` if the engine cannot, or takes longer than the limit in seconds."""
        if self.process is None:
            self.start()
        self.pipe.send((order, args))
        if not self.pipe.poll(limit):
            self.process.kill()
            self.process.join()
            self.process = None
            raise peers.Left(f"not done after {limit:.0f} s")
        try:
            answer = self.pipe.recv()
        except EOFError:
            self.process = None
            raise peers.Left("its process died") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def serve(name: str, tiny: bool, pipe) -> None:
    """Answers orders until told to stop."""
    warnings.simplefilter("ignore")
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as cache:  # so that what is compiled is compiled for the first time
        os.environ["SOURCEAD_CACHE_DIR"] = os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        served = Served(name, tiny)
        while order := pipe.recv():
            method, args = order
            try:
                answer = getattr(served, method)(*args)
            except peers.Left as left:
                answer = left
            except Exception as error:  # whatever a library raises is why it is left out
                answer = peers.Left(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:100])
            pipe.send(answer)


class Served:
    """What the process of an engine does."""

    def __init__(self, name: str, tiny: bool):
        self.engine = peers.ENGINES[name]
        self.programs = programs(tiny)
        self.made = None
        with contextlib.suppress(Exception):
            self.engine(programs(tiny=True)["van der pol"]).gradient()  # imports and starts the library

    def make(self, name: str) -> dict:
        """Makes a program's gradient and calls it: the seconds of that, the result, and whether there is a primal."""
        self.made, program = None, self.programs[name]
        started = time.perf_counter()
        made = self.engine(program)
        found = made.gradient()
        first = time.perf_counter() - started
        made.gradient()  # some cannot do it twice: the program writes into what it was given
        run = made.program or program
        self.made = made
        if made.primal:
            try:
                made.primal()
            except Exception:  # Numba does not take each program
                self.made = made._replace(primal=None)
        return {
            "first call": first, "result": numbers(found), "primal": self.made.primal is not None, "shorter": run.args is not program.args,
        }  # fmt: skip

    def seconds(self, which: str, calls: int) -> float:
        """The seconds of one call, the mean of several."""
        run = getattr(self.made, which)
        started = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - started) / calls

    def peak(self) -> int | None:
        """The most bytes of heap at a time during a gradient, beyond what there was, counted by memray; None without it."""
        try:
            import memray
        except ImportError:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.bin")
            with memray.Tracker(path):
                self.made.gradient()
            with memray.FileReader(path) as reader:
                return reader.metadata.peak_memory
