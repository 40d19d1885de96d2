"""ONNX Runtime as the back end under test: ``python -m tests.onnx_backend PACK RESULTS``.

The command runs the cases of a conformance pack that a graph of ONNX can express. ``python -m dmlcy.testing compare
--allow-missing PACK RESULTS`` judges the results. The command needs ``pip install 'dmlcy[compare]'``. ``--why`` prints
why cases are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run the cases, and print how many ran of each operator."""
    sys.path.insert(0, str(TESTS / "onnx_backend"))
    from onnx_graphs.results import Outcome, run

    parser = argparse.ArgumentParser(prog="python -m tests.onnx_backend", description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--why", action="store_true", help="say why cases are left out")
    options = parser.parse_args()
    outcomes: list[Outcome] = list(run(options.pack, options.results))
    operators = dict.fromkeys(one.operator for one in outcomes)
    for operator in operators:
        found = [one for one in outcomes if one.operator == operator]
        whys = Counter(one.why for one in found if one.why)
        print(f"{operator:44}{sum(not one.why for one in found):>4} of {len(found)} run")
        if options.why:
            for why, count in whys.most_common():
                print(f"    {count}: {why}")
    ran = [one for one in outcomes if not one.why]
    print(f"{len(ran)} of {len(outcomes)} cases of {len({one.operator for one in ran})} operators run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
