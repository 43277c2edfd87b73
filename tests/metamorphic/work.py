"""Runs pairs in child processes, which are started anew where one of them dies or does not answer."""

import dataclasses
import multiprocessing
import random
import threading
import traceback
import zlib

from tests.metamorphic.drawn import drawn
from tests.metamorphic.judge import Judge, Verdict
from tests.metamorphic.rewrites import composed
from tests.metamorphic.units import load, unit_of, unload
from tests.programs import all_programs

ANSWER = 200  # seconds that a child may take for one pair


@dataclasses.dataclass(frozen=True)
class Pair:
    """One pair and what became of it; the texts are kept where it is not the same."""

    program: str
    rewrites: tuple
    status: str
    detail: str = ""
    text: str = ""
    seed: int = 0


def find(name):
    """The program of the corpus that has a name, or the random one of the seed that a name such as `random_7` ends with."""
    if name.startswith("random_") and name[7:].isdigit():
        return drawn(int(name[7:]))
    return next((p for p in all_programs() if p.name == name), None)


def random_for(program, rewrites, seed):
    """The source of random numbers of one pair."""
    return random.Random(zlib.crc32(f"{program} {' '.join(rewrites)} {seed}".encode()))


def pairs_of(p, choices, seed, args_seed=0):
    """The `Pair` of each choice of rewritings, a tuple of names, or None for one that does not apply to the program."""
    unit = None if p is None or p.raises else unit_of(p.function)
    judge = Judge(p, args_seed) if unit else None
    for rewrites in choices:
        if judge is None or not judge.judgeable():
            yield None
            continue
        try:
            made, applied = composed(unit, rewrites, random_for(p.name, rewrites, seed))
        except Exception:
            yield Pair(p.name, rewrites, "unjudged", traceback.format_exc()[-700:], "", seed)
            continue
        yield judged(judge, made, tuple(applied), seed) if applied else None


def judged(judge, unit, applied, seed):
    """The `Pair` of a unit that was rewritten."""
    try:
        function = load(unit)
    except Exception as error:
        return Pair(judge.p.name, applied, "unlike", f"does not load: {error}", unit.text, seed)
    try:
        verdict = judge.verdict(function)
    except Exception as error:
        verdict = Verdict("unjudged", f"{type(error).__name__}: {error}")
    finally:
        unload(function)
    return Pair(judge.p.name, applied, verdict.status, verdict.detail, "" if verdict.status == "same" else unit.text, seed)


def child(connection):
    """Answers jobs `(program, choices, seed)` with a pair or None for each choice."""
    while (job := connection.recv()) is not None:
        name, choices, seed = job
        for pair in pairs_of(find(name), choices, seed):
            connection.send(pair)


class Worker(threading.Thread):
    """A thread that gives jobs to a child process of its own."""

    def __init__(self, jobs, on_pair):
        super().__init__(daemon=True)
        self.jobs, self.on_pair = jobs, on_pair
        self.process = self.connection = None

    def start_child(self):
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=child, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def run(self):
        while True:
            try:
                job = next(self.jobs)
            except StopIteration:
                break
            self.do(job)
        if self.process is not None:
            self.connection.send(None)
            self.process.join(10)

    def do(self, job):
        """One job; the choice at which a child dies counts as internal, and another child does those behind it."""
        name, choices, seed = job
        done = 0
        while done < len(choices):
            reason = self.answers((name, choices[done:], seed))
            done += self.answered
            if reason:
                self.process.kill()
                self.process = None
                self.on_pair(Pair(name, tuple(choices[done]), "internal", reason, "", seed))
                done += 1

    def answers(self, job):
        """Asks a child for the answers to a job; why it stopped early, or None."""
        self.answered = 0
        if self.process is None:
            self.start_child()
        try:
            self.connection.send(job)
            while self.answered < len(job[1]):
                if not self.connection.poll(ANSWER):
                    return f"no answer in {ANSWER} s"
                pair = self.connection.recv()
                self.answered += 1
                if pair is not None:
                    self.on_pair(pair)
        except (EOFError, OSError):
            return "the process died"
        return None


class Shared:
    """An iterator that several threads may take from."""

    def __init__(self, items):
        self.items, self.lock = iter(items), threading.Lock()

    def __next__(self):
        with self.lock:
            return next(self.items)


def work(jobs, on_pair, count):
    """Runs jobs in `count` child processes and calls `on_pair` for each pair."""
    shared = Shared(jobs)
    workers = [Worker(shared, on_pair) for _ in range(count)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
