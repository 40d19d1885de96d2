"""PyDirectML's module on the CPU of any machine, name for name.

``python -m dmlcy.directml SCRIPT`` runs a program that says ``import directml`` or ``import pydirectml`` unchanged.
"""

from dmlcy._frontends.directml.device import Binding, Device, TensorData
from dmlcy._frontends.directml.enums import (
    ConvolutionDirection,
    ConvolutionMode,
    ExecutionFlags,
    InterpolationMode,
    MatrixTransform,
    OperatorType,
    OutputOptions,
    PaddingMode,
    RecurrentNetworkDirection,
    TensorDataType,
    TensorFlags,
)
from dmlcy._frontends.directml.expressions import (
    Expression,
    FusedActivation,
    GraphBuilder,
    Model,
    input_tensor,
    reinterpret,
)
from dmlcy._frontends.directml.functions import (
    GRUOutputs,
    MaxPoolingOutputs,
    Size2D,
    activation_gelu,
    activation_identity,
    activation_linear,
    activation_relu,
    activation_sigmoid,
    activation_softmax,
    activation_tanh,
    add,
    average_pooling,
    batch_normalization,
    convolution,
    divide,
    gather,
    gemm,
    gru,
    join,
    local_response_normalization,
    max_pooling,
    mean_variance_normalization,
    multiply,
    padding,
    slice,
    subtract,
    up_sample_2d,
    value_scale_2d,
)
from dmlcy._frontends.directml.tensors import TensorDesc, TensorPolicy

__all__ = [
    "Binding", "ConvolutionDirection", "ConvolutionMode", "Device", "ExecutionFlags", "Expression", "FusedActivation",
    "GRUOutputs", "GraphBuilder", "InterpolationMode", "MatrixTransform", "MaxPoolingOutputs", "Model", "OperatorType",
    "OutputOptions", "PaddingMode", "RecurrentNetworkDirection", "Size2D", "TensorData", "TensorDataType", "TensorDesc",
    "TensorFlags", "TensorPolicy", "activation_gelu", "activation_identity", "activation_linear", "activation_relu",
    "activation_sigmoid", "activation_softmax", "activation_tanh", "add", "average_pooling", "batch_normalization",
    "convolution", "divide", "gather", "gemm", "gru", "input_tensor", "join", "local_response_normalization",
    "max_pooling", "mean_variance_normalization", "multiply", "padding", "reinterpret", "slice", "subtract",
    "up_sample_2d", "value_scale_2d",
]  # fmt: skip

if __name__ == "__main__":
    import sys

    from dmlcy import directml
    from dmlcy._frontends.directml.script import main

    sys.exit(main(sys.argv[1:], directml))
