"""``dmlcy info``: the version, what it was built with and runs on, and how many threads it uses, and why."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from dmlcy import specs
from dmlcy._cli.operators import in_states
from dmlcy._cli.options import add_examples, add_format
from dmlcy._facts.tables import CATALOGUE, LEVELS, STATES
from dmlcy._runtime import cpus, isa, threads
from dmlcy._show.explain.page import Page, page_width
from dmlcy._show.terminal import head
from dmlcy._version import __version__
from dmlcy._words.values import plain

VERSION: Final = 1
"""Of the JSON."""
CPUINFO: Final = Path("/proc/cpuinfo")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "info",
        help="say what dmlcy runs on",
        description="Say the version, what it was built with, the threads it uses and why, and what the processor has.",
    )
    add_format(parser)
    add_examples(parser, "dmlcy info    # put it into a bug report", "dmlcy info --json | jq .threads.number")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the facts."""
    facts = collect()
    if options.format == "json":
        print(json.dumps(facts, indent=2))
        return 0
    page = Page(page_width())
    for name, rows in _sections(facts):
        page.section(name)
        page.rows(rows)
    print(page.shown(head))
    return 0


def collect() -> dict[str, Any]:
    """Everything, as data."""
    return {
        "version": VERSION,
        "dmlcy": __version__,
        "location": str(Path(__file__).resolve().parent.parent),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": np.__version__,
        "platform": platform.platform(),
        "build": {"compiler": threads.compiler(), "threads": threads.threads_available()},
        "threads": {"number": threads.get_num_threads(), "limits": list(limits())},
        "processor": {
            "name": processor(),
            "machine": platform.machine(),
            "count": os.cpu_count(),
            "features": features(),
            "level": {"name": isa.level(), "why": isa.why(), "allowed": isa.levels()},
            "used": isa.used(),
            "vnni": isa.vnni(),
        },
        "operators": {**{state: len(specs.operators(state)) for state in STATES}, "all": len(CATALOGUE)},
        "feature_levels": {"oldest": LEVELS[0].name, "newest": LEVELS[-1].name, "number": len(LEVELS)},
    }


def limits() -> Iterator[dict[str, object]]:
    """The limits of the number of threads, in the order in which they are looked at."""
    if not threads.threads_available():
        yield {"threads": 1, "why": "built without threads"}
    yield {"threads": cpus.available_cpus(), "why": "processors that the process may run on"}
    for quota in cpus.cgroup_cpus():
        yield {"threads": quota, "why": "processor quota of a cgroup"}
    for number in cpus.omp_threads(os.environ.get("OMP_NUM_THREADS", "")):
        yield {"threads": number, "why": "OMP_NUM_THREADS"}
    yield {"threads": cpus.MOST_THREADS, "why": "most that dmlcy uses"}


def features() -> list[str]:
    """The features of the processor, as NumPy or Linux name them; empty where neither says."""
    try:
        known: dict[str, bool] = import_module("numpy._core._multiarray_umath").__cpu_features__
    except (ImportError, AttributeError):
        words = [text for key, text in cpuinfo() if key in ("flags", "Features")]
        return sorted(words[0].split()) if words else []
    return sorted(name for name, has in known.items() if has)


def processor() -> str:
    """The name of the processor, as far as it is known."""
    names = [text for key, text in cpuinfo() if key in ("model name", "Hardware", "Model", "cpu model")]
    return str(plain(names[0] if names else platform.processor() or platform.machine()))


def cpuinfo() -> Iterator[tuple[str, str]]:
    """The lines of /proc/cpuinfo; nothing where there is none."""
    try:
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        key, _, value = line.partition(":")
        yield key.strip(), value.strip()


def _sections(facts: dict[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    operators, levels = facts["operators"], facts["feature_levels"]
    version = [
        ("Location", str(plain(facts["location"]))),
        ("Operators", f"{in_states(operators)}: {operators['all']} in all"),
        ("Feature levels", f"{levels['oldest']} to {levels['newest']}, {levels['number']} of them"),
    ]
    build = [
        ("Compiler", facts["build"]["compiler"]),
        ("Threads", "yes" if facts["build"]["threads"] else "no: every call uses one thread"),
    ]
    chip = facts["processor"]
    host = [
        ("Python", facts["python"]),
        ("NumPy", facts["numpy"]),
        ("Platform", str(plain(facts["platform"]))),
        ("Processor", f"{chip['name']}, {chip['machine']}, {chip['count']} in all"),
        ("Features", " ".join(chip["features"]) or "unknown"),
        ("Level", f"{chip['level']['name']}: {chip['level']['why']}"),
        ("Used", ", ".join(chip["used"]) or "the baseline"),
        ("VNNI", f"{', '.join(chip['vnni']) or 'none'} (for products of 8-bit integers)"),
    ]
    limits_of = [(str(limit["threads"]), limit["why"]) for limit in facts["threads"]["limits"]]
    yield f"dmlcy {facts['dmlcy']}", version
    yield "Built with", build
    yield "Runs on", host
    yield f"Threads: {facts['threads']['number']}, the least of", limits_of
