"""The accuracy that the specs state holds, and what is beyond it is noticed."""

from __future__ import annotations

from typing import Any

import accuracy
import numpy as np
import pytest
from adversarial import KINDS
from depth import of_each_family

import dmlcy as dml
from dmlcy._facts.tables import FAST
from dmlcy.testing import expected

ELEMENTS = 100
"""Results of each data type, from arrays of each kind; a run by hand has more of them."""


ROUNDED_ONCE = {
    "ELEMENT_WISE_ABS", "ELEMENT_WISE_CEIL", "ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1", "ELEMENT_WISE_FLOOR",
    "ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_THRESHOLD",
}  # fmt: skip
"""Operators that only round what ScaleBias gives to the data type: nothing, where it is FLOAT32."""


def may_be_off(name: str) -> bool:
    return not all(accuracy.is_exact(FAST[name], dtype) for dtype in FAST[name].accuracy)


@pytest.mark.parametrize("name", of_each_family(FAST))
def test_errors_are_within_the_bounds(name: str) -> None:
    found = accuracy.measure(FAST[name], ELEMENTS, 11)
    assert all(worst.right and worst.elements >= ELEMENTS for worst in found.values()), accuracy.rows(name, found)
    for dtype, worst in found.items():
        if not accuracy.is_exact(FAST[name], dtype):
            assert worst.ulp <= 0.5 if name in ROUNDED_ONCE else worst.ulp > 0
            assert worst.bound > 0 and worst.kinds >= {*KINDS}
            assert worst.unjudged < worst.elements / 2
        else:
            assert worst.ulp == worst.bound == worst.unjudged == 0


@pytest.mark.parametrize("name", of_each_family(name for name in FAST if may_be_off(name)))
def test_a_result_just_beyond_the_bound_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_desc = dml.compile
    monkeypatch.setattr(accuracy, "KINDS", ("positive",))
    assert accuracy.main(["--only", name, "--elements", "10"]) == 0

    def wrong(desc: Any) -> Any:
        def call(*arrays: Any) -> Any:
            names = [field.python for field in desc.operator.fields if field.kind == "input"]
            found = expected(desc, dict(zip(names, arrays, strict=True)))
            results = compile_desc(desc)(*arrays)
            result = results[0] if isinstance(results, tuple) else results
            if found.units is None:  # of a data type whose results are exact
                return results
            for at in np.ndindex(result.shape):
                value, one = found.values[at], found.units[at]
                if one is None or isinstance(value, float):
                    continue
                with np.errstate(over="ignore"):
                    beyond = result.dtype.type(float(value + one * int(found.ulp + 1)))
                if np.isfinite(beyond):
                    result[at] = np.nextafter(beyond, result.dtype.type(np.inf))
                    break
            return results

        return call

    monkeypatch.setattr(dml, "compile", wrong)
    assert accuracy.main(["--only", name, "--elements", "10"]) == 1
