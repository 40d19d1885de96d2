"""What becomes of the node tests of ONNX, by operator: ``python -m tests.onnx_files``.

It needs the package ``onnx`` (``pip install 'dmlcy[compare]'``). ``--operators`` adds the operators of DirectML that
the nodes become, ``--failed`` prints why tests fail.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path


def main() -> int:
    """Print the table; 1 if a test fails that is not known to."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from node_tests import DIFFERENCES, Outcome, cases, judge

    parser = argparse.ArgumentParser(prog="python -m tests.onnx_files", description=__doc__)
    parser.add_argument("--operators", action="store_true", help="name the operators of DirectML")
    parser.add_argument("--failed", action="store_true", help="say why tests fail")
    options = parser.parse_args()

    def operator(outcome: Outcome) -> str:
        return outcome.operator

    outcomes = sorted(map(judge, cases()), key=operator)
    print(f"{'ONNX':44}{'tests':>6}{'passed':>8}{'failed':>8}  not on DirectML, and why")
    for name, found in groupby(outcomes, operator):
        several = list(found)
        verdicts = Counter(one.verdict for one in several)
        whys = Counter(one.why or one.verdict for one in several if one.verdict not in ("passed", "failed"))
        said = "; ".join(f"{count}: {why}" for why, count in whys.most_common())
        print(f"{name:44}{len(several):>6}{verdicts['passed']:>8}{verdicts['failed']:>8}  {said}".rstrip())
        if options.operators:
            print(f"    {', '.join(dict.fromkeys(one for outcome in several for one in outcome.operators)) or '-'}")
        for one in several:
            if options.failed and one.verdict == "failed":
                print(f"    {one.case}: {DIFFERENCES.get(one.case, one.why)}")
    total = Counter(one.verdict for one in outcomes)
    print(
        f"\n{len(outcomes)} tests of one node: {total['passed']} pass, {total['failed']} fail, "
        f"{total['refused']} are refused, DirectML's rules refuse {total['violations']}, and {total['unconverted']} "
        "become no operators of DirectML"
    )
    return int(any(one.verdict == "failed" and one.case not in DIFFERENCES for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
