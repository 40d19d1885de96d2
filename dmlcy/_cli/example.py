"""``dmlcy example``: a model from an example of a spec."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np

from dmlcy._cli.options import add_examples, warn_of
from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError
from dmlcy._facts.names import catalogue_name, known_operator
from dmlcy._facts.rows import Example, Operator
from dmlcy._facts.words import operators_called
from dmlcy._field_types.tensor_desc import described
from dmlcy._frontends.dxdispatch import write
from dmlcy._frontends.dxdispatch.write import Use, layout
from dmlcy._show.cpp import program
from dmlcy._words.values import listing, quote


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "example",
        help="print a model of an operator",
        description="Print a model made of a documented example of an operator.",
    )
    parser.add_argument(
        "operator",
        nargs="+",
        metavar="OPERATOR",
        help="PADDING1, DML_OPERATOR_PADDING1, padding1, np.pad or zero padding",
    )
    parser.add_argument("--number", type=int, default=1, metavar="N", help="which example, from 1 (default: 1)")
    parser.add_argument(
        "--cpp", action="store_true", help="print the desc as C++, and where there is one the call of DirectMLX"
    )
    add_examples(
        parser,
        "dmlcy example PADDING1",
        "dmlcy example unfold --number 2 | dmlcy run -",
        "dmlcy example GEMM --cpp    # the structs in C++",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the model."""
    try:
        operator = _operator(" ".join(options.operator))
    except DmlError as error:
        asked = (
            "" if any(violation.hint for violation in error.violations) else " `dmlcy operators` lists the operators."
        )
        print(f"dmlcy example: {error}{asked}", file=sys.stderr)
        return 2
    if not 1 <= options.number <= len(operator.examples):
        print(f"dmlcy example: {operator.name} has {len(operator.examples)} examples.", file=sys.stderr)
        return 2
    example = operator.examples[options.number - 1]
    if options.cpp:
        sys.stdout.write(program(_desc(operator, example)))
        return 0
    warn_of(operator)
    print(layout(model(operator, example)))
    return 0


def _desc(operator: Operator, example: Example) -> OperatorDesc:
    """The desc of an example."""
    tensors = described({**example.inputs, **example.outputs})
    return desc_class(operator.name)(**tensors, **example.attributes)


def _operator(name: str) -> Operator:
    """The operator of a name, or the first one that other libraries call so; the errors of ``known_operator``."""
    called = () if catalogue_name(name) else operators_called(name)
    if not called:
        return known_operator(name)
    others = f"; {listing(called[1:])} {'has' if len(called) == 2 else 'have'} this name too" if called[1:] else ""
    print(f"dmlcy example: {quote(name)} is {called[0]} in DirectML{others}.", file=sys.stderr)
    return known_operator(called[0])


def model(operator: Operator, example: Example) -> dict[str, Any]:
    """The example as a model: inputs as written, outputs full of zeros, one dispatch, every output printed."""
    desc = _desc(operator, example)
    inputs = {
        name: {
            "initialValuesDataType": dtype,
            "initialValues": [_in_json(value) for value in np.array(data, object).ravel().tolist()],
        }
        for name, (dtype, _, data) in example.inputs.items()
    }
    use = Use(operator.python, desc, inputs)
    return write.model([use], lambda resource, _: {"type": "print", "resource": resource})


def _in_json(value: float) -> float | str:
    """The value of an element; JSON has no infinities and no NaN."""
    return value if math.isfinite(value) else str(value)
