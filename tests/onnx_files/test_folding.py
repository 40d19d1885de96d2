"""Folding of constants gives what ONNX's node tests expect, within bounds, and refuses what it cannot compute."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="needs onnx, whose node tests these are")

from node_tests import cases

FOLDED = [case for case in cases() if case.row is not None and case.row.fold]
EQUAL = 430
"""How many node tests give the expected elements at least."""
LIMITS = {"DML-ONNX-type": "the bits of small floats", "DML-ONNX-attribute-value": "paddings with other elements"}
"""Why others are refused."""
