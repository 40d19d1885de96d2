"""``dmlcy run --expect``: what is written for each output, which outputs count, and what is never overwritten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_descs import arrays_of, desc_of_example
from exchange import (
    EXAMPLES,
    Case,
    at,
    cases,
    command,
    dispatch,
    each_example,
    expect,
    manifest,
    models,
    pad,
    pooling,
    whole,
    write_model,
    zeros,
)
from hypothesis import given
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy._cli.example import model
from dmlcy._facts.rows import Example, Operator
from dmlcy._facts.tables import DTYPES
from dmlcy._frontends.dxdispatch.files import distinct
from dmlcy._reference.device import SUSPECT, device

TRIPLE = dml.TensorDesc("FLOAT32", (3,))
FLOATS = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3]}


def values(folder: Path, name: str = "out.npy") -> list[Any]:
    found: list[Any] = np.load(folder / name).tolist()
    return found


def bound_as(operator: Operator, python: str) -> str:
    """The name under which a tensor is bound, or an entry of an array."""
    name, bracket, entry = python.partition("[")
    return next(field.name for field in operator.fields if field.python == name) + bracket + entry


# One output


@each_example
def test_the_examples(operator: Operator, example: Example, tmp_path: Path) -> None:
    folder = expect(tmp_path, model(operator, example))
    found = manifest(folder)
    assert found["format"] == "dmlcy-expected" and found["version"] == 3
    assert found["model"] == "m.json" and found["feature_level"] == "6_4"
    assert "up to the number in the file `allowed` passes: what a correct device may differ by" in found["comparison"]
    assert len(found["outputs"]) == len(example.outputs)
    for output, (name, (dtype, sizes, data)) in zip(found["outputs"], example.outputs.items(), strict=True):
        resource = name.replace("[", "_").removesuffix("]")
        assert output["file"] == f"{resource}.npy" and output["resource"] == resource
        assert output["field"] == bound_as(operator, name)
        assert (output["dtype"], output["sizes"], output["dispatchable"]) == (dtype, list(sizes), operator.python)
        written = np.load(folder / output["file"])
        assert written.dtype == np.dtype(DTYPES[dtype].numpy)
        np.testing.assert_array_equal(written, np.array(data, written.dtype).reshape(sizes))
        assert output["operator"]["type"] == f"DML_OPERATOR_{operator.name}"
        field, _, entry = output["field"].partition("[")
        described = output["operator"]["desc"][field]
        assert (described[int(entry[:-1])] if entry else described)["Sizes"] == list(sizes)
        assert output["inputs"].keys() == {bound_as(operator, python) for python in example.inputs}
        for python, (_, shape, given_data) in example.inputs.items():
            source = output["inputs"][bound_as(operator, python)]
            assert source["resource"] == python.replace("[", "_").removesuffix("]") and source["computed_by"] is None
            saved = np.load(folder / source["file"])
            np.testing.assert_array_equal(saved, np.array(given_data, saved.dtype).reshape(shape))
        device_ = device(desc_of_example(operator, example), arrays_of(example.inputs), name)
        if not device_.worst.any():
            assert output["accuracy"] == "exact"
            continue
        assert output["accuracy"].keys() == {"allowed", "typical"}
        allowed, typical = (np.load(folder / output["accuracy"][member]) for member in ("allowed", "typical"))
        np.testing.assert_array_equal(allowed, device_.worst)
        np.testing.assert_array_equal(typical, SUSPECT * device_.typical)
        assert allowed.dtype == typical.dtype == np.float64 and not (allowed < 0).any()
    files = {output["file"] for output in found["outputs"]}
    assert {path.name for path in folder.rglob("*") if path.is_file()} >= {"manifest.json", *files}
    assert not [path for path in folder.rglob(".*")]


@cases(60)
@given(models())
def test_strides_and_offsets_are_left_out(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    """The values are those of the reference, wherever the output lies in its buffer."""
    folder = case.expect(tmp_path_factory.mktemp("case"))
    outputs = manifest(folder)["outputs"]
    desc = dml.desc.OperatorDesc.from_dict(outputs[0]["operator"])
    inputs: list[Any] = []
    for field in case.operator.fields:
        parts = [array for path, array in case.inputs.items() if path.partition("[")[0] == field.python]
        if field.kind == "input":
            inputs.append(tuple(parts) if field.type == "tensor_array" else parts[0] if parts else None)
    results = dml.compile(desc, path="reference")(*inputs)
    for output, called in zip(outputs, results if isinstance(results, tuple) else (results,), strict=True):
        written = np.load(folder / output["file"])
        assert written.flags.c_contiguous and written.dtype == called.dtype and written.shape == called.shape
        numbers = ~np.isnan(called) if called.dtype.kind == "f" else np.ones(called.shape, bool)
        assert written[numbers].tobytes() == called[numbers].tobytes()
        np.testing.assert_array_equal(written, called)


def test_the_bound_of_a_sum_is_that_of_its_absolute_values(tmp_path: Path) -> None:
    """Numbers that cancel leave a small result, and errors of their own size."""
    x = np.array([[[[4096, -4096, 1], [1, 1, 1]]]], np.float32)
    np.save(tmp_path / "x.npy", x)
    attributes: dict[str, Any] = {
        "window_size": (1, 2), "strides": (1, 1), "start_padding": (0, 0), "end_padding": (0, 0),
        "include_padding": False,
    }  # fmt: skip
    folder = expect(tmp_path, pooling(x, **attributes))
    assert np.load(folder / "output.npy").ravel().tolist() == [0, -2047.5, 1, 1]
    cancelling, large, *ones = np.load(folder / "allowed" / "output.npy").ravel()
    assert 4096 * ones[0] / 2 < cancelling < 4096 * ones[0] * 2 and cancelling / 4 < large < 4 * cancelling
    assert ones[0] == ones[1] < 2**-18


def test_half_sums_do_not_overflow_in_the_bound(tmp_path: Path) -> None:
    """A device adds FLOAT16 in FLOAT32."""
    x = np.full((1, 1, 4, 4), 65504, np.float16)
    np.save(tmp_path / "x.npy", x)
    attributes: dict[str, Any] = {
        "window_size": (4, 4), "strides": (1, 1), "start_padding": (0, 0), "end_padding": (0, 0),
        "include_padding": False,
    }  # fmt: skip
    folder = expect(tmp_path, pooling(x, **attributes))
    (allowed,) = np.load(folder / "allowed" / "output.npy").ravel()
    assert 32 <= allowed <= 320


def test_what_passes_beside_the_values(tmp_path: Path) -> None:
    """The result of a device that flushes subnormal numbers, and the elements of which nobody promises the value."""
    tiny = float(np.float32(1e-40))
    desc = dml.desc.ElementWiseDivide(a=TRIPLE, b=TRIPLE)
    one = {"initialValuesDataType": "FLOAT32", "initialValues": [1.0, tiny, 4.0]}
    two = {"initialValuesDataType": "FLOAT32", "initialValues": [2.0, tiny, 1.0]}
    command_ = {
        "type": "dispatch",
        "dispatchable": "d",
        "bindings": {"ATensor": "a", "BTensor": "b", "OutputTensor": "out"},
    }
    found = whole({"a": one, "b": two, "out": zeros(3)}, {"d": desc.to_dict()}, command_)
    folder = expect(tmp_path, found)
    (output,) = manifest(folder)["outputs"]
    assert values(folder) == [0.5, 1, 4]
    assert np.isnan(np.load(folder / output["flushed"]["file"])).tolist() == [False, True, False]
    assert np.load(folder / output["flushed"]["allowed"]).shape == (3,)
    integers = dml.TensorDesc("INT32", (3,))
    desc = dml.desc.ElementWiseDivide(a=integers, b=integers)
    given = [{"initialValuesDataType": "INT32", "initialValues": x} for x in ([1, 6, 5], [0, 2, 0], [0, 0, 0])]
    found = whole(dict(zip(("a", "b", "out"), given, strict=True)), {"d": desc.to_dict()}, command_)
    (tmp_path / "two").mkdir()
    folder = expect(tmp_path / "two", found)
    (output,) = manifest(folder)["outputs"]
    assert output["accuracy"] == "exact" and "flushed" not in output
    ((id_, file),) = [(one["id"], one["file"]) for one in output["not_judged"]]
    assert id_.startswith("ELEMENT_WISE_DIVIDE-") and np.load(folder / file).tolist() == [1, 0, 1]


# Several dispatches


def test_the_last_dispatch_counts(tmp_path: Path) -> None:
    found = whole(
        {"a": FLOATS, "b": {**FLOATS, "initialValues": [4, 5, 6]}, "out": zeros(5)},
        {"one": pad(3, 1, 1), "two": pad(3, 2, 0)},
        dispatch("one", "a", "out"),
        dispatch("two", "b", "out"),
    )
    folder = expect(tmp_path, found)
    (output,) = manifest(folder)["outputs"]
    assert output["dispatchable"] == "two" and values(folder) == [9, 9, 4, 5, 6]
    assert output["inputs"]["InputTensor"]["resource"] == "b"
    assert [path.name for path in (folder / "inputs").iterdir()] == ["b.npy"]


def test_one_resource_with_two_views(tmp_path: Path) -> None:
    found = whole(
        {"a": FLOATS, "out": zeros(10)},
        {"one": pad(3, 1, 1), "two": pad(3, 2, 0)},
        dispatch("one", "a", "out"),
        dispatch("two", "a", at("out", 5)),
    )
    folder = expect(tmp_path, found)
    outputs = manifest(folder)["outputs"]
    assert [(one["file"], one["dispatchable"]) for one in outputs] == [("out.npy", "one"), ("out-2.npy", "two")]
    assert [one["buffer"]["offset_in_bytes"] for one in outputs] == [0, 20]
    assert values(folder) == [9, 1, 2, 3, 9] and values(folder, "out-2.npy") == [9, 9, 1, 2, 3]
    assert outputs[0]["inputs"] == outputs[1]["inputs"]


def test_of_a_view_that_was_written_over_in_part_the_rest_counts(tmp_path: Path) -> None:
    found = whole(
        {"a": FLOATS, "out": zeros(9)},
        {"one": pad(3, 1, 1), "two": pad(3, 2, 0)},
        dispatch("one", "a", "out"),
        dispatch("two", "a", at("out", 4)),
    )
    folder = expect(tmp_path, found)
    one, two = manifest(folder)["outputs"]
    assert (one["dispatchable"], two["dispatchable"]) == ("one", "two")
    assert values(folder, two["file"]) == [9, 9, 1, 2, 3] and "standing" not in two
    assert np.load(folder / one["standing"]).tolist() == [1, 1, 1, 1, 0]


def test_views_that_interleave_both_count(tmp_path: Path) -> None:
    found = whole(
        {"a": FLOATS, "out": zeros(10)},
        {"one": pad(3, 1, 1, Strides=[2]), "two": pad(3, 2, 0, Strides=[2])},
        dispatch("one", "a", "out"),
        dispatch("two", "a", at("out", 1)),
    )
    folder = expect(tmp_path, found)
    assert values(folder) == [9, 1, 2, 3, 9] and values(folder, "out-2.npy") == [9, 9, 1, 2, 3]


def test_inputs_are_saved_as_they_were(tmp_path: Path) -> None:
    """The input of the first dispatch is overwritten by the second one."""
    found = whole(
        {"a": zeros(5), "b": FLOATS, "out": zeros(6)},
        {"one": pad(5, 1, 0), "two": pad(3, 1, 1)},
        dispatch("one", "a", "out"),
        dispatch("two", "b", "a"),
    )
    folder = expect(tmp_path, found)
    outputs = {one["resource"]: one for one in manifest(folder)["outputs"]}
    assert values(folder, outputs["out"]["inputs"]["InputTensor"]["file"]) == [0, 0, 0, 0, 0]
    assert values(folder, "out.npy") == [9, 0, 0, 0, 0, 0] and values(folder, "a.npy") == [9, 1, 2, 3, 9]
    assert outputs["out"]["inputs"]["InputTensor"]["computed_by"] is None


def test_inputs_that_were_computed_say_so(tmp_path: Path) -> None:
    found = whole(
        {"a": FLOATS, "b": zeros(5), "out": zeros(3), "copy": zeros(3)},
        {"one": pad(3, 1, 1), "two": pad(2, 1, 0)},
        dispatch("one", "a", "b"),
        dispatch("two", at("b", 3), "out"),
        dispatch("two", "a", "copy"),
    )
    folder = expect(tmp_path, found)
    outputs = {one["resource"]: one for one in manifest(folder)["outputs"]}
    assert outputs["out"]["inputs"]["InputTensor"]["computed_by"] == "one"
    assert outputs["copy"]["inputs"]["InputTensor"]["computed_by"] is None
    assert values(folder) == [9, 3, 9]


def test_the_same_input_is_saved_once_until_it_changes(tmp_path: Path) -> None:
    found = whole(
        {"a": FLOATS, "b": zeros(5), "c": zeros(5), "d": zeros(5), "z": zeros(1)},
        {"one": pad(3, 1, 1), "set": pad(1, 0, 0)},
        dispatch("one", "a", "b"),
        dispatch("one", "a", "c"),
        dispatch("set", "z", "a"),
        dispatch("one", "a", "d"),
    )
    folder = expect(tmp_path, found)
    outputs = {one["resource"]: one["inputs"]["InputTensor"]["file"] for one in manifest(folder)["outputs"]}
    assert outputs["b"] == outputs["c"] == "inputs/a.npy"
    assert outputs["d"] == "inputs/a-2.npy"
    assert values(folder, "inputs/a.npy") == [1, 2, 3] and values(folder, "inputs/a-2.npy") == [0, 2, 3]


def test_an_input_bound_at_initialisation(tmp_path: Path) -> None:
    one = pad(3, 1, 1)
    one["desc"]["InputTensor"]["Flags"] = "OWNED_BY_DML"
    one["bindings"] = {"InputTensor": "a"}
    command_ = {"type": "dispatch", "dispatchable": "one", "bindings": {"OutputTensor": "out"}}
    folder = expect(tmp_path, whole({"a": FLOATS, "out": zeros(5)}, {"one": one}, command_))
    assert values(folder, "inputs/a.npy") == [1, 2, 3]


def test_values_are_those_after_the_last_command(tmp_path: Path) -> None:
    """Printing and writing files in between changes nothing."""
    found = whole({"a": FLOATS, "out": zeros(5)}, {"one": pad(3, 1, 1)}, dispatch("one", "a", "out"))
    found["commands"] += [
        {"type": "print", "resource": "out"},
        {"type": "writeFile", "resource": "out", "targetPath": "o.bin"},
    ]
    done = command("run", write_model(tmp_path, found), "--expect", tmp_path / "e", "--output-path", tmp_path / "w")
    assert done.status == 0 and done.out.endswith(f"Expected values written to '{tmp_path / 'e'}'\n")
    assert (tmp_path / "w" / "o.bin").read_bytes() == np.array(values(tmp_path / "e"), "f4").tobytes()


def test_iterations_and_level(tmp_path: Path) -> None:
    found = whole({"a": FLOATS, "out": zeros(5)}, {"one": pad(3, 1, 1)}, dispatch("one", "a", "out"))
    folder = expect(tmp_path, found, "--iterations", "3", "--feature-level", "5_0")
    assert manifest(folder)["feature_level"] == "5_0" and values(folder) == [9, 1, 2, 3, 9]


# Names


@given(
    st.lists(st.one_of(st.text(max_size=8), st.sampled_from(["con", "NUL.x", "a", "A", "a-2", ".", "..", "x" * 300])))
)
def test_names_are_safe_and_distinct(names: list[str]) -> None:
    taken: set[str] = set()
    found = [distinct(name, taken) for name in names]
    assert len({name.lower() for name in found}) == len(names)
    for name in found:
        assert name.isascii() and not name.startswith(".") and not name.endswith(".")
        assert 0 < len(name) < 120 and not set(name) & set('/\\:*?"<>| \0\n')
        assert name.split(".")[0].lower() not in ("con", "nul", "aux", "prn", "com1", "lpt9")


def test_names_of_resources_become_names_of_files(tmp_path: Path) -> None:
    names = ["../up", "a/b", "A/B", "con", "\x1b[31m", "."]
    found = whole(
        {"a": FLOATS, **{name: zeros(5) for name in names}},
        {"one\n": pad(3, 1, 1)},
        *(dispatch("one\n", "a", name) for name in names),
    )
    folder = expect(tmp_path, found)
    outputs = manifest(folder)["outputs"]
    assert [one["resource"] for one in outputs] == names
    assert [one["file"] for one in outputs] == ["_up.npy", "a_b.npy", "A_B-2.npy", "_con.npy", "_31m.npy", "_.npy"]
    assert all(values(folder, one["file"]) == [9, 1, 2, 3, 9] for one in outputs)
    assert {path.name for path in tmp_path.iterdir()} == {"m.json", "expected"}


def test_several_models_have_a_folder_each(tmp_path: Path) -> None:
    found = whole({"a": FLOATS, "out": zeros(5)}, {"one": pad(3, 1, 1)}, dispatch("one", "a", "out"))
    (tmp_path / "other").mkdir()
    paths = [write_model(tmp_path, found, "m.json"), write_model(tmp_path / "other", found, "M.json")]
    done = command("run", *paths, "--expect", tmp_path / "e")
    assert done.status == 0
    assert sorted(path.name for path in (tmp_path / "e").iterdir()) == ["M-2", "m"]
    assert values(tmp_path / "e" / "m") == values(tmp_path / "e" / "M-2") == [9, 1, 2, 3, 9]


# Files in the way


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    found = whole({"a": FLOATS, "out": zeros(5)}, {"one": pad(3, 1, 1)}, dispatch("one", "a", "out"))
    return write_model(tmp_path, found)


def refused(model_: Path, folder: Path, identifier: str = "DML-MODEL-write") -> str:
    done = command("run", model_, "--expect", folder)
    assert done.status == (2 if identifier == "DML-MODEL-write" else 1)
    assert f"[{identifier}]" in done.err
    return done.err


def test_an_earlier_run_is_replaced(simple: Path, tmp_path: Path) -> None:
    assert command("run", simple, "--expect", tmp_path / "e").status == 0
    (tmp_path / "e" / "notes.txt").write_text("mine")
    found = whole(
        {"a": {**FLOATS, "initialValues": [7, 8, 9]}, "out": zeros(5)},
        {"one": pad(3, 1, 1)},
        dispatch("one", "a", "out"),
    )
    folder = tmp_path / "e"
    assert command("run", write_model(tmp_path, found), "--expect", folder).status == 0
    assert values(folder) == [9, 7, 8, 9, 9] and (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["out.npy", "inputs/a.npy", "manifest.json"])
def test_files_of_others_stay(simple: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "e"
    (folder / "inputs").mkdir(parents=True)
    (folder / name).write_text('{"format": "another"}')
    assert "no valid manifest of dmlcy lists it" in refused(simple, folder)
    assert [path for path in folder.rglob("*") if path.is_file()] == [folder / name]
    assert (folder / name).read_text() == '{"format": "another"}'


def test_files_of_an_earlier_run_go(tmp_path: Path) -> None:
    """The files that the manifest lists and the new run does not write, each of them named."""
    folder = tmp_path / "e"
    dispatches = (dispatch("one", "a", "out"), dispatch("one", "b", "more"))
    found = whole({"a": FLOATS, "b": FLOATS, "out": zeros(5), "more": zeros(5)}, {"one": pad(3, 1, 1)}, *dispatches)
    assert command("run", write_model(tmp_path, found), "--expect", folder).status == 0
    assert (folder / "more.npy").exists() and (folder / "inputs" / "b.npy").exists()
    (folder / "mine.npy").touch()
    found = whole({"a": FLOATS, "out": zeros(5)}, {"one": pad(3, 1, 1)}, dispatch("one", "a", "out"))
    done = command("run", write_model(tmp_path, found), "--expect", folder)
    assert done.status == 0
    removed = [f"Removed '{folder / name}', which the earlier manifest lists" for name in ("inputs/b.npy", "more.npy")]
    assert done.out.splitlines()[-3:-1] == removed
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert left == {"manifest.json", "mine.npy", "out.npy", "inputs/a.npy"}
    again = command("run", write_model(tmp_path, found), "--expect", folder)
    assert again.status == 0 and "Removed" not in again.out


@pytest.mark.parametrize(
    "file", ["../outside.npy", "/absolute.npy", "inputs", ".", "", "nul\0", "data.csv", "sub/data.csv", "a\\..\\b.npy"]
)
def test_a_manifest_that_lists_other_files_is_not_valid(simple: Path, tmp_path: Path, file: str) -> None:
    """Nothing that it lists is removed or replaced."""
    folder = tmp_path / "e"
    assert command("run", simple, "--expect", folder).status == 0
    stated = json.loads((folder / "manifest.json").read_text())
    stated["outputs"].append({**stated["outputs"][0], "file": file.replace("/absolute", f"{tmp_path}/absolute")})
    (folder / "sub").mkdir()
    others = [tmp_path / "outside.npy", tmp_path / "absolute.npy", folder / "data.csv", folder / "sub" / "data.csv"]
    for path in (*others, folder / "b.npy", folder / "manifest.json"):
        path.write_text(json.dumps(stated))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "no valid manifest of dmlcy lists it" in refused(simple, folder)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_files_under_any_key_are_not_listed(simple: Path, tmp_path: Path) -> None:
    folder = tmp_path / "e"
    (folder / "sub").mkdir(parents=True)
    names = ("README.md", "sub/data.csv", "sub/data.npy")
    for name in names:
        (folder / name).write_text("mine")
    stated = {"format": "dmlcy-expected", "x": [{"file": name} for name in names]}
    (folder / "manifest.json").write_text(json.dumps(stated))
    done = command("run", simple, "--expect", folder)
    assert done.status == 0 and "Removed" not in done.out
    assert [(folder / name).read_text() for name in names] == ["mine"] * 3


@pytest.mark.parametrize("text", ["", "[" * 100, '{"format": "dmlcy-expected"}', '"x"', "[1]", "\xff"])
def test_damaged_manifests(simple: Path, tmp_path: Path, text: str) -> None:
    """A damaged manifest of expected values is replaced; any other file stays."""
    folder = tmp_path / "e"
    folder.mkdir()
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    if "dmlcy-expected" in text:
        assert command("run", simple, "--expect", folder).status == 0
    else:
        refused(simple, folder)
        assert (folder / "manifest.json").read_text(encoding="latin-1") == text


def test_a_file_in_place_of_the_folder(simple: Path, tmp_path: Path) -> None:
    (tmp_path / "e").write_text("mine")
    refused(simple, tmp_path / "e")
    assert (tmp_path / "e").read_text() == "mine"


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_no_link_is_followed(simple: Path, tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "e" / "inputs").symlink_to(tmp_path / "outside", target_is_directory=True)
    assert "a link leads out" in refused(simple, tmp_path / "e")
    assert list((tmp_path / "outside").iterdir()) == []
    (tmp_path / "e" / "inputs").unlink()
    (tmp_path / "e" / "out.npy").symlink_to(tmp_path / "nowhere")
    assert "no valid manifest of dmlcy lists it" in refused(simple, tmp_path / "e")


def test_a_model_that_fails_writes_nothing(tmp_path: Path) -> None:
    found = whole({"a": FLOATS, "out": zeros(4)}, {"one": pad(3, 1, 1)}, dispatch("one", "a", "out"))
    done = command("run", write_model(tmp_path, found), "--expect", tmp_path / "e")
    assert done.status == 1 and "DML-MODEL-buffer-size" in done.err
    assert not (tmp_path / "e").exists()


def test_a_model_without_dispatch(tmp_path: Path) -> None:
    path = write_model(tmp_path, whole({"a": FLOATS}, {}))
    assert ": $.commands: There is no output" in refused(path, tmp_path / "e", "DML-MODEL-no-output")
    assert not (tmp_path / "e").exists()


def test_the_manifest_has_no_absolute_path(simple: Path, tmp_path: Path) -> None:
    assert command("run", simple, "--expect", tmp_path / "e").status == 0
    text = (tmp_path / "e" / "manifest.json").read_text()
    assert str(tmp_path) not in text and json.loads(text)["model"] == "m.json"


def test_standard_input(tmp_path: Path) -> None:
    operator, example = EXAMPLES[0]
    path = write_model(tmp_path, model(operator, example))
    with path.open() as stream:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "dmlcy", "run", "-", str(path), "--expect", str(tmp_path / "e")],
            stdin=stream, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "e").iterdir()) == ["m", "stdin"]
    assert manifest(tmp_path / "e" / "stdin")["model"] == "<stdin>"
