"""Whole networks: each is written once, as ONNX nodes with drawn weights, for dmlcy, ONNX Runtime and PyTorch."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any

import dmlcy as dml
from benchmarks import peers
from benchmarks.calls import Call, call
from benchmarks.cells import Array
from benchmarks.groups import onnx_text
from benchmarks.groups.model import COMPILED, Cell
from benchmarks.groups.networks import models, run_torch
from benchmarks.groups.networks.net import Net
from benchmarks.peers import library


@cache
def net_of(name: str) -> Net:
    """The network of this name."""
    net = Net()
    net.outputs = getattr(models, name)(net)
    return net


def digest(cell: Cell) -> str:
    """Changes with the nodes of the network, and with the sizes of its inputs and weights."""
    net = net_of(cell.network)
    return sha256(repr((net.nodes, net.inputs, net.weights, net.lists, net.outputs)).encode()).hexdigest()


def graph_of(name: str) -> Any:
    """The network as a graph of DirectML."""
    return converted(name, net_of(name).model().SerializeToString())


def converted(name: str, data: bytes) -> Any:
    """The graph that ``dmlcy lint`` makes of a model, with the weights as constants."""
    from dmlcy._frontends.onnx.reader import decode
    from dmlcy._frontends.onnx.walk import Walk

    walk = Walk(decode(name, data, None))
    graph = walk.graph()
    if graph is None or dml.check(graph):
        raise ValueError(f"{name}: dmlcy refuses the network")
    ends = zip(graph.inputs, walk.inputs, strict=True)
    return graph.inputs_as_constants({end.name: plain(one) for end, one in ends if one.read is not None})


def plain(value: Any) -> Array:
    """The elements of a constant of the network, of at least one axis."""
    x: Array = value.read()
    return x.reshape(value.sizes or (1,))


def our_calls(cell: Cell) -> dict[str, Call]:
    """The graph that is compiled, with arrays for its results."""
    inputs = net_of(cell.network).given()
    op = dml.compile(graph_of(cell.network))
    out = op(*inputs.values())
    return {COMPILED: Call(f"op({', '.join(inputs)}, out=out)", {**inputs, "op": op, "out": out})}


def contenders_of(cell: Cell) -> tuple[dict[str, Call], dict[str, str], dict[str, Array]]:
    """The contenders by name, why peers are absent, and the inputs. Without onnx there is no network."""
    net = net_of(cell.network)
    inputs = net.given()
    calls = our_calls(cell)
    absent = {name: peers.missing(name) or "does not have it" for name in peers.NAMES}
    if not absent["onnxruntime"].endswith("installed"):
        calls["onnxruntime"] = onnx_text.bound(net.model(), inputs)
    if not absent["torch"].endswith("installed"):
        run = run_torch.prepared(net)
        tensors = [library("torch").from_numpy(x) for x in inputs.values()]
        calls["torch"] = call(lambda: run(*tensors))
    return calls, {name: why for name, why in absent.items() if name not in calls}, inputs
