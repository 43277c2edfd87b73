"""The kernels of PolyBench (Pouchet and Yuki, 2012) as loops over elements, which Numba compiles, each with a loss to differentiate."""
