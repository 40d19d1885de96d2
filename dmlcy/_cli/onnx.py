"""``dmlcy onnx``: where ONNX Runtime puts the nodes of a model, and why."""

from __future__ import annotations

import argparse
from typing import Final

from dmlcy._cli.options import add_examples, add_feature_level, add_format, add_limit, add_optimize, add_shapes
from dmlcy._frontends.onnx.binding import device_types
from dmlcy._words.values import listing, quote

FORMATS: Final = ("text", "json", "sarif", "github")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "onnx",
        help="say which nodes of an ONNX model ONNX Runtime gives to DirectML",
        description="Say of each node of an ONNX model where ONNX Runtime's DirectML provider puts it, why, the "
        "operators of DirectML that it becomes, and the feature level that they need. Nothing is run; neither a GPU "
        "nor ONNX Runtime is needed. `dmlcy lint MODEL.onnx` checks the descs of the nodes, and `dmlcy explain ID` "
        "explains a reason. Exit status: 0 no node is refused; 1 DirectML refuses a node, --shape does not fit the "
        "model, or, with --strict, a node is on the CPU; 2 unreadable file or usage.",
    )
    parser.add_argument("model", metavar="MODEL.onnx", help="an ONNX model")
    add_shapes(parser)
    parser.add_argument(
        "--ort",
        type=_release,
        metavar="VERSION",
        help="the release of ONNX Runtime (default: the newest release that dmlcy knows)",
    )
    add_feature_level(parser, "the level of the device")
    add_optimize(parser, "the level of ONNX Runtime's optimiser, whose passes are applied as far as they are known "
                 "(default: none, the model as it is written)")  # fmt: skip
    parser.add_argument(
        "--device-types",
        type=_types,
        metavar="TYPES",
        help="the data types that the device has, such as FLOAT32,FLOAT16,INT32,UINT8 (default: all)",
    )
    parser.add_argument(
        "--all", action="store_true", help="print a line for each node, with its operators of DirectML, level and graph"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 also if a node is on the CPU")
    add_limit(parser)
    add_format(parser, FORMATS)
    add_examples(
        parser,
        "dmlcy onnx model.onnx",
        "dmlcy onnx model.onnx --shape batch=1    # with a number for the free dimension batch",
        "dmlcy onnx model.onnx --shape x=1x3x224x224    # with the sizes of the input x",
        "dmlcy onnx model.onnx --feature-level 5_0 --all    # what an older device takes, node by node",
        "dmlcy onnx model.onnx --device-types FLOAT32,FLOAT16    # a device without 64-bit integers",
        "dmlcy onnx model.onnx --optimize extended    # the nodes that ONNX Runtime joins before they run",
        "dmlcy explain Conv    # what becomes of an operator of ONNX",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the report; what knows ONNX's operators is imported for it only."""
    from dmlcy._cli.onnx_report import execute

    return execute(options)


def _release(name: str) -> str:
    """The type of ``--ort``."""
    from dmlcy._frontends.onnx.tables import RELEASES

    if name not in RELEASES:
        known = listing([*RELEASES])
        raise argparse.ArgumentTypeError(f"dmlcy does not know release {quote(name)} of ONNX Runtime; it knows {known}")
    return name


def _types(text: str) -> frozenset[str]:
    """The type of ``--device-types``."""
    try:
        return device_types([name.strip().upper() for name in text.split(",")])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
