"""Models with expected values, and a device that answers for them."""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import draws_of, first_of_each
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._cli.compare_text import WORDS
from dmlcy._cli.example import model
from dmlcy._facts.rows import Example, Operator
from dmlcy._facts.tables import DTYPES, RUNNABLE
from dmlcy._families import window_of

sys.path.insert(0, str(Path(__file__).parents[1] / "operators"))
from reference.window_reduce import average_pooling

Array = np.ndarray[Any, Any]

EXAMPLES = [(operator, example) for operator in RUNNABLE.values() for example in operator.examples]
PLAIN = [
    (operator, example)
    for operator, example in EXAMPLES
    if example.inputs and not any("[" in name for name in (*example.inputs, *example.outputs))
]
"""Examples of which all tensors are fields, and that have an input."""
each_example = pytest.mark.parametrize(("operator", "example"), first_of_each(EXAMPLES, lambda operator: operator.name))


def cases(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=os.environ.get("CI", "").lower() in ("1", "true"),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


def examples(few: int, many: int, *strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like ``given`` with ``cases``: few by default, and many with ``-m deep``."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @draws_of(few, many)
        def run(tmp_path_factory: pytest.TempPathFactory, draws: int) -> None:
            decorated: Any = given(*strategies)
            cases(draws)(decorated(test))(tmp_path_factory)

        run.__doc__ = test.__doc__
        return run

    return decorate


@dataclass(frozen=True)
class Done:
    """The output of a command, and its exit status."""

    status: int
    out: str
    err: str


def command(*arguments: object, run: Callable[[list[str]], int] = main) -> Done:
    """Run a command in this process. Nothing that it says may reach the terminal raw."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = run([str(argument) for argument in arguments])
        except SystemExit as exit_:
            status = int(exit_.code or 0)
    done = Done(status, out.getvalue(), err.getvalue())
    for text in (done.out, done.err):
        assert all(character.isprintable() or character == "\n" for character in text), repr(text)
    assert "Traceback" not in done.err
    return done


def write_model(folder: Path, whole: Any, name: str = "m.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def expect(folder: Path, whole: Any, *options: str) -> Path:
    """The folder of expected values of a model. The files that the model itself writes go to ``device``, unless an
    option names another folder.
    """
    folder.mkdir(exist_ok=True)
    given = options if "--output-path" in options else ("--output-path", str(folder / "device"), *options)
    done = command("run", write_model(folder, whole), "--expect", folder / "expected", *given)
    assert done.status == 0, done.err
    return folder / "expected"


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return found


def compare(expected: Path, actual: Path, *options: object) -> tuple[Done, dict[str, Any]]:
    """The report, which the two formats agree on."""
    done = command("compare", expected, actual, "--format", "json", *options)
    text = command("compare", expected, actual, *options)
    assert text.status == done.status and text.err == done.err
    report = json.loads(done.out) if done.out else {}
    if report:
        verdicts = {output["status"] for output in report["outputs"]}
        assert report["passed"] == (verdicts == {"passed"})
        right = {"passed"} if "--strict" in options else {"passed", "suspect", "not judged"}
        assert (done.status == 0) == (verdicts <= right)
        words = [word for line in text.out.splitlines() for word in {*WORDS.values()} if line.startswith(f"{word}  ")]
        wanted = [WORDS[one["status"]] for one in report["outputs"]]
        assert words == wanted
    return done, report


def unjudged(expected: Path, output: dict[str, Any]) -> Array:
    """The elements of an output of a manifest that are not judged."""
    found = np.zeros(output["sizes"], bool)
    for one in output.get("not_judged", []):
        found |= np.load(expected / one["file"]) != 0
    if output["accuracy"] != "exact":
        (name,) = {"allowed", "tolerance"} & {*output["accuracy"]}
        found |= ~np.isfinite(np.load(expected / output["accuracy"][name]))
    return found


def pooling(x: Array, **attributes: Any) -> dict[str, Any]:
    """A model with one AVERAGE_POOLING of 2 spatial axes, its input in x.npy."""
    operator = RUNNABLE["AVERAGE_POOLING"]
    dtype = next(d.name for d in DTYPES.values() if d.numpy == x.dtype.name)
    example = operator.examples[0]
    average = average_pooling(x, **attributes)
    example = replace(
        example,
        inputs={"input": (dtype, x.shape, None)},
        attributes=attributes,
        outputs={"output": (dtype, average.total.shape, None)},
    )
    found = model(operator, replace(example, inputs={"input": (dtype, x.shape, [0])}))
    found["resources"]["input"] = {"initialValues": {"sourcePath": "x.npy"}}
    return found


def copied(expected: Path, to: Path) -> Path:
    """A folder of actual values that are the expected ones."""
    shutil.copytree(expected, to)
    (to / "manifest.json").unlink()
    return to


def one_output(report: dict[str, Any]) -> dict[str, Any]:
    (output,) = report["outputs"]
    return dict(output)


def unwrapped(text: str) -> list[str]:
    """The lines of a report, each joined with the lines that continue it."""
    assert all(len(line) <= 100 or len(line.split()) < 4 or "/" in line for line in text.splitlines()), text
    return re.sub(r"\n {4}(?=\S)", " ", text).replace("\n  ", "\n").splitlines()


def writing(*targets: str, resource: str = "output") -> dict[str, Any]:
    """A model whose output goes to these files."""
    whole = model(*next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING"))
    whole["commands"] += [{"type": "writeFile", "resource": resource, "targetPath": target} for target in targets]
    return whole


# Models by hand


def zeros(count: int, dtype: str = "FLOAT32") -> dict[str, Any]:
    return {"initialValuesDataType": dtype, "initialValues": {"valueCount": count, "value": 0}}


def pad(size: int, start: int, end: int, **output: Any) -> dict[str, Any]:
    """A dispatchable that puts ``start`` nines before and ``end`` nines after its input."""
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [size]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [start + size + end], **output},
        "PaddingMode": "CONSTANT",
        "PaddingValueDataType": "FLOAT32",
        "PaddingValue": 9,
        "DimensionCount": 1,
        "StartPadding": [start],
        "EndPadding": [end],
    }
    return {"type": "DML_OPERATOR_PADDING1", "desc": desc}


def dispatch(name: str, source: Any, target: Any) -> dict[str, Any]:
    return {"type": "dispatch", "dispatchable": name, "bindings": {"InputTensor": source, "OutputTensor": target}}


def at(name: str, offset: int) -> dict[str, Any]:
    return {"name": name, "elementOffset": offset}


def whole(resources: dict[str, Any], dispatchables: dict[str, Any], *commands: dict[str, Any]) -> dict[str, Any]:
    return {"resources": resources, "dispatchables": dispatchables, "commands": list(commands)}


def write_file(resource: str, target: str, dimensions: list[int] | None = None) -> dict[str, Any]:
    given = {} if dimensions is None else {"dimensions": dimensions}
    return {"type": "writeFile", "resource": resource, "targetPath": target, **given}


def summed(folder: Path, x: Array, *targets: str) -> Path:
    """The expected values of a model that adds up each row of an array, and writes the sums to these files."""
    folder.mkdir(exist_ok=True)
    np.save(folder / "x.npy", x)
    tensor = dml.TensorDesc.from_array(x)
    sums = dml.TensorDesc(tensor.dtype, (*x.shape[:-1], 1))
    desc = dml.desc.Reduce(input=tensor, output=sums, function="SUM", axes=[x.ndim - 1])
    resources = {"x": {"initialValues": {"sourcePath": "x.npy"}}, "o": zeros(x.size // x.shape[-1], tensor.dtype.name)}
    writes = [write_file("o", target) for target in targets]
    return expect(folder, whole(resources, {"sum": desc.to_dict()}, dispatch("sum", "x", "o"), *writes))


# Random models


def specials(dtype: np.dtype[Any]) -> Array:
    if dtype.kind != "f":
        return np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1], dtype)
    limits = np.finfo(dtype)
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, limits.max, -limits.max, limits.smallest_subnormal, limits.tiny]
    return np.array(values).astype(dtype)


def random_values(seed: int, shape: tuple[int, ...], dtype: str, kind: str) -> Array:
    """``kind``: "ordinary", or "any" bits with special values here and there."""
    rng = np.random.default_rng(seed)
    target = np.dtype(dtype)
    if kind == "ordinary" and target.kind == "f":
        return (rng.standard_normal(shape) * 10).astype(target)
    if kind == "ordinary":
        return rng.integers(0, 100, shape).astype(target)
    values = np.frombuffer(rng.bytes(math.prod(shape) * target.itemsize), target).reshape(shape).copy()
    chosen = rng.random(shape) < 0.3
    values[chosen] = rng.choice(specials(target), int(chosen.sum()))
    return values


@dataclass(frozen=True)
class Case:
    """A model, and the files of its inputs."""

    operator: Operator = field(repr=False)
    whole: dict[str, Any]
    inputs: dict[str, Array]

    @property
    def outputs(self) -> list[str]:
        """The names of the resources that it writes."""
        return [name for name in self.whole["resources"] if name not in self.inputs]

    def expect(self, folder: Path) -> Path:
        for name, values in self.inputs.items():
            np.save(folder / f"{name}.npy", values)
        return expect(folder, self.whole)


def _typed(operator: Operator, example: Example, dtype: str, grow: int) -> Example:
    """The example with its tensors of this data type, and a longer last axis of the first input."""
    first = next(iter(example.inputs))
    own = example.inputs[first][0]

    def changed(name: str, given: tuple[str, tuple[int, ...], Any]) -> tuple[str, tuple[int, ...], Any]:
        sizes = (*given[1][:-1], given[1][-1] + grow) if name == first else given[1]
        return dtype if given[0] == own else given[0], sizes, given[2]

    inputs = {name: changed(name, given) for name, given in example.inputs.items()}
    return replace(example, inputs=inputs)


def optional_outputs(operator: Operator, typed: Example, desc: Any) -> dict[str, dml.TensorDesc]:
    """The optional outputs of an example for a desc that has none: most have the sizes of the output."""
    found = {}
    for one in operator.fields:
        if one.kind == "output" and one.optional and one.python in typed.outputs:
            dtype, sizes, _ = typed.outputs[one.python]
            if "output" in typed.outputs and sizes == typed.outputs["output"][1] and desc.output is not None:
                sizes = desc.output.sizes
            found[one.python] = dml.TensorDesc(dtype, sizes)
    return found


@st.composite
def models(draw: st.DrawFn, only_windows: bool = False, kinds: tuple[str, ...] = ("ordinary", "any")) -> Case:
    """An example with another data type, size, window, values, and layout of the output."""
    from dmlcy import desc as classes

    known = [(operator, example) for operator, example in PLAIN if window_of(operator) or not only_windows]
    operator, example = draw(st.sampled_from(known))
    fields = {one.python: one for one in operator.fields}
    first = next(iter(example.inputs))
    dtype = draw(st.sampled_from([name for row in fields[first].dtypes for name in row.dtypes]))
    typed = _typed(operator, example, dtype, draw(st.sampled_from([0, 0, 1, 3])))
    attributes: dict[str, Any] = dict(typed.attributes)
    roles = window_of(operator)
    if roles is not None and draw(st.booleans()):
        count = len(attributes[roles.window])
        sizes = st.lists(st.integers(1, 3), min_size=count, max_size=count)
        attributes[roles.window] = draw(sizes)
        attributes[roles.strides] = draw(sizes)
        attributes[roles.start] = [size - 1 for size in draw(sizes)]
        if roles.dilations:
            attributes[roles.dilations] = [min(size, 2) for size in draw(sizes)]
    given = operator.example_tensors(typed)
    tensors = {name: dml.TensorDesc(kind, sizes) for name, (kind, sizes, _) in given.items()}
    made = getattr(classes, operator.desc)
    desc = made(**tensors, **optional_outputs(operator, typed, made(**tensors, **attributes)), **attributes)
    assume(not dml.check(desc))
    outputs: dict[str, tuple[str, tuple[int, ...], object]] = {
        name: (getattr(desc, name).dtype.name, getattr(desc, name).sizes, None) for name in typed.outputs
    }
    whole = model(operator, replace(typed, attributes=attributes, outputs=outputs))
    checked = {rule.about for rule in operator.rules if rule.data}
    inputs = {}
    for name, (kind, shape, data) in typed.inputs.items():
        if name in checked:
            inputs[name] = np.array(data, DTYPES[kind].numpy)
        else:
            inputs[name] = random_values(
                draw(st.integers(0, 999)), shape, DTYPES[kind].numpy or "", draw(st.sampled_from(kinds))
            )
        whole["resources"][name] = {"initialValues": {"sourcePath": f"{name}.npy"}}
    for name in outputs:
        _lay_out(draw, operator, whole, name)
    return Case(operator, whole, inputs)


def _lay_out(draw: st.DrawFn, operator: Operator, whole: dict[str, Any], name: str) -> None:
    """Give an output an offset, gaps between its elements, and axes in another order."""
    target = next(one.name for one in operator.fields if one.python == name)
    tensor = whole["dispatchables"][operator.python]["desc"][target]
    sizes = tensor["Sizes"]
    offset, gap = draw(st.sampled_from([0, 0, 1, 5])), draw(st.sampled_from([1, 1, 2]))
    order = draw(st.permutations(range(len(sizes)))) if draw(st.booleans()) else list(range(len(sizes)))
    strides, step = [0] * len(sizes), gap
    for axis in reversed(order):
        strides[axis] = step
        step *= sizes[axis]
    if strides != [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]:
        tensor["Strides"] = strides
    dtype = tensor["DataType"].removeprefix("DML_TENSOR_DATA_TYPE_")
    aligned = offset * max(32 // DTYPES[dtype].bits, 1)
    whole["resources"][name]["initialValues"]["valueCount"] = aligned + step
    if aligned:
        whole["commands"][0]["bindings"][target] = {"name": name, "elementOffset": aligned}


def bits_moved(values: Array, steps: int) -> Array:
    """Each number moved by so many steps towards infinity; integers by as many ones."""
    if values.dtype.kind != "f":
        return np.asarray(values + values.dtype.type(steps) if steps > 0 else values - values.dtype.type(-steps))
    moved = values
    for _ in range(abs(steps)):
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            moved = np.nextafter(moved, values.dtype.type(math.copysign(math.inf, steps)))
    return np.asarray(moved)


def grid(sizes: tuple[int, ...]) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*map(range, sizes))


FIRST = "outputs/0"


def edited(pair: tuple[Path, Path], path: str, value: Any) -> None:
    """Change a member of the manifest; ... removes it."""
    found = manifest(pair[0])
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    owner: Any = found
    for step in steps:
        owner = owner[step]
    if value is ...:
        del owner[last]
    else:
        owner[last] = value
    (pair[0] / "manifest.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
