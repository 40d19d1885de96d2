"""Activations that another operator applies: their descs, by the names that they have in ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._frontends.onnx.model import ONNX
from dmlcy._frontends.onnx.tables import operator
from dmlcy._frontends.onnx.use import Use

NOTHING: Final = "ACTIVATION_IDENTITY"
OTHERS: Final = {"Affine": "ACTIVATION_LINEAR"}
"""Activations that become another operator than the ONNX operator of this name."""
DEFAULTS: Final = {
    "ACTIVATION_LINEAR": {"alpha": 1.0, "beta": 0.0},
    "ACTIVATION_PARAMETRIC_SOFTPLUS": {"alpha": 1.0, "beta": 1.0},
}
"""The numbers that ONNX Runtime takes where neither the node nor ONNX has a number."""


def activation(use: Use, field: str, name: str, number: Callable[[str], float | None], **more: object) -> OperatorDesc:
    """The desc of an activation.

    Parameters
    ----------
    use
        The node whose operator of DirectML applies the activation.
    field
        The field of its desc that holds the activation.
    name
        The name of the activation in ONNX.
    number
        Gives a number of the activation by its name, such as alpha; None where the node does not say it.
    more
        Fields of the activation that are no numbers.
    """
    row = operator(ONNX, name)
    kind = OTHERS.get(name) or (row.becomes[0][-1] if row is not None and row.becomes else "")
    host = desc_class(use.row.becomes[0][-1]).operator
    known = [one for one in desc_class(kind).operator.fields if one.kind == "attribute"] if kind else []
    others = {one.python for one in known if one.type != "float" and one.value is None}
    if kind not in dict(host.field(field).among) or others != more.keys():
        use.refuse("DML-ONNX-unsupported", what=f"the activation {name} at the end of {host.name}")
    declared = row.versions[-1].attributes if row is not None and row.versions else {}
    fields = dict(more)
    for one in known:
        given: object = number(one.python) if one.type == "float" else None
        if given is None and one.python in declared:
            given = declared[one.python].default
        if given is None:
            given = DEFAULTS.get(kind, {}).get(one.python)
        if given is not None:
            fields[one.python] = given
    made: OperatorDesc = desc_class(kind)(**fields)
    return made


def fused(use: Use) -> OperatorDesc | None:
    """The activation that ONNX Runtime has put into a node; None for a node without one."""
    name = use.attribute("fused_activation")
    if name is None or name == "Dropout":
        return None
    return activation(use, "fused_activation", name, lambda number: use.attribute(f"fused_{number}"))
