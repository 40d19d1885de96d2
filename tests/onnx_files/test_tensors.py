"""Tensors of every data type, wherever their elements are, have the elements that the onnx package reads."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each_of

onnx = pytest.importorskip("onnx", reason="needs onnx, which reads the same tensors")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.external_data_helper import convert_model_to_external_data  # noqa: E402
from proto_peers import agree, same_tensor  # noqa: E402
from written import block, number, tensor, varint, with_tensor  # noqa: E402

from dmlcy._frontends.dxdispatch.problems import Refusal  # noqa: E402
from dmlcy._frontends.onnx import unpack  # noqa: E402
from dmlcy._frontends.onnx.model import ELEMENTS, Element, Tensor  # noqa: E402
from dmlcy._frontends.onnx.reader import decode, read  # noqa: E402

SIZES = [(), (0,), (1,), (3,), (2, 3, 1), (5, 1), (4, 0)]
SHORT = [one for one in ELEMENTS.values() if one.bits and hasattr(TensorProto, one.name)]


def read_one(data: bytes, folder: Path | None = None) -> Tensor:
    """The tensor, read as the initializer of a model."""
    (found,) = decode("m", with_tensor(data), folder).graph.initializers.values()
    return found


def numbers(element: Element, count: int, seed: int = 0) -> list[int]:
    """Bits of random elements."""
    rng = np.random.default_rng(seed)
    return [int(one) for one in rng.integers(0, 2 ** min(element.bits, 62), count)]


@each_of("element, sizes", [(element, sizes) for element in SHORT for sizes in SIZES])
def test_raw_data(element: Element, sizes: tuple[int, ...]) -> None:
    size = -(-prod(sizes) * element.bits // 8)
    raw = np.random.default_rng(1).integers(0, 2 if element.name == "BOOL" else 256, size, np.uint8).tobytes()
    proto = TensorProto(data_type=element.number, dims=sizes, raw_data=raw, name="w")
    if element.bits == 6 and not size:
        return  # the package does not read it
    same_tensor(read_one(proto.SerializeToString()), proto)


@each_of("element, sizes", [(element, sizes) for element in SHORT for sizes in SIZES])
def test_fields_of_elements(element: Element, sizes: tuple[int, ...]) -> None:
    proto = TensorProto(data_type=element.number, dims=sizes, name="w")
    field = helper.tensor_dtype_to_field(element.number)
    each = 8 // element.bits if element.bits in (2, 4) else 1
    count = -(-prod(sizes) // each) * (2 if element.name.startswith("COMPLEX") else 1)
    values: list[Any] = numbers(element, count)
    if field in ("float_data", "double_data"):
        values = [one / 7 for one in values]
    elif element.bits < 8 and each > 1:
        values = [one * 5 % 256 for one in values]
    elif element.name in ("INT8", "INT16", "INT32", "INT64"):
        values = [one - 2 ** (min(element.bits, 62) - 1) for one in values]
    elif element.name == "BOOL":
        values = [one % 2 for one in values]
    getattr(proto, field).extend(values)
    data = proto.SerializeToString()
    same_tensor(read_one(data), proto)
    unpacked = TensorProto(data_type=element.number, dims=sizes, name="w").SerializeToString()
    place = TensorProto.DESCRIPTOR.fields_by_name[field].number
    for value in getattr(proto, field):
        if field in ("float_data", "double_data"):
            size = 4 if field == "float_data" else 8
            unpacked += varint(place << 3 | (5 if size == 4 else 1)) + np.array(value, f"<f{size}").tobytes()
        else:
            unpacked += number(place, value)
    assert TensorProto.FromString(unpacked) == proto
    same_tensor(read_one(unpacked), proto)


def test_texts() -> None:
    proto = helper.make_tensor("w", TensorProto.STRING, [2, 2], ["a", "", "\N{GREEK SMALL LETTER ALPHA}", "d" * 300])
    same_tensor(read_one(proto.SerializeToString()), proto)
    assert read_one(tensor("w", 8, (1,), block(6, b"\xff"))).array().tolist() == [b"\xff"]


def test_numbers_beside_and_between_packed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of every length, in pieces that end inside of numbers."""
    values = [(-1) ** place * 2**place for place in range(63)] * 5
    rest = b"".join(map(varint, values[2:]))
    data = tensor("w", 7, (len(values),), number(7, values[0]), block(7, varint(values[1])), block(7, rest))
    assert read_one(data).array().tolist() == values
    monkeypatch.setattr(unpack, "_PIECE", 12)
    assert read_one(data).array().tolist() == values


@pytest.mark.parametrize(
    ("data", "id_"),
    [
        (block(7, b"\x80\x80"), "DML-ONNX-file-end"),
        (block(7, b"\xff" * 10 + b"\1"), "DML-ONNX-file-number"),
        (block(7, b"\1\x80\1\1"), "DML-ONNX-file-elements"),
    ],
)
def test_numbers_that_are_damaged(data: bytes, id_: str) -> None:
    found = read_one(tensor("w", 7, (2,), data))
    with pytest.raises(Refusal) as caught:
        found.array()
    assert caught.value.id == id_


def test_bytes_that_are_no_truth_are_true() -> None:
    found = read_one(tensor("w", 9, (3,), block(9, b"\0\2\xff"))).array()
    assert found.tolist() == [False, True, True] and found.view(np.uint8).max() == 1


@pytest.mark.parametrize("rank", [1, 2])
def test_sparse_tensors_become_dense(rank: int) -> None:
    dense = np.zeros((2, 3), np.float32)
    dense[0, 1], dense[1, 2] = 5, 7
    places = [1, 5] if rank == 1 else [[0, 1], [1, 2]]
    values = numpy_helper.from_array(np.array([5, 7], np.float32), "w")
    indices = numpy_helper.from_array(np.array(places, np.int64))
    proto = onnx.SparseTensorProto(values=values, indices=indices, dims=[2, 3])
    graph = onnx.ModelProto.FromString(with_tensor(tensor("other", 1, (0,))))
    graph.graph.sparse_initializer.append(proto)
    found = decode("m", graph.SerializeToString(), None).graph.initializers["w"]
    assert (found.array() == dense).all() and found.array().dtype == np.float32
    indices.CopyFrom(numpy_helper.from_array(np.array(places, np.int64) + 1))
    proto.indices.CopyFrom(indices)
    graph.graph.sparse_initializer[0].CopyFrom(proto)
    outside = decode("m", graph.SerializeToString(), None).graph.initializers["w"]
    with pytest.raises(Refusal, match="has indices outside of its sizes"):
        outside.array()


# Files of elements ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [True, False])
def test_elements_in_other_files(together: bool, tmp_path: Path) -> None:
    arrays = {f"w{place}": np.random.default_rng(place).random((place + 1, 40), np.float32) for place in range(3)}
    proto = onnx.ModelProto.FromString(with_tensor(tensor("other", 1, (0,))))
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())
    proto.graph.initializer.append(numpy_helper.from_array(np.arange(7, dtype=np.int8), "small"))
    convert_model_to_external_data(proto, together, "all.bin" if together else None, size_threshold=100)
    onnx.save(proto, tmp_path / "model.onnx")
    model = read(tmp_path / "model.onnx")
    agree(model, onnx.load(tmp_path / "model.onnx", load_external_data=False), str(tmp_path))
    for name, array in arrays.items():
        assert model.graph.initializers[name].external
        assert (model.graph.initializers[name].array() == array).all()


def test_many_tensors_open_a_file_once(tmp_path: Path) -> None:
    np.arange(4096, dtype=np.float32).tofile(tmp_path / "w.bin")
    proto = onnx.ModelProto.FromString(with_tensor(tensor("other", 1, (0,))))
    for place in range(4096):
        one = TensorProto(name=f"w{place}", data_type=1, dims=[1], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "w.bin"), ("offset", str(4 * place)), ("length", "4")):
            one.external_data.add(key=key, value=value)
        proto.graph.initializer.append(one)
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    model = read(tmp_path / "model.onnx")
    kept = [one.array() for name, one in model.graph.initializers.items() if name != "other"]
    assert np.concatenate(kept).tolist() == [*range(4096)]


def test_nothing_is_opened_before_it_is_asked_for(tmp_path: Path) -> None:
    data = with_tensor(tensor("w", 1, (2,), number(14, 1), block(13, block(1, "location") + block(2, "w.bin"))))
    found = decode("m", data, tmp_path).graph.initializers["w"]
    (tmp_path / "w.bin").write_bytes(np.array([3, 4], np.float32).tobytes())
    assert found.array().tolist() == [3, 4]


def test_elements_stay_in_the_file(tmp_path: Path) -> None:
    """Elements are not copied; a file of 5 GB, most of which is a hole, is read at once."""
    size = 5 * 2**30
    file = tmp_path / "large.onnx"
    inner = tensor("w", 2, (size,), varint(9 << 3 | 2) + varint(size))
    graph = varint(5 << 3 | 2) + varint(len(inner) + size) + inner
    head = number(1, 10) + block(8, number(2, 21)) + varint(7 << 3 | 2) + varint(len(graph) + size) + graph
    with file.open("wb") as stream:
        stream.write(head)
        stream.truncate(len(head) + size - 1)
        stream.seek(0, 2)
        stream.write(b"\x07")
    array = read(file).graph.initializers["w"].array()
    assert array.shape == (size,) and array[-1] == 7 and not array.flags.owndata
