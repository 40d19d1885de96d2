"""Any bytes as a graph in JSON: as its text, or as choices of a graph and of what is wrong with it.

Only a ModelError may come of reading it. ``lint`` and ``compile`` say the same. A valid graph is planned, written and
read again. A small graph runs, and has the results of its nodes one by one.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "graph"), str(HERE)]

from by_nodes import evaluated, tensor_of_input  # noqa: E402
from choices import Choices  # noqa: E402
from model_target import WORDS  # noqa: E402
from random_graphs import Drawer, arrays_for, tensors  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._cli.lint import FORMATS  # noqa: E402
from dmlcy._errors import DmlError, ModelError  # noqa: E402
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, OPERATORS  # noqa: E402
from dmlcy._frontends.dxdispatch.json import Document, decode  # noqa: E402
from dmlcy._frontends.dxdispatch.lint import Report  # noqa: E402
from dmlcy._frontends.dxdispatch.problems import Refusal  # noqa: E402
from dmlcy._frontends.graphs.form import LISTS  # noqa: E402
from dmlcy._frontends.graphs.lint import lint  # noqa: E402
from dmlcy._frontends.graphs.reader import read  # noqa: E402
from dmlcy._graph.check import violations  # noqa: E402
from dmlcy._graph.wiring import wiring_of  # noqa: E402
from dmlcy._show.graphs import dot, svg, text  # noqa: E402

LONGEST = 4096
SECONDS = 5
"""Of the processor, for one input."""
LIMIT = 100
"""Nodes."""
MOST = 1 << 12
"""Elements of a tensor of a graph that is run."""
PEAK = 1 << 20
"""Bytes that it takes."""
SEEDS: list[Path] = []  # the corpus has the graphs of the tests
ODD: list[Any] = [
    0,
    1,
    2,
    3,
    -1,
    7,
    100,
    2**31,
    2**32 - 1,
    2**32,
    2**64,
    0.5,
    "",
    "x",
    "n0",
    None,
    True,
    [],
    {},
    [0],
    "FLOAT16",
]


def dictionary() -> str:
    """The words of a graph, in libFuzzer's form."""
    words = {
        *WORDS,
        *LISTS,
        *LISTS.values(),
        "Inputs",
        "Outputs",
        "InputCount",
        "OutputCount",
        "Name",
        "Data",
        "Tensor",
    }
    words |= {f"{end}{what}Index" for end in ("From", "To") for what in ("Node", "NodeInput", "NodeOutput")}
    words |= {"GraphInputIndex", "GraphOutputIndex", "Operator", "DataSize", "OWNED_BY_DML"}
    words |= {f"DML_GRAPH_NODE_TYPE_{kind}" for kind in ("OPERATOR", "CONSTANT")}
    words |= {f"DML_OPERATOR_{name}" for name in OPERATORS}
    return "".join(f'"\\"{word}\\""\n' for word in sorted(words))


def one(data: bytes) -> None:
    """Do with these bytes whatever can be done with a graph."""
    start = time.process_time()
    level = LEVELS[len(data) % len(LEVELS) if len(data) % 3 == 0 else -1].name
    written = data if data.lstrip()[:1] in (b"{", b"[", b"") else chosen(Choices(data))
    with np.errstate(all="ignore"):
        judged(written, level)
    assert time.process_time() - start < SECONDS, "it took too long"


def chosen(choices: Choices) -> bytes:
    """A graph, with some changes of its members."""
    count = choices.below(12)
    drawer = Drawer(lambda end: (choices.byte() * 256 + choices.byte()) % end if end > 256 else choices.below(end))
    whole = dml.graph.to_json(drawer.graph(1 + count))
    for _ in range(choices.of([0, 0, 0, 1, 1, 2, 5])):
        change(choices, whole)
    return json.dumps(whole).encode()


def change(choices: Choices, whole: Any) -> None:
    """Another value for a member or an entry somewhere, one less, or one more."""
    at = whole
    while True:
        keys = [*at] if isinstance(at, dict) else [*range(len(at))]
        if not keys:
            return
        key = choices.of(keys)
        if isinstance(at[key], dict | list) and at[key] and choices.below(8):
            at = at[key]
            continue
        kind = choices.below(4)
        if kind == 0:
            del at[key]
        elif kind == 1 and isinstance(at, list):
            at.insert(key, copy.deepcopy(choices.of(at)))
        elif kind == 2 and isinstance(at, list):
            at[key] = copy.deepcopy(choices.of(at))
        else:
            at[key] = copy.deepcopy(choices.of(ODD))
        return


def judged(data: bytes, level: Any) -> None:
    """Lint the graph, then load it, and compare the findings."""
    try:
        document = decode("g.json", data)
    except Refusal as error:
        assert {problem.violation.id for problem in error.problems} <= {"DML-MODEL-json", "DML-MODEL-kind"}
        return
    report = lint(document, level, LIMIT)
    for form, laid_out in FORMATS.items():
        for line in laid_out(Report(level, (report,))):
            assert form != "text" or line.isprintable(), line
    for found in report.findings:
        assert document.position(found.place.at) == (found.place.line, found.place.column)
    said = {found.violation.id for found in report.findings if not found.warning}
    loaded(document, level, said, report.status)


def loaded(document: Document, level: Any, said: set[str], status: int) -> None:
    """Load the graph, and compile it if it is valid: lint ``said`` the same ids that refuse it."""
    found = read(document, HERE / "no folder", limit=LIMIT)
    form = {problem.violation.id for problem in found.wrong}
    try:
        graph = found.finish()
    except ModelError as error:
        assert {one.id for one in error.violations} == form
        assert form <= said | {"DML-MODEL-source"} and (said or form <= {"DML-MODEL-source"}), (form, said)
        return
    wrong = violations(graph, LEVEL_INDEX[level])
    for shown in (text.lines(graph, wrong, ""), dot.lines(graph, wrong), svg.lines(graph, wrong)):
        assert all(line.isprintable() for line in shown)
    try:
        compiled = dml.compile(graph, level)
    except DmlError as error:
        refused = {one.id for one in error.violations}
        if {one.error for one in error.violations} == {"OperatorNotRunnableError"}:
            assert not said
        else:
            assert refused == said or len(error.violations) >= 1000, (refused, said)
        return
    assert status == 0, said
    plan = compiled.plan()
    assert all(step.live >= 0 and step.workspace >= 0 for step in plan.steps)
    assert plan.peak >= max((step.live for step in plan.steps), default=0)
    again(graph)
    if is_small(graph) and plan.peak <= PEAK:
        run(graph, compiled, level)


def again(graph: Any) -> None:
    """A valid graph is written and read again."""
    other = dml.graph.from_json(dml.graph.to_json(graph))
    assert (other.nodes, other.outputs) == (graph.nodes, graph.outputs) and {*other.edges} == {*graph.edges}
    assert [end.desc for end in other.inputs] == [end.desc for end in graph.inputs]
    try:
        written = dml.graph.to_bytes(graph)
    except ModelError as error:
        assert error.id == "DML-GRAPH-file-value"
    else:
        assert dml.check(dml.graph.from_bytes(written)) == []


def is_small(graph: Any) -> bool:
    """Whether running it takes little."""
    descs = [tensor for node in graph.nodes if isinstance(node, dml.graph.Node) for tensor in tensors(node.desc)]
    descs += [end.desc for end in (*graph.inputs, *graph.outputs) if end.desc is not None]
    return all(tensor.total_tensor_size_in_bytes <= MOST * 8 for tensor in descs)


def run(graph: Any, compiled: Any, level: Any) -> None:
    """The results are those of the nodes one by one, each with memory of its own; so is what the nodes refuse."""
    given = arrays_for(graph, tensor_of_input, np.random.default_rng(len(graph.edges)))
    names = [wiring_of(graph).value_names[dml.graph.Port(None, index)] for index in range(len(graph.inputs))]
    assert {*names} == {*compiled.called, *compiled.owned}
    by_name = {name: given.get(index, np.zeros(0)) for index, name in enumerate(names)}
    expected: Any
    try:
        expected = evaluated(graph, given, level)
    except DmlError as error:
        expected = {one.id for one in error.violations}
    for _ in range(2):
        try:
            compiled.initialize(**{name: by_name[name] for name in compiled.owned})
            found = compiled.run((), {name: by_name[name] for name in compiled.called})
        except DmlError as error:
            assert {one.id for one in error.violations} == expected
            continue
        assert isinstance(expected, list), expected
        for one, other in zip(expected, found if isinstance(found, tuple) else (found,), strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
