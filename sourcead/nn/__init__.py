"""Neural networks as plain functions: layers, losses, initialisers, optimisers, training, data.

They are differentiated like any function of a user; convolutions, pools and some activations have rules, which stand beside them.
"""

import numpy as np

# The C library of Linux gives memory that is freed back to the system, unless larger blocks were freed before (up to 32 MB, mallopt(3)).
# Without this one, which is never touched, every batch would ask for its pages again: longer than all of its arithmetic.
np.empty(31 << 20, np.uint8)
