"""Coverage-guided fuzzing: ``python -m tests.fuzz TARGET --minutes 30``. A test replays the files that are kept.

The fuzzer needs atheris (``pip install atheris hypothesis pytest``); the package may be installed or built in place.
The files that it finds on the way are kept in a folder of its own; ``--merge`` then takes what reaches more into the
corpus.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = ("model", "calls", "serialized", "graph", "onnx")
LONGEST = 60
"""Seconds of the clock for one input; of the processor a target allows less."""
MEMORY = 1500
"""Megabytes for all."""


def main() -> None:
    """Fuzz until the time is over, or until something is found; libFuzzer says the rest, and the exit status."""
    import atheris

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--found", type=Path, metavar="DIR", help="where inputs that reach more are kept")
    parser.add_argument("--merge", action="store_true", help="take from DIR into the corpus what reaches more")
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)  # libFuzzer calls itself to merge
    options, others = parser.parse_known_args()

    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "operators")]
    with atheris.instrument_imports(
        include=["dmlcy", "reference", f"{options.target}_target"], enable_loader_override=False
    ):
        target = importlib.import_module(f"{options.target}_target")
    found = options.found or HERE.parents[1] / "build" / "fuzz" / options.target
    found.mkdir(parents=True, exist_ok=True)
    corpus = HERE / "corpus" / options.target
    arguments = [
        f"-max_len={target.LONGEST}",
        f"-timeout={LONGEST}",
        f"-rss_limit_mb={MEMORY}",
        f"-artifact_prefix={found}-",
        "-len_control=0",
    ]
    name = sys.argv[0]
    if options.inner:
        arguments.clear()
    elif options.merge:
        arguments += ["-merge=1", "-use_counters=0", str(corpus), str(found)]
        caller = found.with_suffix(".sh")
        caller.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tests.fuzz {options.target} --inner "$@"\n', "ascii")
        caller.chmod(0o755)
        name = str(caller)
    else:
        seconds = round(options.minutes * 60)
        arguments += [f"-max_total_time={seconds}", "-print_final_stats=1", str(found), str(corpus)]
        arguments += [f"-seed_inputs={','.join(map(str, target.SEEDS))}"] if target.SEEDS else []
        dictionary = found.with_suffix(".dict")
        dictionary.write_text(target.dictionary(), "ascii")
        arguments.append(f"-dict={dictionary}")
    atheris.Setup([name, *arguments, *others], target.one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
