"""A network by PyTorch: a function for each operator of ONNX that the networks have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.cells import Array
from benchmarks.groups.networks.net import Net
from benchmarks.peers import library

Function = Callable[..., Any]


def prepared(net: Net) -> Function:
    """A function of the inputs, as tensors; the weights are made once, and what nodes take as lists is known."""
    torch = library("torch")
    constants = net.constants()
    tensors = {name: torch.from_numpy(constants[name]) for name in net.weights}
    steps = []
    for node in net.nodes:
        lists = [constants[name] for name in node.inputs if name in net.lists]
        weights = [tensors[name] for name in node.inputs if name in tensors]
        function = FUNCTIONS[node.operator](torch, dict(node.attributes), lists, weights)
        steps.append((function, [name for name in node.inputs if name and name not in net.lists], node.output))

    def run(*inputs: Any) -> Any:
        values = tensors | dict(zip(net.inputs, inputs, strict=True))
        with torch.inference_mode():
            for function, names, output in steps:
                values[output] = function(*(values[name] for name in names))
        return values[net.outputs]

    return run


Given = dict[str, Any]
Lists = list[Array]


def _pads(given: Given) -> Any:
    """Pads that are the same at both ends, as torch has them."""
    pads: list[int] = given.get("pads", [0, 0, 0, 0])
    return pads[: len(pads) // 2]


def _conv(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    options = {"stride": given["strides"], "padding": _pads(given), "groups": given.get("group", 1)}
    return lambda x, w, b: torch.nn.functional.conv2d(x, w, b, **options)


def _transposed(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    return lambda x, w, b: torch.nn.functional.conv_transpose2d(x, w, b, stride=given["strides"])


def _max_pool(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    return lambda x: torch.nn.functional.max_pool2d(x, given["kernel_shape"], given["strides"], _pads(given))


def _pad(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    edge = int(lists[0][-1])
    return lambda x: torch.nn.functional.pad(x, [edge] * 4, mode=given["mode"])


def _resize(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    factor = float(lists[0][-1])
    return lambda x: torch.nn.functional.interpolate(x, scale_factor=factor, mode="nearest")


def _instance(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    return lambda x, s, b: torch.nn.functional.instance_norm(x, weight=s, bias=b, eps=given["epsilon"])


def _layer(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    return lambda x, s, b: torch.nn.functional.layer_norm(x, s.shape, s, b)


def _reshape(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    sizes = lists[0].tolist()
    return lambda x: x.reshape(sizes)


def _lstm(torch: Any, given: Given, lists: Lists, weights: list[Any]) -> Function:
    """torch has the gates in the order input, forget, cell, output; ONNX: input, output, forget, cell."""
    hidden = given["hidden_size"]
    module = torch.nn.LSTM(weights[0].shape[-1], hidden, bidirectional=True)

    def gates(x: Any) -> Any:
        i, o, f, c = x.chunk(4)
        return torch.cat([i, f, c, o])

    flat = []
    for weight, recurrence, bias in zip(*weights, strict=True):
        flat += [gates(weight), gates(recurrence), *map(gates, bias.chunk(2))]
    with torch.no_grad():
        for to, of in zip(module.parameters(), flat, strict=True):
            to.copy_(of)

    def run(x: Any, *_: Any) -> Any:
        return module(x)[0].view(*x.shape[:2], 2, hidden).transpose(1, 2)

    return run


def _by(function: Callable[[Any, Given, Lists], Function]) -> Callable[..., Function]:
    """The same without the weights, which most need at the call only."""
    return lambda torch, given, lists, weights: function(torch, given, lists)


FUNCTIONS: dict[str, Callable[..., Function]] = {
    "Add": _by(lambda torch, given, lists: torch.add),
    "Clip": _by(lambda torch, given, lists: lambda x: torch.clamp(x, float(lists[0]), float(lists[1]))),
    "Concat": _by(lambda torch, given, lists: lambda *parts: torch.cat(parts, given["axis"])),
    "Conv": _conv,
    "ConvTranspose": _transposed,
    "DepthToSpace": _by(lambda torch, given, lists: lambda x: torch.pixel_shuffle(x, given["blocksize"])),
    "Flatten": _by(lambda torch, given, lists: lambda x: x.flatten(1)),
    "Gather": _by(lambda torch, given, lists: lambda x, at: torch.nn.functional.embedding(at, x)),
    "Gelu": _by(lambda torch, given, lists: torch.nn.functional.gelu),
    "Gemm": _by(lambda torch, given, lists: torch.nn.functional.linear),
    "GlobalAveragePool": _by(lambda torch, given, lists: lambda x: x.mean((2, 3), keepdim=True)),
    "InstanceNormalization": _instance,
    "LSTM": _lstm,
    "LayerNormalization": _layer,
    "LogSoftmax": _by(lambda torch, given, lists: lambda x: x.log_softmax(given["axis"])),
    "MatMul": _by(lambda torch, given, lists: torch.matmul),
    "MaxPool": _max_pool,
    "Mul": _by(lambda torch, given, lists: lambda x: x * float(lists[0])),
    "Pad": _pad,
    "Relu": _by(lambda torch, given, lists: torch.relu),
    "Reshape": _reshape,
    "Resize": _resize,
    "Sigmoid": _by(lambda torch, given, lists: torch.sigmoid),
    "Softmax": _by(lambda torch, given, lists: lambda x: x.softmax(given["axis"])),
    "Tanh": _by(lambda torch, given, lists: torch.tanh),
    "Transpose": _by(lambda torch, given, lists: lambda x: x.permute(given["perm"])),
}
