"""How far a result of dmlcy may be off: the accuracy that a spec states, for one desc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Dtype

Tolerance = npt.NDArray[np.float64]

RESULT: Final = "result"
MAGNITUDES: Final = "magnitudes"


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest error of one result, in units in the last place; of what, ``of`` says (see Accuracy)."""

    ulp: float
    formula: str
    of: str


def bound(desc: OperatorDesc, dtype: Dtype) -> Bound | None:
    """The accuracy of results of a data type; None: they are exact."""
    accuracy = desc.operator.accuracy.get(dtype.name)
    if accuracy is None:
        return None
    ulp = Formulas(desc).of(accuracy.ulp)
    return Bound(ulp, accuracy.ulp.text, accuracy.of) if ulp else None
