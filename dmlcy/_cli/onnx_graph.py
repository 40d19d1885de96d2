"""``dmlcy graph MODEL.onnx``: its DirectML graph, a model for a device, one node alone, or files of graphs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dmlcy._cli.graph_lines import lines
from dmlcy._cli.onnx_run import compiled
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import LEVEL_INDEX
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._frontends.graphs.found import UNREAD
from dmlcy._frontends.graphs.writer import write
from dmlcy._frontends.onnx.exposing import exposed, extracted
from dmlcy._frontends.onnx.inputs import arrays_for, named
from dmlcy._frontends.onnx.partitions import saved
from dmlcy._graph.check import violations


def execute(options: argparse.Namespace) -> int:
    """Show the graph, or write what the options ask for."""
    model = compiled(options.graph, options)
    arrays = arrays_for(model, named(model, options.input), options.seed)
    if options.expose_edges is not None:
        write(options.expose_edges, exposed(model, arrays))
        print(f"Model and script written to '{printable(str(options.expose_edges))}'")
    elif options.extract is not None:
        node, folder = options.extract
        write(Path(folder), extracted(model, arrays, node))
        print(f"Model of the node written to '{printable(str(folder))}'")
    elif options.save is not None:
        for path in write(options.save, saved(model, arrays)):
            print(f"Written: '{printable(str(path))}'")
    else:
        graph = model.graph(arrays)
        if graph is None:
            print("All values are constants: there is no DirectML graph.")
            return 0
        level = NEWEST if options.feature_level is None else LEVEL_INDEX[options.feature_level]
        wrong = [one for one in violations(graph, level) if one.id != UNREAD]
        for line in lines(graph, wrong, options, True):
            sys.stdout.write(f"{line}\n")
    return 0
