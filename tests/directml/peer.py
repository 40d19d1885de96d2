"""PyDirectML's module over PyTorch, as far as programs use it: the same programs, computed by something else.

An expression is a function of the bound arrays; nothing of dmlcy is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

Bound = dict[int, Any]


class Names:
    """An enum whose members are their names."""

    def __getattr__(self, name: str) -> str:
        return name


class TensorDesc:
    """Data type, sizes, strides."""

    def __init__(self, data_type: str, *rest: Any) -> None:
        given = [*rest]
        self.flags = given.pop(0) if isinstance(given[0], str) else "NONE"
        self.data_type = data_type
        self.sizes = [*given[0]]
        self.strides = given[1] if len(given) > 1 and isinstance(given[1], list | tuple) else None

    def placed(self, data: Any) -> Tensor:
        """The tensor whose buffer begins with these elements."""
        flat = np.ascontiguousarray(data, self.data_type.lower()).reshape(-1)
        strides = self.strides
        if strides is None:
            strides = [int(np.prod(self.sizes[axis + 1 :])) for axis in range(len(self.sizes))]
        last = sum((size - 1) * stride for size, stride in zip(self.sizes, strides, strict=True))
        flat = np.concatenate([flat, np.zeros(max(0, last + 1 - flat.size), flat.dtype)])
        found = torch.as_strided(torch.from_numpy(flat), self.sizes, strides)
        return found.double() if found.is_floating_point() else found


class Expression:
    """An expression of the bound arrays."""

    def __init__(
        self,
        function: Callable[[Bound], Any],
        desc: TensorDesc | None = None,
        index: int = -1,
        empty: Bound | None = None,
    ) -> None:
        self.function, self.desc, self.index = function, desc, index
        self.empty = {} if empty is None else empty  # what has the sizes of the inputs, and no elements

    def get_output_desc(self) -> TensorDesc:
        if self.desc is None:
            found = self.function(self.empty)
            self.desc = TensorDesc("FLOAT32" if found.is_floating_point() else "INT64", [*found.shape])
        return self.desc

    def __add__(self, other: Any) -> Expression:
        return of(torch.add, self, other)

    def __sub__(self, other: Any) -> Expression:
        return of(torch.sub, self, other)

    def __mul__(self, other: Any) -> Expression:
        return of(torch.mul, self, other)

    def __truediv__(self, other: Any) -> Expression:
        return of(torch.div, self, other)

    def __mod__(self, other: Any) -> Expression:
        return of(torch.fmod, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: float) -> Expression:
        return of(lambda x: other - x, self)

    def __rtruediv__(self, other: float) -> Expression:
        return of(lambda x: 1 / (other * x), self)

    def __neg__(self) -> Expression:
        return of(torch.neg, self)


def of(function: Callable[..., Any], *inputs: Any) -> Expression:
    """A function of expressions and other values; each expression is computed once for one set of arrays."""
    known: dict[int, Any] = {}

    def computed(bound: Bound) -> Any:
        if id(bound) not in known:
            known.clear()
            known[id(bound)] = function(
                *(one.function(bound) if isinstance(one, Expression) else one for one in inputs)
            )
        return known[id(bound)]

    return Expression(computed, empty=next((one.empty for one in inputs if isinstance(one, Expression)), None))


def input_tensor(builder: Any, index: int, desc: TensorDesc) -> Expression:
    dtype = torch.double if desc.data_type.startswith("FLOAT") else torch.int64
    builder.empty[index] = torch.empty(desc.sizes, dtype=dtype, device="meta")
    return Expression(lambda bound: bound[index], desc, index, builder.empty)


def activated(x: Tensor, fused: Any) -> Tensor:
    if fused is None or fused.activation == "INVALID":
        return x
    first, second = fused.param_1, fused.param_2
    return {
        "ACTIVATION_RELU": torch.relu, "ACTIVATION_TANH": torch.tanh, "ACTIVATION_SIGMOID": torch.sigmoid,
        "ACTIVATION_LINEAR": lambda x: first * x + second, "ACTIVATION_ELU": lambda x: functional.elu(x, first),
        "ACTIVATION_LEAKY_RELU": lambda x: functional.leaky_relu(x, first),
    }[fused.activation](x)  # fmt: skip


class FusedActivation:
    def __init__(self, activation: str = "INVALID", param_1: float = 0.0, param_2: float = 0.0) -> None:
        self.activation, self.param_1, self.param_2 = activation, param_1, param_2


def padded(x: Tensor, start: Sequence[int], end: Sequence[int], mode: str = "constant", value: float = 0.0) -> Tensor:
    pairs = [number for axis in reversed(range(len(start))) for number in (start[axis], end[axis])]
    return functional.pad(x, pairs, mode, value) if mode == "constant" else functional.pad(x, pairs, mode)


def convolution(
    input: Any, filter: Any, bias: Any = None, mode: str = "CROSS_CORRELATION", direction: str = "FORWARD",
    strides: Any = (), dilations: Any = (), start_padding: Any = (), end_padding: Any = (), output_padding: Any = (),
    group_count: int = 1, fused_activation: Any = None, output_sizes: Any = (),
) -> Expression:  # fmt: skip
    def compute(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        rank = x.ndim - 2
        steps, spread = [*strides] or [1] * rank, [*dilations] or [1] * rank
        start, end = [*start_padding] or [0] * rank, [*end_padding] or [0] * rank
        w = torch.flip(w, tuple(range(2, w.ndim))) if mode == "CONVOLUTION" else w
        flat = None if b is None else b.reshape(-1)
        if direction == "FORWARD":
            found = (functional.conv2d if rank == 2 else functional.conv3d)(
                padded(x, start, end), w, flat, steps, 0, spread, group_count
            )
            return activated(found, fused_activation)
        whole = (functional.conv_transpose2d if rank == 2 else functional.conv_transpose3d)(
            x, w, None, steps, 0, 0, group_count, spread
        )
        more = [*output_padding] or [0] * rank
        sizes = [*output_sizes][2:] or [whole.shape[2 + d] - start[d] - end[d] + more[d] for d in range(rank)]
        for d in range(rank):
            whole = whole.narrow(2 + d, start[d], min(sizes[d], whole.shape[2 + d] - start[d]))
            lack = sizes[d] - whole.shape[2 + d]
            pad = [0, 0] * (rank - 1 - d) + [0, lack]
            whole = functional.pad(whole, pad)
        return activated(whole if flat is None else whole + flat.reshape(1, -1, *[1] * rank), fused_activation)

    return of(compute, input, filter, bias)


def gemm(
    a: Any, b: Any, c: Any = None, trans_a: str = "NONE", trans_b: str = "NONE", alpha: float = 1.0, beta: float = 1.0,
    fused_activation: Any = None,
) -> Expression:  # fmt: skip
    def compute(x: Tensor, y: Tensor, z: Tensor | None) -> Tensor:
        x, y = x.mT if trans_a == "TRANSPOSE" else x, y.mT if trans_b == "TRANSPOSE" else y
        found = alpha * (x @ y)
        return activated(found if z is None else found + beta * z, fused_activation)

    return of(compute, a, b, c)


def mean_variance_normalization(
    input: Any, scale: Any, bias: Any, axes: Any, normalize_variance: Any, normalize_mean: Any, epsilon: float,
    fused_activation: Any = None,
) -> Expression:  # fmt: skip
    def compute(x: Tensor, s: Tensor | None, b: Tensor | None) -> Tensor:
        found = x - x.mean(tuple(axes), keepdim=True) if normalize_mean else x
        variance = (found**2).mean(tuple(axes), keepdim=True)
        found = found / torch.sqrt(variance + epsilon) if normalize_variance else found
        found = found if s is None else found * s
        return activated(found if b is None else found + b, fused_activation)

    return of(compute, input, scale, bias)


def batch_normalization(
    input: Any, mean: Any, variance: Any, scale: Any, bias: Any, spatial: Any, epsilon: float,
    fused_activation: Any = None,
) -> Expression:  # fmt: skip
    return of(
        lambda x, m, v, s, b: activated((x - m) / torch.sqrt(v + epsilon) * s + b, fused_activation),
        input, mean, variance, scale, bias,
    )  # fmt: skip


def average_pooling(
    input: Any, strides: Any, window_sizes: Any, start: Any, end: Any, dilations: Any, include_padding: Any
) -> Expression:
    def compute(x: Tensor) -> Tensor:
        sums = functional.avg_pool2d(padded(x, start, end), window_sizes, strides, divisor_override=1)
        count = functional.avg_pool2d(
            padded(torch.ones_like(x), start, end, value=float(bool(include_padding))), window_sizes, strides,
            divisor_override=1,
        )  # fmt: skip
        return sums / count

    assert all(one == 1 for one in dilations)
    return of(compute, input)


def max_pooling(
    input: Any, window_sizes: Any, strides: Any = (), start_padding: Any = (), end_padding: Any = (),
    dilations: Any = (), output_indices: bool = False,
) -> Any:  # fmt: skip
    def compute(x: Tensor) -> tuple[Tensor, Tensor]:
        start, end = [*start_padding] or [0, 0], [*end_padding] or [0, 0]
        found, places = functional.max_pool2d(
            padded(x, start, end, value=-np.inf), window_sizes, [*strides] or [1, 1], 0, [*dilations] or [1, 1],
            return_indices=True,
        )  # fmt: skip
        width = x.shape[3] + start[1] + end[1]
        planes = torch.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], 1, 1) * (x.shape[2] * x.shape[3])
        return found, planes + (places // width - start[0]) * x.shape[3] + places % width - start[1]

    both = of(compute, input)
    indices = of(lambda found: found[1], both) if output_indices else None
    return SimpleNamespace(values=of(lambda found: found[0], both), indices=indices)


def local_response_normalization(
    input: Any, cross_channel: Any, local_size: int, alpha: float, beta: float, bias: float
) -> Expression:
    assert cross_channel
    return of(lambda x: functional.local_response_norm(x, local_size, alpha, beta, bias), input)


def sliced(x: Tensor, offsets: Any, sizes: Any, strides: Any) -> Tensor:
    return x[tuple(slice(a, a + n, step) for a, n, step in zip(offsets, sizes, strides, strict=True))]


def gather(input: Any, indices: Any, axis: int, index_dimensions: int) -> Expression:
    def compute(x: Tensor, i: Tensor) -> Tensor:
        own = i.reshape(i.shape[i.ndim - index_dimensions :])
        found = torch.index_select(x, axis, own.reshape(-1).to(torch.int64))
        found = found.reshape(*x.shape[:axis], *own.shape, *x.shape[axis + 1 :])
        return found.reshape((1,) * (x.ndim - found.ndim) + found.shape) if found.ndim < x.ndim else found.squeeze(0)

    return of(compute, input, indices)


class Binding:
    def __init__(self, expression: Expression, data: Any) -> None:
        self.index, self.tensor = expression.index, expression.get_output_desc().placed(data)

    def release_data(self) -> None:
        pass


class Device:
    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def initialize(self, model: Any, inputs: Sequence[Binding]) -> None:
        pass

    def dispatch(self, model: Any, inputs: Sequence[Binding], outputs: Sequence[Expression]) -> list[Any]:
        return self.compute(model, inputs, outputs)

    def compute(self, model: Any, inputs: Sequence[Binding], outputs: Sequence[Expression]) -> list[Any]:
        bound = {one.index: one.tensor for one in inputs}
        with torch.no_grad():
            return [one.function(bound).numpy() for one in outputs]


class GraphBuilder:
    def __init__(self, device: Any) -> None:
        self.empty: Bound = {}

    def build(self, flags: Any, outputs: Any) -> GraphBuilder:
        return self


def reinterpret(input: Any, new_type: str, new_size: Any, new_strides: Any = None) -> Expression:
    strides = None if new_strides is None else [*new_strides]
    return of(
        lambda x: x.reshape(new_size) if strides is None else torch.as_strided(x.contiguous(), [*new_size], strides),
        input,
    )


def module(name: str) -> ModuleType:
    """The module under that name."""
    found = ModuleType(name)
    enums = (
        "TensorDataType", "TensorFlags", "MatrixTransform", "RecurrentNetworkDirection", "ConvolutionMode",
        "ConvolutionDirection", "InterpolationMode", "PaddingMode", "ExecutionFlags", "OperatorType",
    )  # fmt: skip
    simple: dict[str, Callable[..., Any]] = {
        "activation_relu": torch.relu, "activation_sigmoid": torch.sigmoid, "activation_tanh": torch.tanh,
        "activation_identity": lambda x: x, "activation_gelu": functional.gelu, "subtract": torch.sub,
        "multiply": torch.mul, "divide": torch.div,
        "activation_linear": lambda x, alpha, beta: alpha * x + beta,
        "add": lambda a, b, fused=None: activated(a + b, fused),
        "activation_softmax": lambda x, axes=(): torch.exp(x - torch.logsumexp(x, tuple(axes) or -1, keepdim=True)),
        "padding": lambda x, mode, value, start, end: torch.from_numpy(
            np.pad(x.numpy(), [*zip(start, end, strict=True)], "reflect")
        ) if mode == "REFLECTION" else padded(x, start, end, value=value),
        "slice": sliced,
        "up_sample_2d": lambda x, size, mode: functional.interpolate(
            x, scale_factor=(size.height, size.width), mode="nearest" if mode == "NEAREST_NEIGHBOR" else "bilinear"
        ),
        "value_scale_2d": lambda x, scale, bias: x * scale + torch.tensor(bias).double().reshape(1, -1, 1, 1),
    }  # fmt: skip
    found.__dict__.update({one: Names() for one in enums})
    found.__dict__.update(
        {key: lambda *given, _f=function, **named: of(_f, *given, *named.values()) for key, function in simple.items()}
    )
    found.__dict__["join"] = lambda input, axis: of(lambda *parts: torch.cat(parts, axis), *input)
    found.__dict__["Size2D"] = lambda width, height: SimpleNamespace(width=width, height=height)
    for one in (
        TensorDesc, Expression, FusedActivation, Binding, Device, GraphBuilder, input_tensor, convolution, gemm,
        mean_variance_normalization, batch_normalization, average_pooling, max_pooling, local_response_normalization,
        gather, reinterpret,
    ):  # fmt: skip
        found.__dict__[one.__name__] = one
    return found
