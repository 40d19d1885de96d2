"""The version, and what docs/versions.md, CITATION.cff, NOTICE.md and the changelog say of it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import dmlcy as dml
from dmlcy._cli import explain, info, operators
from dmlcy._facts.tables import OPERATORS
from dmlcy._graph import profile
from dmlcy._judge.dumps import dump
from dmlcy._judge.expected import manifest
from dmlcy._judge.packs import pack
from dmlcy._words.deprecated import warn_deprecated

ROOT = Path(__file__).resolve().parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_page_has_the_versions_of_the_formats() -> None:
    """tests/cli/test_terminal.py compares those of the commands that print one."""
    table = dict(re.findall(r"^\| (.+) \| (\d+) \|$", text("docs/versions.md"), re.MULTILINE))
    known = {
        "manifest of expected values": manifest, "manifest of a dump": dump, "list of a conformance pack": pack,
        "`run --profile --json`": profile, "`info --json`": info, "`explain --json`": explain,
        "`operators --json`": operators,
    }  # fmt: skip
    assert {name: int(table[name]) for name in known} == {name: module.VERSION for name, module in known.items()}


def test_the_citation_and_the_changelog_have_the_version() -> None:
    cited = dict(re.findall(r"^([\w-]+): (.+)$", text("CITATION.cff"), re.MULTILINE))
    assert cited["version"] == dml.__version__
    heads = re.findall(r"^## (.+)$", text("CHANGELOG.md"), re.MULTILINE)
    assert heads[:2] == ["Unreleased", f"{dml.__version__} ({cited['date-released']})"]
    assert cited["license"] == tomllib.loads(text("pyproject.toml"))["project"]["license"] == "MIT"


def test_files_of_licences_are_shipped() -> None:
    files = tomllib.loads(text("pyproject.toml"))["project"]["license-files"]
    shipped = text("MANIFEST.in").split()
    assert files == ["LICENSE", "NOTICE.md"] and {*files, "SECURITY.md", "CITATION.cff"} <= {*shipped}
    assert all((ROOT / name).is_file() for name in files)


def test_the_notice_counts_the_examples_of_other_pages() -> None:
    examples = [one for operator in OPERATORS.values() for one in operator.examples]
    said = re.search(r"(\d+) of the (\d+) examples", text("NOTICE.md"))
    assert said is not None
    assert [*map(int, said.groups())] == [sum(bool(one.source) for one in examples), len(examples)]


def old_name(warn: Callable[[str, str, str, str], None]) -> None:
    warn("dmlcy.old_name()", "1.1", "2.0", "Call dmlcy.new_name().")


def test_a_deprecation_names_the_version_of_removal_and_the_caller() -> None:
    with pytest.warns(DeprecationWarning) as caught:
        old_name(warn_deprecated)
    (warning,) = caught
    said = "dmlcy.old_name() is deprecated since dmlcy 1.1, and goes in dmlcy 2.0. Call dmlcy.new_name()."
    assert str(warning.message) == said and warning.filename == __file__


def test_nothing_that_is_deprecated_has_outlived_its_version() -> None:
    """A call of ``warn_deprecated`` whose last version has come is an error here."""
    now = [*map(int, dml.__version__.split(".")[:2])]
    calls = re.compile(r"warn_deprecated\(\s*[^,]+,\s*\"([\d.]+)\",\s*\"([\d.]+)\"")
    for path in (ROOT / "dmlcy").rglob("*.py"):
        for since, until in calls.findall(path.read_text(encoding="utf-8")):
            assert [*map(int, since.split("."))] <= now < [*map(int, until.split("."))], path
    assert calls.findall('warn_deprecated("x", "1.1", "2.0", "y")') == [("1.1", "2.0")]
