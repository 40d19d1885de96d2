"""The text of a report: what the model fails of comes first, and it says what to bind and which level is needed."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

from each import each_of
from small_models import ANY, ONE, RELU, Node, Values, X, small

import dmlcy.onnx
from dmlcy._cli import main
from dmlcy._frontends.onnx.binding import options
from dmlcy._frontends.onnx.lint import lint, problems
from dmlcy._frontends.onnx.model import Sizes
from dmlcy._frontends.onnx.model_report import lines, to_json
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.report import report_of

GELU = Node("Gelu", "z", "g", {}, "com.microsoft")
SEVERAL: Values = {**ANY, "d": ("FLOAT", (2, 2)), "z": ("FLOAT", (2, 3))}
MIXED = small([RELU, Node("Det", "d", "e"), GELU], SEVERAL, domains=["com.microsoft"])


def text(data: bytes, level: str | None = None) -> str:
    return "\n".join(lines(report_of(decode("m.onnx", data, None), level=level)))  # type: ignore[arg-type]


def test_what_the_model_fails_of_comes_first() -> None:
    found = text(MIXED, "5_0")
    assert re.findall(r"\[DML-ONNX-([\w-]+)\]", found) == ["level", "cpu-kernel", "alone-sizes"]
    assert "\n  1 node cannot run: the session, or its first run, fails\n" in found
    assert "cannot run" not in text(MIXED)


def test_further_nodes_of_a_reason_are_named_apart() -> None:
    found = text(small([Node("HardSwish", "x", name) for name in "abcdef"], X, version=22))
    inner = [f"node {number} (HardSwish), HardSwish, node 0 (HardSigmoid)" for number in range(1, 4)]
    assert f"\n    also {'; '.join(inner)}; and 2 more (--all names them)\n" in found


def test_each_reason_of_the_document_has_its_severity() -> None:
    nodes = to_json(report_of(decode("m.onnx", MIXED, None), level="5_0"))["nodes"]
    found = {node["operator"]: [why["severity"] for why in node["reasons"]] for node in nodes}
    assert found == {"Relu": ["warning"], "Det": ["warning"], "com.microsoft.Gelu": ["error"]}


@each_of(
    "inputs, expected",
    [
        ({"x": ("n", 3)}, "--shape n=N"),
        ({"x": ("n", 3), "y": ("n", "m")}, "--shape n=N --shape m=N"),
        ({"x": ("n", 3, None)}, "--shape x=Nx3xN"),
        ({"x": ("my batch", 3)}, "--shape 'my batch=N'"),
        ({"x": ("x", 3)}, "--shape x=Nx3"),
    ],
)
def test_the_options_name_free_dimensions_where_they_have_names(inputs: dict[str, Sizes], expected: str) -> None:
    assert options(inputs) == expected


def test_report_and_lint_give_the_options() -> None:
    model = decode("m.onnx", small([RELU], ANY), None)
    assert "  free dimensions: --shape n=N, with a number in place of each N\n" in text(small([RELU], ANY))
    (problem,) = problems(model, "6_4").problems
    assert 'The sizes n x 3 of the input "x"' in problem.violation.message
    assert problem.violation.message.endswith("Give the sizes with --shape n=N.")


def test_sizes_that_no_free_dimension_gives_lead_to_their_explanation() -> None:
    data = small([Node("Thing", "x", "t", {}, "own"), Node("Relu", "t", "y")], X, domains=["own"])
    assert "\n  unknown sizes, though no dimension is free: dmlcy explain DML-ONNX-alone-sizes\n" in text(data)
    assert "unknown sizes" not in text(small([RELU], X))


def test_few_operators_are_named_for_the_level() -> None:
    kinds = ("Relu", "Sigmoid", "Tanh", "Elu", "Selu")
    found = text(small([Node(kind, "x", kind) for kind in kinds], X))
    assert "  needs feature level 1_0 (DirectML 1.0.0), for ACTIVATION_RELU, " in found
    assert re.search(r"needs feature level .* and 2 more$", found, re.M)


def test_lint_names_the_first_node_that_needs_the_level() -> None:
    data = small([Node("Gather", "x i", "y"), Node("Gather", "x i", "z")], {"x": ("FLOAT", (2, 3, 4))}, {"i": ONE - 1})
    (verdict,) = lint(decode("m.onnx", data, None), "6_4").dispatchables
    assert verdict.minimum is not None
    subjects = [one.subject for one in verdict.minimum.forced_by]
    assert subjects and all(one.endswith("GATHER of node 0 (Gather)") for one in subjects)


def test_lint_counts_the_nodes_on_the_cpu(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    file.write_bytes(small([RELU, Node("Det", "d", "e")], SEVERAL))
    for shapes, options_ in ((), ""), (("--shape", "n=1"), " --shape=n=1"):
        shown = io.StringIO()
        with redirect_stdout(shown):
            assert main(["lint", str(file), *shapes]) == 0
        line = f"{file}: note: 1 node on the CPU, not on DirectML: `dmlcy onnx {file}{options_}` says which and why\n"
        assert line in shown.getvalue()
    file.write_bytes(small([RELU], X))
    shown = io.StringIO()
    with redirect_stdout(shown):
        assert main(["lint", str(file)]) == 0
    assert "CPU" not in shown.getvalue()


def test_lint_names_an_operator_once() -> None:
    messages = [one.violation.message for one in problems(decode("m.onnx", MIXED, None), "5_0").problems]
    (level,) = (one for one in messages if "feature level" in one)
    assert level.startswith("ACTIVATION_GELU needs feature level 5_1 ")


def test_a_free_dimension_is_given_as_a_number_or_as_one_size(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    file.write_bytes(small([RELU], ANY))
    for given in (2, (2,), [2]):
        assert dmlcy.onnx.report(file, shapes={"n": given}).dimensions == ()
        assert dmlcy.onnx.check(file, shapes={"n": given}) == []


def test_nodes_of_directml_in_no_graph_are_counted_apart() -> None:
    """A NonZero is never in a graph, and the sizes of the Cast after it depend on elements."""
    nodes = [Node("Relu", "x", "r"), Node("NonZero", "r", "p"), Node("Cast", "p", "y", {"to": 1})]
    data = small(nodes, {"x": ("FLOAT", (4, 4))}, outputs={"y": ("FLOAT", (2, "n"))})
    found = report_of(decode("m.onnx", data, None))
    assert "       3 DirectML: 1 in 1 graph, 2 in no graph" in [*lines(found)]
