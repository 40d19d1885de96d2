"""Bytes that are no serialized graph: each is refused with an id and a byte of the file, in time linear in its size."""

from __future__ import annotations

import copy
import random
import struct
import time
import tracemalloc
from collections.abc import Callable

import pytest
from broken import BROKEN, ROOT, VTABLE, nested, overlapping_texts, same_constant, same_text, shared
from depth import deep
from hypothesis import given
from hypothesis import strategies as st
from serialized_graphs import SMALL, WHOLE, graph, many, plain, refusal

from dmlcy._cli import main
from dmlcy._errors import ModelError
from dmlcy._facts.tables import ERRORS
from dmlcy._frontends.serialized.reader import read
from dmlcy._frontends.serialized.records import Activation, Attribute, ConstantNode, GraphRecord, OperatorNode, Tensor
from dmlcy._frontends.serialized.schema import ATTRIBUTE
from dmlcy._frontends.serialized.writer import write

DATA = write(WHOLE)
SLUGS = {id_.removeprefix("DML-GRAPH-file-") for id_ in ERRORS if id_.startswith("DML-GRAPH-file-")}


def looked_at(data: bytes) -> bool:
    """Whether the file is read; where it is not, the refusal names a byte of the file."""
    found = refusal(data)
    if found is None:
        return True
    slug, byte = found
    assert slug in SLUGS - {"value"}
    assert (slug == "size") == (byte is None)
    assert byte is None or 0 <= byte < len(data)
    return False


def test_the_damaged_files_have_ids_that_exist() -> None:
    """tests/test_ids_lock.py finds an id that no test gives."""
    assert {*BROKEN} < SLUGS


@pytest.mark.parametrize("slug", BROKEN)
def test_one_change_gives_its_id(slug: str) -> None:
    data, byte = BROKEN[slug]()
    assert refusal(data) == (slug, byte)


@pytest.mark.parametrize("slug", sorted(SLUGS))
def test_each_id_is_explained(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"DML-GRAPH-file-{slug}"]) == 0
    assert f"DML-GRAPH-file-{slug}" in capsys.readouterr().out


def test_a_file_cut_after_any_byte() -> None:
    read_ = [size for size in range(len(DATA)) if looked_at(DATA[:size])]
    assert all(not any(DATA[size:]) for size in read_) and len(read_) < 4  # the zeros that fill the last word up


def test_a_file_with_bytes_before_or_after_it() -> None:
    assert read(DATA + b"x" * 99) == WHOLE
    for count in range(1, 9):
        assert not looked_at(bytes(count) + DATA)


def test_every_bit_flipped() -> None:
    pytest.importorskip("flatbuffers", reason="flatbuffers is not installed")
    from flatbuffers_peer import Walk, as_walked

    whole, accepted = write(SMALL), 0
    assert 1000 < len(whole) < 2000
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        data = bytes(changed)
        if looked_at(data):
            accepted += 1
            if bit % 8 == bit // 8 % 8:  # one bit of each byte
                assert repr(Walk(data).graph()) == repr(as_walked(read(data))), bit
    assert 1000 < accepted < 7 * len(whole)


@pytest.mark.parametrize("every", [pytest.param(3, id="some"), pytest.param(1, id="all", marks=deep)])
def test_every_word_replaced(every: int) -> None:
    """By numbers that are wrong as lengths, offsets and vtables: by some of them, others than the word beside it."""
    whole = write(SMALL)
    words = [0, 1, 3, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 4]
    for at in range(0, len(whole), 4):
        for word in (*words, -at % 2**32, len(whole) - at - 4)[at // 4 % every :: every]:
            data = whole[:at] + struct.pack("<I", word) + whole[at + 4 :]
            if looked_at(data):
                assert plain(read(write(read(data)))) == plain(read(data))


@given(st.binary(max_size=200))
@many
def test_random_bytes(data: bytes) -> None:
    looked_at(data)


@given(st.randoms(use_true_random=False), st.integers(1, 8))
@many
def test_random_changes(rng: random.Random, count: int) -> None:
    data = bytearray(DATA)
    for _ in range(count):
        at = rng.randrange(len(data))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randrange(9)]
            case 2:
                data[at:at] = rng.randbytes(rng.randrange(9))
            case 3:
                data[at : at + 8] = data[-at:][:8]
    if looked_at(bytes(data)):
        record = read(bytes(data))
        assert plain(read(write(record))) == plain(record)


@pytest.mark.parametrize(
    "at, code, value, message",
    [
        (ROOT, "i", 2**31 - 1, "is at byte -"),
        (ROOT, "i", -(2**31), "is at byte 2147"),
        (ROOT, "i", 11, "is at byte 5; expected: an even byte"),
        (VTABLE, "H", 9, "has 9 bytes; expected: an even number"),
        (VTABLE, "H", 2, "has 2 bytes"),
        (VTABLE, "H", 2**16 - 2, "has 65534 bytes"),
        (VTABLE + 2, "H", 2, "gives the table 2 bytes; expected: at least 4"),
        (VTABLE + 2, "H", 12, "has graphOutputNames at byte 12 of the table; expected: from 4 to 8"),
        (VTABLE + 4, "H", 2, "has nodes at byte 2 of the table; expected: from 4 to 12"),
        (VTABLE + 4, "H", 8, "has graphInputNames at byte 8 of the table; expected: from 12 on"),
    ],
)
def test_vtables_that_are_wrong(at: int, code: str, value: int, message: str) -> None:
    raw = struct.pack(f"<{code}", value)
    with pytest.raises(ModelError) as caught:
        read(DATA[:at] + raw + DATA[at + len(raw) :])
    assert caught.value.id == "DML-GRAPH-file-vtable" and message in str(caught.value)
    assert caught.value.values["byte"] == ROOT


@pytest.mark.parametrize("kind", sorted({*ATTRIBUTE.number} - ATTRIBUTE.absent))
def test_an_attribute_of_which_only_a_kind_that_may_be_left_out_has_no_value(kind: str) -> None:
    data = write(graph((Attribute(None, "ScaleBias", None),)))
    at = read(data).nodes[2].attributes[0].at  # type: ignore[union-attr]
    (place,) = struct.unpack_from("<H", data, at - struct.unpack_from("<i", data, at)[0] + 6)
    where = at + place
    changed = data[:where] + bytes([ATTRIBUTE.number[kind]]) + data[where + 1 :]
    assert refusal(changed) == ("missing", at)


@pytest.mark.parametrize("before", [b"weights", struct.pack("<4I", 1, 1, 5, 5), b"DML_OPERATOR_GEMM"])
def test_lengths_of_4294967295(before: bytes) -> None:
    at = DATA.index(before) - 4
    found = refusal(DATA[:at] + b"\xff" * 4 + DATA[at + 4 :])
    assert found == ("length", at)


def test_deep_activations() -> None:
    """The graph, a node, its operator and the innermost attribute are four of the tables."""
    deepest = (64 - 4) // 2
    assert read(nested(deepest)[0]).nodes
    for depth in (deepest + 1, 100_000):
        found = refusal(nested(depth)[0])
        assert found is not None and found[0] == "nesting"


def test_deep_activations_are_not_written() -> None:
    attribute = Attribute("A", "Float32", 1.0)
    for _ in range(30):
        attribute = Attribute("A", "Activation", Activation("DML_OPERATOR_ACTIVATION_RELU", (attribute,)))
    assert read(write(graph((attribute,)))) == graph((attribute,))
    for _ in range(170):
        attribute = Attribute("A", "Activation", Activation("DML_OPERATOR_ACTIVATION_RELU", (attribute,)))
        with pytest.raises(ModelError, match="nested at most 64 tables deep") as caught:
            write(graph((attribute,)))
        assert caught.value.id == "DML-GRAPH-file-value"


def test_a_name_that_all_use_is_read_once() -> None:
    data = same_text(1 << 16)
    names = read(data).input_names
    assert len(names) == 1 << 12 and {id(name) for name in names} == {id(names[0])}


def test_a_tensor_that_several_nodes_share_is_read() -> None:
    """A file of another writer may have each table once."""
    pytest.importorskip("flatbuffers", reason="flatbuffers is not installed")
    from flatbuffers_peer import Writer

    writer = Writer(1024)
    name = writer.CreateString("n")
    tensor = writer.tensor(Tensor("DML_TENSOR_DATA_TYPE_FLOAT32", (1, 1, 5, 5), None, 100))
    kind = writer.CreateString("DML_OPERATOR_ELEMENT_WISE_ADD")
    two, one = writer.offsets([tensor, tensor]), writer.offsets([tensor])
    none = writer.offsets([])
    names, single = writer.offsets([name, name]), writer.offsets([name])
    nodes = []
    for _ in range(100):
        desc = writer.made(4, ("UOffsetTRelative", 3, none), ("UOffsetTRelative", 2, one),
                           ("UOffsetTRelative", 1, two), ("UOffsetTRelative", 0, kind))  # fmt: skip
        nodes.append(
            writer.made(5, ("UOffsetTRelative", 4, single), ("UOffsetTRelative", 3, names),
                        ("UOffsetTRelative", 2, name), ("UOffsetTRelative", 1, desc), ("Uint8", 0, 1))
        )  # fmt: skip
    assert len(read(writer.root(nodes, [name], [name])).nodes) == 100


@pytest.mark.parametrize("made", [overlapping_texts, shared, same_constant])
def test_time_and_memory_are_linear_in_the_size_of_an_evil_file(made: Callable[[int], bytes]) -> None:
    """To read all would take the square of the size, or 2**27."""
    for size in (1 << 13, 1 << 16):
        data = made(size)
        start = time.process_time()
        found = refusal(data)
        assert found is not None and found[0] == "overlap"
        assert time.process_time() - start < 0.5 + len(data) * 3e-5
        tracemalloc.start()
        refusal(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000 + 200 * len(data)
        tracemalloc.stop()


def many_nodes(count: int) -> GraphRecord:
    tensor = Tensor("DML_TENSOR_DATA_TYPE_FLOAT32", (1, 1, 5, 5), None, 100)
    nodes = [
        OperatorNode(f"add {node}", "DML_OPERATOR_ELEMENT_WISE_ADD", (f"v{node}", "w"), (f"v{node + 1}",),
                     (tensor, tensor), (tensor,), (Attribute("FusedActivation", "Activation", None),))
        for node in range(count)
    ]  # fmt: skip
    return GraphRecord((ConstantNode("w", (), ("w",), "w"), *nodes), ("v0",), (f"v{count}",))


def test_a_graph_of_10000_nodes_takes_little_time() -> None:
    """The bounds are those of a busy machine; an idle one takes a third."""
    record = many_nodes(10_000)
    start = time.process_time()
    data = write(record)
    written = time.process_time()
    found = read(data)
    assert time.process_time() - written < 2 and written - start < 3
    assert found == record


def test_the_time_is_linear_in_the_number_of_nodes() -> None:
    def fastest(work: Callable[[], object]) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        return min(times)

    small, large = many_nodes(500), many_nodes(4000)
    data = write(small), write(large)
    assert fastest(lambda: write(large)) < 3 * 8 * fastest(lambda: write(small))
    assert fastest(lambda: read(data[1])) < 3 * 8 * fastest(lambda: read(data[0]))


def test_a_refusal_can_be_copied() -> None:
    with pytest.raises(ModelError) as caught:
        read(b"")
    assert str(copy.copy(caught.value)) == str(caught.value) and caught.value.values["found"] == 0


def test_the_types_of_a_union_are_named() -> None:
    with pytest.raises(ModelError, match=r"1 \(OperatorNodeDesc\), 2 \(ConstantNodeDesc\)"):
        read(BROKEN["kind"]()[0])
