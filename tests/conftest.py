"""What holds for all tests: NumPy's threads, which spin while they wait, are no help for small matrices."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
