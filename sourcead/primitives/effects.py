"""NumPy functions that do more than compute: they write, read files, query settings, or call a function that they are given."""

import numpy as np

from sourcead.primitives.registry import enter

WRITE = (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis)
SAVE = (np.save, np.savez, np.savez_compressed, np.savetxt)
NAMES = """
seterr seterrcall setbufsize getbufsize geterr get_printoptions set_printoptions show_config show_runtime info test fromfile fromiter
fromregex frombuffer from_dlpack load loadtxt genfromtxt shares_memory may_share_memory apply_along_axis apply_over_axes piecewise
fromfunction frompyfunc asmatrix bmat printoptions
""".split()

enter(*WRITE, np.random.shuffle, writes=True, pure=False, examples=False)
enter(*SAVE, effect=True, pure=False, examples=False)
enter(*(getattr(np, name) for name in NAMES if hasattr(np, name)), pure=False, examples=False)
enter(np.require, buffer=True, examples=False)
enter(*(getattr(np, name) for name in ("fromstring", "nested_iters", "histogramdd") if hasattr(np, name)), examples=False)
