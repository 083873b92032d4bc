"""Benchmarks: run a script from the top of the repository, as in `python -m benchmarks.speed.boosters`.

Every process is one thread. NumPy, Numba and BLAS read these settings when they are imported, so they are made here,
before; once NumPy is imported they would do nothing.
"""

import os
import sys

ONE_THREAD = {name: "1" for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}

if "numpy" not in sys.modules:
    os.environ.update(ONE_THREAD)
