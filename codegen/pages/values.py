"""Arrays and calls as NumPy prints them and as they are typed at a prompt."""

from __future__ import annotations

import math
import re
import struct
import textwrap
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from ..model import Dtype, TensorData, camel, snake
from .markdown import WIDTH


def array_text(tensor: TensorData, dtype: Dtype) -> str | None:
    """The text that NumPy 2 prints for an array; None where it would shorten it or use exponents."""
    values = list(_flat(tensor.data))
    if len(values) > 1000 or dtype.numpy is None:
        return None
    texts = _floats(values, dtype) if dtype.name.startswith("FLOAT") else [str(value) for value in values]
    if texts is None:
        return None
    width = max(map(len, texts))
    supply = iter([text.rjust(width) for text in texts])
    text = f"array({_nested(_shaped(supply, tensor.sizes), ' ' * 7, 74)}"
    if dtype.numpy in ("float64", "int64"):
        return f"{text})"
    end = f"dtype={dtype.numpy})"
    last = len(text) + 1 - (text.rfind("\n") + 1)
    return f"{text},{' ' if last + len(end) + 1 <= 75 else chr(10) + ' ' * 6}{end}"


def _floats(values: Sequence[Any], dtype: Dtype) -> list[str] | None:
    numbers = [float(value) for value in values]
    sizes = [abs(number) for number in numbers if math.isfinite(number) and number != 0]
    limit = 1e3 if dtype.name == "FLOAT16" else 1e6
    if sizes and (max(sizes) >= limit or min(sizes) < 1e-4 or max(sizes) / min(sizes) > 1000):
        return None
    parts = [_shortest(number, dtype).partition(".") if math.isfinite(number) else None for number in numbers]
    right = max((len(part[2]) for part in parts if part), default=0)
    texts = []
    for number, part in zip(numbers, parts, strict=True):
        texts.append(f"{number}" if part is None else f"{part[0]}.{part[2].ljust(right)}")
    return texts


def _shortest(number: float, dtype: Dtype) -> str:
    """The fewest digits that stand for the number in its data type, at most 8 of them after the point."""
    form = {"FLOAT16": "<e", "FLOAT32": "<f"}.get(dtype.name, "<d")
    stored = struct.unpack(form, struct.pack(form, number))[0]
    tries = (f"{stored:.{digits}g}" for digits in range(1, 18))
    text = next(text for text in tries if struct.unpack(form, struct.pack(form, float(text)))[0] == stored)
    digits = Decimal(text)
    rounded = digits if digits == round(digits, 8) else round(Decimal(stored), 8)  # of the number, as NumPy does it
    whole, _, fraction = f"{rounded:f}".partition(".")
    return f"{whole}.{fraction.rstrip('0')}"


def _flat(data: Any) -> Iterator[Any]:
    if isinstance(data, Sequence) and not isinstance(data, str):
        for entry in data:
            yield from _flat(entry)
    else:
        yield data


def _shaped(supply: Iterator[str], sizes: Sequence[int]) -> Any:
    return [_shaped(supply, sizes[1:]) for _ in range(sizes[0])] if sizes else next(supply)


def _nested(data: Any, indent: str, width: int) -> str:
    """Texts in nested brackets, laid out as NumPy does it."""
    if not isinstance(data[0], list):
        done, line = "", indent
        for number, word in enumerate(data):
            if len(line) + len(word) > width - 1 and len(line) > len(indent):
                done, line = f"{done}{line.rstrip()}\n", indent
            line += word + (", " if number < len(data) - 1 else "")
        return f"[{(done + line)[len(indent) :]}]"
    depth, first = 0, data
    while isinstance(first, list):
        depth, first = depth + 1, first[0]
    rows = [_nested(row, f"{indent} ", width - 1) for row in data]
    return f"[{(',' + chr(10) * (depth - 1) + indent).join(rows)}]"


def literal(value: Any) -> str:
    """A value of an example as Python."""
    if isinstance(value, dict) and "Type" in value:  # the desc of an activation
        given = (f"{snake(name)}={literal(one)}" for name, one in value.get("Desc", {}).items())
        return f"dml.desc.{camel(value['Type'].removeprefix('DML_OPERATOR_'))}({', '.join(given)})"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        return '"' + repr('"' + value)[2:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    return repr(value)


def listed(data: Any, dtype: Dtype) -> str:
    """An array as from ``tolist()``: floats with all digits that their data type has."""
    form = {"FLOAT16": "<e", "FLOAT32": "<f", "FLOAT64": "<d"}.get(dtype.name)

    def stored(value: Any) -> Any:
        if isinstance(value, list):
            return [stored(one) for one in value]
        return value if form is None else struct.unpack(form, struct.pack(form, value))[0]

    return textwrap.fill(repr(stored(data)), 74)


def array_code(tensor: TensorData, dtype: Dtype) -> str:
    """Python that makes an array."""
    values = list(_flat(tensor.data))
    first = int(values[0]) if math.isfinite(values[0]) else 0
    if len(values) > 4 and values == list(range(first, first + len(values))):
        span = f"{first}, {first + len(values)}" if first else f"{len(values)}"
        shape = f".reshape{literal(tensor.sizes)}" if len(tensor.sizes) > 1 else ""
        return f"np.arange({span}, dtype=np.{dtype.numpy}){shape}"
    texts = [re.sub("inf|nan", r"np.\g<0>", repr(value)) for value in values]
    width = max(map(len, texts))
    supply = iter([text.rjust(width) for text in texts])
    rows = re.sub("\n+", "\n", _nested(_shaped(supply, tensor.sizes), " " * 14, WIDTH))
    return f"np.array({rows}, dtype=np.{dtype.numpy})"


def prompt(python: str) -> str:
    """Python as it is typed at a prompt."""
    return "\n".join(("... " if number else ">>> ") + line for number, line in enumerate(python.split("\n")))


def call(function: str, names: Sequence[str]) -> str:
    """A call, with one argument per line where one line is too long."""
    line = f"{function}({', '.join(names)})"
    return line if len(line) < 76 else f"{function}(\n" + "".join(f"    {name},\n" for name in names) + ")"
