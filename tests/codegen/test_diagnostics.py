"""How a diagnostic is printed, and what it proposes."""

from __future__ import annotations

import pytest

from codegen.diagnostics import Diagnostic, Diagnostics, Span, did_you_mean, render

SPAN = Span("specs/operators/pad/padding1.toml", 12, 1, 7, "defualt = 0")


def test_render() -> None:
    diagnostic = Diagnostic("unknown key 'defualt' in [[field]]", SPAN, "did you mean 'default'?")
    assert render(diagnostic) == (
        "specs/operators/pad/padding1.toml:12:1: unknown key 'defualt' in [[field]]\n"
        "   12 | defualt = 0\n"
        "      | ^^^^^^^\n"
        "   hint: did you mean 'default'?"
    )
    assert render(Diagnostic("no span", None, "h")) == "no span\n   hint: h"
    assert render(Diagnostic("empty", Span("f", 3, 1, 5, ""))) == "f:3:1: empty\n    3 |\n      | ^"
    assert render(Diagnostic("long", Span("f", 3, 3, 99, "abcd"))).endswith("\n    3 | abcd\n      |   ^^")


def test_render_replaces_control_characters() -> None:
    text = render(Diagnostic("m\x1b[2J\n", Span("f\x07", 1, 3, 1, "\ta\x1b]0;x\x9b\u202e\xa0é"), "h\r"))
    assert text == "f�:1:3: m�[2J�\n    1 |  a�]0;x���é\n      |   ^\n   hint: h�"


def test_the_same_error_is_kept_once_and_the_text_is_ordered() -> None:
    diagnostics = Diagnostics()
    for _ in range(2):
        for line, message in ((2, "second"), (1, "first")):
            diagnostics.error(Span("f", line, 1, 1, "x"), message)
        diagnostics.error(None, "nowhere")
    assert [error.message for error in diagnostics.errors] == ["second", "first", "nowhere"]
    assert [line for line in diagnostics.render().splitlines() if "|" not in line] == [
        "nowhere",
        "f:1:1: first",
        "f:2:1: second",
        "3 errors",
    ]


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        ("defualt", ["default", "doc"], "did you mean 'default'?"),
        ("edge", {"EDGE", "WRAP"}, "did you mean 'EDGE'?"),
        ("zzz", ["default"], None),
        ("name", ["name"], None),
        ("x", [], None),
    ],
)
def test_did_you_mean(word: str, candidates: list[str], expected: str | None) -> None:
    assert did_you_mean(word, candidates) == expected
