"""``dmlcy example``: a runnable model from an example of a spec."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from typing import Any

import numpy as np

from dmlcy._errors import ModelError
from dmlcy._names import known_operator
from dmlcy._spec import Example, Operator
from dmlcy._tensor_desc import TensorDesc

_WIDTH = 100


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "example",
        help="print a runnable model of an operator",
        description="Print a runnable model made of a documented example of an operator.",
    )
    parser.add_argument("operator", metavar="OPERATOR", help="PADDING1, DML_OPERATOR_PADDING1 or padding1")
    parser.add_argument("--number", type=int, default=1, metavar="N", help="which example, from 1 (default: 1)")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the model."""
    try:
        operator = known_operator(options.operator)
    except ModelError as error:
        print(f"dmlcy example: {error}", file=sys.stderr)
        return 2
    if not 1 <= options.number <= len(operator.examples):
        print(f"dmlcy example: {operator.name} has {len(operator.examples)} examples.", file=sys.stderr)
        return 2
    print(layout(model(operator, operator.examples[options.number - 1])))
    return 0


def model(operator: Operator, example: Example) -> dict[str, Any]:
    """The example as a model: inputs as written, outputs full of zeros, one dispatch, every output printed."""
    from dmlcy._generated import desc as classes

    given = {**example.inputs, **example.outputs}
    tensors = {name: TensorDesc(dtype, sizes) for name, (dtype, sizes, _) in given.items()}
    described = getattr(classes, operator.desc)(**tensors, **example.attributes).to_dict()
    described["desc"] = {name: _brief(member) for name, member in described["desc"].items() if member is not None}
    resources: dict[str, Any] = {}
    for name, (dtype, _, data) in example.inputs.items():
        resources[name] = {"initialValuesDataType": dtype, "initialValues": np.array(data, object).ravel().tolist()}
    for name, (dtype, sizes, _) in example.outputs.items():
        count = int(np.prod(sizes, dtype=object))
        resources[name] = {"initialValuesDataType": dtype, "initialValues": {"valueCount": count, "value": 0}}
    bindings = {field.name: field.python for field in operator.fields if field.python in resources}
    return {
        "resources": resources,
        "dispatchables": {operator.python: described},
        "commands": [
            {"type": "dispatch", "dispatchable": operator.python, "bindings": bindings},
            *({"type": "print", "resource": name} for name in example.outputs),
        ],
    }


def _brief(member: Any) -> Any:
    """A tensor desc without the members that DxDispatch fills in; anything else as it is."""
    if isinstance(member, dict) and "DataType" in member:
        return {"DataType": member["DataType"], "Sizes": member["Sizes"]}
    return member


def layout(value: Any, indent: str = "") -> str:
    """JSON text: what fits on a line stands on one."""
    text = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(text) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return text
    inner = indent + "  "
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        rows = textwrap.fill(text[1:-1], _WIDTH, initial_indent=inner, subsequent_indent=inner)
        return f"[\n{rows}\n{indent}]"
    if isinstance(value, dict):
        items = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {layout(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + layout(item, inner) for item in value) + f"\n{indent}]"
