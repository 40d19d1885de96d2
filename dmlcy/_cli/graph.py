"""``dmlcy graph``: a graph as text, JSON or a picture; models of it for a device."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from dmlcy._cli.graph_lines import lines
from dmlcy._cli.options import add_examples, add_feature_level, add_inputs, add_limit, add_optimize, add_shapes
from dmlcy._cli.run import load_graph
from dmlcy._cli.run_graph import filled, given_inputs
from dmlcy._errors import DmlError
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, printable, refuse
from dmlcy._frontends.graphs import expose, writer
from dmlcy._frontends.graphs.files import read
from dmlcy._frontends.graphs.found import UNREAD, Read
from dmlcy._frontends.graphs.kinds import is_onnx
from dmlcy._frontends.graphs.run import Options, computed, inputs, valid
from dmlcy._graph.check import violations
from dmlcy._graph.model import Node
from dmlcy._judge.dumps import dump, exposed

FORMATS: Final = ("text", "json", "dot", "svg", "plan-svg")

EXAMPLES: Final = (
    "dmlcy graph graph.json",
    "dmlcy graph graph.json --format svg > graph.svg",
    "dmlcy graph graph.json --format svg --profile profile.json > graph.svg",
    "dmlcy graph graph.json --format plan-svg > memory.svg",
    "dmlcy graph Partition_0.bin",
    "dmlcy graph model.onnx --shape batch=1 --expose-edges exposed    # then on a GPU: python run.py",
    "dmlcy graph graph.json --expose-edges exposed    # then on a GPU: dxdispatch exposed/model.json",
)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "graph",
        help="show a graph, or write models of it for a device",
        description="Show a graph with what is wrong with it. Exit status: 1 where the graph has errors.",
    )
    parser.add_argument(
        "graph", metavar="GRAPH", help="a graph in JSON, a serialized graph, or an ONNX model; - is standard input"
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="what to print; dot is for Graphviz, plan-svg a picture of the memory of a run (default: text)",
    )
    parser.add_argument(
        "--profile",
        metavar="FILE",
        help="with --format svg: colour the nodes by their share of the time in this profile, which "
        "dmlcy run --profile --format json printed",
    )
    _add_models(parser)
    add_feature_level(parser)
    add_inputs(parser)
    add_shapes(parser)
    add_optimize(parser)
    add_limit(parser)
    add_examples(parser, *EXAMPLES)
    parser.set_defaults(execute=execute)


def _add_models(parser: argparse.ArgumentParser) -> None:
    """The models that the command writes in place of showing the graph."""
    parser.add_argument(
        "--expose-edges",
        type=Path,
        metavar="DIR",
        help="write into DIR the graph with every edge as an output, the values of a run, a DxDispatch model that "
        "writes these values, and a model of each node",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="DIR",
        help="of an ONNX model: write into DIR graph.json, and the graphs of ONNX Runtime, Partition_0.bin and so on",
    )
    parser.add_argument(
        "--extract",
        nargs=2,
        metavar=("NODE", "DIR"),
        help="of an ONNX model: write into DIR a model of one node, by its number or name, with the inputs that it has",
    )


def execute(options: argparse.Namespace) -> int:
    """Show the graph, or write the models."""
    if options.profile is not None and (options.format != "svg" or options.expose_edges is not None):
        print("dmlcy graph: --profile is for --format svg.", file=sys.stderr)
        return 2
    if options.optimize != "none" and (options.expose_edges is not None or options.extract is not None):
        print(
            "dmlcy graph: --expose-edges and --extract write the model as it is, without --optimize.", file=sys.stderr
        )
        return 2
    try:
        if options.graph != "-" and is_onnx(options.graph):
            from dmlcy._cli.onnx_graph import execute

            return execute(options)
        if options.optimize != "none":
            print("dmlcy graph: --optimize is for ONNX models.", file=sys.stderr)
            return 2
        document, folder = load_graph(options.graph, options.limit, "dmlcy graph")
        if options.expose_edges is not None:
            return _expose(filled(document, folder, options), options)
        found = read(document, folder, limit=options.limit, fill=options.format == "json")
        if found.graph is None:
            refuse(found.wrong)
        level = NEWEST if options.feature_level is None else LEVEL_INDEX[options.feature_level]
        wrong = [one for one in violations(found.graph, level) if one.id != UNREAD]
        errors = [one for one in wrong if one.severity == "error"]
        graph = found.graph
        if options.format == "plan-svg":
            graph = valid(filled(document, folder, options), options.feature_level)
        for line in lines(graph, wrong, options, not errors):
            sys.stdout.write(f"{line}\n")
    except DmlError as error:
        print(error, file=sys.stderr)
        return 2 if any(violation.id in UNREADABLE for violation in error.violations) else 1
    return int(bool(errors or found.wrong))


def _expose(found: Read, options: argparse.Namespace) -> int:
    """Write the graph for a device."""
    graph, folder = valid(found, options.feature_level), options.expose_edges
    dump.may_write(folder)
    settings = Options(options.feature_level, given_inputs(found, options.input), options.seed, keep=True)
    described = sorted({one.kind for one in graph.nodes if isinstance(one, Node) and not one.desc.operator.runs})
    if described:
        values = expose.given(graph, inputs(graph, settings))
        print(f"warning: dmlcy does not run {', '.join(described)}: no values to compare with", file=sys.stderr)
    else:
        values, _ = computed(found, graph, settings)
    level = options.feature_level or LEVELS[NEWEST].name
    writer.write(folder, exposed.contents(graph, values, level))
    print(f"Graph and models written to '{printable(str(folder))}'")
    return 0
