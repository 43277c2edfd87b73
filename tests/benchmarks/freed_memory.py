"""What `sourcead.nn.memory.keep_freed_memory` saves: training a network with and without it.

    python -m tests.benchmarks memory [--rounds N]

Each network trains in two processes of one thread, on 2,000 images that are made there, so that no larger array was freed before. They
take turns, 20 batches of 100 at a time; the times are processor seconds, and the page faults are those of one turn.
"""

import argparse
import resource
import statistics
import time

import numpy as np

from sourcead.nn.data import minibatches
from sourcead.nn.memory import keep_freed_memory
from sourcead.nn.optimisers import State, adam, arrays_of
from tests.benchmarks import networks
from tests.benchmarks.report import machine
from tests.benchmarks.timing import median_ratio
from tests.benchmarks.workers import Worker

NETWORKS = ("cnn", "mlp", "autoencoder", "lstm", "gru")


def turn_of(name, kept, faults):
    """A function that trains 20 batches and returns its processor time in nanoseconds, or how many page faults it had."""
    if kept:
        keep_freed_memory()
    net, rng = networks.network(name), np.random.default_rng(0)
    parameters = net.initial(rng)
    images, labels = rng.random((2000, 784), np.float32), rng.integers(0, 10, 2000)
    targets, state = arrays_of(parameters), State()
    rows = (images, labels) if net.labelled else (images,)

    def run():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt if faults else time.process_time_ns()
        for batch, *others in minibatches(rng, 100, *rows):
            _, gradients = net.loss(parameters, net.prepare(batch), *others)
            adam(targets, arrays_of(gradients), state, networks.RATE)
        return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt if faults else time.process_time_ns()) - before

    return run


def measured(name, faults, rounds):
    """What the turns measured, without and with memory that is kept."""
    with Worker(turn_of, name, False, faults, threads=1) as without, Worker(turn_of, name, True, faults, threads=1) as kept:
        found = [(without(), kept()) if k % 2 else (kept(), without())[::-1] for k in range(rounds + 1)]
    return zip(*found[1:])  # the first turn compiles


def parser():
    """What the options mean."""
    found = argparse.ArgumentParser(prog="python -m tests.benchmarks memory", description=__doc__.partition("\n")[0])
    found.add_argument("--rounds", type=int, default=9, help="turns that are timed; default: 9")
    return found


def run(options):
    """Prints a table of Markdown."""
    print(*(f"{fact}: {value}" for fact, value in machine().items()), "", sep="\n")
    print("| network | ms, not kept | ms, kept | not kept / kept | page faults, not kept | page faults, kept |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in NETWORKS:
        without, kept = measured(name, False, options.rounds)
        times = [statistics.median(each) / 1e6 for each in (without, kept)]
        faults = [statistics.median(each) for each in measured(name, True, 3)]
        ratio = median_ratio(without, kept)
        print(f"| {name} | {times[0]:.0f} | {times[1]:.0f} | {ratio:.2f} | {faults[0]:,.0f} | {faults[1]:,.0f} |", flush=True)
    return 0
