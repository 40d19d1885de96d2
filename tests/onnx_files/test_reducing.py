"""``dmlcy reduce``: of a model with a failing node, the few nodes that fail are left."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from depth import seeds_of
from small_models import Node, small

import dmlcy.onnx
from dmlcy._cli import main
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.reducing import Parts, smallest
from dmlcy._frontends.onnx.writing import Source
from dmlcy._judge.models.values import read_values

NODES = 500


def planted(seed: int, count: int = NODES) -> tuple[bytes, int]:
    """A model of many nodes, and the number of the one that fails: Erf, of which there is one."""
    random = np.random.default_rng(seed)
    names, nodes = ["x"], list[Node]()
    bad = int(random.integers(count))
    for number in range(count):
        first, second = (names[-int(random.integers(1, min(len(names), 6) + 1))] for _ in range(2))
        operator = str(random.choice(["Relu", "Add", "Mul", "Sigmoid", "Max"]))
        if number == bad:
            operator = "Erf"
        inputs = first if operator in ("Relu", "Sigmoid", "Erf") else f"{first} {second}"
        nodes.append(Node(operator, inputs, f"v{number}"))
        names.append(f"v{number}")
    return small(nodes, {"x": ("FLOAT", (2, 3))}, outputs={names[-1]: ("FLOAT", (2, 3))}), bad


@seeds_of(20)
@pytest.mark.parametrize("mode", ["bisect", "linear"])
def test_a_planted_node_among_many_is_left_alone(mode: str, seeds: range) -> None:
    for seed in seeds:
        data, bad = planted(seed, NODES if mode == "bisect" else 100)
        parts = Parts(Source("m.onnx", data), decode("m.onnx", data, None), {}, {}, 0)
        asked: list[int] = []

        def fails(numbers: Sequence[int], parts: Parts = parts, asked: list[int] = asked) -> bool:
            asked.append(len(numbers))
            part, _ = parts.model_of(numbers)
            return any(node.operator == "Erf" for node in decode("part.onnx", part, None).graph.nodes)

        left = smallest(parts.order, fails, "bisect" if mode == "bisect" else "linear")
        assert left == [bad] and (mode == "linear" or len(asked) < 40)


@pytest.mark.parametrize("mode", ["bisect", "linear"])
@pytest.mark.parametrize("needed", [(3,), (0, 49), (7, 8, 30), (0, 1, 2), (10, 40)])
def test_no_node_can_be_left_out(mode: str, needed: tuple[int, ...]) -> None:
    """Where the check needs several nodes, and passes without any of them."""
    answers = [smallest(range(50), {*needed}.issubset, "bisect" if mode == "bisect" else "linear") for _ in range(2)]
    assert answers == [[*needed]] * 2


def test_a_part_computes_what_the_model_computes() -> None:
    data, _ = planted(0)
    model = decode("m.onnx", data, None)
    parts = Parts(Source("m.onnx", data), model, {}, {}, 0)
    assert parts.values is not None
    for numbers in ([7], [100, 101, 102, 150], range(490, 500)):
        part, arrays = parts.model_of(numbers)
        assert arrays is not None
        found = CompiledModel(decode("part.onnx", part, None), {}).run(arrays)
        assert found and all(np.array_equal(one, parts.values[name]) for name, one in found.items())


CHECK = """
import sys
sys.exit((b"Erf" in open(sys.argv[1], "rb").read()) * 3)
"""


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [Node("Relu", "x", "a"), Node("Erf", "a", "b"), Node("Add", "a b", "y")]
    path, check = tmp_path / "m.onnx", tmp_path / "check.py"
    path.write_bytes(small(nodes, {"x": ("FLOAT", ("n", 3))}, outputs={"y": ("FLOAT", ("n", 3))}))
    check.write_text(CHECK)
    given = ["reduce", str(path), "--shape", "n=2", "--output", str(tmp_path / "small"), "--check"]
    assert main([*given, f"'{sys.executable}' '{check}' {{}}", "--status", "3"]) == 0
    assert "1 of 3 nodes" in capsys.readouterr().out
    model = dmlcy.onnx.load(tmp_path / "small" / "model.onnx")
    arrays = read_values(tmp_path / "small" / "inputs.npz")
    assert {*arrays} == {"a"} and arrays["a"].shape == (2, 3) and model(arrays["a"]).shape == (2, 3)
    assert main([*given, f"'{sys.executable}' '{check}'", "--status", "4"]) == 1
    assert "does not fail for the whole model" in capsys.readouterr().err
    output = [*given, "true"]
    output[output.index("--output") + 1] = str(check / "small")  # a file
    assert main(output) == 2 and "is no folder" in capsys.readouterr().err
    for command, said in (("/no/such/command", "cannot be run"), (" ", "is empty"), ("sh -c 'x", "does not end")):
        assert main([*given, command]) == 2
        assert said in capsys.readouterr().err
