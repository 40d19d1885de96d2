"""Descs that C++ writes: what dmlcy reads has the values, and the verdict, of the same desc in Python."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from breaking import cases_of
from compilers import COMPILERS, FOLDER, SANITIZED, WINDOWS, Programs, dumped
from depth import SEED, deep
from example_descs import desc_of, desc_of_example
from images import Image, Inexpressible, Struct, fitted, image_of, rounded
from random_cases import broken_descs, cases

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import CATALOGUE, OPERATORS

DUMPER = FOLDER / "dumper.cpp"


@pytest.fixture
def dump(programs: Programs) -> Callable[[list[bytes]], list[str]]:
    """The output of the program that the sanitizers watch."""
    program = programs.built(DUMPER, *SANITIZED)
    return lambda images: dumped(program, images)


def same(descs: Iterable[OperatorDesc], dump: Callable[[list[bytes]], list[str]]) -> tuple[int, int]:
    """How many descs C++ can have, valid and broken ones; each is read as it was, and has the same verdict."""
    known: list[tuple[dict[str, Any], bytes]] = []
    for desc in descs:
        try:
            spelled = fitted(desc)
            known.append((spelled, image_of(spelled).packed()))
        except Inexpressible:
            continue
    counts = [0, 0]
    for (spelled, _), text in zip(known, dump([image for _, image in known]), strict=True):
        read = json.loads(text)
        assert rounded(read) == rounded(spelled)
        wanted, found = OperatorDesc.from_dict(spelled), OperatorDesc.from_dict(read)
        verdict = [(one.id, one.field) for one in wanted._violations(NEWEST)]
        assert [(one.id, one.field) for one in found._violations(NEWEST)] == verdict, text
        counts[bool(verdict)] += 1
    return counts[0], counts[1]


def broken_by_hand(name: str) -> list[OperatorDesc]:
    """Descs that break each condition of an operator, the ``breaks`` of its rules among them."""
    return [case.desc() for case in cases_of(name) if case.way in ("desc", "json")]


def test_every_example(dump: Callable[[list[bytes]], list[str]]) -> None:
    descs = [desc_of_example(operator, one) for operator in OPERATORS.values() for one in operator.examples]
    valid, broken = same(descs, dump)
    assert valid == len(descs) and broken == 0


@pytest.mark.parametrize("every", [pytest.param(25, id="some"), pytest.param(1, id="all", marks=deep)])
def test_every_rule_that_is_broken(every: int, dump: Callable[[list[bytes]], list[str]]) -> None:
    found = [desc for name in [*OPERATORS][::every] for desc in broken_by_hand(name)[:: 3 if every > 1 else 1]]
    _, broken = same(found, dump)
    assert broken > 10_000 / every**2


@pytest.mark.parametrize("draws", [pytest.param(0, id="few"), pytest.param(6, id="many", marks=deep)])
def test_random_descs(draws: int, dump: Callable[[list[bytes]], list[str]]) -> None:
    chance = random.Random(SEED)
    names = [*OPERATORS] if draws else ["CONVOLUTION", "LSTM", "JOIN"]
    found = []
    for operator in map(OPERATORS.__getitem__, names):
        found += [desc for desc, _ in cases(chance, operator, NEWEST, draws or 3)]
        found += [desc for desc, _ in broken_descs(chance, operator, NEWEST, draws or 3)]
    valid, broken = same(found, dump)
    assert valid > 0 and broken > 0


@pytest.mark.parametrize("compiler", [COMPILERS[0], *(pytest.param(one, marks=deep) for one in COMPILERS[1:])])
def test_other_compilers(compiler: str, programs: Programs) -> None:
    """No compiler warns about the header, also with older versions of DirectML.h. A program that runs here writes the
    same.
    """
    if compiler == WINDOWS:
        programs.compile(DUMPER, "-fsyntax-only", compiler=compiler)
        return
    image = image_of(fitted(desc_of(OPERATORS["GEMM"]))).packed()
    texts = {tuple(dumped(programs.built(DUMPER, compiler=one), [image])) for one in {compiler, COMPILERS[0]}}
    assert len(texts) == 1


@pytest.mark.parametrize("version", [pytest.param("0x1000", marks=deep), "0x2100", pytest.param("0x5000", marks=deep)])
def test_older_headers(version: str, programs: Programs) -> None:
    """A struct that the header has not is not read."""
    programs.compile(DUMPER, f"-DDML_TARGET_VERSION={version}", "-fsyntax-only")


def test_a_wrong_order_does_not_compile(programs: Programs, tmp_path: Path) -> None:
    text = (programs.folder / "include" / "DirectML.h").read_text(encoding="utf-8")
    lines = ["    const DML_TENSOR_DESC* BTensor;\n", "    const DML_TENSOR_DESC* CTensor;\n"]
    assert "".join(lines) in text
    wrong = tmp_path / "wrong.h"
    wrong.write_text(text.replace("".join(lines), "".join(lines[::-1])), encoding="utf-8")
    done = programs.run(DUMPER, "-include", str(wrong), "-fsyntax-only")
    assert done.returncode != 0 and "DML_GEMM_OPERATOR_DESC::BTensor" in done.stderr


def zeros(name: str) -> bytes:
    """The struct of an operator whose bytes are all zero."""
    image = Image()
    outer = Struct(image, "DML_OPERATOR_DESC")
    outer.put("Type", "i", CATALOGUE[name].value)
    outer.point("Desc", Struct(image, OPERATORS[name].struct).number)
    return image.packed()


def test_structs_of_zeros(dump: Callable[[list[bytes]], list[str]]) -> None:
    """All pointers are null: every tensor is missing, and lint says so."""
    for name, text in zip(OPERATORS, dump([*map(zeros, OPERATORS)]), strict=True):
        read = json.loads(text)
        operator = OPERATORS[name]
        assert [*read["desc"]] == [field.name for field in operator.fields]
        tensors = [field for field in operator.fields if field.kind != "attribute"]
        assert all(read["desc"][field.name] is None for field in tensors)
        missing = {one.field for one in OperatorDesc.from_dict(read)._violations(NEWEST) if "required" in one.id}
        assert missing >= {field.python for field in tensors if not field.optional}


def test_no_desc_and_unknown_types(dump: Callable[[list[bytes]], list[str]]) -> None:
    """Of an unknown Type the Desc is not read: it leads nowhere."""
    images = []
    for kind in (7, 0, -1, 999):
        image = Image()
        outer = Struct(image, "DML_OPERATOR_DESC")
        outer.put("Type", "i", kind)
        if kind != 7:
            outer.point("Desc", image.add(0))
        images.append(image.packed())
    found = [json.loads(text) for text in dump(images)]
    assert [one["type"] for one in found] == ["DML_OPERATOR_ELEMENT_WISE_CEIL", 0, -1, 999]
    assert all(one["desc"] is None for one in found)


def relu(**members: Any) -> dict[str, Any]:
    """ACTIVATION_RELU with other members for its input."""
    desc = fitted(desc_of(OPERATORS["ACTIVATION_RELU"]))
    desc["desc"]["InputTensor"] |= members
    return desc


def test_tensors_as_they_are(dump: Callable[[list[bytes]], list[str]]) -> None:
    given = [
        relu(DataType=77, Flags=6, TotalTensorSizeInBytes=2**64 - 1, GuaranteedBaseOffsetAlignment=3),
        relu(DimensionCount=2**32 - 1, Sizes=[1] * 8, Strides=[0] * 8),
        relu(DimensionCount=0, Sizes=[], Strides=[]),
        relu(Sizes=None),
        relu(DataType="DML_TENSOR_DATA_TYPE_UNKNOWN"),
    ]
    images = [image_of(one).packed() for one in given]
    given[1]["desc"]["InputTensor"] |= {"SizesCapped": 2**32 - 1, "StridesCapped": 2**32 - 1}
    given.append(relu())
    given[-1]["desc"]["InputTensor"] = {"Type": 5, "Desc": None}
    images.append(image_of(given[-1]).packed())
    given.append(relu())
    given[-1]["desc"]["InputTensor"] = {"Type": "DML_TENSOR_TYPE_INVALID", "Desc": None}
    images.append(image_of(given[-1]).packed())
    assert [json.loads(text) for text in dump(images)] == given


def test_long_arrays_are_cut(dump: Callable[[list[bytes]], list[str]]) -> None:
    desc = fitted(desc_of(OPERATORS["REDUCE"]))
    desc["desc"] |= {"AxisCount": 2**32 - 1, "Axes": [*range(65536)]}
    image = image_of(desc).packed()
    (text,) = dump([image])
    assert json.loads(text)["desc"] == desc["desc"] | {"AxesCapped": 2**32 - 1}


@pytest.mark.parametrize("flag", ["", "-DDMLCY_NO_TO_CHARS"])
def test_numbers_that_json_has_not(flag: str, programs: Programs) -> None:
    """Libraries before C++17 was whole have no std::to_chars for them."""
    program = programs.built(DUMPER, *([flag] if flag else SANITIZED))
    numbers = ["nan", "inf", "-inf", 3.4028234663852886e38, 1e-45, -0.0, 0.1]
    descs = [fitted(desc_of(OPERATORS["ACTIVATION_ELU"])) for _ in numbers]
    for desc, number in zip(descs, numbers, strict=True):
        desc["desc"]["Alpha"] = number
    found = [json.loads(text)["desc"]["Alpha"] for text in dumped(program, [image_of(desc).packed() for desc in descs])]
    assert found[:3] == numbers[:3]
    for got, number in zip(found[3:], numbers[3:], strict=True):
        assert struct.pack("<f", got) == struct.pack("<f", number)
    assert found[-1] == 0.1  # no more digits than it needs


def test_scalars_of_each_data_type(dump: Callable[[list[bytes]], list[str]]) -> None:
    """FLOAT16 is bits; a data type that no number has, or that has no name, is bytes."""
    values: dict[Any, Any] = {
        "FLOAT32": 0.5, "FLOAT64": 0.1, "UINT64": 2**64 - 1, "UINT32": 2**32 - 1, "UINT16": 65535, "UINT8": 255,
        "INT64": -(2**63), "INT32": -(2**31), "INT16": -(2**15), "INT8": -128,
    }  # fmt: skip
    given = []
    for dtype, value in [*values.items(), ("FLOAT16", 1.5), ("UINT4", None), (99, None)]:
        desc = fitted(desc_of(OPERATORS["FILL_VALUE_CONSTANT"]))
        desc["desc"]["ValueDataType"] = dtype if type(dtype) is int else f"DML_TENSOR_DATA_TYPE_{dtype}"
        desc["desc"]["Value"] = {"Bytes": [1, 2, 3, 4, 5, 6, 7, 8]} if value is None else value
        given.append(desc)
    found = [json.loads(text)["desc"]["Value"] for text in dump([image_of(desc).packed() for desc in given])]
    assert found[:10] == [*values.values()]
    assert found[10:] == [{"UInt16": 0x3E00}, *[{"Bytes": [1, 2, 3, 4, 5, 6, 7, 8]}] * 2]


def test_descs_within_each_other_end(dump: Callable[[list[bytes]], list[str]]) -> None:
    """A fused activation that holds itself."""
    image = Image()
    outer = Struct(image, "DML_OPERATOR_DESC")
    outer.put("Type", "i", CATALOGUE["GEMM"].value)
    inner = Struct(image, OPERATORS["GEMM"].struct)
    outer.point("Desc", inner.number)
    inner.point("FusedActivation", outer.number)
    (text,) = dump([image.packed()])
    assert text.count("FusedActivation") == 4 and text.count('"Desc": null') == 1
    assert OperatorDesc.from_dict(json.loads(text))._violations(NEWEST)
