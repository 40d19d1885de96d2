"""What becomes of the node tests of ONNX, by operator: ``python -m tests.onnx_nodes``.

It needs the package ``onnx`` (``pip install 'dmlcy[compare]'``). ``--operators`` adds the operators of DirectML that
the conversions call, ``--failed`` prints why tests fail.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path


def main() -> int:
    """Print the table; 1 if a test fails."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import onnx_mapping  # noqa: F401
    from onnx_mapping.cases import Outcome, cases, judge

    parser = argparse.ArgumentParser(prog="python -m tests.onnx_nodes", description=__doc__)
    parser.add_argument("--operators", action="store_true", help="name the operators of DirectML")
    parser.add_argument("--failed", action="store_true", help="say why tests fail")
    options = parser.parse_args()

    def kind(outcome: Outcome) -> str:
        return outcome.kind

    outcomes = sorted(map(judge, cases()), key=kind)
    print(f"{'ONNX':44}{'tests':>6}{'passed':>8}{'failed':>8}  not expressible, or not run, and why")
    for name, found in groupby(outcomes, kind):
        several = list(found)
        verdicts = Counter(one.verdict for one in several)
        whys = Counter(one.why for one in several if one.verdict in ("not expressible", "not run"))
        said = "; ".join(f"{count}: {why}" for why, count in whys.most_common())
        print(f"{name:44}{len(several):>6}{verdicts['passed']:>8}{verdicts['failed']:>8}  {said}".rstrip())
        if options.operators:
            called = dict.fromkeys(one for outcome in several for one in outcome.operators)
            print(f"    {', '.join(called) or '-'}")
        for one in several:
            if options.failed and one.verdict == "failed":
                print(f"    {one.case}: {one.why}")
    total = Counter(one.verdict for one in outcomes)
    expressible = total["passed"] + total["failed"] + total["not run"]
    print(
        f"\n{len(outcomes)} tests of one node: {expressible} expressible, of which {total['passed']} pass, "
        f"{total['failed']} fail and {total['not run']} need an operator that does not run yet; "
        f"{total['not expressible']} not expressible"
    )
    return int(total["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
