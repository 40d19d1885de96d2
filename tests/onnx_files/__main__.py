"""Prints the outcomes of the node tests of ONNX, by operator: ``python -m tests.onnx_files``.

The command needs the package ``onnx`` (``pip install 'dmlcy[compare]'``). ``--operators`` adds the operators of
DirectML that the nodes become, ``--failed`` prints why tests fail. ``--run`` runs all tests, those of several nodes
too, with inputs given at run time, and counts why they do not run. ``--coverage`` prints the operators with a kernel,
and the operators that are not computed, with the reason; it needs no package. ``--models`` prints a table of the models
of packages, ``--transformers NAMES`` one of transformers of PyTorch, whose names have these letters.
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
    parser = argparse.ArgumentParser(prog="python -m tests.onnx_files", description=__doc__)
    parser.add_argument("--operators", action="store_true", help="name the operators of DirectML")
    parser.add_argument("--failed", action="store_true", help="say why tests fail")
    parser.add_argument("--run", action="store_true", help="run all tests with dmlcy.onnx.load, and count the reasons")
    parser.add_argument("--models", action="store_true", help="models of packages beside ONNX Runtime")
    parser.add_argument("--coverage", action="store_true", help="the operators with a kernel, done and not done")
    parser.add_argument("--transformers", metavar="NAMES", nargs="?", const="", help="transformers beside ONNX Runtime")
    parser.add_argument(
        "--forms", default="float", help="of transformers: all, or some of float,half,qdq,qoperator,dynamic"
    )
    parser.add_argument(
        "--levels", default="written", help="of ONNX Runtime's optimisers: written,basic,extended or all"
    )
    parser.add_argument("--threads", type=int, default=1, help="for transformers")
    options = parser.parse_args()
    if options.coverage:
        from coverage_table import lines

        print(*lines(), sep="\n")
        return 0
    if options.transformers is not None:
        from transformers_table import rows as of_transformers

        for row in of_transformers(options.transformers, options.forms, options.levels, options.threads):
            print(row, flush=True)
        return 0
    if options.models:
        from models_table import rows

        for row in rows():
            print(row, flush=True)
        return 0
    if options.run:
        return _run()

    from node_tests import DIFFERENCES, Outcome, cases, judge

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


def _run() -> int:
    """Count what becomes of the tests when they run; 1 if one fails that is not known to."""
    from node_tests import DIFFERENCES, models, ran

    found = {case.name.removeprefix("test_"): ran(case) for case in models()}
    verdicts = Counter(verdict for verdict, _ in found.values())
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    for why, count in Counter(why for verdict, why in found.values() if verdict == "refused").most_common():
        print(f"{count:>6} {why}")
    failed = [name for name, (verdict, _) in found.items() if verdict == "failed"]
    for name in failed:
        print(f"failed {name}: {DIFFERENCES.get(name, found[name][1])}")
    return int(any(name not in DIFFERENCES for name in failed))


if __name__ == "__main__":
    sys.exit(main())
