"""Judging many programs in child processes, which are ended and replaced when they hang."""

import multiprocessing
import random
import tempfile
import time
from multiprocessing.connection import wait

SECONDS = 60  # for one program with all its modes
LIFE = 150  # programs that one process judges


class Worker:
    """A child process and the seed that it is at."""

    def __init__(self, task):
        context = multiprocessing.get_context("fork")
        self.here, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there, task), daemon=True)
        self.process.start()
        there.close()
        self.seed, self.since, self.done = None, 0.0, 0

    def give(self, seed):
        """Send a seed to the process."""
        self.seed, self.since = seed, time.monotonic()
        self.here.send(seed)

    def late(self, seconds):
        """Return whether the process has had its seed for more than so many seconds."""
        return self.seed is not None and time.monotonic() - self.since > seconds

    def end(self):
        """End the process."""
        self.process.kill()
        self.process.join()
        self.here.close()


def _serve(pipe, task):
    """Do the task for each seed that comes."""
    with tempfile.TemporaryDirectory(prefix="random_python_") as folder:
        while True:
            try:
                seed = pipe.recv()
            except EOFError:
                return
            pipe.send(task(seed, folder))


def results(seeds, task, jobs, seconds=SECONDS):
    """Yield pairs of a seed and the result of the task, or None if it hung or ended its process."""
    rest = list(reversed(seeds))
    workers = [Worker(task) for _ in range(min(jobs, len(rest)))]
    for worker in workers:
        worker.give(rest.pop())
    while workers:
        ready = wait([w.here for w in workers], timeout=1.0)
        for k, worker in enumerate(workers):
            if worker.here not in ready and not worker.late(seconds):
                continue
            yield worker.seed, _received(worker) if worker.here in ready else None
            workers[k] = _next(worker, rest, task)
        workers = [w for w in workers if w]


def _received(worker):
    """Return what the process sent, or None if it ended."""
    try:
        result = worker.here.recv()
    except (EOFError, OSError):
        return None
    worker.seed = None
    worker.done += 1
    return result


def _next(worker, rest, task):
    """Give the worker another seed, or end it; one that hung or is old is replaced."""
    if worker.seed is not None or worker.done >= LIFE or not rest:
        worker.end()
        worker = Worker(task) if rest else None
    if worker:
        worker.give(rest.pop())
    return worker


def generator(seed):
    """Return the random numbers that choose the modes of a program."""
    return random.Random(f"modes:{seed}")
