"""scipy.linalg: matrices of a given form, and solutions by way of others."""
