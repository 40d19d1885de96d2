"""Models to lint, and what is found in them."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from dmlcy._cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.json"))


class Input:
    """Standard input that holds bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def lint(*arguments: object, encoding: str = "utf-8") -> tuple[int, str]:
    """The exit status and the report; errors of usage end the test."""
    raw, err = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["lint", *map(str, arguments)])
        out.flush()
    assert err.getvalue() == ""
    text = raw.getvalue().decode(encoding)
    assert all(line.isprintable() for line in text.split("\n")), text
    return status, text


def findings(*arguments: object) -> list[dict[str, Any]]:
    """The findings, file by file."""
    status, text = lint("--format", "json", *arguments)
    document = json.loads(text)
    assert status == document["status"]
    return [finding for file in document["files"] for finding in file["findings"]]


def of(path: Path, content: Any, *arguments: object) -> list[dict[str, Any]]:
    """The findings in this text, these bytes, or an object to be written as JSON."""
    return findings(written(path, content), *arguments)


def written(path: Path, content: Any) -> Path:
    """The file that holds it."""
    target = path / "model.json"
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return target


def model(**dispatchables: Any) -> dict[str, Any]:
    """A model of these dispatchables that does nothing."""
    return {"resources": {}, "dispatchables": dispatchables, "commands": []}


def pool(**changes: Any) -> dict[str, Any]:
    """A sound dispatchable; ``changes`` replace fields, None removes one."""
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 7]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 5]},
        "DimensionCount": 2,
        "Strides": [1, 1],
        "WindowSize": [3, 3],
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "IncludePadding": False,
        **changes,
    }
    return {
        "type": "DML_OPERATOR_AVERAGE_POOLING",
        "desc": {name: field for name, field in desc.items() if field is not None},
    }


def tensor(**changes: Any) -> dict[str, Any]:
    """The input of ``pool`` with all its members."""
    return {
        "DataType": "FLOAT32",
        "Flags": "NONE",
        "DimensionCount": 4,
        "Sizes": [1, 1, 6, 7],
        "Strides": [42, 42, 7, 1],
        "TotalTensorSizeInBytes": 168,
        "GuaranteedBaseOffsetAlignment": 0,
        **changes,
    }


UNREADABLE = {
    "brackets": (b"[" * 10_000_000, 1, 201),
    "objects": (b'{"a":' * 1_000_000, 1, 1001),
    "not UTF-8": (b'{\n "a\xff": 1}', 2, 4),
    "truncated": (b'{"resources": {},\n', 2, 1),
    "unclosed": (b'{"resources": {}', 1, 17),
    "no comma": (b'{"resources": {}\n "commands": []}', 2, 2),
    "escape": (b'{"\x1b[31m": 1}', 1, 2),
    "half a pair": (b'{"a": "\\ud800"}', 1, 7),
    "digits": (b'{"a": ' + b"9" * 100_000 + b"}", 1, 7),
    "beyond a double": (b'{"a": 1e999}', 1, 7),
    "python": (b"{'a': True}", 1, 2),
    "nan": (b'{"a": NaN}', 1, 7),
    "unclosed comment": (b"/* {}", 1, 1),
    "word": (b"hello", 1, 1),
    "NUL": (b"\0", 1, 1),
}
"""Text that is no JSON, and where it breaks."""
