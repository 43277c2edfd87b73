"""Runs the text for `Numba(parallel=True)` in the interpreter, where each iteration of a parallel loop is a part of its own.

The parts run in an order that is drawn.  So a loop whose iterations depend on each other has other results, on any machine and in every
run, which threads would show only sometimes.
"""

import contextlib
import random
from unittest import mock

import numpy as np

from sourcead.backends import load as loading
from sourcead.backends.numba import compile as compiling
from sourcead.backends.numba.codegen.outlining import Outlined
from sourcead.backends.numba.codegen.recursion import ParallelLoop, Recursive, reachable


@contextlib.contextmanager
def shuffled(seed=0, parts=None, found=None):
    """Run in the interpreter what would be compiled; `parts`: the most parts of a loop; `found` gets the loops that ran in parts."""
    draw = random.Random(seed)

    def in_any_order(n):
        order = list(range(n))
        draw.shuffle(order)
        return order

    def threads(n, work, more, least):
        return n if parts is None else min(n, parts)

    def loop(value):
        space = {"np": np, "prange": in_any_order, "threads": threads}
        space[value.name] = loading.load(value.text, value.name, dict(value.namespace))
        divided = loading.load(value.driver, value.names[0], space)
        if found is None:
            return divided

        def noted(start, stop, step, *args):
            if len(range(start, stop, step)) > 1:
                found.append(value)
            return divided(start, stop, step, *args)

        return noted

    def known(names, recursive):
        made = {}
        for name, v in names.items():
            if isinstance(v, Outlined):
                v = loading.load(v.text, v.name, known(v.namespace, recursive))
            elif isinstance(v, Recursive):
                v = recursive[v]
            elif isinstance(v, ParallelLoop):
                v = loop(v)
            made[name] = v
        return made

    def interpreted(emitted, name, place, backend):
        recursive = {}
        for f in reachable(emitted.namespace):
            recursive[f] = loading.load(f.text, f.name, {})
        for f in recursive:
            recursive[f].__globals__.update(known(f.namespace, recursive))
        return loading.load(emitted.text, name, known(emitted.namespace, recursive))

    with mock.patch.object(compiling, "compiled", interpreted):
        yield
