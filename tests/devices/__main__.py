"""``python -m tests.devices``: the tables of devices that must pass, of bounds that are reached, of faults that fail.

``--seed 2`` draws other inputs; ``--only GEMM`` is for one operator, ``--deep`` for all uses, ``--table pass`` for one
table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

TESTS = str(Path(__file__).resolve().parents[1])
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)

from devices.tables import TABLES, of_roundings  # noqa: E402
from devices.uses import SEED, uses  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.devices", description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", help="one operator")
    parser.add_argument("--dtype", choices=("FLOAT32", "FLOAT16"))
    parser.add_argument("--deep", action="store_true", help="all uses")
    parser.add_argument("--table", choices=TABLES, help="one table")
    given = parser.parse_args(arguments)
    chosen = [
        use for use in uses(given.deep) if given.only in (None, use.operator.name) and given.dtype in (None, use.dtype)
    ]
    for name, (title, table) in TABLES.items():
        if given.table in (None, name):
            print(f"## {title}, seed {given.seed}\n")
            for line in table(chosen if name == "pass" else of_roundings(chosen), given.seed):
                print(line, flush=True)
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
