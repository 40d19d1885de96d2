"""``dmlcy explain``: the error codes that users quote, by number and by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dmlcy as dml
from dmlcy._facts.tables import ERRORS
from dmlcy._show.explain.codes import looks_like_code, number_of, spellings
from dmlcy._show.explain.find import find, suggested

Command = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[2]
CODES = {name: term for name, term in dml.specs.terms().items() if "value" in term}
QUOTED = {
    0x80070057: "E_INVALIDARG", 0x887A0004: "DXGI_ERROR_UNSUPPORTED", 0x887A0005: "DXGI_ERROR_DEVICE_REMOVED",
    0x887A0006: "DXGI_ERROR_DEVICE_HUNG", 0x887A0007: "DXGI_ERROR_DEVICE_RESET",
    0x887A0020: "DXGI_ERROR_DRIVER_INTERNAL_ERROR", 0x887A002D: "DXGI_ERROR_SDK_COMPONENT_MISSING",
    0x8007000E: "E_OUTOFMEMORY", 0x80004001: "E_NOTIMPL", 0x80004002: "E_NOINTERFACE", 0x80004005: "E_FAIL",
    0x80070005: "E_ACCESSDENIED", 0x8000FFFF: "E_UNEXPECTED", 0x80070490: "ERROR_NOT_FOUND",
}  # fmt: skip


def test_the_codes_are_those_that_users_quote() -> None:
    assert {term["value"]: name for name, term in CODES.items()} == QUOTED


@pytest.mark.parametrize("value", QUOTED, ids=QUOTED.get)
def test_every_spelling_of_a_code(value: int, command: Command) -> None:
    name = QUOTED[value]
    eight = f"{value:08X}"
    signed, unsigned = str(value - 2**32), str(value)
    for word in (eight, eight.lower(), f"0x{eight}", f"0X{eight}", f"0x{eight}L", signed, unsigned, name, name.lower()):
        (found,) = [facts for facts in find(word) if facts["kind"] == "term"]
        assert found["name"] == name, word
    assert spellings(value) == (f"0x{eight}", signed, unsigned)
    status, out, err = command("explain", signed)
    assert (status, err) == (0, "") and out.startswith(f"{name}, an error code\n")
    assert f"0x{eight}, {signed}, {unsigned}" in out


@pytest.mark.parametrize("value", QUOTED, ids=QUOTED.get)
def test_a_code_in_a_message_that_a_program_printed(value: int, command: Command) -> None:
    eight, signed, unsigned = f"{value:08X}", value - 2**32, value
    for message in (
        f"HRESULT(0x{eight})", f"0x{eight}.", f"'0x{eight.lower()}'", f"0xFFFFFFFF{eight}", f"{unsigned}u",
        f"exited with {signed}", f"Exception(3) tid(4) {eight} A message.",
        f"{'C:/onnx/' * 40}x.cpp: 0x{eight}: failed",
    ):  # fmt: skip
        (found,) = find(message)
        assert (found["kind"], found["name"]) == ("term", QUOTED[value]), message
    status, out, err = command("explain", *f"a failure: 0x{eight} of a call".split())
    assert (status, err) == (0, "") and out.startswith(f"{QUOTED[value]}, an error code\n")


def test_a_message_with_several_codes_means_each_of_them() -> None:
    found = find("887A0005 of Present, then 80070057 and 0x887A0005 again")
    assert [facts["name"] for facts in found] == ["DXGI_ERROR_DEVICE_REMOVED", "E_INVALIDARG"]


def test_a_message_with_a_wrong_number_suggests_no_other_code(command: Command) -> None:
    message = "error 0x80070058: The parameter is incorrect."
    status, out, err = command("explain", message)
    assert (status, out) == (2, "") and suggested(message) == [] and "Did you mean" not in err
    assert "dmlcy does not know the error code 0x80070058. It is the error 88 of Windows." in err


@pytest.mark.parametrize("name", CODES)
def test_a_code_says_what_it_is_who_returns_it_and_what_helps(name: str, command: Command) -> None:
    term = CODES[name]
    text = " ".join(command("explain", name)[1].split())
    assert term["doc"] in text and term["source"] in text and term["returned"]
    for one in term["returned"]:
        assert f"{one['call']}: {one['when']} {one['source']}" in text
        assert one["source"].startswith(("https://learn.microsoft.com/", "https://github.com/microsoft/"))
    assert term.get("command", "") in text
    assert f"See {term.get('page', 'docs/reference/codes.md')}" in text


def test_the_commands_that_help_are_commands(command: Command) -> None:
    for name in {term["command"].split()[1] for term in CODES.values() if "command" in term}:
        status, out, _ = command(name, "--help")
        assert status == 0 and out.startswith(f"usage: dmlcy {name}")


@pytest.mark.parametrize(
    "word",
    ["80070058", "887A0009", "8007057", "800700577", "0x123", "-2147024808", "2147942488", "12345", "0x887A00055"],
)
def test_a_wrong_number_suggests_no_other_code(word: str, command: Command) -> None:
    status, out, err = command("explain", word)
    assert (status, out) == (2, "") and suggested(word) == []
    assert "Did you mean" not in err and "docs/reference/codes.md lists the codes that are known." in err
    assert not [code for code in QUOTED.values() if code in err]
    assert not [
        eight for eight in (f"{value:08X}" for value in QUOTED) if eight in err.upper().replace(word.upper(), "")
    ]


def test_a_code_of_windows_has_the_number_that_windows_has(command: Command) -> None:
    assert "It is the error 88 of Windows." in command("explain", "80070058")[2]
    assert "of Windows" not in command("explain", "887A0009")[2]


@pytest.mark.parametrize("word", ["5_0", "1.8.0", "conv2d", "decade", "4", "FLOAT16", "add"])
def test_what_is_no_number_of_a_code(word: str) -> None:
    assert number_of(word) is None and not looks_like_code(word)


def test_the_page_of_codes_has_every_code() -> None:
    page = (ROOT / "docs/reference/codes.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\w{8}) (\w+)$", page, re.MULTILINE)
    assert headings == [(f"{value:08X}", QUOTED[value]) for value in sorted(QUOTED)]
    beside = re.findall(r"(\S?)`[^`\n]+`(\S?)", page)
    assert len(beside) > 50 and {before + after for before, after in beside} <= {"", ",", ".", ";"}


def test_an_error_of_a_model_leads_to_its_place_in_the_index_of_errors() -> None:
    pages = [(ROOT / f"docs/reference/{name}.md").read_text(encoding="utf-8") for name in ("errors", "onnx_errors")]
    for id_ in (one for one in ERRORS if one.startswith("DML-")):
        assert f'id="{id_}"' in pages[id_.startswith("DML-ONNX-")], id_
