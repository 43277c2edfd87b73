"""Gradients as an expert writes them in NumPy or for Numba: what the generated ones are measured against."""
