"""The kernels of PolyBench (Pouchet and Yuki, 2012) as loops over elements, which Numba compiles, each with a loss to differentiate.

Those of `tests/programs` that leave their arguments as they are stand there; the others are here, on copies, since they are called again
and again.
"""
