"""Elements of results that are not judged: no document promises their values, as an interpretation of the spec says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcy._arithmetic import WIDE
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import family_of
from dmlcy._families.given import Given

Marks = npt.NDArray[np.bool_]


def unjudged(desc: OperatorDesc, arrays: Mapping[str, Any], output: str | None = None) -> list[tuple[str, Marks]]:
    """The elements of an output whose values are not promised for these inputs, by the id of the interpretation.

    ``arrays``: the inputs by Python name, an array of tensors as a tuple. ``output``: the path of an output, by default
    the first. Each interpretation that leaves out an element gives its id and, in the sizes of the output, the marks of
    its elements; an element may have several.
    """
    given = Given.of_desc(desc, arrays, WIDE)
    name = given.outputs[0][0] if output is None else output
    found = []
    for one in desc.operator.unjudged:
        if one.outputs and name.partition("[")[0] not in one.outputs:
            continue
        if one.when is not None and not given.of(one.when):
            continue
        with np.errstate(all="ignore"):
            marks = np.asarray(family_of(desc.operator).holds(one.condition, given, name), np.bool_)
        if marks.any():
            found.append((one.id, np.broadcast_to(marks, tuple(given.values[name].sizes))))
    return found
