"""Sentences that break the rules of plain English: ``python -m tests.english [PATH...]``.

Exit status 1 if there is one. ``--count`` prints their numbers by folder and rule.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from .rules import RULES, faults
from .texts import texts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.english", description=__doc__)
    parser.add_argument("paths", nargs="*", help="files and folders; all that git tracks without them")
    parser.add_argument("--count", action="store_true", help="print numbers by folder instead of sentences")
    given = parser.parse_args()
    counts: Counter[tuple[str, str, str]] = Counter()
    for text in texts(tuple(given.paths)):
        for rule, sentence in faults(text.words):
            counts["/".join(text.path.split("/")[:2]), text.kind, rule] += 1
            if not given.count:
                print(f"{text.path}:{text.line}: {rule}: {sentence}")
    if given.count:
        for folder, kind in sorted({(folder, kind) for folder, kind, _ in counts}):
            print(f"{folder:32} {kind:10}", *(f"{counts[folder, kind, rule]:6}" for rule in RULES))
    print(f"{counts.total()} sentences break a rule", file=sys.stderr)
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
