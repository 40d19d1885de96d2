"""Folding of constants gives what ONNX's node tests expect, within bounds, and refuses what it cannot compute."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnx", reason="needs onnx, whose node tests these are")

from node_tests import Case, array_of, cases
from protos import BY_NUMBER, node_of

from dmlcy import Graph
from dmlcy._frontends.onnx import folding
from dmlcy._frontends.onnx.folding.reading import LARGEST
from dmlcy._frontends.onnx.model import ELEMENTS, ONNX, Attribute, Node
from dmlcy._frontends.onnx.tables import operator
from dmlcy._frontends.onnx.use import Unconverted, Use
from dmlcy._frontends.onnx.values import OnnxValue
from dmlcy._generated.onnx import OPERATORS
from dmlcy._runtime.four_bits import values_of

FOLDED = [case for case in cases() if case.row is not None and case.row.fold]
EQUAL = 430
"""How many node tests give the expected elements at least."""
LIMITS = {"DML-ONNX-type": "the bits of small floats", "DML-ONNX-attribute-value": "paddings with other elements"}
"""Why others are refused."""
