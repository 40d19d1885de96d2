"""dmlcy export: models of a desc that run, and what is said of a desc or of a file that is wrong."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import of_each_family
from exchange import Array, cases, command
from hypothesis import given
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy._facts.tables import DTYPES, LEVELS, RUNNABLE
from dmlcy._field_types.tensor_desc import described as tensors_of
from dmlcy._frontends.dxdispatch.npy import NpyError, read_header

RUN = [operator for operator in RUNNABLE.values() if operator.examples]
FLOATS = ["FLOAT16", "FLOAT32"]
TYPES = [dtype.name for dtype in DTYPES.values() if dtype.numpy]
X = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)


def described(desc: dml.desc.OperatorDesc) -> dict[str, Any]:
    """The desc in JSON without what may be left out."""
    found = desc.to_dict()
    for name, member in found["desc"].items():
        if isinstance(member, dict) and "Sizes" in member:
            found["desc"][name] = {key: value for key, value in member.items() if value is not None}
    return found


def pooling(**more: Any) -> dict[str, Any]:
    return described(dml.desc.AveragePooling(input=dml.TensorDesc.from_array(X), window_size=2, **more))


def regions(count: int = 2) -> dict[str, Any]:
    roi = dml.TensorDesc("FLOAT32", (1, 1, count, 5))
    image = dml.TensorDesc.from_array(X)
    return described(dml.desc.RoiPooling(input=image, roi=roi, spatial_scale=0.5, pooled_size=(2, 1)))


def write(folder: Path, desc: Any) -> Path:
    path = folder / "desc.json"
    path.write_text(desc if isinstance(desc, str) else json.dumps(desc), encoding="utf-8")
    return path


def saved(folder: Path, name: str, array: Any) -> Path:
    np.save(folder / name, array)
    return folder / name


def export(folder: Path, desc: Any, *options: object) -> Path:
    """The folder of the model, which runs."""
    done = command("export", write(folder, desc), "--output", folder / "model", *options)
    assert done.status == 0, done.err
    path = folder / "model" / "model.json"
    assert done.out == f"Model written to '{path}'\n"
    done = command("run", path, "--output-path", folder / "outputs")
    assert (done.status, done.err) == (0, "")
    return folder / "model"


def refused(folder: Path, desc: Any, status: int, *options: object) -> str:
    """The message about a wrong desc or wrong options, after which nothing is written."""
    done = command("export", write(folder, desc), "--output", folder / "model", *options)
    assert (done.status, done.out) == (status, "")
    assert not (folder / "model").exists()
    return done.err


# Models that run


@st.composite
def laid_out(draw: st.DrawFn, dtype: str, sizes: tuple[int, ...], written: bool) -> dml.TensorDesc:
    """A tensor desc of any layout: gaps, other orders, repeated elements where it is read only, spare bytes."""
    strides = None
    if draw(st.booleans()):
        order = draw(st.permutations(range(len(sizes))))
        steps, extent = [0] * len(sizes), 1
        for axis in order:
            steps[axis] = extent * draw(st.sampled_from([1, 1, 2]))
            extent = steps[axis] * sizes[axis]
        if not written and draw(st.booleans()):
            steps[draw(st.integers(0, len(sizes) - 1))] = 0
        strides = tuple(steps)
    plain = dml.TensorDesc(dtype, sizes, strides)
    spare = draw(st.sampled_from([0, 0, 4, 64]))
    flags: Any = "NONE" if written else draw(st.sampled_from(["NONE", "OWNED_BY_DML"]))
    return dml.TensorDesc(dtype, sizes, strides, flags, plain.total_tensor_size_in_bytes + spare)


@st.composite
def descs(draw: st.DrawFn) -> dml.desc.OperatorDesc:
    """Descs of the operators that take any values."""
    n, c, h, w = draw(st.tuples(*[st.integers(1, 3)] * 2, *[st.integers(2, 4)] * 2))
    kind = draw(st.sampled_from(["pool", "unfold", "pad", "pixels"]))
    dtype = draw(st.sampled_from(FLOATS if kind == "pool" else TYPES))
    image = draw(laid_out(dtype, (n, 4 * c if kind == "pixels" else c, h, w), False))

    def make(cls: Any, **attributes: Any) -> Any:
        sizes = cls(input=image, **attributes).output.sizes
        return cls(input=image, output=draw(laid_out(dtype, sizes, True)), **attributes)

    if kind == "pool":
        found = make(dml.desc.AveragePooling, window_size=2, include_padding=draw(st.booleans()))
    elif kind == "unfold":
        found = make(dml.desc.Unfold, window_sizes=2, end_padding=1)
    elif kind == "pad":
        mode = draw(st.sampled_from(["CONSTANT", "EDGE", "WRAP"]))
        value = draw(st.sampled_from([0, 5, float("inf")] if dtype.startswith("FLOAT") else [0, 5]))
        found = make(dml.desc.Padding1, start_padding=1, end_padding=2, padding_mode=mode, padding_value=value)
    else:
        found = make(dml.desc.DepthToSpace1, block_size=2)
    return found  # type: ignore[no-any-return]


def tensor_of(desc: dml.TensorDesc, elements: Array) -> Array:
    """The tensor in the elements of a file: as they lie in memory where the desc has strides."""
    if desc.strides is None:
        assert elements.shape == desc.sizes
        return elements
    assert elements.ndim == 1
    steps = [stride * elements.itemsize for stride in desc.strides]
    return np.lib.stride_tricks.as_strided(elements, desc.sizes, steps)


@cases(120)
@given(descs(), st.integers(0, 3), st.booleans())
def test_a_model_of_any_desc_runs(desc: Any, seed: int, given_: bool) -> None:
    assert dml.check(desc) == []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options: list[object] = ["--seed", seed]
        values = np.zeros(())
        if given_ and 0 not in (desc.input.strides or (1,)):
            values = np.random.default_rng(seed).integers(0, 99, desc.input.sizes).astype(desc.input.dtype.name.lower())
            options += ["--input", f"InputTensor={saved(folder, 'x.npy', values)}"]
        model = export(folder, described(desc), *options)
        whole = json.loads((model / "model.json").read_text("utf-8"))
        ((dispatchable, body),) = whole["dispatchables"].items()
        assert dispatchable == desc.operator.python
        assert dml.desc.OperatorDesc.from_dict({**body, "desc": body["desc"]}) == desc
        x = np.array(tensor_of(desc.input, np.load(model / "input.npy")))
        if values.ndim:
            np.testing.assert_array_equal(x, values)
        else:
            assert abs(x.astype(float)).max() <= 8
        expected = dml.compile(desc)(x)
        found = tensor_of(desc.output, np.load(folder / "outputs" / "output.npy"))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", of_each_family(operator.name for operator in RUN))
def test_examples_with_their_own_inputs(tmp_path: Path, name: str) -> None:
    operator = RUNNABLE[name]
    for example in operator.examples:
        desc = getattr(dml.desc, operator.desc)(**tensors_of(example.inputs | example.outputs), **example.attributes)
        options: list[str] = []
        for name, (dtype, sizes, data) in example.inputs.items():
            array = np.array(data, dtype.lower()).reshape(sizes)
            options += ["--input", f"{name}={saved(tmp_path, f'{name}.npy', array)}"]
        export(tmp_path, described(desc), *options)
        for name, (dtype, sizes, data) in example.outputs.items():
            found = np.load(tmp_path / "outputs" / f"{name.replace('[', '_').removesuffix(']')}.npy")
            np.testing.assert_allclose(found, np.array(data, dtype.lower()).reshape(sizes), rtol=1e-6)


def test_made_values_for_an_array_of_tensors(tmp_path: Path) -> None:
    parts = tuple(dml.TensorDesc("FLOAT32", (2, size)) for size in (1, 3))
    model = export(tmp_path, described(dml.desc.Join(inputs=parts, axis=1)))
    joined = np.concatenate([np.load(model / f"inputs_{number}.npy") for number in range(2)], axis=1)
    np.testing.assert_array_equal(np.load(tmp_path / "outputs" / "output.npy"), joined)


def test_values_are_reproducible(tmp_path: Path) -> None:
    def values(*options: object) -> Array:
        found: Array = np.load(export(tmp_path, pooling(), *options) / "input.npy")
        return found

    first = values()
    np.testing.assert_array_equal(first, values("--seed", 0))
    assert (first != values("--seed", 1)).any()
    assert len(np.unique(first)) > 4


@pytest.mark.parametrize("dtype", TYPES)
def test_values_fit_the_data_type(tmp_path: Path, dtype: str) -> None:
    tensor = dml.TensorDesc(dtype, (64,))
    desc = dml.desc.Padding1(input=tensor, start_padding=1, end_padding=1)
    found = np.load(export(tmp_path, described(desc)) / "input.npy")
    assert found.dtype == dtype.lower()
    assert found.max() == 8 and found.min() == (0 if dtype.startswith("U") else -8)


def test_a_desc_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(pooling()).encode())))
    assert command("export", "-", "--output", tmp_path / "model").status == 0
    assert sorted(os.listdir(tmp_path / "model")) == ["input.npy", "model.json"]


def test_short_names(tmp_path: Path) -> None:
    desc = pooling()
    desc["type"] = "AVERAGE_POOLING"
    desc["desc"]["InputTensor"] = {"DataType": "FLOAT32", "Sizes": [1, 2, 4, 4]}
    export(tmp_path, desc)


# Descs that no stock DxDispatch knows


def test_what_no_stock_dxdispatch_knows(tmp_path: Path) -> None:
    (unknown,) = [level.name for level in LEVELS if not level.dxdispatch]
    tensor = dml.TensorDesc("FLOAT32", (1, 1, 4, 4))
    for desc, why in (
        (dml.desc.Unfold(input=tensor, window_sizes=2), "UNFOLD"),
        (dml.desc.Padding1(input=tensor, start_padding=1, end_padding=1, padding_mode="WRAP"), "padding_mode WRAP"),
        (dml.desc.Padding1(input=tensor, start_padding=1, end_padding=1, padding_mode="EDGE"), ""),
    ):
        done = command("export", write(tmp_path, described(desc)), "--output", tmp_path / "model")
        assert done.status == 0
        wanted = f"warning: no stock DxDispatch knows feature level {unknown}, which {why} needs\n" if why else ""
        assert done.err == wanted


# Descs that are wrong


def test_all_violations_with_their_places(tmp_path: Path) -> None:
    desc = pooling()
    desc["desc"]["WindowSize"] = [9, -1]
    desc["desc"]["InputTensor"]["DataType"] = "FLOAT23"
    del desc["desc"]["Strides"]
    path = tmp_path / "desc.json"
    text = json.dumps(desc, indent=1)
    error = refused(tmp_path, text, 1)
    lines = text.splitlines()
    for identifier, place, word in (
        ("window_size-range", "$.desc.WindowSize[1]", "-1"),
        ("input-dtype", "$.desc.InputTensor.DataType", "FLOAT23"),
        ("strides-required", "$.desc", '"desc"'),
    ):
        (found,) = [line for line in error.splitlines() if f"DML-AVERAGE_POOLING-{identifier}" in line]
        number = next(n for n, line in enumerate(lines, 1) if word in line)
        assert found.startswith(f"{path}:{number}:")
        assert f" {place}: " in found


@pytest.mark.parametrize(
    ("text", "identifier", "status"),
    [
        ("", "DML-MODEL-kind", 2),
        ('{"type": "UNFOLD", "desc": ', "DML-MODEL-json", 2),
        ("[" * 10_000_000, "DML-MODEL-json", 2),
        ("3", "DML-MODEL-type", 1),
        ("[]", "DML-MODEL-type", 1),
        ("{}", "DML-MODEL-missing", 1),
        ('{"type": "UNFOLD"}', "DML-MODEL-missing", 1),
        ('{"desc": {}}', "DML-MODEL-missing", 1),
        ('{"type": 3, "desc": {}}', "DML-MODEL-type", 1),
        ('{"type": "UNFOLD", "desc": 3}', "DML-MODEL-type", 1),
        ('{"type": "UNFOLDED", "desc": {}}', "DML-MODEL-operator-unknown", 1),
        ('{"type": "\\u001b[31m", "desc": {"\\u001b[31m": 1}}', "DML-MODEL-operator-unknown", 1),
        ('{"type": "UNFOLD", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [1e99]}}}', "input-type", 1),
        ('{"resources": {}, "dispatchables": {}, "commands": []}', "DML-MODEL-missing", 1),
    ],
)
def test_files_that_are_no_desc(tmp_path: Path, text: str, identifier: str, status: int) -> None:
    assert identifier in refused(tmp_path, text, status)


def test_members_that_nobody_reads(tmp_path: Path) -> None:
    desc = pooling() | {"bogus": 1}
    desc["desc"]["Bogus"] = 2
    desc["desc"]["InputTensor"]["bogus"] = 3
    done = command("export", write(tmp_path, desc), "--output", tmp_path / "model")
    assert done.status == 0
    assert done.err.count("DML-MODEL-unknown") == 3
    assert "bogus" not in (tmp_path / "model" / "model.json").read_text("utf-8").lower()


def test_a_desc_that_no_machine_holds(tmp_path: Path) -> None:
    desc = pooling()
    desc["desc"]["InputTensor"]["TotalTensorSizeInBytes"] = 2**63
    assert refused(tmp_path, desc, 2) == "dmlcy: there is not enough memory\n"


def test_a_desc_that_cannot_be_read(tmp_path: Path) -> None:
    for name in ("nowhere.json", ".", "nul\0"):
        done = command("export", tmp_path / name, "--output", tmp_path / "model")
        assert (done.status, done.out) == (2, "") and "DML-MODEL-file" in done.err


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    done = command("export", write(tmp_path, pooling()), "--output", tmp_path / "file")
    assert (done.status, done.out) == (2, "") and "DML-MODEL-write" in done.err
    assert (tmp_path / "file").read_text() == "here"


# Inputs


def test_made_values_that_are_refused(tmp_path: Path) -> None:
    error = refused(tmp_path, regions(), 1)
    assert "DML-ROI_POOLING-roi-" in error and len(error.splitlines()) == 1
    assert "pass values for roi with --input roi=FILE.npy" in error
    good = np.array([[[[0, 0, 0, 7, 7], [0, 2, 2, 4, 4]]]], np.float32)
    model = export(tmp_path, regions(), "--input", f"roi={saved(tmp_path, 'roi.npy', good)}")
    np.testing.assert_array_equal(np.load(model / "roi.npy"), good)


def test_given_values_that_are_refused(tmp_path: Path) -> None:
    bad = saved(tmp_path, "roi.npy", np.full((1, 1, 2, 5), 7, np.float32))
    error = refused(tmp_path, regions(), 1, "--input", f"roi={bad}")
    assert error.count("DML-ROI_POOLING-roi-batch") == 2
    assert "--input" not in error


def test_arrays_of_another_type_or_size(tmp_path: Path) -> None:
    x = saved(tmp_path, "x.npy", X.astype(np.float64)[..., :3])
    error = refused(tmp_path, pooling(), 1, "--input", f"InputTensor={x}")
    assert "DML-AVERAGE_POOLING-input-same-dtype" in error
    assert "DML-AVERAGE_POOLING-input-sizes" in error
    assert error.count("x.npy': ") == 2


def test_a_flat_array(tmp_path: Path) -> None:
    model = export(tmp_path, pooling(), "--input", f"input={saved(tmp_path, 'x.npy', X.ravel())}")
    np.testing.assert_array_equal(np.load(model / "input.npy"), X)
    x = saved(tmp_path, "x.npy", X.ravel()[1:])
    (tmp_path / "other").mkdir()
    assert "DML-AVERAGE_POOLING-input-" in refused(tmp_path / "other", pooling(), 1, "--input", f"input={x}")


def test_a_whole_model_in_place_of_a_desc(tmp_path: Path) -> None:
    model = export(tmp_path, pooling())
    error = refused(tmp_path / "model", (model / "model.json").read_text("utf-8"), 1)
    assert "The file has a whole model: put one of its dispatchables" in error and "[DML-MODEL-missing]" in error


def test_the_help_says_that_made_values_may_be_refused() -> None:
    text = " ".join(command("export", "--help").out.split())
    assert "If the operator refuses these" in text and "give the input" in text


def test_arrays_of_any_layout_and_byte_order(tmp_path: Path) -> None:
    for array in (np.asfortranarray(X), X.astype(">f4")):
        model = export(tmp_path, pooling(), "--input", f"input={saved(tmp_path, 'x.npy', array)}")
        np.testing.assert_array_equal(np.load(model / "input.npy"), X)


def test_values_that_the_strides_put_in_one_place(tmp_path: Path) -> None:
    tensor = dml.TensorDesc("FLOAT32", (1, 2, 4, 4), strides=(16, 0, 4, 1))
    desc = described(dml.desc.AveragePooling(input=tensor, window_size=2))
    error = refused(tmp_path, desc, 1, "--input", f"input={saved(tmp_path, 'x.npy', X)}")
    assert "DML-MODEL-one-place" in error
    same = np.repeat(X[:, :1], 2, axis=1)
    same[0, :, 0, 0] = np.nan
    model = export(tmp_path, desc, "--input", f"input={saved(tmp_path, 'x.npy', same)}")
    np.testing.assert_array_equal(np.load(model / "input.npy"), same[0, 0].ravel())


@pytest.mark.parametrize(
    ("content", "identifier", "status"),
    [
        (None, "DML-MODEL-source", 2),
        (b"", "DML-MODEL-npy", 2),
        (b"\x93NUMPY\x01\x00\x0a\x00{", "DML-MODEL-npy", 2),
        (b"\x1b[31m" * 99, "DML-MODEL-npy", 2),
        (np.array([{}], object), "DML-MODEL-npy-type", 1),
        (np.ones(3, bool), "DML-MODEL-npy-type", 1),
        (np.ones(3, complex), "DML-MODEL-npy-type", 1),
        (np.float32(1), "DML-AVERAGE_POOLING-input-", 1),
        (np.ones(0, np.float32), "DML-AVERAGE_POOLING-input-sizes", 1),
    ],
)
def test_files_that_are_no_input(tmp_path: Path, content: Any, identifier: str, status: int) -> None:
    if isinstance(content, bytes):
        (tmp_path / "x.npy").write_bytes(content)
    elif content is not None:
        np.save(tmp_path / "x.npy", content, allow_pickle=True)
    assert identifier in refused(tmp_path, pooling(), status, "--input", f"input={tmp_path / 'x.npy'}")


def test_a_truncated_input(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.npy", X)
    path.write_bytes(path.read_bytes()[:-1])
    assert "DML-MODEL-npy" in refused(tmp_path, pooling(), 2, "--input", f"input={path}")


def test_usage(tmp_path: Path) -> None:
    x = saved(tmp_path, "x.npy", X)
    for options, words in (
        (["--input", f"inptu={x}"], "no input inptu"),
        (["--input", f"\x1b[31m={x}"], "no input"),
        (["--input", f"OutputTensor={x}"], "no input OutputTensor"),
        (["--input", f"window_size={x}"], "no input window_size"),
        (["--input", f"input={x}", "--input", f"InputTensor={x}"], "two files"),
        (["--input", "input"], "NAME=FILE.npy"),
        (["--input", "=x.npy"], "NAME=FILE.npy"),
        (["--input", "input="], "NAME=FILE.npy"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "x"], "--seed"),
    ):
        assert words in refused(tmp_path, pooling(), 2, *options)
    assert command("export", write(tmp_path, pooling())).status == 2


def test_a_header_with_a_bool_for_a_size(tmp_path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (True, 2), }".ljust(117) + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8))
    with (tmp_path / "x.npy").open("rb") as stream, pytest.raises(NpyError, match="not a NumPy header"):
        read_header(stream)
