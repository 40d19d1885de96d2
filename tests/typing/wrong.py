"""Uses of the public API that a type checker refuses: a comment that turns out to be unused is an error. Never run."""

import numpy as np

import dmlcy as dml
import dmlcy.dask
import dmlcy.onnx
from dmlcy import directml

x = np.ones((1, 1, 4, 4), np.float32)
tensor = dml.TensorDesc("FLOAT32", (1, 1, 4, 4))

# Inputs.
dml.average_pooling([[[[1.0]]]], window_size=2)  # type: ignore[call-overload]
dml.average_pooling(3.0, window_size=2)  # type: ignore[call-overload]
dml.average_pooling(window_size=2)  # type: ignore[call-overload]
dml.average_pooling(x, x, window_size=2)  # type: ignore[call-overload]
dml.average_pooling(x, window_size=2, out=[0.0])  # type: ignore[call-overload]

# Attributes.
dml.average_pooling(x)  # type: ignore[call-overload]
dml.average_pooling(x, 2)  # type: ignore[call-overload]
dml.average_pooling(x, window_sizes=2)  # type: ignore[call-overload]
dml.average_pooling(x, window_size=2.0)  # type: ignore[call-overload]
dml.average_pooling(x, window_size="22")  # type: ignore[arg-type]
dml.average_pooling(x, window_size=(2, 2.0))  # type: ignore[arg-type]
dml.average_pooling(x, window_size=None)  # type: ignore[call-overload]
dml.average_pooling(x, window_size=2, include_padding=1)  # type: ignore[call-overload]
dml.padding1(x, start_padding=1, end_padding=1, padding_mode="EDGES")  # type: ignore[call-overload]
dml.padding1(x, start_padding=1, end_padding=1, padding_mode=dml.AxisDirection.INCREASING)  # type: ignore[call-overload]
dml.padding1(x, start_padding=1, end_padding=1, padding_mode=1)  # type: ignore[call-overload]
dml.padding1(x, start_padding=1, end_padding=1, padding_value="9")  # type: ignore[call-overload]
dml.roi_pooling(x, x, spatial_scale=1j, pooled_size=2)  # type: ignore[call-overload]
dml.roi_pooling(x, x, spatial_scale=1, pooled_size=(2, 2, 2))  # type: ignore[arg-type]

# Descs.
dml.desc.AveragePooling(tensor, window_size=2)  # type: ignore[call-arg]
dml.desc.AveragePooling(input=tensor)  # type: ignore[call-arg]
dml.desc.AveragePooling(input=x, window_size=2)  # type: ignore[arg-type]
dml.desc.AveragePooling(input=tensor, window_size=2.5)  # type: ignore[arg-type]
dml.desc.AveragePooling(input=tensor, window_size=2, WindowSize=2)  # type: ignore[call-arg]
dml.desc.Padding1(input=tensor, start_padding=0, end_padding=0, padding_mode="edge")  # type: ignore[arg-type]
dml.TensorDesc(4, (1, 1))  # type: ignore[arg-type]
dml.TensorDesc("FLOAT32", 4)  # type: ignore[arg-type]
dml.TensorDesc("FLOAT32", (1, 1.5))  # type: ignore[arg-type]
dml.TensorDesc("FLOAT32", (1, 1), flags="OWNED")  # type: ignore[arg-type]
dml.TensorDesc("FLOAT32", (1, 1), rank=2)  # type: ignore[call-arg]
dml.TensorDesc.from_array([1.0])  # type: ignore[arg-type]
tensor.sizes = (2, 2)  # type: ignore[misc]
print(dml.desc.Unfold(input=tensor, window_sizes=2).windows)  # type: ignore[attr-defined]
print(dml.desc.FoldUnfold)  # type: ignore[attr-defined]

# Checks.
dml.check(tensor)  # type: ignore[call-overload]
dml.check(dml.desc.Unfold(input=tensor, window_sizes=2), feature_level="7_0")  # type: ignore[call-overload]
dml.minimum_feature_level(tensor)  # type: ignore[arg-type]
dml.supports(dml.padding1)  # type: ignore[arg-type]
dml.supports("PADDING1", level="7_0")  # type: ignore[arg-type]
dml.supports("PADDING1", rank=2.5)  # type: ignore[arg-type]
dml.compile(dml.desc.Unfold(input=tensor, window_sizes=2))([1.0])  # type: ignore[list-item]
dml.compile(dml.desc.Unfold(input=tensor, window_sizes=2), 6)  # type: ignore[call-overload]

# Graphs.
g = dml.Graph()
value = g.input(tensor)
g.input((1, 1))  # type: ignore[arg-type]
g.activation_relu(x)  # type: ignore[arg-type]
g.average_pooling(value)  # type: ignore[call-arg]
g.average_pooling(value, window_size=2, bogus=1)  # type: ignore[call-arg]
g.join(value, axis=0)  # type: ignore[arg-type]
print(g.bogus)  # type: ignore[attr-defined]
g.build(x)  # type: ignore[arg-type]

# PyDirectML.
network = directml.Graph(directml.Device())
image = network.input([1, 1, 4, 4])
directml.abs(image, (1, 0))  # type: ignore[call-arg]
directml.add(image, 3)  # type: ignore[arg-type]
directml.round(image, rounding_mode="TOWARD_ZERO")  # type: ignore[arg-type]
directml.cumulative_summation(image)  # type: ignore[call-arg]
directml.FusedActivation("RELU")  # type: ignore[arg-type]
network.compile(image)  # type: ignore[arg-type]
network.compile([image])([x])  # type: ignore[call-overload]
print(image.values)  # type: ignore[attr-defined]

# ONNX models.
dmlcy.onnx.load("m.onnx", optimize="all")  # type: ignore[arg-type]

dml.record("model")  # type: ignore[call-arg]
dml.record().export(5)  # type: ignore[arg-type]
dml.record().calls.append(x)  # type: ignore[attr-defined]
dml.feature_level(5.0)  # type: ignore[arg-type]
dml.set_num_threads(1.5)  # type: ignore[arg-type]
print(dml.nothing)  # type: ignore[attr-defined]

# Models over dask arrays.
dmlcy.dask.run(g.build(), [x])  # type: ignore[arg-type]
dmlcy.dask.run(5, {"x": x})  # type: ignore[arg-type]
dmlcy.dask.run(g.build(), {"x": x}, threads="1")  # type: ignore[arg-type]
