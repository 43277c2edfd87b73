"""Looks into the run of a generated text: where the first NaN or infinity arose."""
