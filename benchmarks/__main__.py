"""The command: ``python -m benchmarks``; ``--help`` says its options."""

from __future__ import annotations

import os
import subprocess
import sys

if os.environ.get("OMP_WAIT_POLICY") != "PASSIVE":
    # OpenMP reads it when it is loaded. Threads that spin after a call would disturb whoever is timed next.
    environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    sys.exit(subprocess.run([sys.executable, "-m", "benchmarks", *sys.argv[1:]], env=environment).returncode)

from benchmarks.main import main

sys.exit(main())
