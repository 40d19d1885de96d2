"""The operators in PyTorch: for each, a function of a desc and the tensors of its inputs that gives its outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from devices.uses import Arrays, Use
from dmlcy._arithmetic import Array
from dmlcy._field_types.float import single
from dmlcy._reference.expected import outputs_of

Run = Callable[[Any, Any], Any]
"""Of PyTorch, of a desc with its tensors as attributes ``t``: the output, or several."""
PEERS: dict[str, Run] = {}
ADDS_SHORT = frozenset({"AVERAGE_POOLING_GRAD", "FOLD", "MAX_POOLING_GRAD"})
"""Operators that PyTorch computes by adding FLOAT16 in FLOAT16; of convolutions, those backwards."""


class NotExpressible(Exception):
    """Why PyTorch does not compute a use."""


class Given:
    """A desc whose input fields are tensors of PyTorch."""

    def __init__(self, torch: Any, use: Use, arrays: Arrays) -> None:
        self.desc: Any = use.desc
        self.tensors = {
            name: tuple(torch.from_numpy(one.copy()) for one in array)
            if isinstance(array, tuple)
            else torch.from_numpy(array.copy())
            for name, array in arrays.items()
        }

    def __getattr__(self, name: str) -> Any:
        """A tensor, or an attribute, whose floats are numbers of FLOAT32."""
        found = self.tensors.get(name)
        value = getattr(self.desc, name) if found is None else found
        return single(value) if isinstance(value, float) else value

    @property
    def x(self) -> Any:
        """The first input, scaled if the desc says so."""
        first = next(iter(self.tensors.values()))
        scale_bias = getattr(self.desc, "scale_bias", None)
        return first if scale_bias is None else first * scale_bias[0] + scale_bias[1]


def adds_short(use: Use) -> bool:
    """Whether PyTorch adds FLOAT16 in FLOAT16."""
    backward = "BACKWARD" in use.attributes.values()
    return use.dtype == "FLOAT16" and (use.operator.name in ADDS_SHORT or backward)


def run(use: Use, arrays: Arrays) -> dict[str, Array]:
    """The outputs of a use by their names. NotExpressible if there is no peer, or no kernel for the data type."""
    import torch

    if use.operator.name not in PEERS:
        raise NotExpressible("no peer")
    torch.manual_seed(0)
    try:
        found = PEERS[use.operator.name](torch, Given(torch, use, arrays))
    except (RuntimeError, NotImplementedError) as error:
        if "not implemented for" in str(error) or "must have the same dtype" in str(error):
            raise NotExpressible(str(error).splitlines()[0]) from None
        raise
    several = found if isinstance(found, tuple) else (found,)
    names = outputs_of(use.desc)
    return {name: one.detach().numpy() for name, one in zip(names, several, strict=True) if one is not None}


def peer(*operators: str) -> Callable[[Run], Run]:
    """Enter a function for these operators."""

    def enter(function: Run) -> Run:
        for name in operators:
            PEERS[name] = function
        return function

    return enter


def _one(name: str, torch: Any, g: Given) -> Any:
    return getattr(torch, name)(g.x)


def _two(name: str, torch: Any, g: Given) -> Any:
    return getattr(torch, name)(g.a, g.b)


def _functions() -> None:
    one = {
        "ABS": "abs", "ACOS": "acos", "ACOSH": "acosh", "ASIN": "asin", "ASINH": "asinh", "ATAN": "atan",
        "ATANH": "atanh", "CEIL": "ceil", "COS": "cos", "COSH": "cosh", "ERF": "erf", "EXP": "exp", "FLOOR": "floor",
        "IDENTITY": "clone", "LOG": "log", "RECIP": "reciprocal", "SIN": "sin", "SINH": "sinh", "SQRT": "sqrt",
        "TAN": "tan", "TANH": "tanh",
    }  # fmt: skip
    for name, other in one.items():
        PEERS[f"ELEMENT_WISE_{name}"] = partial(_one, other)
    two = {
        "ADD": "add", "ADD1": "add", "SUBTRACT": "subtract", "MULTIPLY": "multiply", "DIVIDE": "divide",
        "ATAN_YX": "atan2", "MODULUS_FLOOR": "remainder",
    }  # fmt: skip
    for name, other in two.items():
        PEERS[f"ELEMENT_WISE_{name}"] = partial(_two, other)


_functions()
PEERS |= {
    "ELEMENT_WISE_POW": lambda torch, g: torch.pow(g.x, g.exponent),
    "ELEMENT_WISE_CONSTANT_POW": lambda torch, g: torch.pow(g.x, g.desc.exponent),
    "ELEMENT_WISE_MEAN": lambda torch, g: torch.stack([g.a, g.b]).mean(0),
    "ELEMENT_WISE_DIFFERENCE_SQUARE": lambda torch, g: (g.a - g.b) ** 2,
    "ELEMENT_WISE_CLIP": lambda torch, g: g.x.clamp(g.min, g.max),
    "ELEMENT_WISE_CLIP1": lambda torch, g: g.x.clamp(g.min, g.max),
    "ELEMENT_WISE_THRESHOLD": lambda torch, g: g.x.clamp(min=g.min),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": lambda torch, g: (g.input.int() - g.zero_point.int()) * g.scale,
    "DEQUANTIZE": lambda torch, g: (g.input.int() - g.quantizations[1].int()) * g.quantizations[0],
    "ACTIVATION_CELU": lambda torch, g: torch.celu(g.input, g.alpha),
    "ACTIVATION_ELU": lambda torch, g: torch.nn.functional.elu(g.input, g.alpha),
    "ACTIVATION_GELU": lambda torch, g: torch.nn.functional.gelu(g.input),
    "ACTIVATION_HARD_SIGMOID": lambda torch, g: (g.input * g.alpha + g.beta).clamp(0, 1),
    "ACTIVATION_HARD_SWISH": lambda torch, g: g.input * (g.input * g.alpha + g.beta).clamp(0, 1),
    "ACTIVATION_LEAKY_RELU": lambda torch, g: torch.nn.functional.leaky_relu(g.input, g.alpha),
    "ACTIVATION_LINEAR": lambda torch, g: g.input * g.alpha + g.beta,
    "ACTIVATION_PARAMETERIZED_RELU": lambda torch, g: torch.where(g.input < 0, g.input * g.slope, g.input),
    "ACTIVATION_PARAMETRIC_SOFTPLUS": lambda torch, g: (
        g.alpha * g.beta * torch.nn.functional.softplus(g.input, g.beta, 1e3)
    ),
    "ACTIVATION_SCALED_ELU": lambda torch, g: g.gamma * torch.nn.functional.elu(g.input, g.alpha),
    "ACTIVATION_SCALED_TANH": lambda torch, g: g.alpha * torch.tanh(g.beta * g.input),
    "ACTIVATION_SIGMOID": lambda torch, g: torch.sigmoid(g.input),
    "ACTIVATION_SOFTPLUS": lambda torch, g: torch.nn.functional.softplus(g.input, g.steepness, 1e3),
    "ACTIVATION_SOFTSIGN": lambda torch, g: torch.nn.functional.softsign(g.input),
    "ACTIVATION_SWISH": lambda torch, g: torch.nn.functional.silu(g.input),
    "ACTIVATION_TANH": lambda torch, g: torch.tanh(g.input),
    "VALUE_SCALE_2D": lambda torch, g: (
        g.input * g.scale + torch.tensor(g.bias, dtype=g.input.dtype).reshape(1, -1, 1, 1)
    ),
    "ACTIVATION_SOFTMAX": lambda torch, g: torch.softmax(g.input, -1),
    "ACTIVATION_SOFTMAX1": lambda torch, g: torch.softmax(g.input, -1),
    "ACTIVATION_LOG_SOFTMAX": lambda torch, g: torch.log_softmax(g.input, -1),
    "ACTIVATION_LOG_SOFTMAX1": lambda torch, g: torch.log_softmax(g.input, -1),
    "LP_NORMALIZATION": lambda torch, g: torch.nn.functional.normalize(g.input, g.p, g.axis, g.epsilon),
    "CUMULATIVE_SUMMATION": lambda torch, g: torch.cumsum(g.input, g.axis),
    "CUMULATIVE_PRODUCT": lambda torch, g: torch.cumprod(g.input, g.axis),
}


@peer("ACTIVATION_SHRINK")
def shrink(torch: Any, g: Given) -> Any:
    """In FLOAT32: PyTorch rounds numbers to FLOAT16 before it adds them to FLOAT16."""
    x = g.input.float()
    below, above = x + g.bias, x - g.bias
    found = torch.where(x < -g.threshold, below, torch.where(x > g.threshold, above, 0.0))
    return found.to(g.input.dtype)


@peer("FILL_VALUE_SEQUENCE")
def sequence(torch: Any, g: Given) -> Any:
    sizes, dtype = g.output.sizes, getattr(torch, g.output.dtype.name.lower())
    places = torch.arange(math.prod(sizes), dtype=torch.float32)
    return (g.value_start + places * g.value_delta).to(dtype).reshape(sizes)


@peer("ADAM_OPTIMIZER")
def adam(torch: Any, g: Given) -> Any:
    """The optimizer, and the bounded state that it leaves."""
    parameter = torch.nn.Parameter(g.input_parameters)
    settings = {"lr": g.learning_rate, "betas": (g.beta1, g.beta2), "eps": 0.0}
    step = float(g.training_step.reshape(-1)[0])
    # DirectML adds epsilon to the root before it divides by the correction.
    settings["eps"] = g.epsilon / math.sqrt(1 - g.beta2**step)
    optimizer = torch.optim.Adam([parameter], **settings, foreach=False)
    parameter.grad = g.gradient
    optimizer.state[parameter] = {
        "step": torch.tensor(step - 1), "exp_avg": g.input_first_moment, "exp_avg_sq": g.input_second_moment,
    }  # fmt: skip
    optimizer.step()
    state = optimizer.state[parameter]
    return parameter, state["exp_avg"], state["exp_avg_sq"]


@peer("GEMM")
def gemm(torch: Any, g: Given) -> Any:
    a = g.a.mT if g.trans_a.name == "TRANSPOSE" else g.a
    b = g.b.mT if g.trans_b.name == "TRANSPOSE" else g.b
    found = g.alpha * torch.matmul(a, b)
    return found if g.desc.c is None else found + g.beta * g.c


@peer("MATRIX_MULTIPLY_INTEGER_TO_FLOAT")
def product(torch: Any, g: Given) -> Any:
    """Of the integers, as the page of the operator has it; then the scales."""
    sides, scales = [], []
    for name in ("a", "b"):
        whole, zero = getattr(g, name).int(), getattr(g, f"{name}_zero_point")
        scales.append(getattr(g, f"{name}_scale"))
        sides.append(whole if zero is None else whole - zero.int())
    found = torch.matmul(*sides).float() * scales[0].float() * scales[1].float()
    found = found.to(scales[0].dtype)
    return found if g.desc.bias is None else found + g.bias


@peer("CONVOLUTION")
def convolution(torch: Any, g: Given) -> Any:
    bias = None if g.desc.bias is None else g.bias.reshape(-1)
    if g.direction.name == "BACKWARD":
        return torch.nn.functional.conv_transpose2d(g.input, g.filter, bias, g.strides, g.start_padding)
    return torch.nn.functional.conv2d(g.input, g.filter, bias, g.strides, g.start_padding, g.dilations, g.group_count)


@peer("MEAN_VARIANCE_NORMALIZATION")
def of_channels(torch: Any, g: Given) -> Any:
    found = torch.nn.functional.instance_norm(g.input, eps=g.epsilon)
    return found * g.scale + g.bias


@peer("MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
def layer(torch: Any, g: Given) -> Any:
    sizes = g.input.shape[-1:]
    return torch.nn.functional.layer_norm(g.input, sizes, g.scale.reshape(sizes), g.bias.reshape(sizes), g.epsilon)


@peer("BATCH_NORMALIZATION")
def batch(torch: Any, g: Given) -> Any:
    flat = [getattr(g, name).reshape(-1) for name in ("mean", "variance", "scale", "bias")]
    return torch.nn.functional.batch_norm(g.input, *flat, eps=g.epsilon)


@peer("BATCH_NORMALIZATION_TRAINING")
def training(torch: Any, g: Given) -> Any:
    """The running mean and variance are those of this batch, of n - 1 elements."""
    mean, variance = torch.zeros_like(g.scale.reshape(-1)), torch.zeros_like(g.scale.reshape(-1))
    found = torch.nn.functional.batch_norm(
        g.input, mean, variance, g.scale.reshape(-1), g.bias.reshape(-1), True, 1.0, g.epsilon
    )
    count = g.input.numel() // variance.numel()
    sizes = g.scale.shape
    return found + g.fused_add, mean.reshape(sizes), (variance * ((count - 1) / count)).reshape(sizes)


@peer("BATCH_NORMALIZATION_GRAD")
def batch_gradient(torch: Any, g: Given) -> Any:
    x = g.input.requires_grad_()
    scale, bias = g.scale.reshape(-1).clone().requires_grad_(), torch.zeros_like(g.scale.reshape(-1)).requires_grad_()
    flat = [getattr(g, name).reshape(-1) for name in ("mean", "variance")]
    torch.nn.functional.batch_norm(x, *flat, scale, bias, eps=g.epsilon).backward(g.input_gradient)
    return x.grad, scale.grad.reshape(g.scale.shape), bias.grad.reshape(g.scale.shape)


@peer("LOCAL_RESPONSE_NORMALIZATION")
def response(torch: Any, g: Given) -> Any:
    return torch.nn.functional.local_response_norm(g.input, g.local_size, g.alpha, g.beta, g.desc.bias)


@peer("LOCAL_RESPONSE_NORMALIZATION_GRAD")
def response_gradient(torch: Any, g: Given) -> Any:
    x = g.input.requires_grad_()
    response(torch, g).backward(g.input_gradient)
    return x.grad


def _gates(tensor: Any, order: list[int], count: int) -> Any:
    """The rows of the gates in another order."""
    parts = tensor.reshape(count, -1, *tensor.shape[1:])
    return parts[order].reshape(tensor.shape)


@peer("LSTM", "GRU", "RNN")
def recurrent(torch: Any, g: Given) -> Any:
    """ONNX's order of gates is i, o, f, c and z, r, h; PyTorch's i, f, c, o and r, z, h."""
    name = g.desc.operator.name
    order = {"LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2], "RNN": [0]}[name]
    if name == "GRU" and not g.linear_before_reset:
        raise NotExpressible("PyTorch resets after the product")
    hidden, count = g.recurrence.shape[-1], len(order)
    layer = getattr(torch.nn, name)(g.input.shape[-1], hidden, dtype=g.input.dtype)
    biases = g.bias.reshape(2, -1)
    with torch.no_grad():
        layer.weight_ih_l0.copy_(_gates(g.weight[0, 0], order, count))
        layer.weight_hh_l0.copy_(_gates(g.recurrence[0, 0], order, count))
        layer.bias_ih_l0.copy_(_gates(biases[0], order, count))
        layer.bias_hh_l0.copy_(_gates(biases[1], order, count))
        found, _ = layer(g.input[0])
    return found[-1:][None]


@peer("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
def attention(torch: Any, g: Given) -> Any:
    tensors = [g.query, g.key, g.value]
    if g.desc.bias is not None:
        tensors = [one + part for one, part in zip(tensors, g.bias.chunk(3), strict=True)]
    return torch.nn.functional.scaled_dot_product_attention(*tensors, scale=g.scale)


@peer("REDUCE")
def reduce(torch: Any, g: Given) -> Any:
    x, axes, name = g.input, tuple(g.axes), g.function.name
    whole = {"dim": axes, "keepdim": True}
    functions = {
        "SUM": lambda: x.sum(**whole), "AVERAGE": lambda: x.mean(**whole), "L1": lambda: x.abs().sum(**whole),
        "L2": lambda: torch.linalg.vector_norm(x, 2, **whole), "SUM_SQUARE": lambda: (x * x).sum(**whole),
        "LOG_SUM": lambda: x.sum(**whole).log(), "LOG_SUM_EXP": lambda: x.logsumexp(**whole),
        "MULTIPLY": lambda: x.prod(dim=axes[0], keepdim=True),
    }  # fmt: skip
    return functions[name]()


@peer("AVERAGE_POOLING", "AVERAGE_POOLING1")
def average(torch: Any, g: Given) -> Any:
    return torch.nn.functional.avg_pool2d(
        g.input, g.window_size, g.strides, g.start_padding, count_include_pad=g.include_padding
    )


@peer("LP_POOLING", "LP_POOLING1")
def powers(torch: Any, g: Given) -> Any:
    edges = [width for pair in zip(g.start_padding[::-1], g.end_padding[::-1], strict=True) for width in pair]
    return torch.nn.functional.lp_pool2d(torch.nn.functional.pad(g.input.abs(), edges), g.p, g.window_size, g.strides)


@peer("AVERAGE_POOLING_GRAD")
def average_gradient(torch: Any, g: Given) -> Any:
    x = torch.zeros(g.output_gradient.sizes, dtype=g.input_gradient.dtype, requires_grad=True)
    torch.nn.functional.avg_pool2d(x, g.window_size, g.strides).backward(g.input_gradient)
    return x.grad


@peer("MAX_POOLING_GRAD")
def maximum_gradient(torch: Any, g: Given) -> Any:
    x = g.input.requires_grad_()
    torch.nn.functional.max_pool2d(x, g.window_size, g.strides).backward(g.input_gradient)
    return x.grad


@peer("FOLD")
def fold(torch: Any, g: Given) -> Any:
    return torch.nn.functional.fold(g.input, g.output.sizes[2:], g.window_sizes)


@peer("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3", "UPSAMPLE_2D")
def resample(torch: Any, g: Given) -> Any:
    if getattr(g.desc, "antialiased", False):
        raise NotExpressible("PyTorch leaves elements beyond the ends out")
    return torch.nn.functional.interpolate(g.input, g.output.sizes[2:], mode="bilinear")


@peer("RESAMPLE_GRAD", "RESAMPLE_GRAD1")
def resample_gradient(torch: Any, g: Given) -> Any:
    x = torch.zeros(g.output_gradient.sizes, dtype=g.input_gradient.dtype, requires_grad=True)
    torch.nn.functional.interpolate(x, g.input_gradient.shape[2:], mode="bilinear").backward(g.input_gradient)
    return x.grad


@peer("BATCH_NORMALIZATION_TRAINING_GRAD")
def training_gradient(torch: Any, g: Given) -> Any:
    """Of a mean and a variance that are given: PyTorch's own backward of its native operator."""
    flat = [getattr(g, name).reshape(-1) for name in ("scale", "mean", "variance")]
    invert = torch.rsqrt(flat[2] + g.epsilon)
    found = torch.ops.aten.native_batch_norm_backward(
        g.input_gradient, g.input, flat[0], None, None, flat[1], invert, True, g.epsilon, [True, True, True]
    )
    return found[0], found[1].reshape(g.scale.shape), found[2].reshape(g.scale.shape)
