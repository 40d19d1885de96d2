"""The commands' messages about files that are neither models nor graphs."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from each import each_of
from linting import EXAMPLES, ROOT, findings

from dmlcy._frontends.graphs import kinds
from dmlcy._frontends.graphs.kinds import kind_of

Command = Callable[..., tuple[int, str, str]]


def npz() -> bytes:
    """An archive of one array."""
    stream = io.BytesIO()
    np.savez(stream, x=np.ones(3))
    return stream.getvalue()


def npy() -> bytes:
    """An array."""
    stream = io.BytesIO()
    np.save(stream, np.ones(3))
    return stream.getvalue()


def zipped() -> bytes:
    """An archive of a text."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("model.json", "{}")
    return stream.getvalue()


def member(number: int, content: bytes | int) -> bytes:
    """A member of a protocol buffer, of fewer than 128 bytes."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content


NODE = member(1, b"x") + member(2, b"y") + member(4, b"Relu")
ONNX = member(1, 8) + member(2, b"producer") + member(7, member(1, NODE) + member(2, b"g")) + member(8, member(2, 17))
GRAPH_DEF = member(1, member(1, b"a") + member(2, b"Const") + member(5, bytes(4))) + member(4, member(1, 0))
FILES = {
    "model.onnx": (ONNX, kinds.ONNX),
    "model": (ONNX, kinds.ONNX),
    "backwards.onnx": (member(8, member(2, 17)) + member(7, member(1, NODE)) + member(1, 8), kinds.ONNX),
    "cut.onnx": (ONNX[:-10], kinds.CUT),
    "zeros.onnx": (ONNX[:-10] + bytes(60), kinds.CUT),
    "graph.pb": (GRAPH_DEF, kinds.TENSORFLOW),
    "saved_model.pb": (member(1, 1) + member(2, member(1, bytes(3))), kinds.TENSORFLOW),
    "fragment.cpp": (b"UINT sizes[] = {1, 2};\n", kinds.CPP),
    "fragment.h": (b"struct Layer;\n", kinds.CPP),
    "fragment": (b"// a layer\nDML_GEMM_OPERATOR_DESC gemm = {};\n", kinds.CPP),
    "included": (b"#include <DirectML.h>\n", kinds.CPP),
    "program.py": (b"import pydirectml as dml\n", kinds.PYTHON),
    "program": (b"import numpy as np\n", kinds.PYTHON),
    "program.cs": (b"using System;\n", kinds.SOURCE),
    "weights.bin": (np.linspace(0, 1, 100, dtype=np.float32).tobytes(), kinds.BINARY),
    "zeros.bin": (bytes(100), kinds.BINARY),
    "empty.json": (b"", kinds.EMPTY),
    "blank.json": (b" \r\n\t", kinds.EMPTY),
    "a.zip": (zipped(), kinds.ARCHIVE),
    "powershell.json": ('{\r\n  "resources": {}}\r\n'.encode("utf-16"), kinds.UTF16),
    "little.json": ('{ "resources": {}}'.encode("utf-16-le"), kinds.UTF16),
    "big.json": ('{"resources": {}}'.encode("utf-16-be"), kinds.UTF16),
}
WORDS = {
    "a.npz": (npz(), "an archive of NumPy arrays"),
    "a.npy": (npy(), "a NumPy array"),
    "a.png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(40), "an image"),
    "a.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(40), "an image"),
    "a.gif": (b"GIF89a" + bytes(40), "an image"),
    "a.bmp": (b"BM" + (54).to_bytes(4, "little") + bytes(40), "an image"),
    "a.tiff": (b"II*\0" + bytes(40), "an image"),
    "a.webp": (b"RIFF" + bytes(4) + b"WEBP" + bytes(40), "an image"),
    "elf.json": (b"\x7fELF\x02\x01\x01\0\0\0\0\0" + bytes(range(256)), "a program"),
    "a.tflite": (b"\x1c\0\0\0TFL3" + bytes(40), "a TensorFlow Lite model"),
    "a.onnx": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS"),
    "a.html": (b"<!DOCTYPE html><html>", "HTML"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_is(name: str) -> None:
    content, kind = FILES[name]
    assert kind_of(name, content, graph=False) == kind


@pytest.mark.parametrize("name", WORDS)
def test_what_a_file_is_by_its_first_bytes(name: str) -> None:
    content, what = WORDS[name]
    found = kind_of(name, content, graph=False)
    assert found is not None and found.what.startswith(what)


@pytest.mark.parametrize("name", ["fragment.cpp", "weights.bin", "empty.json", "powershell.json"])
def test_lint_and_run_name_the_page_that_helps(name: str, tmp_path: Path, command: Command) -> None:
    content, kind = FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    (found,) = findings(path)
    assert (found["id"], found["line"]) == ("DML-MODEL-kind", None)
    said = f"The file is {kind.what}. The file is neither a model in JSON nor a graph."
    assert (found["message"], found["hint"]) == (said, kind.hint)
    status, out, err = command("run", str(path))
    assert (status, out) == (2, "") and f"{said} {kind.hint} [DML-MODEL-kind]" in err
    assert command("lint", str(path))[0] == command("graph", str(path))[0] == 2


def test_a_command_that_takes_no_onnx_model_names_the_page_about_them(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(ONNX)
    status, out, err = command("export", str(path), "--output", str(tmp_path / "out"))
    assert (status, out) == (2, "") and "The file is an ONNX model. " in err and "docs/onnx.md. " in err


def test_a_fragment_of_cpp_leads_to_the_header_and_to_the_page_of_its_error_code() -> None:
    assert "`dmlcy cpp-header`" in kinds.CPP.hint
    assert "docs/cpp.md" in kinds.CPP.hint and "docs/e-invalidarg.md" in kinds.CPP.hint


def test_the_pages_are_there() -> None:
    text = Path(kinds.__file__).read_text(encoding="utf-8")
    places = {*re.findall(r"docs/[a-z/-]+\.md(?:#[a-z-]+)?", text)}
    assert len(places) > 5
    for place in places:
        file, _, anchor = place.partition("#")
        page = (ROOT / file).read_text(encoding="utf-8")
        assert not anchor or re.search(rf"^#+ {anchor.replace('-', ' ')}$", page, re.MULTILINE | re.IGNORECASE), place


def test_models_and_broken_json_are_no_other_kind() -> None:
    for path in (*EXAMPLES, *(ROOT / "examples/broken").glob("*.json")):
        content = path.read_bytes()
        for before in (b"", b"\xef\xbb\xbf", b"// DML_GEMM_OPERATOR_DESC\n", b"/* import x */ \n"):
            assert kind_of("model.json", before + content, graph=False) is None
            assert kind_of("model.json", before + content[: len(content) // 2], graph=False) is None
    for text in ("hello", "{'a': True}", "nan", "3", "\0", '"#include <DirectML.h>"', "[" * 10**6, "/* {}"):
        assert kind_of("model.json", text.encode(), graph=False) is None


def test_a_large_file_is_known_by_its_first_bytes(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "large.onnx"
    size = 2**30
    graph = bytes([7 << 3 | 2]) + bytes([size >> 7 * shift & 127 | 128 for shift in range(4)]) + bytes([size >> 28])
    with path.open("wb") as stream:
        stream.write(member(1, 8) + member(2, b"producer") + graph)
        stream.truncate(size + 100)
    status, _, err = command("export", str(path), "--output", str(tmp_path / "out"))
    assert status == 2 and "The file is an ONNX model. " in err
    status, out, _ = command("lint", str(path))
    assert status == 2 and "[DML-ONNX-file-tag]" in out  # lint reads the file, which goes on with zeros
    path.write_bytes(b"{")
    with path.open("r+b") as stream:
        stream.truncate(size)
    assert "it is larger than 268435456 bytes" in command("run", str(path))[2]


@each_of("length", range(1, len(ONNX)))
def test_a_part_of_an_onnx_model_is_no_text_that_ends_dmlcy(length: int) -> None:
    found = kind_of("part.onnx", ONNX[:length], graph=False)
    assert found in (kinds.ONNX, kinds.TENSORFLOW, kinds.CUT)
    json.dumps(found)


def test_a_desc_whose_fields_are_beside_its_type_is_told_where_they_belong(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "desc.json"
    file.write_text(json.dumps({"type": "GEMM", "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}}))
    status, out, _ = command("lint", str(file))
    assert status == 1 and '= hint: The member "desc" has the fields of the operator.' in out
