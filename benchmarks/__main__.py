"""The command ``python -m benchmarks``, also with ``figures``, ``roofline`` or ``threads``; see ``--help``."""

from __future__ import annotations

import os
import subprocess
import sys

# These variables make OpenBLAS take kernels of another processor: NumPy would be slow.
HELD = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

if os.environ.get("OMP_WAIT_POLICY") != "PASSIVE" or any(name in os.environ for name in HELD):
    # OpenMP and OpenBLAS read them when they are loaded. Threads that spin after a call would disturb whoever is timed
    # next.
    environment = {name: value for name, value in os.environ.items() if name not in HELD}
    environment["OMP_WAIT_POLICY"] = "PASSIVE"
    sys.exit(subprocess.run([sys.executable, "-m", "benchmarks", *sys.argv[1:]], env=environment).returncode)

if sys.argv[1:2] == ["figures"]:
    from benchmarks.groups.command import main as figures

    sys.exit(figures(sys.argv[2:]))
elif sys.argv[1:2] == ["roofline"]:
    from benchmarks.roofline import main as roofline

    sys.exit(roofline(sys.argv[2:]))
elif sys.argv[1:2] == ["threads"]:
    from benchmarks.threads import main as threads

    sys.exit(threads(sys.argv[2:]))
else:
    from benchmarks.main import main

    sys.exit(main())
