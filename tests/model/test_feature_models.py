"""The models of examples/features print what their page says, whose values are calculated by hand."""

from __future__ import annotations

import importlib.util
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import execute, parse, refused

from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.dxdispatch.lint import lint
from dmlcy._frontends.dxdispatch.run import Options
from dmlcy._frontends.dxdispatch.run import run as run_model
from dmlcy._judge.expected import manifest_reader
from dmlcy._judge.expected.recorder import Recorder
from dmlcy._judge.expected.save import save

FOLDER = Path(__file__).parents[2] / "examples" / "features"
PAGE = (FOLDER.parent / "README.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| \[\w+\]\(features/(\w+)\.json\) \|.*\| (.*) \|$", PAGE, re.MULTILINE))
NEEDS = {"image": "PIL"}


def needed(name: str) -> None:
    """Skip a model whose package is missing."""
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}")


def expect(name: str, output_path: Path, folder: Path) -> None:
    """Write the expected values of a model."""
    needed(name)
    model, recorder = parse((FOLDER / f"{name}.json").read_bytes(), FOLDER), Recorder()
    run_model(model, io.StringIO(), Options(output_path=output_path), observer=recorder)
    save(folder, model, None, recorder)


def run(name: str, output_path: Path) -> str:
    needed(name)
    return execute((FOLDER / f"{name}.json").read_bytes(), FOLDER, output_path=output_path)


def test_the_page_has_every_model() -> None:
    assert {*ROWS} == {path.stem for path in FOLDER.glob("*.json")}


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_model_prints_what_its_page_says(name: str, tmp_path: Path) -> None:
    lines = [line for line in run(name, tmp_path).splitlines() if " written to " not in line]
    printed = [line.partition(": ")[2] or line for line in lines]
    said = re.findall(r"`([^`]+)`", ROWS[name])
    if name == "scalars":
        printed.remove("Resource 'halves':")
        said += [said[-1].replace("[0]", f"[{number}]") for number in (1, 2)]
    assert printed == said


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_model_has_no_findings(name: str) -> None:
    report = lint(decode(name, (FOLDER / f"{name}.json").read_bytes()), "6_4")
    assert not report.findings


def test_the_files_that_are_written(tmp_path: Path) -> None:
    run("files", tmp_path)
    assert np.load(tmp_path / "sum.npy").tolist() == [[11, 22], [33, 44]]
    assert np.fromfile(tmp_path / "sum.dat", np.float32).tolist() == [11, 22, 33, 44]


def test_the_image_that_is_written(tmp_path: Path) -> None:
    run("image", tmp_path)
    from PIL import Image

    with Image.open(tmp_path / "grey.png") as image:
        assert np.asarray(image).tolist() == [[127, 63, 63], [255, 191, 0]]


def test_the_expected_values_of_arrays_of_tensors(tmp_path: Path) -> None:
    """Each tensor of an array is an output of its own, and an input of its own."""
    expect("join_split", tmp_path, tmp_path / "expected")
    found = manifest_reader.read(tmp_path / "expected").manifest
    assert [(one.name, one.file) for one in found.outputs] == [
        ("OutputTensor", "joined.npy"),
        ("OutputTensors[0]", "first.npy"),
        ("OutputTensors[1]", "rest.npy"),
    ]
    assert {name: one.computed_by for name, one in found.outputs[0].inputs.items()} == {
        "InputTensors[0]": None,
        "InputTensors[1]": None,
    }
    assert {name: one.computed_by for name, one in found.outputs[2].inputs.items()} == {"InputTensor": "join"}
    assert np.load(tmp_path / "expected" / "rest.npy").tolist() == [4, 100, 150]


def test_images_are_no_expected_values(tmp_path: Path) -> None:
    expect("image", tmp_path, tmp_path / "expected")
    found = manifest_reader.read(tmp_path / "expected").manifest
    assert not found.written
    assert np.load(tmp_path / "expected" / "grey.npy").reshape(-1).tolist() == [0.5, 0.25, 0.25, 1, 0.75, 0]


def changed(name: str, **bindings: Any) -> Any:
    """A model with other bindings in its last dispatch."""
    whole = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    [*_, last] = [one for one in whole["commands"] if one["type"] == "dispatch"]
    last["bindings"] |= bindings
    return whole


def test_arrays_of_tensors_that_are_bound_wrongly() -> None:
    path = "$.commands[1].bindings.OutputTensors"
    refused("DML-MODEL-bind-count", path, execute, changed("join_split", OutputTensors=["first"]))
    refused("DML-MODEL-bind-count", path, execute, changed("join_split", OutputTensors="first"))
    refused("DML-MODEL-shared", f"{path}[1]", execute, changed("join_split", OutputTensors=["rest", "rest"]))
    refused("DML-MODEL-shared", f"{path}[0]", execute, changed("join_split", OutputTensors=["joined", "rest"]))
    refused("DML-MODEL-buffer-size", f"{path}[1]", execute, changed("join_split", OutputTensors=["rest", "first"]))
    refused("DML-MODEL-reference", f"{path}[0]", execute, changed("join_split", OutputTensors=["nothing", "rest"]))
    whole = changed("join_split")
    del whole["commands"][1]["bindings"]["OutputTensors"]
    refused("DML-MODEL-unbound", "$.commands[1].bindings", execute, whole)


def test_an_array_of_tensors_is_bound_at_initialisation() -> None:
    whole = changed("join_split")
    whole["dispatchables"]["join"]["bindings"] = {"InputTensors": whole["commands"][0]["bindings"].pop("InputTensors")}
    for one in whole["dispatchables"]["join"]["desc"]["InputTensors"]:
        one["Flags"] = "OWNED_BY_DML"
    assert execute(whole).splitlines()[0] == "Resource 'joined': 3, 4, 100, 150"


def test_an_output_over_a_part_of_an_input_is_not_in_place() -> None:
    whole = changed("in_place", InputTensor="x", OutputTensor={"name": "x", "elementOffset": 1})
    whole["resources"]["x"]["sizeInBytes"] = 40
    refused("DML-MODEL-shared", "$.commands[1].bindings.OutputTensor", execute, whole)
