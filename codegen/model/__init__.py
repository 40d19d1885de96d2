"""A set of specs as frozen data. ``load`` builds it; what cannot be valid cannot be built."""

from __future__ import annotations

from .bindings import (
    KINDS,
    Bindings,
    BoundActivation,
    BoundEnum,
    BoundFunction,
    BoundOutputs,
    BoundParameter,
)
from .examples import Difference, Equivalent, Example, Outcome, TensorData
from .facts import (
    DTYPE_ENUM,
    LANGUAGES,
    CatalogueField,
    CatalogueOperator,
    Dtype,
    Enum,
    EnumMember,
    ErrorText,
    Facts,
    Fused,
    Level,
    Library,
    Returned,
    Term,
    camel,
    snake,
)
from .fields import (
    ACCURACY_OF,
    FUSED,
    PROVENANCE,
    Accuracy,
    Device,
    DtypeRow,
    Field,
    Formula,
    Independent,
    Interpretation,
    Let,
    RankRow,
    Rule,
    Same,
)
from .onnx import (
    ATTRIBUTES,
    ONNX,
    PLACES,
    Onnx,
    OnnxAttribute,
    OnnxOperator,
    OnnxParameter,
    OnnxRuntime,
    OnnxVersion,
)
from .operator import ELEMENT, Operator, Specs, element, let_symbol

__all__ = [
    "ACCURACY_OF", "ATTRIBUTES", "DTYPE_ENUM", "ELEMENT", "FUSED", "KINDS", "LANGUAGES", "ONNX", "PLACES", "PROVENANCE",
    "Accuracy", "Bindings", "BoundActivation", "BoundEnum", "BoundFunction", "BoundOutputs", "BoundParameter",
    "CatalogueField", "CatalogueOperator", "Device", "Difference", "Dtype", "DtypeRow", "Enum", "EnumMember",
    "Equivalent", "ErrorText", "Example", "Facts", "Field", "Formula", "Fused", "Independent", "Interpretation", "Let",
    "Level", "Library", "Onnx", "OnnxAttribute", "OnnxOperator", "OnnxParameter", "OnnxRuntime", "OnnxVersion",
    "Operator", "Outcome", "RankRow", "Returned", "Rule", "Same", "Specs", "TensorData", "Term", "camel", "element",
    "let_symbol", "snake",
]  # fmt: skip
