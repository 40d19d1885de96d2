"""The forms of the report of ``dmlcy lint``: what each says, and that it says it safely."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import unicodedata
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linting import EXAMPLES, ROOT, UNREADABLE, findings, lint, model, pool, written

import dmlcy as dml
from dmlcy._cli.lint import FORMATS
from dmlcy._facts.tables import OPERATORS
from dmlcy._frontends.dxdispatch import json as json_reader
from dmlcy._frontends.dxdispatch.excerpt import WIDTH
from dmlcy._frontends.dxdispatch.excerpt import excerpt as excerpt_of
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._version import __version__

COMMANDS = re.findall(r"^dmlcy (lint .*) > (.*)$", (ROOT / "examples" / "README.md").read_text(), re.MULTILINE)


def columns(text: str) -> int:
    """How wide a terminal shows the text."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.category(character) == "Mn" for character in text)


@pytest.mark.parametrize(("command", "report"), COMMANDS)
def test_the_committed_reports_are_true(command: str, report: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    arguments = []
    for word in shlex.split(command)[1:]:
        arguments += sorted(path.as_posix() for path in Path().glob(word)) if "*" in word else [word]
    _, text = lint(*arguments)
    committed = Path(report).read_text(encoding="utf-8")
    if report.endswith(".sarif"):  # it names the version that wrote it, which need not be this one
        document = json.loads(text)
        document["runs"][0]["tool"]["driver"]["version"] = sarif_version(committed)
        text = json.dumps(document, indent=2) + "\n"
    assert text == committed, f"Run: dmlcy {command} > {report}"


def sarif_version(text: str) -> str:
    version: str = json.loads(text)["runs"][0]["tool"]["driver"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    return version


def test_there_are_reports_in_every_format() -> None:
    assert {report.rpartition("/")[2] for _, report in COMMANDS} >= {f"lint.{end}" for end in ("txt", "json", "sarif")}
    assert any("--format github" in command for command, _ in COMMANDS)


def excerpt(text: str) -> tuple[str, str]:
    """The line that is shown, and the line under it."""
    first, second = re.findall(r"^ *\d+ \| ?(.*)\n *\| ?(.*)$", text, re.MULTILINE)[0]
    return first, second


@pytest.mark.parametrize(
    "before", ["", "\t", "\t\t \t", "漢字", "e\u0301", "é", "\u202e", "\x7f", "\u200d", "😀", "ｗ"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_the_caret_stands_under_the_value(before: str, encoding: str, tmp_path: Path) -> None:
    key = "" if before.isspace() else before
    space = before if before.isspace() else ""
    text = json.dumps(model(p=pool(WindowSize=[3, 98765])))
    text = text.replace('"WindowSize": [3, ', f'"{key}": 0,\r\n "{key}": 1,{space} "WindowSize": [3, ')
    text = text.replace('"StartPadding"', '\r\n"StartPadding"')
    _, shown = lint(written(tmp_path, text), encoding=encoding)
    block = next(block for block in shown.split("\n\n") if "window_size-fits" in block)
    line, caret = excerpt(block)
    marks, _, label = caret.partition(" nearest valid value: ")
    assert marks.strip() == "^" * 5
    assert label == "7"
    assert columns(line.partition("98765")[0]) == len(marks) - 5
    assert not line.endswith("\\r")


def test_every_form_has_the_nearest_valid_value(tmp_path: Path) -> None:
    target = written(tmp_path, model(p=pool(StartPadding=[0, -1])))
    assert "^^ nearest valid value: 0" in lint(target)[1]
    for form in ("github", "sarif"):
        assert "must be from 0 to 4294967295. Nearest valid value: 0." in lint("--format", form, target)[1]


def test_long_lines_are_shown_round_the_value(tmp_path: Path) -> None:
    filler = '"filler": "' + "é" * 1_000_000 + '", '
    text = json.dumps(model(p=pool(WindowSize=[3, 98765]))).replace('"WindowSize"', f'{filler}"WindowSize"')
    target = written(tmp_path, text)
    (found,) = [one for one in findings(target) if one["severity"] == "error"]
    assert found["column"] > 1_000_000
    status, shown = lint(target)
    assert status == 1
    block = next(block for block in shown.split("\n\n") if "window_size-fits" in block)
    line, caret = excerpt(block)
    assert line.startswith("...")
    assert line.endswith("...")
    assert line.index("98765") == caret.index("^^^^^")
    assert max(map(len, shown.splitlines())) < 400


@pytest.mark.parametrize(
    ("value", "marked"),
    [
        ('[1, "]", {"a": [2]}]', '[1, "]", {"a": [2]}]'),
        ("{\n}", "{"),
        ('{"a": /* } */ 1}', '{"a": /* } */ 1}'),
        ('"a\\"b"', '"a\\"b"'),
        ("-1.5e3", "-1.5e3"),
        ("true", "true"),
        ("[" + "1, " * 200 + "1]", "["),
        ('"' + "x" * 500 + '"', '"' + "x" * 69),
    ],
)
def test_the_whole_value_is_underlined(value: str, marked: str, tmp_path: Path) -> None:
    text = json.dumps(model(p=pool(StartPadding="here"))).replace('"here"', value)
    block = next(block for block in lint(written(tmp_path, text))[1].split("\n\n") if "start_padding" in block)
    line, caret = excerpt(block)
    at = caret.index("^")
    assert line[at : at + caret.count("^")] == marked


@given(
    text=st.text(st.sampled_from('{}[]",:/*a1 \t\n\r\\é'), max_size=400)
    | st.text(st.sampled_from("a[\n"), max_size=400),
    data=st.data(),
)
def test_an_excerpt_is_a_piece_of_one_line(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0]
    found = excerpt_of(text, at, at - start + 1)
    shown = found.before + found.marked + found.after
    assert text[at - len(found.before) :].startswith(shown)
    assert "\n" not in shown
    assert len(shown) <= WIDTH
    assert found.cut_before == (len(found.before) < at - start)
    if at - start < len(line.removesuffix("\r")):
        assert found.marked
    rest = line[at - start + len(found.marked + found.after) :]
    assert found.cut_after == (rest not in ("", "\r"))
    if len(line) <= WIDTH:
        assert shown in (line, line.removesuffix("\r"))


@given(text=st.text(st.sampled_from("a\n"), max_size=40), block=st.integers(1, 8), data=st.data())
def test_positions_are_counted_by_blocks(text: str, block: int, data: st.DataObject) -> None:
    document = Document("m.json", f'["{"a" * data.draw(st.integers(0, 9))}"] {text}')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_reader, "_BLOCK", block)
        document._blocks.clear()
        for at in range(len(document.text) + 1):
            before = document.text[:at]
            assert document.position(at) == (before.count("\n") + 1, at - before.rfind("\n"))


def test_the_parts_of_a_finding(tmp_path: Path) -> None:
    text = json.dumps(model(pool=pool(WindowSize=[3, 9]))).replace('"WindowSize"', '\n  "WindowSize"')
    target = written(tmp_path, text.replace('"StartPadding"', '\n"StartPadding"'))
    assert lint(target)[1].split("\n\n")[0] == "\n".join(
        [
            f"{target}:2:21: error: window_size[1] does not fit: "
            "span of the window[1] = 9 must be <= padded size[1] = 7. "
            "input is (1, 1, 6, 7), read as {N, C, H, W}. [DML-AVERAGE_POOLING-window_size-fits]",
            " --> $.dispatchables.pool.desc.WindowSize[1]",
            '2 |   "WindowSize": [3, 9], ',
            "  |                     ^ nearest valid value: 7",
            "  = rule: extent[d] <= padded[d] (inferred)",
            "  = hint: Increase the padding, or reduce window_size.",
        ]
    ).replace("9], \n", "9],\n")


def test_the_nearest_value_is_said_once(tmp_path: Path) -> None:
    mode = {"type": "PADDING1", "desc": {"PaddingMode": "EDG"}}
    text = lint(written(tmp_path, model(p=mode)))[1]
    block = next(block for block in text.split("\n\n") if "padding_mode-member" in block)
    assert block.count('"EDGE"') == 1
    sizes = pool(OutputTensor={"DataType": "FLOAT32", "Sizes": [1, 1, 4, 6]})
    assert "^ nearest valid value: 5\n" in lint(written(tmp_path, model(p=sizes)))[1]


def test_names_are_never_echoed_raw(tmp_path: Path) -> None:
    evil = "\x1b[31m\r\n\u202e\x07" + "x" * 1000
    content = {
        "resources": {evil: {"initialValuesDataType": evil, "initialValues": [evil]}},
        "dispatchables": {evil: {"type": evil}, "p": pool(**{evil: 1, "WindowSize": evil, "Strides": [evil, 1]})},
        "commands": [{"type": evil}, {"type": "print", "resource": evil + "?"}],
        evil: 0,
    }
    for raw in (True, False):
        target = written(tmp_path, json.dumps(content, ensure_ascii=not raw))
        for form in FORMATS:
            assert lint("--format", form, target)[0] == 1


def test_the_json_document(tmp_path: Path) -> None:
    broken = pool(WindowSize=[3, 9])
    target = written(tmp_path, json.dumps(model(p=broken)).replace('"commands": []', '"commands": [],'))
    text = lint("--format", "json", target)[1]
    document = json.loads(text, parse_constant=lambda word: pytest.fail(word))
    assert list(document) == ["version", "feature_level", "status", "errors", "warnings", "files"]
    assert (document["version"], document["errors"], document["warnings"]) == (1, 1, 1)
    (file,) = document["files"]
    assert list(file) == ["file", "status", "findings", "unsearched", "dispatchables"]
    found, warning = file["findings"]
    (violation,) = dml.check(dml.desc.OperatorDesc.from_dict(broken))
    rest = [name for name in violation.to_json() if name != "severity"]
    assert list(found) == ["severity", "file", "path", "line", "column", "end_column", *rest, "provisional"]
    assert {name: found[name] for name in violation.to_json()} == violation.to_json()
    assert (found["file"], found["member"], found["index"]) == (str(target), None, 1)
    assert found["end_column"] == found["column"] + 1
    assert warning["severity"] == "warning"


def test_numbers_that_json_has_not(tmp_path: Path) -> None:
    roi = {"type": "ROI_POOLING", "desc": {"SpatialScale": "nan"}}
    big = {"type": "ROI_POOLING", "desc": {"SpatialScale": 10**900, "PooledSize": {"Width": 10**900, "Height": 1e300}}}
    for form in ("json", "sarif"):
        text = lint("--format", form, written(tmp_path, model(p=roi, q=big)))[1]
        json.loads(text, parse_constant=lambda word: pytest.fail(word))


def test_github_annotations(tmp_path: Path) -> None:
    folder = tmp_path / "50% a:b, c"
    folder.mkdir()
    target = written(folder, model(**{"100%\r\n::error::x": pool(WindowSize=[3, 9])}))
    status, text = lint("--format", "github", target)
    assert status == 1
    (line,) = text.splitlines()
    match = re.fullmatch(r"::error ([^:]*)::(.*)", line)
    assert match is not None
    properties = dict(pair.split("=", 1) for pair in match[1].split(","))
    assert list(properties) == ["file", "line", "endLine", "col", "endColumn", "title"]
    assert unquote(properties["file"]) == str(target)
    assert properties["title"] == "DML-AVERAGE_POOLING-window_size-fits"
    assert int(properties["endColumn"]) == int(properties["col"]) + 1
    message = match[2].replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
    assert message.startswith(
        '$.dispatchables["100%\\r\\n::error::x"].desc.WindowSize[1]: window_size[1] does not fit: '
    )
    assert message.endswith("\nRule: extent[d] <= padded[d] (inferred)")
    assert "\r" not in message


def test_github_warnings(tmp_path: Path) -> None:
    status, text = lint("--format", "github", written(tmp_path, model(p=pool(Unread=1))))
    assert status == 0
    assert text.startswith("::warning file=")
    assert lint("--format", "github", EXAMPLES[0]) == (0, "")


SDIST = "sarif-pydantic==0.6.2 --hash=sha256:634df2784533fcac8e86f0c60a0e45ead1d35452dc2331d32596275595906e7f"
MEMBER = "sarif_pydantic-0.6.2/sarif-schema-2.1.0.json"
DIGEST = "6352a05f9d03f181b8d9c71a46bdacc4fcff9d8ade5364858b425ba0c0994ed7"


@pytest.fixture(scope="session")
def schema(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The schema of SARIF 2.1.0: the file that SARIF_SCHEMA names, else out of a source distribution on PyPI."""
    named = os.environ.get("SARIF_SCHEMA")
    if named:
        return dict(json.loads(Path(named).read_text(encoding="utf-8")))
    cache = getattr(request.config, "cache", None)
    folder = cache.mkdir("sarif") if cache else tmp_path_factory.mktemp("sarif")
    cached = folder / "schema.json"
    if not cached.exists():
        cached.write_bytes(downloaded(folder))
    data = cached.read_bytes()
    assert hashlib.sha256(data).hexdigest() == DIGEST
    return dict(json.loads(data))


def downloaded(folder: Path) -> bytes:
    (folder / "requirements.txt").write_text(SDIST, encoding="utf-8")
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
        *("--no-binary", ":all:", "--retries", "0", "--timeout", "15", "--dest", "."),
        *("--requirement", "requirements.txt"),
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=120, cwd=folder)
        why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    except (OSError, subprocess.TimeoutExpired) as error:
        why = str(error)
    try:
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            member = archive.extractfile(MEMBER)
            assert member is not None
            return member.read()
    except StopIteration:
        pytest.skip(f"no schema of SARIF: SARIF_SCHEMA names no file, and pip cannot download one: {why}")


def valid_sarif(schema: dict[str, Any], *arguments: object) -> dict[str, Any]:
    document = json.loads(lint("--format", "sarif", *arguments)[1])
    validator = jsonschema.Draft7Validator(schema, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(document)] == []
    return dict(document["runs"][0])


def test_sarif_is_valid(schema: dict[str, Any], tmp_path: Path) -> None:
    everything = sorted((ROOT / "examples").glob("**/*.json"))
    valid_sarif(schema, *(path for path in everything if path.parent.name != "report"))
    valid_sarif(schema, EXAMPLES[0])
    for content, _, _ in UNREADABLE.values():
        valid_sarif(schema, written(tmp_path, content), tmp_path / "missing.json", "a b:%.json")
    with pytest.raises(AssertionError):
        schema = {**schema, "required": [*schema["required"], "missing"]}
        valid_sarif(schema, EXAMPLES[0])


def test_the_sarif_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a ü").mkdir()
    target = written(tmp_path / "a ü", model(p=pool(WindowSize=[3, 9], Unread=1), q={"type": "{0}"}))
    (run,) = json.loads(lint("--format", "sarif", "./a ü/model.json", "missing.json")[1])["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("dmlcy", __version__)
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(set(rules)) == len(rules)
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [one["ruleId"] for one in run["results"]]
    assert sorted(result["level"] for result in run["results"]) == ["error", "error", "error", "warning"]
    by_id = {rule["id"]: rule for rule in driver["rules"]}
    fits = by_id["DML-AVERAGE_POOLING-window_size-fits"]
    assert fits["helpUri"] == OPERATORS["AVERAGE_POOLING"].source
    assert fits["shortDescription"]["text"] == "window_size does not fit."
    assert fits["fullDescription"]["text"].startswith("extent[d] <= padded[d] must hold.")
    unknown = by_id["DML-MODEL-operator-unknown"]
    assert unknown["fullDescription"]["text"] == "No operator has that name."
    result = next(one for one in run["results"] if one["ruleId"] == fits["id"])
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "a%20%C3%BC/model.json"
    region = location["physicalLocation"]["region"]
    line = target.read_text().splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "9"
    assert location["logicalLocations"] == [{"fullyQualifiedName": "$.dispatchables.p.desc.WindowSize[1]"}]
    braces = next(one for one in run["results"] if one["ruleId"] == unknown["id"])
    assert '"{{0}}"' in braces["message"]["text"]
    missing = next(one for one in run["results"] if one["ruleId"] == "DML-MODEL-file")
    assert "region" not in missing["locations"][0]["physicalLocation"]
    prints = [one["partialFingerprints"]["placeAndMessage/v1"] for one in run["results"]]
    assert len(set(prints)) == len(prints)
    assert run["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]
    assert [one["name"] for one in run["properties"]["dispatchables"]] == ["p", "q"]


def test_a_fingerprint_outlives_the_lines_above(tmp_path: Path) -> None:
    text = json.dumps(model(p=pool(WindowSize=[3, 9])))
    prints = []
    for content in (text, f"\n\n  {text}"):
        (run,) = json.loads(lint("--format", "sarif", written(tmp_path, content))[1])["runs"]
        prints.append(run["results"][0]["partialFingerprints"])
    assert prints[0] == prints[1]
