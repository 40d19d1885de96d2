"""``dmlcy run`` of a graph."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dmlcy._cli.options import MEASURED
from dmlcy._cli.warnings import warn
from dmlcy._facts.levels import current_level
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.problems import Problem, make, printable, refuse
from dmlcy._frontends.graphs import run as graphs
from dmlcy._frontends.graphs.files import read
from dmlcy._frontends.graphs.found import Read
from dmlcy._graph.wiring import wiring_of
from dmlcy._words.values import quote

if TYPE_CHECKING:
    from dmlcy._frontends.graphs.serialized import Serialized
    from dmlcy._graph.profile import Profile


def filled(document: Document | Serialized, folder: Path, options: argparse.Namespace) -> Read:
    """The graph of a file, with the bytes of its constants, which are read only where nothing is wrong with it."""
    level = getattr(options, "feature_level", None)
    graphs.valid(read(document, folder, limit=options.limit, fill=False), level)
    return read(document, folder, limit=options.limit)


def run_graph(found: Read, name: str, options: argparse.Namespace) -> None:
    """Run the graph of a file; print its outputs, or its profile; write its values where they are asked for."""
    warn(found.warnings)
    settings = graphs.Options(
        level=options.feature_level,
        inputs=given_inputs(found, options.input),
        seed=options.seed,
        iterations=options.iterations or (MEASURED if options.profile else 1),
        keep=options.dump is not None,
        name="stdin" if name == "-" else Path(name).stem,
        every=options.all,
    )
    graph = graphs.valid(found, settings.level)
    if options.dump is not None:
        from dmlcy._judge.dumps import dump  # here: without --dump, none of it is needed

        dump.may_write(options.dump)
    if options.profile:
        sys.stdout.write(shown(graphs.profile(found, graph, settings), options.format))
        return
    values = graphs.run(found, graph, sys.stdout, settings)
    if options.dump is not None:
        path = dump.save(graph, values, settings.level or current_level(), options.dump)
        print(f"Values written to '{printable(str(path.parent))}'")


def shown(profile: Profile, form: str) -> str:
    if form == "text":
        return f"{profile}\n"
    return json.dumps(profile.to_trace() if form == "trace" else profile.to_dict(), indent=1) + "\n"


def given_inputs(found: Read, given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The files by the name of the graph input; ModelError for a name that the graph has not."""
    graph, files = found.graph, dict[str, str]()
    problems: list[Problem] = []
    if graph is None:
        return files
    names = [name for port, name in wiring_of(graph).value_names.items() if port.node is None]
    for name, file in given:
        if name not in names:
            listed = ", ".join(quote(one) for one in names)
            known = f"The graph has the inputs {listed}." if names else "The graph has no inputs."
            problems.append(make("DML-MODEL-reference", found.file, {"what": "graph input", "name": name}, hint=known))
        elif name in files:
            values = {"what": "other graph input", "name": name}
            problems.append(make("DML-MODEL-reference", found.file, values, hint="Give --input once for each input."))
        files[name] = file
    if problems:
        refuse(problems)
    return files
