"""``dmlcy lint --directml``: what is wrong with the graphs of a program, and where in the program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import dmlcy.directml
from dmlcy._frontends.directml.lint import lint, report
from dmlcy._frontends.directml.tracing import traced
from dmlcy._frontends.dxdispatch.lint import FileReport

HEAD = """
import numpy as np
import pydirectml as dml
FLOAT32 = dml.TensorDataType.FLOAT32
def given(builder, index, *sizes, flags=dml.TensorFlags.NONE):
    return dml.input_tensor(builder, index, dml.TensorDesc(FLOAT32, flags, sizes))
device = dml.Device()
builder = dml.GraphBuilder(device)
x = given(builder, 0, 1, 1, 4, 6)
"""
COMPUTE = """
model = builder.build(dml.ExecutionFlags.NONE, [y])
found, = device.compute(model, [dml.Binding(x, np.ones((4, 6))), dml.Binding(w, weights)], [y])
assert found.shape == (1, 1, 4, 5) and not found.any()
"""
LEVEL: Final = "6_4"


@pytest.fixture
def looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the lines of a program behind HEAD, and gives the report."""

    def look(text: str, *arguments: str, level: Any = LEVEL) -> FileReport:
        script = tmp_path / "program.py"
        script.write_text(HEAD + text, encoding="utf-8")
        known = dict.fromkeys(("directml", "pydirectml"), dmlcy.directml)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [])
            patch.setattr(sys, "path", [*sys.path])
            for name in known:
                patch.setitem(sys.modules, name, dmlcy.directml)
            return report(str(script), traced(str(script), arguments, known), level)

    return look


def told(found: FileReport) -> list[tuple[str, int, str, str]]:
    """Each finding: its id, line, severity, and the text that is marked."""
    return [
        (one.violation.id, one.place.line - HEAD.count("\n"), one.severity, one.line.marked if one.line else "")
        for one in found.findings
    ]


def test_a_program_without_faults(looked: Any) -> None:
    text = """
w = given(builder, 1, 1, 1, 5, 6, flags=dml.TensorFlags.OWNED_BY_DML)
weights = np.ones((5, 6))
y = dml.activation_gelu(dml.gemm(x, w, trans_b=dml.MatrixTransform.TRANSPOSE))
"""
    found = looked(text + COMPUTE)
    assert found.status == 0 and found.findings == ()
    (graph,) = found.dispatchables
    assert (graph.nodes, graph.minimum.level, graph.place.line) == (2, "5_1", HEAD.count("\n") + 6)
    (reason,) = graph.minimum.forced_by
    assert reason.subject == f"ACTIVATION_GELU in {found.name}:{HEAD.count(chr(10)) + 4}"
    late = looked(text + COMPUTE, level="4_0")
    assert [(one[0], one[1]) for one in told(late)] == [("DML-ACTIVATION_GELU-operator-level", 4)]
    assert late.status == 1 and late.dispatchables[0].minimum is not None


def test_each_violation_has_the_call_that_made_its_node(looked: Any) -> None:
    found = looked("""
def layer(é, other): return "é", dml.gemm(é, other)
y = layer(x, given(builder, 1, 1, 1, 5, 5))[1]
y = dml.max_pooling(dml.activation_relu(y), [9, 1]).values
unused = given(builder, 2, 1, 1, 1, 1)
model = builder.build(dml.ExecutionFlags.NONE, [y])
""")
    assert told(found) == [
        ("DML-GRAPH-unused", -3, "warning", "dml.input_tensor(builder, index, dml.TensorDesc(FLOAT32, flags, sizes))"),
        ("DML-GEMM-b-rows", 2, "error", "dml.gemm(é, other)"),
        ("DML-MAX_POOLING2-window_size-fits", 4, "error", "dml.max_pooling(dml.activation_relu(y), [9, 1])"),
    ]
    assert [one.place.path for one in found.findings] == ["<module> > given", "<module> > layer", "<module>"]
    assert found.status == 1


def test_a_graph_that_is_never_built_has_its_violations(looked: Any) -> None:
    found = looked("\ny = dml.gemm(x, x)\nraise ValueError('enough')")
    assert told(found) == [
        ("DML-GEMM-b-rows", 2, "error", "dml.gemm(x, x)"),
        ("DML-MODEL-script-raised", 3, "warning", "raise ValueError('enough')"),
    ]
    assert found.status == 1 and found.dispatchables == ()


def test_zeros_stand_for_files_that_are_missing(looked: Any) -> None:
    text = """
w = given(builder, 1, 1, 1, 5, 6, flags=dml.TensorFlags.OWNED_BY_DML)
y = dml.gemm(x, w, trans_b=dml.MatrixTransform.TRANSPOSE)
"""
    for weights in (
        "np.load('no.npy')", "np.load('no.npz')['w'].astype(np.float32).T.reshape(-1)", "np.fromfile('no.bin')",
        "np.fromfile('no.bin', np.float32, 30)",
    ):  # fmt: skip
        assert looked(f"{text}weights = {weights}{COMPUTE}").status == 0, weights
    known = np.load
    found = looked(f"{text}weights = np.load('no.npy')\nsizes = weights.shape")
    assert told(found) == [("DML-MODEL-script-file", 5, "error", "weights.shape")]
    assert found.findings[0].violation.message == 'The file "no.npy" is missing, but the program asks for its shape.'
    assert found.status == 2 and np.load is known
    assert told(looked(f"{text}weights = np.load('no.npy') + 1"))[0][0] == "DML-MODEL-script-raised"


@pytest.mark.parametrize(
    ("text", "expected", "status"),
    [
        ("import no_such_module.part", ("DML-MODEL-script-module", 1, "error", "import no_such_module.part"), 2),
        ("raise SystemExit(3)", ("DML-MODEL-script-exit", 1, "error", "raise SystemExit(3)"), 2),
        ("1 / 0", ("DML-MODEL-script-raised", 1, "error", "1 / 0"), 2),
        ("1 = 0", ("DML-MODEL-script-raised", 1, "error", "1 = 0"), 2),
        ("raise KeyboardInterrupt", ("DML-MODEL-script-stopped", 1, "error", "raise KeyboardInterrupt"), 2),
        ("given(builder, 0, 1)", ("DML-GRAPH-binding-twice", -3, "error", None), 1),
    ],
)
def test_why_a_program_ended(text: str, expected: tuple[str, int, str, str | None], status: int, looked: Any) -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        found = looked(text)
    finally:
        signal.signal(signal.SIGINT, before)
    ((*known, marked),) = told(found)
    assert (*known,) == expected[:3] and expected[3] in (None, marked)
    assert found.status == status


def test_a_program_that_ends_well(looked: Any, tmp_path: Path) -> None:
    script = tmp_path / "nothing.py"
    script.write_text("", encoding="utf-8")
    found = report(str(script), traced(str(script), (), {}), LEVEL)
    assert ([one.violation.id for one in found.findings], found.status) == (["DML-MODEL-script-graphs"], 2)
    assert looked("import sys\nsys.exit()").findings == ()  # HEAD makes a graph, which is not built
    assert looked("import sys\nassert sys.argv[1:] == ['a', '-b']", "a", "-b").findings == ()


def test_a_program_that_loops_is_stopped_and_what_it_printed_is_not_in_the_report(tmp_path: Path) -> None:
    script, begun = tmp_path / "program.py", tmp_path / "begun"
    lines = ("import directml as dml, os", "dml.GraphBuilder(dml.Device())", "print('said', flush=True)",
             "os.write(1, b'by others')",
             f"while not os.close(os.open({str(begun)!r}, os.O_CREAT)): 0")  # fmt: skip
    # The file appears in the loop, and not on a line before it: the interrupt comes on the line of the loop.
    script.write_text("\n".join(lines), encoding="utf-8")
    running = _lint(script)
    while not begun.exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    (os.killpg if hasattr(os, "killpg") else os.kill)(running.pid, signal.SIGINT)
    output, errors = running.communicate(timeout=300)
    (finding,) = json.loads(output)["files"][0]["findings"]
    assert (finding["id"], finding["line"]) == ("DML-MODEL-script-stopped", 5)
    assert (errors, running.returncode) == ("said\nby others", 2)


@pytest.mark.deep
def test_a_program_that_ends_its_process(tmp_path: Path) -> None:
    for line, why in (("os._exit(0)", "status 0"), ("os.kill(os.getpid(), 9)", "signal SIGKILL")):
        script = tmp_path / "program.py"
        script.write_text(f"import os\n{line}\n", encoding="utf-8")
        output, errors = _lint(script).communicate()
        (finding,) = json.loads(output)["files"][0]["findings"]
        assert (finding["id"], errors) == ("DML-MODEL-script-exit", "")
        assert finding["message"] == f"The program ended early, with {why}."


def _lint(script: Path) -> subprocess.Popen[str]:
    """As from a terminal: a shell that runs the tests in the background ignores SIGINT, and so would the command."""
    code = "import signal, sys; from dmlcy._cli import program\n"
    code += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "sys.exit(program())"
    command = [sys.executable, "-P", "-c", code, "lint", "--directml", str(script), "--json"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )  # fmt: skip


def test_a_program_of_the_newer_api(looked: Any) -> None:
    """Its constant is from a file that is not there; sizes that differ are found by the operator."""
    found = looked("""
graph = dml.Graph(device)
image = graph.input([1, 1, 4, 4], name="image")
weights = graph.constant(np.load("missing.npy"), sizes=[1, 1, 4, 4])
product = dml.gemm(image, weights)
y = dml.max_pooling(product, window_sizes=[5, 4]).values
z = product + graph.input([1, 1, 4, 1], name="column")
operator = graph.compile([y, z, dml.reinterpret(image, [16])])
assert not operator({"image": np.ones(16), "column": np.ones(4)})[2].any()
""")
    assert told(found) == [
        ("DML-MAX_POOLING2-window_size-fits", 6, "error", "dml.max_pooling(product, window_sizes=[5, 4])"),
        ("DML-ELEMENT_WISE_ADD1-b-sizes", 7, "error", 'product + graph.input([1, 1, 4, 1], name="column")'),
    ]


def test_a_view_beyond_its_tensor_is_reported_once_read_or_not(looked: Any) -> None:
    text = """
v = dml.reinterpret(x, FLOAT32, [1, 1, 5, 6])
y = dml.activation_relu(%s)
model = builder.build(dml.ExecutionFlags.NONE, [y])
"""
    unread, read = looked(text % "x"), looked(text % "v")
    assert told(unread) == [("DML-GRAPH-view-size", 2, "error", "dml.reinterpret(x, FLOAT32, [1, 1, 5, 6])")]
    assert (
        unread.findings[0].violation.message
        == "A view of the sizes [1, 1, 5, 6] needs 120 bytes, but the tensor has 96."
    )
    assert len(told(read)) == 1 and read.status == unread.status == 1
    assert looked(text.replace("5, 6", "2, 6") % "x").findings == ()
    assert len(told(looked((text % "v").partition("model")[0]))) == 1  # not built
    again = text.replace("\ny =", "\nw = dml.reinterpret(v, FLOAT32, [1, 1, 6, 5])\ny =")
    assert len(told(looked(again % "w"))) == 1
    assert len(told(looked(text.replace("\ny =", "\nw = dml.reinterpret(x, FLOAT32, [1, 1, 5, 6])\ny =") % "v"))) == 2


def test_standard_input_is_refused_as_a_program() -> None:
    found = lint("-", LEVEL)
    assert found.status == 2 and found.findings[0].place.file == "<stdin>"
    assert "write the program to a file" in found.findings[0].violation.message
