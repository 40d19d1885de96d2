"""The messages of `dmlcy explain` about words that it does not know."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dmlcy._show.explain.find import suggestion

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("DML-AVERAGE_POOLING-window_size-fit", "DML-AVERAGE_POOLING-window_size-fits"),
        ("PADING1", "PADDING1"),
        ("DML_OPERATOR_PADING1", "DML_OPERATOR_PADDING1"),
        ("window_siz", "window_size"),
        ("WindwSize", "WindowSize"),
        ("PaddngMode", "PaddingMode"),
        ("DML_PADDING_MODE_WARP", "DML_PADDING_MODE_WRAP"),
        ("PaddingMode.WRP", "PaddingMode.WRAP"),
        ("PADDING1.padding_mod", "PADDING1.padding_mode"),
        ("resample.scals", "RESAMPLE.scales"),
        ("FLOAT17", "FLOAT16"),
        ("5_9", "5_0"),
        ("resampl", "RESAMPLE"),
        ("strids", "strides"),
        ("1.8.9", "1.8.0"),
        ("overlp", "overlap"),
    ],
)
def test_did_you_mean(command: Command, word: str, near: str) -> None:
    status, out, err = command("explain", word)
    assert (status, out) == (2, "")
    assert "Did you mean" in err and f'"{near}"' in err


@pytest.mark.parametrize("word", ["wombat", "TenseMap", "9.9", "AVRG", "Q"])
def test_nothing_is_proposed_for_what_is_like_nothing(word: str) -> None:
    assert suggestion(word) == ""


def test_an_unknown_word_in_json(command: Command) -> None:
    status, out, err = command("explain", "strids", "--format", "json")
    report = json.loads(out)
    assert (status, report["found"]) == (2, []) and "strides" in [name.lower() for name in report["did_you_mean"]]
    assert "Did you mean" in err


@pytest.mark.parametrize(
    "word", ["", " ", ".", "a.b", "..", "xyzzy" * 10**5, "\x1b[2J\x9b", "\ud800", "DML-", "%s", "\0"]
)
def test_what_is_nothing(command: Command, word: str) -> None:
    status, out, err = command("explain", word)
    assert (status, out) == (2, "")
    assert err.strip().isprintable() and len(err) < 400
    assert err.startswith("dmlcy explain: nothing is called ")
