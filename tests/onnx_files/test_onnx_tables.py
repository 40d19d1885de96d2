"""The tables of ONNX's operators, beside what ONNX and ONNX Runtime declare, and what else the repository knows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import coverage_table as coverage
import numpy as np
import pytest

from dmlcy import specs
from dmlcy._facts.tables import LEVEL_INDEX, onnx_names
from dmlcy._facts.tables import OPERATORS as DIRECTML
from dmlcy._frontends.onnx.model import ELEMENTS, ONNX
from dmlcy._frontends.onnx.queries import _QUERIES
from dmlcy._frontends.onnx.tables import CONDITIONS, RELEASES, OperatorRow, Version, called, operator, shown
from dmlcy._generated.onnx import OPERATORS
from dmlcy._show.explain.find import find, suggestion
from dmlcy._show.explain.onnx import advice, opsets_in_words
from dmlcy._show.explain.text import lay_out

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/onnx.md").read_text(encoding="utf-8")
ROWS = [row for key in OPERATORS if (row := operator(*key)) is not None]
TABLED = 28  # the newest opset of the tables
RUNTIMES_OWN = {
    ("Affine", 1), ("Affine", 10), ("Crop", 1), ("Crop", 10), ("ImageScaler", 1), ("ImageScaler", 10),
    ("LayerNormalization", 1), ("MeanVarianceNormalization", 1), ("MemcpyFromHost", 1), ("MemcpyToHost", 1),
    ("ParametricSoftplus", 1), ("ParametricSoftplus", 10), ("ScaledTanh", 1), ("ScaledTanh", 10),
    ("SimplifiedLayerNormalization", 1), ("ThresholdedRelu", 1),
}  # fmt: skip
"""Versions in ONNX's domain that only ONNX Runtime knows."""
UP_TO = {
    17: "ScatterElements ScatterND",
    19: "GridSample",
    20: "If",
    21: "Conv ConvTranspose MaxPool AveragePool GlobalAveragePool GlobalMaxPool GlobalLpPool LpPool LSTM GRU RNN Elu "
    "InstanceNormalization Selu HardSigmoid Softplus Softsign Sin Cos Tan Round RoiAlign MaxRoiPool MaxUnpool EyeLike "
    "LpNormalization ThresholdedRelu",
    22: "Reshape Transpose Cast Squeeze Unsqueeze Flatten Identity Pad Shape Size QuantizeLinear DequantizeLinear",
    23: "TopK",
    26: "Range",
    27: "BitShift Celu DepthToSpace Einsum Mod OneHot",
}
"""The last opset that has a kernel, of operators that ONNX changed after opset 17."""
LEVELS = {
    "5_1": "Softmax LogSoftmax Hardmax Trilu com.microsoft.Gelu com.microsoft.BiasGelu com.microsoft.FastGelu",
    "6_1": "com.microsoft.Attention com.microsoft.MultiHeadAttention",
    "6_2": "com.microsoft.QLinearAveragePool com.microsoft.MatMulIntegerToFloat com.microsoft.DynamicQuantizeMatMul",
    "6_3": "LayerNormalization SimplifiedLayerNormalization com.microsoft.SkipLayerNormalization "
    "com.microsoft.MatMulNBits com.microsoft.GroupQueryAttention",
    "6_4": "Col2Im Resize Upsample",
}
"""The feature level of every node of an operator."""


def rows(names: str) -> list[OperatorRow]:
    """The operators of these names."""
    return [called(name)[0] for name in names.split()]


# As ONNX and ONNX Runtime declare them


def test_onnx_declares_the_same_versions() -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    newest = min(TABLED, onnx.defs.onnx_opset_version())
    schemas = {
        (one.name, one.since_version): one
        for one in onnx.defs.get_all_schemas_with_history()
        if one.domain == "" and one.since_version <= newest
    }
    known = {
        (row.name, one.since): one
        for row in ROWS
        for one in row.versions
        if row.domain == ONNX and one.since <= newest and (row.name, one.since) not in RUNTIMES_OWN
    }
    assert known.keys() == schemas.keys()
    for (name, since), version in known.items():
        schema = schemas[name, since]
        assert version.deprecated == schema.deprecated, (name, since)
        if not schema.deprecated:
            assert version.function == (schema.has_function or schema.has_context_dependent_function), (name, since)
            assert declared(version) == declared_by_onnx(schema), (name, since)


def declared(version: Version) -> dict[str, Any]:
    """The declarations of a version of the tables."""
    return {
        "inputs": [tuple(one) for one in version.inputs],
        "outputs": [tuple(one) for one in version.outputs],
        "attributes": {name: (one.kind, one.required, one.default) for name, one in version.attributes.items()},
    }


def declared_by_onnx(schema: Any) -> dict[str, Any]:
    """The same of a schema."""
    allowed = {one.type_param_str: list(one.allowed_type_strs) for one in schema.type_constraints}

    def parameter(one: Any, least: int) -> tuple[str, str, str]:
        option = str(one.option).rpartition(".")[2]
        mark = {"Single": "", "Optional": "?", "Variadic": "+" if least else "*"}[option]
        types = allowed.get(one.type_str, [one.type_str])
        only = re.fullmatch(r"tensor\((\w+)\)", types[0]) if len(types) == 1 else None
        return one.name.rstrip("."), only[1].upper() if only else re.sub(r"\W", "_", one.type_str), mark

    def default(one: Any) -> Any:
        from onnx import AttributeProto, helper

        if one.default_value.type == AttributeProto.UNDEFINED:
            return None
        value = helper.get_attribute_value(one.default_value)
        if isinstance(value, float):
            return float(str(np.float32(value)))
        values = [
            text.decode() if isinstance(text, bytes) else text
            for text in (value if isinstance(value, list) else [value])
        ]
        return tuple(values) if isinstance(value, list) else values[0]

    return {
        "inputs": [parameter(one, one.min_arity) for one in schema.inputs],
        "outputs": [parameter(one, one.min_arity) for one in schema.outputs],
        "attributes": {
            name: (str(one.type).rpartition(".")[2], one.required, default(one))
            for name, one in schema.attributes.items()
        },
    }


def test_onnx_runtime_declares_the_same_operators() -> None:
    pybind = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state", reason="onnxruntime is not installed")
    schemas = {(one.domain or ONNX, one.name, one.since_version): one for one in pybind.get_all_operator_schema()}
    compared = 0
    for row in ROWS:
        for version in row.versions:
            own = row.domain == "com.microsoft" or (row.name, version.since) in RUNTIMES_OWN
            schema = schemas.get((row.domain, row.name, version.since)) if own else None
            if schema is None:
                continue
            compared += 1
            # Later releases add inputs, outputs and attributes.
            for ours, theirs in ((version.inputs, schema.inputs), (version.outputs, schema.outputs)):
                for one, other in zip(ours, theirs, strict=False):
                    mark = {"Single": "", "Optional": "?", "Variadic": "+"}[str(other.option).rpartition(".")[2]]
                    assert (one.name, one.mark) == (other.name, mark), shown(row.domain, row.name)
            for name in version.attributes.keys() & schema.attributes.keys():
                row_of, other = version.attributes[name], schema.attributes[name]
                assert (row_of.kind, row_of.required) == (str(other.type).rpartition(".")[2], other.required), (
                    row.name,
                    name,
                )
            assert {name for name, one in schema.attributes.items() if one.required} <= version.attributes.keys()
    assert compared >= 40


# As the rest of the repository knows them


def test_each_operator_with_a_kernel_is_computed_or_has_a_reason() -> None:
    rows = coverage.kernels()
    assert {row.name for row in rows if not coverage.how(row)} == coverage.NOT_DONE.keys()
    assert all(row.domain == ONNX for row in rows if not coverage.how(row))
    *table, last = coverage.lines()
    assert last == "190 of 205 operators are computed" and len(table) >= len(rows)


def test_rows_name_what_there_is() -> None:
    for row in ROWS:
        name = shown(row.domain, row.name)
        since = [one.since for one in row.versions]
        assert since == sorted({*since}) and list(row.kernels) == sorted({*row.kernels}), name
        for elements in row.types.values():
            assert {*elements} <= {*ELEMENTS, "all", "sequences"}, name
        parameters = [one for version in row.versions for one in (*version.inputs, *version.outputs)]
        assert row.types.keys() <= {one.name for one in parameters}, name
        assert row.otherwise in {"", *ELEMENTS, *(one.type for one in parameters)}, name
        assert row.element in {"", *(key for version in row.versions for key in version.attributes)}, name
        for version in row.versions:
            bound = {one.type for one in version.inputs} | {*ELEMENTS}
            free = [one.name for one in version.outputs if one.type not in bound]
            sequences = row.group == "control" or row.name == "ConcatFromSequence"
            assert not free or row.element or row.otherwise or sequences, (name, version.since, free)
        assert row.query in {"", *CONDITIONS} and row.source.startswith("https://"), name
        assert not row.fused or all(called(activation) for activation in row.fused), name
    assert {row.query for row in ROWS} - {""} == CONDITIONS.keys() == _QUERIES.keys()
    assert [release.opset for release in RELEASES.values()] == [max(n for row in ROWS for n in row.kernels)]


def test_only_these_kernels_have_no_version() -> None:
    without = {(row.name, n) for row in ROWS for n in {*row.kernels} - {one.since for one in row.versions}}
    assert without == {("If", 7), ("Scatter", 13), ("GroupNorm", 21)}


def test_the_opsets_that_have_a_kernel() -> None:
    for last, names in UP_TO.items():
        assert [row.opsets[-1][1] for row in rows(names)] == [last] * len(names.split()), last
    for row in ROWS:
        if row.domain == ONNX:
            given = {n for first, end in row.opsets for n in range(first, (end or TABLED) + 1)}
            kernels = {n for n in range(1, TABLED + 1) if matches(row, n)}
            assert given == kernels, row.name
    (shape,) = rows("ConstantOfShape")
    assert shape.opsets == ((9, 19), (21, 22))


def matches(row: OperatorRow, opset: int) -> bool:
    version = row.version(opset)
    return version is not None and version.since in row.kernels and not version.deprecated


def test_levels_of_operators() -> None:
    for level, names in LEVELS.items():
        for row in rows(names):
            needed = {max((DIRECTML[name].since for name in way), key=LEVEL_INDEX.__getitem__) for way in row.becomes}
            assert level in needed, row.name


def test_equivalents_are_what_operators_become() -> None:
    """The specs say which operator of ONNX does the same as one of DirectML, whatever its version."""
    compared = set()
    for name in DIRECTML:
        for row in specs.operator(name).get("equivalent", ()):
            found = re.findall(r"onnx__(\w+)\.html$", row["source"]) if row["library"] == "ONNX" else []
            for known in (operator(ONNX, one) for one in found):
                assert known is not None
                made = {one.rstrip("0123456789") for way in known.becomes for one in way}
                if name != "UNFOLD":  # by a convolution with ones
                    assert name.rstrip("0123456789") in made, (name, known.name)
                compared.add(known.name)
    assert len(compared) >= 9


def test_the_conversions_back_to_onnx_are_what_operators_become(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    monkeypatch.syspath_prepend(str(ROOT / "tests/onnx_backend"))
    from onnx_graphs.elementwise import LOGIC, ONE, TRUTH, TWO

    for function, name in {**ONE, **TWO, **LOGIC, **TRUTH}.items():
        row = operator(ONNX, name)
        assert row is not None
        made = {_bare(one) for way in row.becomes for one in way}
        assert not row.kernels or _bare(function) in made, name  # ONNX's Tanh may be one of two operators


def _bare(operator: str) -> str:
    """The name of an operator without the words in front and the version."""
    return operator.rpartition("WISE_")[2].removeprefix("ACTIVATION_").rstrip("0123456789")


def test_names_by_the_operators_of_directml() -> None:
    become: defaultdict[str, list[str]] = defaultdict(list)
    for row in sorted(ROWS):
        for name in {one for way in row.becomes for one in way}:
            become[name].append(shown(row.domain, row.name))
    assert {name: tuple(become[name]) for name in sorted(become)} == onnx_names().BECOME
    assert {*become} <= DIRECTML.keys()


# The shown tables


def test_every_operator_is_on_the_page() -> None:
    headings = re.findall(r"^### (\S+)$", PAGE, re.M)
    kernels = {shown(row.domain, row.name): row for row in ROWS if row.kernels}
    assert len(headings) == len({*headings}) and {*headings} == kernels.keys()
    texts = dict(zip(headings, re.split(r"^### \S+$", PAGE, flags=re.M)[1:], strict=True))
    for name, row in kernels.items():
        text = " ".join(texts[name].split())
        assert all(f"[{one}]({one.lower()}.md)" in text for way in row.becomes for one in (*way, *row.sometimes)), name
        assert all(f"`{one}`" in text for one in row.types), name
        condition = CONDITIONS.get(row.query, "")
        assert condition.replace("_", "") in text.replace("\\", "").replace("_", ""), name
        last = row.opsets[-1][1] if row.opsets and row.place in ("", "view", "shader") else 0
        assert not last or f"pset {last + 1}" in text, name
    rest = PAGE.partition("## Operators without a kernel")[2]
    assert re.findall(r'<a id="(\w+)">', rest) == sorted(row.name.lower() for row in ROWS if not row.kernels)


@pytest.mark.parametrize("word", ["Conv", "conv", "ai.onnx.Conv"])
def test_an_operator_is_explained(word: str) -> None:
    found = next(one for one in find(word) if one["kind"] == "onnx operator")
    assert (found["name"], found["versions"], found["kernels"]) == ("Conv", [1, 11, 22], [1, 11])
    text = lay_out([found], 100)
    assert "1 to 21" in text and "CONVOLUTION: feature level 1_0 and later" in text
    assert "From opset 22 on, a node goes to the CPU. Export the model with opset 21 or less." in text


def test_every_operator_is_explained() -> None:
    for row in ROWS:
        name = f"{row.domain}.{row.name}"
        (found,) = (one for one in find(name) if one["kind"] == "onnx operator")
        json.dumps(found)
        text = lay_out([found], 100)
        assert text.startswith(f"{shown(row.domain, row.name)}, an operator") and row.source in text
        assert all(one in text for way in row.becomes for one in way), name
        assert (CONDITIONS.get(row.query, "") + row.about)[:30] in text, name
    (shape,) = find("ai.onnx.ConstantOfShape")
    assert opsets_in_words(shape) == "9 to 19 and 21 to 22"
    (affine,) = find("ai.onnx.Affine")
    assert advice(affine) == "ONNX has no such operator from opset 10 on."


def test_an_operator_of_both_is_explained_as_directml_does() -> None:
    for word in ("Gather", "GATHER"):
        found, *rest = find(word)
        assert found["kind"] == "operator" and "Gather" in found["onnx"]
        assert "onnx operator" not in {one["kind"] for one in rest}
        assert re.search(r"^  ONNX +Gather, ", lay_out([found], 100), re.M)
    assert {one["kind"] for one in find("com.microsoft Attention")} == {"onnx operator"}


def test_a_misspelt_operator_leads_to_the_one_that_was_meant() -> None:
    assert find("NonMaxSupression") == []
    assert suggestion("NonMaxSupression") == 'Did you mean "NonMaxSuppression"?'


def test_an_operator_of_directml_is_explained_without_the_tables() -> None:
    program = (
        "import sys; from dmlcy._show.explain.find import find; find('CONVOLUTION');"
        "sys.exit('dmlcy._generated.onnx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0
