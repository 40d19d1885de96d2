"""Buffers: every form of initial values, sizes and offsets, and files that are not what they should be."""

from __future__ import annotations

import io
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import refused, storage
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from dmlcy._facts.tables import DTYPES

NUMPY = {d.name: d.numpy for d in DTYPES.values() if d.numpy}


def values(resource: dict[str, Any] | str, folder: Path = Path()) -> list[Any]:
    found = storage(resource, folder)
    assert found.dtype is not None
    assert found.data.size % 4 == 0
    return list(found.data[found.start : found.stop].view(np.dtype(found.dtype.numpy)).tolist())


def typed(dtype: str, initial: Any, **more: Any) -> dict[str, Any]:
    return {"initialValuesDataType": dtype, "initialValues": initial, **more}


@pytest.mark.parametrize("dtype", sorted(NUMPY))
def test_constant_array_and_sequence(dtype: str) -> None:
    assert values(typed(dtype, {"valueCount": 3, "value": 7})) == [7, 7, 7]
    assert values(typed("DML_TENSOR_DATA_TYPE_" + dtype, [1, 2, 3])) == [1, 2, 3]
    assert values(typed(dtype, {"valueCount": 4, "valueStart": 1, "valueDelta": 2})) == [1, 3, 5, 7]


@given(
    st.sampled_from(sorted(NUMPY)).flatmap(
        lambda name: st.tuples(
            st.just(name),
            hn.arrays(NUMPY[name], st.integers(1, 20), elements={"allow_nan": False} if "FLOAT" in name else None),
        )
    )
)
def test_arrays_round_trip(case: tuple[str, np.ndarray[Any, Any]]) -> None:
    name, array = case
    written = [str(x) if isinstance(x, float) and np.isinf(x) else x for x in array.tolist()]
    assert values(typed(name, written)) == array.tolist()


def test_floats_that_are_words() -> None:
    found = values(typed("FLOAT16", ["nan", "inf", "-inf", "NaN", 65504]))
    assert np.array_equal(found, [np.nan, np.inf, -np.inf, np.nan, 65504], equal_nan=True)


def test_a_sequence_adds_in_its_own_type() -> None:
    assert values(typed("FLOAT16", {"valueCount": 3000, "valueStart": 0, "valueDelta": 1}))[-1] == 2048
    assert values(typed("FLOAT32", {"valueCount": 3, "valueStart": 0, "valueDelta": 0.1}))[2] == np.float32(0.1) * 2
    assert values(typed("UINT8", {"valueCount": 256, "valueStart": 0, "valueDelta": 1})) == list(range(256))
    assert values(typed("INT64", {"valueCount": 2, "valueStart": 2**63 - 1, "valueDelta": -1})) == [
        2**63 - 1,
        2**63 - 2,
    ]


def test_64_bit_integers_are_exact() -> None:
    assert values(typed("UINT64", [2**64 - 1])) == [2**64 - 1]
    assert values(typed("INT64", {"valueCount": 1, "value": -(2**63)})) == [-(2**63)]


def test_list() -> None:
    items = [
        {"name": "n", "type": "UINT8", "value": 6},
        {"type": "FLOAT32", "value": 1.5},
        {"type": "INT16", "value": -2},
    ]
    for dtype in ({"initialValuesDataType": "UNKNOWN"}, {}):
        found = storage({**dtype, "initialValues": items})
        assert found.dtype is None
        assert found.data.tobytes() == b"\x06" + np.float32(1.5).tobytes() + b"\xfe\xff" + b"\0"


def test_size_and_offset() -> None:
    found = storage(typed("UINT8", [1, 2, 3], initialValuesOffsetInBytes=2, sizeInBytes=9))
    assert found.data.tolist() == [0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0]
    assert (found.start, found.stop, found.size) == (2, 5, 9)
    assert storage(typed("UINT8", [1, 2, 3])).data.tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize(
    ("identifier", "path", "resource"),
    [
        ("DML-MODEL-type", "", 1),
        ("DML-MODEL-missing", "", {"initialValuesDataType": "UINT8"}),
        ("DML-MODEL-type", ".initialValues", typed("UINT8", 1)),
        ("DML-MODEL-type", ".initialValuesDataType", typed(1, [1])),  # type: ignore[arg-type]
        ("DML-MODEL-data-type", ".initialValuesDataType", typed("FLOAT23", [1])),
        ("DML-MODEL-data-type", ".initialValuesDataType", typed("float32", [1])),
        ("DML-MODEL-deferred", ".initialValues", typed("UINT8", "deferred")),
        ("DML-MODEL-initial-values", ".initialValues", typed("UINT8", "soon")),
        ("DML-MODEL-initial-values", ".initialValues", typed("UINT8", {})),
        ("DML-MODEL-initial-values", ".initialValues", typed("UINT8", {"value": 1, "valueStart": 1})),
        ("DML-MODEL-empty", ".initialValues", typed("UINT8", [])),
        ("DML-MODEL-empty", ".initialValues", {"initialValues": []}),
        ("DML-MODEL-missing", "", {"initialValues": [1, 2]}),
        ("DML-MODEL-missing", "", {"initialValues": {"valueCount": 1, "value": 1}}),
        ("DML-MODEL-missing", "", {"initialValues": {"valueCount": 1, "valueStart": 1, "valueDelta": 1}}),
        ("DML-MODEL-missing", "", {"initialValues": {"sourcePath": "x.bin"}}),
        ("DML-MODEL-missing", ".initialValues", typed("UINT8", {"value": 1})),
        ("DML-MODEL-missing", ".initialValues", typed("UINT8", {"valueCount": 1, "valueStart": 1})),
        ("DML-MODEL-range", ".initialValues.valueCount", typed("UINT8", {"valueCount": 0, "value": 1})),
        ("DML-MODEL-range", ".initialValues.valueCount", typed("UINT8", {"valueCount": 2**32, "value": 1})),
        ("DML-MODEL-integer", ".initialValues.valueCount", typed("UINT8", {"valueCount": 1.0, "value": 1})),
        ("DML-MODEL-value", ".initialValues[1]", typed("UINT8", [1, 256])),
        ("DML-MODEL-value", ".initialValues[0]", typed("UINT8", [-1])),
        ("DML-MODEL-value", ".initialValues[0]", typed("INT32", [9.0])),
        ("DML-MODEL-value", ".initialValues[0]", typed("INT32", [10**40])),
        ("DML-MODEL-type", ".initialValues[0]", typed("INT32", ["nan"])),
        ("DML-MODEL-type", ".initialValues[0]", typed("FLOAT32", [True])),
        ("DML-MODEL-type", ".initialValues[0]", typed("FLOAT32", [None])),
        ("DML-MODEL-value", ".initialValues[0]", typed("FLOAT32", ["one"])),
        ("DML-MODEL-value", ".initialValues[1]", typed("FLOAT16", ["inf", 65520])),
        ("DML-MODEL-value", ".initialValues[0]", typed("FLOAT64", [10**400])),
        ("DML-MODEL-value", ".initialValues.value", typed("UINT8", {"valueCount": 1, "value": 256})),
        ("DML-MODEL-sequence", ".initialValues", typed("UINT8", {"valueCount": 257, "valueStart": 0, "valueDelta": 1})),
        (
            "DML-MODEL-sequence",
            ".initialValues",
            typed("INT8", {"valueCount": 3, "valueStart": -127, "valueDelta": -1}),
        ),
        ("DML-MODEL-size", ".sizeInBytes", typed("FLOAT32", [1, 2], sizeInBytes=7)),
        ("DML-MODEL-size", ".sizeInBytes", typed("FLOAT32", [1], sizeInBytes=4, initialValuesOffsetInBytes=4)),
        ("DML-MODEL-range", ".sizeInBytes", typed("FLOAT32", [1], sizeInBytes=-1)),
        ("DML-MODEL-memory", "", typed("FLOAT32", [1], sizeInBytes=2**64 - 1)),
        ("DML-MODEL-memory", "", typed("FLOAT32", [1], initialValuesOffsetInBytes=2**60)),
        ("DML-MODEL-memory", "", typed("FLOAT32", [1], sizeInBytes=2**50)),
        ("DML-MODEL-type", ".initialValues[1]", {"initialValues": [{"type": "UINT8", "value": 1}, "x"]}),
        ("DML-MODEL-missing", ".initialValues[0]", {"initialValues": [{"type": "UINT8"}]}),
        ("DML-MODEL-data-type", ".initialValues[0].type", {"initialValues": [{"type": "UNKNOWN", "value": 1}]}),
        ("DML-MODEL-image", ".initialValues.sourcePath", typed("UINT8", {"sourcePath": "cat.GIF"})),
    ],
)
def test_refused(identifier: str, path: str, resource: Any) -> None:
    refused(identifier, f"$.resources.x{path}", storage, resource)


class TestFiles:
    def source(self, path: str, **more: Any) -> dict[str, Any]:
        return {"initialValues": {"sourcePath": path}, **more}

    def no(self, identifier: str, folder: Path, name: str, **more: Any) -> None:
        refused(identifier, "$.resources.x.initialValues.sourcePath", storage, self.source(name, **more), folder)

    @pytest.mark.parametrize("dtype", sorted(NUMPY))
    def test_npy(self, dtype: str, tmp_path: Path) -> None:
        array = np.arange(6).reshape(2, 3).astype(NUMPY[dtype])
        np.save(tmp_path / "a.npy", array)
        assert values(self.source("a.npy"), tmp_path) == [0, 1, 2, 3, 4, 5]
        np.save(tmp_path / "b.NPY.npy", np.asfortranarray(array).astype(array.dtype.newbyteorder(">")))
        assert values(self.source("b.NPY.npy", initialValuesDataType=dtype), tmp_path) == [0, 1, 2, 3, 4, 5]

    def test_raw(self, tmp_path: Path) -> None:
        (tmp_path / "a.dat").write_bytes(np.array([1, 2.5], np.float32).tobytes())
        assert values(self.source("a.dat", initialValuesDataType="FLOAT32"), tmp_path) == [1, 2.5]
        (tmp_path / "b.bin").write_bytes(b"123")
        self.no("DML-MODEL-source-size", tmp_path, "b.bin", initialValuesDataType="FLOAT32")
        (tmp_path / "c.bin").write_bytes(b"")
        self.no("DML-MODEL-empty", tmp_path, "c.bin", initialValuesDataType="FLOAT32")

    def test_current_folder_is_second(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        np.save("a.npy", np.array([1], np.int8))
        assert values(self.source("a.npy"), tmp_path / "elsewhere") == [1]

    def test_size_is_checked_after_reading(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.zeros(3))
        refused("DML-MODEL-size", "$.resources.x.sizeInBytes", storage, self.source("a.npy", sizeInBytes=23), tmp_path)

    @pytest.mark.parametrize(
        "array",
        [
            np.array([{}], object),
            np.zeros(2, bool),
            np.zeros(2, complex),
            np.zeros(2, "U3"),
            np.zeros(2, [("a", "f4")]),
            np.zeros(2, "M8[s]"),
        ],
    )
    def test_npy_of_no_tensor_type(self, array: np.ndarray[Any, Any], tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", array, allow_pickle=True)
        self.no("DML-MODEL-npy-type", tmp_path, "a.npy")

    def test_npy_of_another_type(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.array([1], np.float64))
        self.no("DML-MODEL-npy-type", tmp_path, "a.npy", initialValuesDataType="FLOAT32")

    def test_pickles_are_never_loaded(self, tmp_path: Path) -> None:
        (tmp_path / "a.npy").write_bytes(pickle.dumps([1.0]))
        self.no("DML-MODEL-npy", tmp_path, "a.npy")

    def test_damaged_npy(self, tmp_path: Path) -> None:
        path = tmp_path / "a.npy"
        np.save(path, np.arange(4, dtype=np.int16))
        whole = path.read_bytes()
        for end in (*range(0, 20), 64, 127, len(whole) - 1):
            path.write_bytes(whole[:end])
            self.no("DML-MODEL-npy", tmp_path, "a.npy")
        for shape in ("(4000000000000000,)", "(-1,)", "(99999999999999999999,)", "'x'", "(True,)", "((((", "(1.5,)"):
            header = f"{{'descr': '<i2', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(118)
            path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
            self.no("DML-MODEL-npy", tmp_path, "a.npy")

    def test_empty_npy(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.zeros((0, 3)))
        self.no("DML-MODEL-empty", tmp_path, "a.npy")

    @given(st.data())
    def test_npy_with_damaged_bytes(self, data: st.DataObject) -> None:
        stream = io.BytesIO()
        np.save(stream, np.arange(4, dtype=np.int16))
        raw = bytearray(stream.getvalue())
        for _ in range(data.draw(st.integers(1, 4))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.npy").write_bytes(raw)
            try:
                storage(self.source("a.npy"), Path(folder))
            except ValueError as error:
                assert "DML-MODEL-" in str(error)

    def test_only_regular_files(self, tmp_path: Path) -> None:
        (tmp_path / "d.npy").mkdir()
        self.no("DML-MODEL-source", tmp_path, "d.npy")
        self.no("DML-MODEL-source", tmp_path, "missing.npy")
        self.no("DML-MODEL-source", tmp_path, "a\0b.npy")
        self.no("DML-MODEL-source", tmp_path, "x" * 5000 + ".npy")
        self.no("DML-MODEL-source", tmp_path, "/dev/zero", initialValuesDataType="UINT8")
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "f.bin")
            self.no("DML-MODEL-source", tmp_path, "f.bin", initialValuesDataType="UINT8")
