"""``dmlcy example``: a model from an example of a spec."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np

from dmlcy._cli.options import add_examples, warn_of
from dmlcy._errors import DmlError
from dmlcy._facts.names import known_operator
from dmlcy._facts.rows import Example, Operator
from dmlcy._facts.tables import desc_class
from dmlcy._field_types.tensor_desc import described
from dmlcy._frontends.dxdispatch import write
from dmlcy._frontends.dxdispatch.write import Use, layout


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "example",
        help="print a model of an operator",
        description="Print a model made of a documented example of an operator.",
    )
    parser.add_argument("operator", metavar="OPERATOR", help="PADDING1, DML_OPERATOR_PADDING1 or padding1")
    parser.add_argument("--number", type=int, default=1, metavar="N", help="which example, from 1 (default: 1)")
    add_examples(parser, "dmlcy example PADDING1", "dmlcy example unfold --number 2 | dmlcy run -")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the model."""
    try:
        operator = known_operator(options.operator)
    except DmlError as error:
        print(f"dmlcy example: {error}", file=sys.stderr)
        return 2
    if not 1 <= options.number <= len(operator.examples):
        print(f"dmlcy example: {operator.name} has {len(operator.examples)} examples.", file=sys.stderr)
        return 2
    warn_of(operator)
    print(layout(model(operator, operator.examples[options.number - 1])))
    return 0


def model(operator: Operator, example: Example) -> dict[str, Any]:
    """The example as a model: inputs as written, outputs full of zeros, one dispatch, every output printed."""
    tensors = described({**example.inputs, **example.outputs})
    desc = desc_class(operator.name)(**tensors, **example.attributes)
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
