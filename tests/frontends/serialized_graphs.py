"""Records of serialized graphs: one with every member of every union, and random ones."""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from depth import examples
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from dmlcy._errors import ModelError
from dmlcy._frontends.serialized.reader import read
from dmlcy._frontends.serialized.records import (
    Activation,
    Attribute,
    ConstantNode,
    GraphRecord,
    OperatorNode,
    Scalar,
    ScaleBias,
    Size2D,
    Tensor,
)

FLOAT32 = "DML_TENSOR_DATA_TYPE_FLOAT32"
RELU = Activation("DML_OPERATOR_ACTIVATION_RELU", ())
LEAKY = Activation("DML_OPERATOR_ACTIVATION_LEAKY_RELU", (Attribute("Alpha", "Float32", 0.5),))
SCALARS: dict[str, Any] = {
    "ByteArray": b"\0\0\x80?\xff\0\0\0", "Int8": -128, "UInt8": 255, "Int16": -(2**15), "UInt16": 2**16 - 1,
    "Int32": -(2**31), "UInt32": 2**32 - 1, "Int64": -(2**63), "UInt64": 2**64 - 1, "Float32": 0.5, "Float64": 1e300,
}  # fmt: skip
VALUES: dict[str, Any] = {
    "Activation": LEAKY, "ActivationArray": (RELU, LEAKY), "UInt32": 2**32 - 1, "UInt64": 2**64 - 1,
    "Int32": -(2**31), "Float32": -0.5, "UIntArray": (0, 1, 2**32 - 1), "IntArray": (-1, 2**31 - 1),
    "FloatArray": (0.5, -1.0), "ScaleBias": ScaleBias(2.0, 3.0), "Size2D": Size2D(2, 3),
    "ScalarUnionData": Scalar("ByteArray", SCALARS["ByteArray"]), "Bool": True,
}  # fmt: skip
ATTRIBUTES = (
    *(Attribute(kind, kind, value) for kind, value in VALUES.items()),
    *(Attribute(None, kind, None) for kind in ("Activation", "ActivationArray", "ScaleBias")),
)


def graph(attributes: tuple[Attribute, ...] = ()) -> GraphRecord:
    """A graph with constants of both kinds and two operators, one of which has these attributes."""
    row, square = Tensor(FLOAT32, (1, 1, 1, 5), None, 20), Tensor(FLOAT32, (1, 1, 5, 5), (25, 25, 1, 5), 100)
    return GraphRecord(
        (
            ConstantNode("w", (), ("w-0",), "weights"),
            ConstantNode("b", (), ("b-0",), bytes(range(20))),
            OperatorNode("gemm", "DML_OPERATOR_GEMM", ("x", "w-0", ""), ("y-0",), (row, square), (row,), attributes),
            OperatorNode("add", "DML_OPERATOR_ELEMENT_WISE_ADD", ("y-0", "b-0"), ("y",), (row, row), (row,), ()),
        ),
        ("x",),
        ("y",),
    )


WHOLE = graph(ATTRIBUTES)
SMALL = GraphRecord(
    (
        ConstantNode("c", (), ("w",), b"12345"),
        OperatorNode("n", "T", ("x", "w"), ("y",), (Tensor("D", (5,), (1,), 20),), (),
                     tuple(replace(one, name=one.name and "a") for one in ATTRIBUTES)),
    ), ("x",), ("y",)
)  # fmt: skip
"""The same with short texts, for tests that try every bit."""


def dxdispatch_models() -> Path:
    """The folder DxDispatch/models of a checkout of DirectML, or the test is skipped."""
    folder = os.environ.get("DMLCY_DXDISPATCH_MODELS")
    if not folder:
        pytest.skip("DMLCY_DXDISPATCH_MODELS does not name the folder DxDispatch/models of a checkout of DirectML")
    return Path(folder)


def refusal(data: bytes) -> tuple[str, int | None] | None:
    """The id and the byte with which a file is refused; None where it is read."""
    try:
        read(data)
    except ModelError as error:
        (violation,) = error.violations
        assert violation.message.isprintable() and len(violation.message) < 500
        byte = violation.values.get("byte")
        assert byte is None or isinstance(byte, int)
        return violation.id.removeprefix("DML-GRAPH-file-"), byte
    return None


many = settings(
    max_examples=examples(150),
    deadline=None,
    derandomize=os.environ.get("CI", "").lower() in ("1", "true"),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def plain(record: Any) -> str:
    """A record without its bytes' places; NaN is equal to itself."""
    if isinstance(record, tuple):
        return f"{type(record).__name__}({', '.join(map(plain, record))})"
    if is_dataclass(record):
        return plain(tuple(getattr(record, one.name) for one in fields(record) if one.compare))
    return repr(record)


texts = st.text(st.characters(codec="utf-8"), max_size=9)
names = st.sampled_from(["", "a", "b", "x", "y"]) | texts
listed = st.lists(names, max_size=4).map(tuple)
unsigned = st.integers(0, 2**32 - 1)
unsigned_tuples = st.lists(unsigned, max_size=5).map(tuple)
floats = st.floats(width=32)
tensors = st.builds(Tensor, texts, unsigned_tuples, st.none() | unsigned_tuples, st.integers(0, 2**64 - 1))


def scalars() -> st.SearchStrategy[Scalar]:
    def of(kind: str) -> st.SearchStrategy[Scalar]:
        if kind == "ByteArray":
            return st.binary(min_size=8, max_size=8).map(lambda value: Scalar(kind, value))
        if kind.startswith("Float"):
            return st.floats(width=int(kind[5:])).map(lambda value: Scalar(kind, value))  # type: ignore[arg-type]
        bits = int(kind.lstrip("UInt"))
        least, most = (0, 2**bits - 1) if kind[0] == "U" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return st.integers(least, most).map(lambda value: Scalar(kind, value))

    return st.sampled_from(sorted(SCALARS)).flatmap(of)


def attributes(depth: int = 2) -> st.SearchStrategy[Attribute]:
    signed = st.integers(-(2**31), 2**31 - 1)
    kinds: dict[str, st.SearchStrategy[object]] = {
        "UInt32": unsigned,
        "UInt64": st.integers(0, 2**64 - 1),
        "Int32": signed,
        "Float32": floats,
        "UIntArray": unsigned_tuples,
        "IntArray": st.lists(signed, max_size=5).map(tuple),
        "FloatArray": st.lists(floats, max_size=5).map(tuple),
        "ScaleBias": st.none() | st.builds(ScaleBias, floats, floats),
        "Size2D": st.builds(Size2D, unsigned, unsigned),
        "ScalarUnionData": scalars(),
        "Bool": st.booleans(),
        "Activation": st.none(),
        "ActivationArray": st.none(),
    }
    if depth:
        inner = st.builds(Activation, texts, st.lists(attributes(depth - 1), max_size=2).map(tuple))
        kinds["Activation"] |= inner
        kinds["ActivationArray"] |= st.lists(inner, max_size=2).map(tuple)
    assert kinds.keys() == VALUES.keys()
    return st.sampled_from(sorted(kinds)).flatmap(
        lambda kind: st.builds(Attribute, st.none() | texts, st.just(kind), kinds[kind])
    )


several = st.lists(tensors, max_size=3).map(tuple)
operators = st.builds(
    OperatorNode, names, texts, listed, listed, several, several, st.lists(attributes(), max_size=4).map(tuple)
)
constants = st.builds(ConstantNode, names, listed, listed, texts | st.binary(max_size=20))
graphs = st.builds(GraphRecord, st.lists(operators | constants, max_size=5).map(tuple), listed, listed)
