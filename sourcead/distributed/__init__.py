"""Gradients over shards of the data, by several processes or machines: `grad_over`, on Dask, on an executor, or here."""

from sourcead.distributed.gradients import GradientOver, grad_over

__all__ = ["GradientOver", "grad_over"]
