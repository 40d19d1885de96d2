"""The JSON reader: accepted texts, positions, and errors."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmlcy._errors import ModelError
from dmlcy._frontends.dxdispatch.json import MAX_DEPTH, MAX_DIGITS, Document, decode

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


def document(text: str | bytes) -> Document:
    return decode("m.json", text if isinstance(text, bytes) else text.encode())


def failure(text: str | bytes) -> str:
    with pytest.raises(ModelError) as caught:
        document(text)
    assert caught.value.id == "DML-MODEL-json"
    return str(caught.value)


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_round_trip(value: object, indent: int | None, ascii_only: bool) -> None:
    found = document(json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"))
    assert found.root.plain() == value
    assert not found.warnings


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document(text)
    except ModelError as error:
        assert error.id == "DML-MODEL-json"


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        document(data)
    except ModelError as error:
        assert error.id == "DML-MODEL-json"


def test_comments_trailing_commas_and_what_follows() -> None:
    found = document('\ufeff// one\n{"a": [1, /* two */ 2,], "b": {"c": [],},} and so on')
    assert found.root.plain() == {"a": [1, 2], "b": {"c": []}}
    assert [(w.violation.id, w.place.line, w.place.column) for w in found.warnings] == [
        ("DML-MODEL-comment", 1, 1),
        ("DML-MODEL-trailing-comma", 2, 22),
        ("DML-MODEL-after-root", 2, 44),
    ]


def test_the_last_of_two_members_counts() -> None:
    found = document('{"a": 1,\n "a": 2}')
    assert found.root.plain() == {"a": 2}
    assert [str(warning) for warning in found.warnings] == [
        'm.json:2:2: $.a: warning: The member "a" appears a second time; its last value is used. [DML-MODEL-duplicate]',
    ]


def test_places() -> None:
    found = document('{"a": {"b c": [0,\n  [true]]}}')
    node = found.root.value["a"].value["b c"].value[1].value[0]
    assert str(found.place(node)) == 'm.json:2:4: $.a["b c"][1][0]'
    assert str(found.place(found.root.value["a"].value["b c"], key=True)) == 'm.json:1:8: $.a["b c"]'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551617", 2**64 + 1),
        ("-0", 0),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("9" * MAX_DIGITS, int("9" * MAX_DIGITS)),
        (r'"\ud83d\ude00\n\/\u0041"', "\U0001f600\n/A"),
    ],
)
def test_values(text: str, value: object) -> None:
    found = document(text).root.plain()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "//",
        "/*",
        "{",
        "[",
        "[1",
        "[1,",
        "{'a': 1}",
        "{a: 1}",
        '{"a" 1}',
        '{"a":}',
        '{"a": 1 "b": 2}',
        "[1 2]",
        "[,]",
        "[1,,]",
        "{,}",
        "01",
        "1.",
        ".5",
        "+1",
        "0x1",
        "1e",
        "1e999",
        "NaN",
        "Infinity",
        "nul",
        "truex",
        "]",
        '"a',
        '"\t"',
        r'"\x"',
        r'"\ud800"',
        r'"\u12"',
        "[1}",
        '{"a": 1]',
        "9" * (MAX_DIGITS + 1),
        f"[{'9' * (MAX_DIGITS + 1)}, 1]",
        b"\xff",
        b'{"a": "\xc3"}',
        "[1e999, 1]",
    ],
)
def test_malformed(text: str | bytes) -> None:
    assert "m.json:1:" in failure(text)


def test_a_failure_says_where() -> None:
    assert failure('{"a": {"b": [1,\n 2 3]}}').startswith(
        "m.json:2:4: $.a.b: The text is not JSON: \"3]}}\" is where ',' or ']' should be."
    )


def test_control_characters_are_not_echoed() -> None:
    assert "\x1b" not in failure('{"\x1b[2J": \x1b}')
    assert "\x1b" not in failure('{"\\u001b[2J": ?}')


TOKENS = st.sampled_from(
    ["1", "-2", "0.5", "1e3", "-0", '"nan"', '"-INF"', '"x"', '"nan "', "true", "null", "[1, 2]", "{}", '""']
)
GAPS = st.sampled_from(["", " ", "\n", "\t \r\n", "/* 1, 2 */", "// x,\n"])


@given(st.lists(st.tuples(GAPS, TOKENS, GAPS), min_size=1), st.booleans())
def test_every_value_of_an_array_has_its_place(parts: list[tuple[str, str, str]], trailing: bool) -> None:
    text, places = "[", []
    for before, token, after in parts:
        places.append(len(text) + len(before))
        text += f"{before}{token}{after},"
    root = document((text if trailing else text[:-1]) + "]").root
    tokens = [token for _, token, _ in parts]
    assert root.plain() == [json.loads(token) for token in tokens]
    assert [node.at for node in root.value] == places
    assert [(node.plain(), node.path()) for node in root.value] == [
        (json.loads(token), f"$[{number}]") for number, token in enumerate(tokens)
    ]
    kinds = {str: "string", bool: "true", int: "number", float: "number", list: "array", dict: "object"}
    assert [node.kind for node in root.value] == [kinds.get(type(json.loads(token)), "null") for token in tokens]
    assert root.value[-1].at == places[-1] and [node.at for node in root.value[1:]] == places[1:]


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ("1e999", "a number beyond the range of a double"),
        ("-1e999", "a number beyond the range of a double"),
        ("9" * (MAX_DIGITS + 1), f"a whole number of more than {MAX_DIGITS} digits"),
        ("01", '"01,5,'),
        ("1 2", '"2,5,'),
        ("", '",5,'),
        ('"nan" 1', '"1,5,'),
        ("1.", '"1.,5,'),
    ],
)
def test_a_bad_number_in_a_run_is_found(bad: str, what: str) -> None:
    text = f'{{"a": [1,2, "inf",\n 3,4,{bad},5,"nan",6]}}'
    column = 6 + bad.find(" ") + 1
    assert failure(text).startswith(f"m.json:2:{column}: $.a: The text is not JSON: {what}"), failure(text)


def test_a_run_of_long_numbers() -> None:
    long = ["9" * MAX_DIGITS, f"0.{'3' * 5000}", f"-{'9' * MAX_DIGITS}", "1"]
    assert document(f"[1,{','.join(long)}]").root.plain() == [1, *map(json.loads, long)]


def test_values_are_limited_but_for_numbers_in_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dmlcy._frontends.dxdispatch.json.MAX_VALUES", 100)
    document("[" + "1," * 1000 + "1]")
    document("[" + '"-inf",' * 1000 + "1]")
    assert "more than 100 values" in failure("[" + "[]," * 100 + "1]")
    assert "more than 100 values" in failure("[" + "1,{}," * 100 + "1]")


def test_numbers_take_little_memory() -> None:
    text = f"[{','.join(map(str, range(100_000)))}]"
    tracemalloc.start()
    found = document(text).root.value
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.plain()[-1] == 99_999
    assert peak < 120 * len(found)


def test_every_truncation_is_refused() -> None:
    text = json.dumps({"a": [1, "x\u00e9\n", None], "b": {"c": -1.5e-3}}, ensure_ascii=False).encode()
    for end in range(len(text)):
        failure(text[:end])


def test_depth() -> None:
    document("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert "nested" in failure("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


@pytest.mark.parametrize(
    "text",
    ["[" * 10**7, '{"a":' * 2 * 10**6, "]" * 10**7, "\n" * 10**7, "/**/" * 10**6, "9" * 10**7, '"' + "x" * 10**7],
)
def test_ten_megabytes_fail_fast(text: str) -> None:
    start = time.process_time()
    failure(text)
    assert time.process_time() - start < 5
