"""Measurements against hand-written gradients and other frameworks: `python -m tests.benchmarks NAME`."""
