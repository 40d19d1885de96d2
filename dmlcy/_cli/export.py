"""``dmlcy export``: a model of one desc, with values for its inputs."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dmlcy._cli.options import add_examples, add_limit, assignment, warn_of, whole_number
from dmlcy._cli.run import load
from dmlcy._cli.run_graph import filled, given_inputs
from dmlcy._compile import compile as compile_desc
from dmlcy._desc.check import check_inputs
from dmlcy._desc.memory import extent, in_memory, view
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError, Violation
from dmlcy._field_types.tensor_array import by_field
from dmlcy._frontends.dxdispatch import operators
from dmlcy._frontends.dxdispatch.given import error_of, made, of_file
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, printable
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.write import Use, export
from dmlcy._frontends.graphs.expose import given, model_of
from dmlcy._frontends.graphs.files import is_graph
from dmlcy._frontends.graphs.found import Read
from dmlcy._frontends.graphs.run import Options, inputs, valid
from dmlcy._frontends.graphs.writer import write
from dmlcy._graph.model import Node
from dmlcy._runtime.memory import require
from dmlcy._show.cpp import program
from dmlcy._types import Array

if TYPE_CHECKING:
    from collections.abc import Callable

    from dmlcy._frontends.graphs.serialized import Serialized

_WHOLE = "The file has a whole model: put one of its dispatchables into a file of its own."
_COPIES = 4  # of the tensors, that are in memory at once


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "export",
        help="write a model folder from an operator desc or a graph",
        description="Write a model that runs an operator, or a graph, once: model.json, and the inputs as .npy files "
        "beside it.",
    )
    parser.add_argument(
        "desc",
        metavar="DESC.json",
        help='{"type": "DML_OPERATOR_...", "desc": {...}}, as in the dispatchables of a model, or a graph; - is '
        "standard input",
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "--cpp",
        action="store_true",
        help="print the desc as C++ in place of a model, and the call of DirectMLX, if any",
    )
    target.add_argument(
        "--output",
        metavar="DIR",
        help="the folder to write; made where there is none, files of the same names in it are replaced",
    )
    parser.add_argument(
        "--input",
        action="append",
        type=assignment,
        default=[],
        metavar="NAME=FILE.npy",
        help="the values of an input, such as input=x.npy or InputTensor=x.npy. The others get small integers. If the "
        "operator refuses these, because the input holds positions, give the input",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=0, metavar="N", help="what the integers are drawn from (default: 0)"
    )
    add_limit(parser)
    add_examples(
        parser,
        "dmlcy export desc.json --output model",
        "dmlcy export desc.json --output model --input input=x.npy",
        "dmlcy run model/model.json",
        "dmlcy export desc.json --cpp    # the structs in C++",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the model."""
    try:
        document, folder = load(options.desc, options.limit)
        if options.cpp:
            return _cpp(document, options.desc)
        if not isinstance(document, Document) or is_graph(document):
            return _graph(filled(document, folder, options), options)
        desc = _desc(document)
        names = _fields(desc, options.input)
        if isinstance(names, str):
            print(f"dmlcy export: {names}", file=sys.stderr)
            return 2
        written = export([_use(desc, names, options.seed)], options.output)
        warn_of(desc.operator)
    except DmlError as error:
        print(error, file=sys.stderr)
        return 2 if any(violation.id in UNREADABLE for violation in error.violations) else 1
    print(f"Model written to '{printable(str(written.model))}'")
    for what in written.unknown_to_dxdispatch:
        print(f"warning: no stock DxDispatch knows {what}", file=sys.stderr)
    return 0


def _cpp(document: Document | Serialized, name: str) -> int:
    """Print a desc as C++; the status."""
    if not isinstance(document, Document) or is_graph(document):
        print(f"dmlcy export: '{printable(name)}' is a graph; --cpp prints one desc.", file=sys.stderr)
        return 2
    sys.stdout.write(program(_desc(document)))
    return 0


def _graph(found: Read, options: argparse.Namespace) -> int:
    """Write a model of a graph; the status."""
    graph = valid(found, None)
    values = inputs(graph, Options(inputs=given_inputs(found, options.input), seed=options.seed))
    folder = Path(options.output)
    written = write(folder, model_of(graph, given(graph, values)))
    for operator in {node.kind: node.desc.operator for node in graph.nodes if isinstance(node, Node)}.values():
        warn_of(operator)
    print(f"Model written to '{printable(str(written[-1]))}'")
    return 0


def _desc(document: Document) -> OperatorDesc:
    """The desc in a file; ModelError with everything that is wrong with it, and where."""
    reader = Reader(document)
    root = document.root
    kind = None
    if reader.expect(root, "object"):
        if root.get("type") is None and root.get("dispatchables") is not None:
            reader.report("DML-MODEL-missing", root, name="type", hint=_WHOLE)
        else:
            kind = reader.required(root, "type", "string")
    found = operators.parse_alone(reader, root) if kind is not None else None
    if found is not None:
        reader.problems += found.problems(reader, None)
    for warning in (*document.warnings, *reader.warnings):
        print(warning, file=sys.stderr)
    reader.finish()
    assert found is not None
    return found.value


def _fields(desc: OperatorDesc, given: list[tuple[str, str]]) -> dict[str, str] | str:
    """The files by the Python name of their input; text: what is wrong with the names."""
    present = Use("", desc, {}).tensors("input")
    inputs = {field.name: field.python for field in desc.operator.fields if field.python in present}
    names: dict[str, str] = {}
    for field, file in given:
        name = inputs.get(field, field)
        if name not in present:
            return f"there is no input {printable(field)}; the desc has {', '.join(present)}."
        if name in names:
            return f"two files are given for {name}."
        names[name] = file
    return names


def _use(desc: OperatorDesc, files: dict[str, str], seed: int) -> Use:
    """The operator with values that it accepts: those given, and made ones."""
    use = Use(desc.operator.python, desc, {})
    inputs, outputs = use.tensors("input"), use.tensors("output")
    tensors = [*inputs.values(), *outputs.values()]
    require(_COPIES * sum(max(extent(tensor), tensor.total_tensor_size_in_bytes) for tensor in tensors))
    values = {}
    for index, (name, tensor) in enumerate(inputs.items()):
        if name in files:
            values[name] = of_file(files[name], tensor)
        else:
            values[name] = made(tensor, np.random.default_rng((seed, index)))
    try:
        if desc.operator.runs:
            run: Callable[..., object] = compile_desc(desc)
            run(*by_field(desc.operator.fields, "input", values))
        else:
            check_inputs(desc, values)
    except DmlError as error:
        raise type(error)(_explained(error, set(values) - set(files), files), error.function) from None
    for name, file in files.items():
        tensor = inputs[name]
        placed = in_memory(tensor, values[name])
        if tensor.strides is not None and not _same(view(placed.view(np.uint8), tensor, 0), values[name]):
            raise error_of("DML-MODEL-one-place", file, field=name)
    return replace(use, inputs=values)


def _explained(error: DmlError, made: set[str], files: dict[str, str]) -> list[Violation]:
    """The violations, each made input in one of them, those of the given ones with the file."""
    found: dict[object, Violation] = {}
    for index, violation in enumerate(error.violations):
        if violation.field in made:
            hint = (
                f"dmlcy made these values: pass values for {violation.field} with --input {violation.field}=FILE.npy."
            )
            found.setdefault(violation.field, replace(violation, hint=hint))
        elif violation.field in files:
            file = printable(files[violation.field])
            found[index] = replace(violation, message=f"'{file}': {violation.message}")
        else:
            found[index] = violation
    return list(found.values())


def _same(left: Array, right: Array) -> bool:
    """Whether the elements are the same, bit for bit."""
    bits = f"u{left.itemsize}"
    return bool(np.array_equal(left.view(bits), right.view(bits)))
