"""The report says for each cause where a node goes, and why; each id of a reason has a model here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dmlcy._facts.tables import ERRORS
from dmlcy._frontends.onnx.binding import written
from dmlcy._frontends.onnx.lint import lint
from dmlcy._frontends.onnx.model_report import ModelReport, lines
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.report import report_of

onnx = pytest.importorskip("onnx", reason="needs onnx, which writes the models of these tests")
from onnx import parser  # noqa: E402


def model(opset: int, text: str, domains: str = "") -> Any:
    """A model in ONNX's text form."""
    return parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}{domains}]> main {text}')


def report(found: Any, **options: Any) -> ModelReport:
    return report_of(decode("m.onnx", found.SerializeToString(), None), **options)


def ids(found: ModelReport) -> dict[str, tuple[str, list[str]]]:
    """Where each node goes, and the ids of its reasons, by its operator."""
    return {one.operator: (one.where, [why.id.removeprefix("DML-ONNX-") for why in one.reasons]) for one in found.nodes}


CONV = "(float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv(x, w) }"
CASES: Sequence[tuple[int, str, Mapping[str, Any], Mapping[str, tuple[str, list[str]]]]] = (
    (21, CONV, {}, {"Conv": ("dml", [])}),
    (22, CONV, {}, {"Conv": ("cpu", ["cpu-version"])}),
    (20, "(int64[1] s) => (float[n] y) { y = ConstantOfShape(s) }", {}, {"ConstantOfShape": ("cpu", ["cpu-version"])}),
    (6, "(float[2] x) => (float[2] y) { y = Add(x, x) }", {}, {"Add": ("cpu", ["cpu-version"])}),
    (
        21,
        "(float[1,4,4] b, float[1,1,4] s) => (int64[n,3] y) { y = NonMaxSuppression(b, s) }",
        {},
        {"NonMaxSuppression": ("cpu", ["cpu-kernel"])},
    ),
    (21, "(float[2] x) => (float[2] y) { y = my.ops.Thing(x) }", {}, {"my.ops.Thing": ("cpu", ["cpu-unknown"])}),
    (11, "(float[2] x) => (float[2] y) { y = Gelu(x) }", {}, {"Gelu": ("cpu", ["cpu-opset"])}),
    (21, "(double[2] x) => (double[2] y) { y = Add(x, x) }", {}, {"Add": ("cpu", ["cpu-type"])}),
    (
        21,
        "(int64[2] x) => (int64[2] y) { y = Add(x, x) }",
        {"types": {"FLOAT32", "INT32"}},
        {"Add": ("cpu", ["cpu-device"])},
    ),
    (
        21,
        "(float[1,3,8,8] x) => (float[1,3,7,7] y) { y = MaxPool<kernel_shape=[2,2], storage_order=1>(x) }",
        {},
        {"MaxPool": ("cpu", ["cpu-query"])},
    ),
    (
        21,
        "(float[n,3] x, int64[1] i) => (int64[1] y) { s = Shape(x) y = Gather(s, i) }",
        {},
        {"Shape": ("cpu", ["cpu-memory"]), "Gather": ("cpu", ["cpu-shape"])},
    ),
    (
        21,
        "(float[2,3] x, int64[1] i) => (int64[1] y) { s = Shape(x) y = Gather(s, i) }",
        {},
        {"Shape": ("folded", []), "Gather": ("dml", [])},
    ),
    (
        19,
        "(bool c, float[2] x) => (float[2] y) "
        "{ z = Relu(x) y = If(c)<then_branch = a () => (float[2] p) { p = Neg(z) }, "
        "else_branch = b () => (float[2] q) { q = Abs(z) }> }",
        {},
        {
            "If": ("cpu", ["cpu-control"]),
            "Relu": ("dml", ["alone-subgraph"]),
            "Neg": ("dml", ["alone-subgraph"]),
            "Abs": ("dml", ["alone-subgraph"]),
        },
    ),
    (
        21,
        "(float[4,1,2] x, float[1,12,2] w, float[1,12,3] r) => (float[4,1,1,3] y) "
        "{ a = Relu(x) y = LSTM<hidden_size=3>(a, w, r) }",
        {},
        {"Relu": ("dml", []), "LSTM": ("dml", ["alone-never"])},
    ),
    (21, "(float[2] x) => (float[2] y) { y = Max(x, x, x) }", {}, {"Max": ("dml", ["alone-inputs"])}),
    (21, "(float[n] x) => (float[n] y) { y = Relu(x) }", {}, {"Relu": ("dml", ["alone-sizes"])}),
    (21, "(float[n] x) => (float[n] y) { y = Relu(x) }", {"shapes": {"n": (3,)}}, {"Relu": ("dml", [])}),
    (21, "(float[0] x) => (float[0] y) { y = Relu(x) }", {}, {"Relu": ("dml", ["alone-empty"])}),
    (
        21,
        "(float[2,3] x, int64[1] s) => (float[6] y) { y = Reshape(x, s) }",
        {},
        {"Reshape": ("view", ["alone-constant"])},
    ),
    (
        21,
        "(float[2,3] x, int64[1] s) => (float[n] y) { y = Reshape(x, s) }",
        {},
        {"Reshape": ("view", ["alone-constant"])},
    ),
    (
        21,
        "(float[1,4] x) => (float[1,m] y) { p = Constant<value = int64[4] {0, -1, 0, 0}>() y = Pad(x, p) }",
        {},
        {"Constant": ("folded", []), "Pad": ("dml", ["negative"])},
    ),
    (
        21,
        "(float[2,3] x, int64[1] a) => (float[2,1] y) { b = Relu(x) y = ReduceSum(b, a) }",
        {},
        {"Relu": ("dml", []), "ReduceSum": ("dml", ["alone-constant"])},
    ),
    (
        19,
        "(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y) { y = GridSample(x, g) }",
        {},
        {"GridSample": ("dml", ["alone-shader"])},
    ),
    (
        21,
        "(float[1,1,2,2] x) => (float[1,1,4,4] y) "
        "{ r = Constant<value = float[4] {1.0, 1.0, 2.0, 2.0}>() e = Constant<value = float[0] {}>() "
        "y = Resize(x, e, r) }",
        {"level": "5_0"},
        {"Constant": ("folded", []), "Resize": ("dml", ["level"])},
    ),
)


@pytest.mark.parametrize(("opset", "text", "options", "expected"), CASES)
def test_a_node_goes_where_the_rules_say(
    opset: int, text: str, options: Mapping[str, Any], expected: Mapping[str, tuple[str, list[str]]]
) -> None:
    assert ids(report(model(opset, text, ', "my.ops": 1'), **options)) == expected


def test_every_reason_of_a_place_has_a_case() -> None:
    given = {f"DML-ONNX-{slug}" for *_, nodes in CASES for _, slugs in nodes.values() for slug in slugs}
    known = {one for one in ERRORS if one.startswith(("DML-ONNX-cpu-", "DML-ONNX-alone-", "DML-ONNX-level"))}
    assert known - given == set()


def test_the_lines_look_at_each_node_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report(model(17, f"(float[2] x) => (float[2] y50) {{ y0 = Relu(x) {_chain(50)} }}"))
    asked: list[ModelReport] = []
    needs: Any = ModelReport.needs

    def noted(one: ModelReport) -> Any:
        asked.append(one)
        return needs.fget(one)

    monkeypatch.setattr(ModelReport, "needs", property(noted))
    assert "      51 DirectML, in 1 graph" in [*lines(found)]
    assert len(asked) == 1


def _chain(count: int) -> str:
    return " ".join(f"y{at + 1} = Relu(y{at})" for at in range(count))


def test_the_sizes_of_a_single_number_are_written() -> None:
    assert [written(sizes) for sizes in ((), (2, 3), (None, "n"))] == ["()", "2x3", "N x n"]


def test_an_initializer_that_may_be_replaced_is_no_constant() -> None:
    found = model(17, "(float[6] x, int64[1] s) => (float[n] y) <int64[1] s = {6}> { y = Reshape(x, s) }")
    (violation,) = lint(decode("m.onnx", found.SerializeToString(), None), "6_4").findings
    assert (
        violation.violation.message == "The input shape must be known before the model runs, but it is not a constant."
    )
