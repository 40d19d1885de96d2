"""Headers of ``.npy`` files that lie, or mean harm: refused, or read as they say, and nothing is executed."""

from __future__ import annotations

import pickle
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmlcy._frontends.dxdispatch.npy import NpyError, read_elements, read_header

NO_HEADER = "the header is not a NumPy header"
DATA = np.arange(4, dtype=np.int16).tobytes()


def npy(header: str, version: tuple[int, int] = (1, 0), length: int | None = None, data: bytes = DATA) -> bytes:
    """A file with this header, which says that it is ``length`` bytes long."""
    size = len(header) if length is None else length
    return (
        b"\x93NUMPY" + bytes(version) + size.to_bytes(2 if version == (1, 0) else 4, "little") + header.encode() + data
    )


def described(descr: str = "'<i2'", fortran: str = "False", shape: str = "(4,)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}}}\n"


def read(content: bytes) -> Any:
    """The elements; None where the data type is none of a tensor."""
    with tempfile.TemporaryFile() as stream:
        stream.write(content)
        stream.seek(0)
        header = read_header(stream)
        return None if header.dtype is None else read_elements(stream, header)


def refusal(content: bytes) -> str:
    """The message about a file. The check takes neither long nor much memory."""
    start = time.process_time()
    tracemalloc.start()
    with pytest.raises(NpyError) as caught:
        read(content)
    assert tracemalloc.get_traced_memory()[1] < 32 * 2**20
    tracemalloc.stop()
    assert time.process_time() - start < 5
    return str(caught.value)


@pytest.mark.parametrize(
    "shape",
    [
        "(-1,)", "(-4,)", "(True,)", "(4.0,)", "(None,)", "('4',)", "[4]", "4", "{4}", "(4,)*2", "(2**2,)", "(1+3,)",
        "(lambda: 4)", "__import__('os').abort()", "().__class__", "f'{4}'", "(4 if 1 else 4,)", "x[0]", "(4,),,",
        "(" * 90, "(" * 4000, "[" * 90 + "]" * 90, "-" * 900 + "4", "-" * 9000 + "4", "not " * 2000 + "4",
        "1+" * 4000 + "1", "x" + ".a" * 4000, "x" + "[0]" * 3000, "9" * 5000, "(1e999,)", "'" + "a" * 100,
        "{'a': " * 90, "b'\\xff'", "10**10**10",
    ],
)  # fmt: skip
def test_shapes_that_are_none(shape: str) -> None:
    assert refusal(npy(described(shape=shape))) == NO_HEADER


@pytest.mark.parametrize(
    "shape",
    ["(5,)", "(2, 3)", "(4000000000,)", "(9223372036854775807,)", "(18446744073709551616,)", "(99999999999999999999,)",
     "(4294967296, 4294967296)", "(4294967296, 4294967296, 4294967296, 4294967296)"],
)  # fmt: skip
def test_shapes_of_more_than_there_is(shape: str) -> None:
    assert refusal(npy(described(shape=shape))) == "the file ends before the last element"


@pytest.mark.parametrize("shape", [f"({'1,' * 65})", f"({'1,' * 4000})", "(0, 4294967296, 4294967296)"])
def test_shapes_that_no_array_has(shape: str) -> None:
    assert refusal(npy(described(shape=shape)))


@pytest.mark.parametrize(
    "descr",
    ["None", "1", "b'<i2'", "'<i2\\n'", "'<q9'", "('<i2', (1000000000, 1000000000))", "'V1000000000000'",
     "'<M8[999999999999999999999s]'", "('O',)", "{'names': ['a'], 'formats': ['O']}", "'f4,' * 3", "'\\u2028'",
     "[[[]]]"],
)  # fmt: skip
def test_types_that_are_none(descr: str) -> None:
    assert refusal(npy(described(descr))) == NO_HEADER


@pytest.mark.parametrize(
    "descr",
    ["'O'", "'|O8'", "[('a', 'O')]", "[('a', '<f4')]", "'<c8'", "'?'", "'<U2'", "'S2'", "'<M8[s]'", "'<m8[s]'", "'V2'",
     f"'{'f4,' * 2000}f4'", "[('a', " * 20 + "'f4'" + ")]" * 20, "('<f4', (2,))"],
)  # fmt: skip
def test_types_of_no_tensor(descr: str) -> None:
    assert read(npy(described(descr, shape="(1,)"), data=pickle.dumps([1.0]))) is None


class Armed:
    """Its pickle creates a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    trap = tmp_path / "loaded"
    np.save(tmp_path / "a.npy", np.array([Armed(trap)], object), allow_pickle=True)
    content = (tmp_path / "a.npy").read_bytes()
    assert read(content) is None
    for descr in ("'<f4'", "'<i8'", "'<f2'"):
        read(content.replace(b"'|O'", descr.encode().ljust(4)))
    assert refusal(pickle.dumps(Armed(trap))) == NO_HEADER
    assert not trap.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x01\x00\xff",
        npy("", data=b""),
        npy(described(), (0, 0)),
        npy(described(), (3, 0)),
        npy(described(), (9, 9)),
        npy(described(), (255, 255)),
        npy(described(), length=65535),
        npy(described(), (2, 0), length=2**32 - 1),
        npy(described() + " " * 60000),
        npy(described() + " " * 10**6, (2, 0)),
        npy(described(), length=10),
        npy(described()[:-3] + ", 'more': 1}\n"),
        npy("{'descr': '<i2', 'shape': (4,)}\n"),
        npy(described() * 2),
        npy(described(fortran="1")),
        npy(described(fortran="None")),
        npy(described().replace("'", "\0")),
    ],
)
def test_headers_that_are_none(content: bytes) -> None:
    assert refusal(content) == NO_HEADER


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"PK\x05\x06"])
def test_an_archive_is_called_one(start: bytes) -> None:
    assert refusal(start + bytes(100)) == "it is an .npz archive, and one array is needed"


def test_orders() -> None:
    values = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert np.array_equal(read(npy(described(shape="(2, 3)"), data=values.tobytes())), values)
    fortran = described(fortran="True", shape="(2, 3)")
    assert np.array_equal(read(npy(fortran, data=values.tobytes("F"))), values)
    big = values.astype(">i2")
    assert np.array_equal(read(npy(described("'>i2'", shape="(2, 3)"), (2, 0), data=big.tobytes())), values)
    assert read(npy(described(shape="()"))).shape == ()
    assert read(npy(described(shape="(0, 3)"))).shape == (0, 3)


PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=4)
    | st.sampled_from(["descr", "fortran_order", "shape", "<f4", ">i2", "O", "f4,f4"]),
    lambda part: st.lists(part, max_size=3) | st.lists(part, max_size=3).map(tuple)
    | st.dictionaries(st.sampled_from(["descr", "fortran_order", "shape", "names"]), part, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(descr=PARTS | st.just("<f4"), fortran=PARTS | st.booleans(), shape=PARTS | st.just((1,)))
def test_any_header_is_read_or_refused(descr: Any, fortran: Any, shape: Any) -> None:
    header = (
        repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode("utf-8", "replace").decode("latin1")
    )
    try:
        read(npy(header))
    except NpyError as error:
        assert str(error)
