"""The counted rules of plain English find the sentences that they must find, and no others."""

from __future__ import annotations

import tomllib
from pathlib import Path

from .rules import RULES, faults
from .texts import READERS, _blocks, _cython, _header, _python, texts

SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))


def test_each_rule_finds_its_sentences() -> None:
    assert set(SENTENCES["found"]) == set(RULES)
    for rule, sentences in SENTENCES["found"].items():
        missed = [sentence for sentence in sentences if rule not in {name for name, _ in faults(sentence)}]
        assert missed == [], rule
    assert sum(map(len, SENTENCES["found"].values())) == 20


def test_other_sentences_pass() -> None:
    assert [found for sentence in SENTENCES["not_found"]["sentences"] for found in faults(sentence)] == []
    assert len(SENTENCES["not_found"]["sentences"]) == 22


def test_each_kind_of_text_is_read() -> None:
    kinds = {text.kind for text in texts(("tests/english", "README.md", "specs/errors.toml", "dmlcy/_cli/run.py"))}
    assert kinds == {"page", "docstring", "comment", "help", "spec"}


def test_an_aligned_meaning_is_a_paragraph() -> None:
    lines = [(1, "page   the page of the rows"), (2, "since  the first level")]
    assert [text.words for text in _blocks(lines, "a.py", "docstring")] == [line for _, line in lines]


def test_a_comment_of_c_ends_at_its_line() -> None:
    text = "// One line\n// and another.\n#pragma once\nint x;\n"
    assert [found.words for found in _header("a.h", text)] == ["One line and another."]


def test_strings_that_describe_are_read() -> None:
    python = [found.words for found in _python("a.py", '"""A module."""\nA = ""\n"""A name."""\nb("no text")\n')]
    cython = [found.words for found in _cython("a.pyx", '# A comment.\ndef f():\n    """A function."""\n')]
    assert (python, cython) == (["A module.", "A name."], ["A comment.", "A function."])


def test_a_template_is_read_as_what_it_makes() -> None:
    template = READERS[".j2"]
    made = {
        "a.h.j2": "{# A comment. #}\n{% if x %}\n// Reads {{ x }}.\n{% endif %}\nint {{ x }};\n",
        "a.pyx.j2": "{#- A comment. -#}\n# Reads {{ x }}.\ncdef int {{ x }}\n",
        "a.pyi.j2": '{# A comment. #}\ndef {{ x }}():\n    """Reads {{ x }}."""\n',
        "a.txt.j2": "{# A comment. #}\nReads {{ x }}.\n",
        "a.md.j2": "{# A comment. #}\nReads {{ x }}.\n",
    }
    found = {path: [one.words for one in template(path, text)] for path, text in made.items()}
    assert found == {path: ["A comment.", "Reads `x`."] for path in made}
