"""Uses of the public API that a type checker accepts, with the types it finds. The file also runs."""

from __future__ import annotations

from array import array
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, assert_type

import numpy as np

import dmlcy as dml
import dmlcy.onnx
from dmlcy import directml

Result = np.ndarray[Any, np.dtype[Any]]
Float32 = np.ndarray[Any, np.dtype[np.float32]]


class HasArray:
    """Anything with ``__array__``."""

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.ones((1, 1, 4, 4), np.float32)


class HasDLPack:
    """Anything with DLPack."""

    def __init__(self) -> None:
        self.array = np.ones((1, 1, 4, 4), np.float32)

    def __dlpack__(self, *, stream: object = None) -> object:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


x = np.ones((1, 1, 4, 4), np.float32)

# Inputs: the data type of an array is that of the result; of anything else it is not known.
assert_type(dml.average_pooling(x, window_size=2), Float32)
assert_type(dml.average_pooling(x.astype("<f2"), window_size=2), Result)
bytes_: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]] = np.zeros((1, 1, 4), np.uint8)
assert_type(dml.unfold(bytes_, window_sizes=2), np.ndarray[Any, np.dtype[np.uint8]])
assert_type(dml.average_pooling(HasArray(), window_size=2), Result)
assert_type(dml.average_pooling(HasDLPack(), window_size=2), Result)
assert_type(dml.padding1(memoryview(b"abc"), start_padding=1, end_padding=1), Result)
assert_type(dml.padding1(array("h", [1, 2, 3]), start_padding=1, end_padding=1), Result)

# The result is what was given as out.
y: np.ndarray[tuple[int, int, int, int], np.dtype[np.float32]] = np.empty((1, 1, 3, 3), np.float32)
assert_type(dml.average_pooling(x, window_size=2, out=y), np.ndarray[tuple[int, int, int, int], np.dtype[np.float32]])
z = array("h", [0] * 5)
assert_type(dml.padding1(array("h", [1, 2, 3]), start_padding=1, end_padding=1, out=z), "array[int]")

# Attributes.
dml.average_pooling(x, window_size=(2, 2), strides=[1, 2], include_padding=np.bool_(True))
dml.average_pooling(x, window_size=np.array([2, 2]), strides=np.int8(1), end_padding=range(2))
dml.unfold(x, window_sizes=2, dilations=(np.int64(1), 2))
dml.padding1(x, start_padding=1, end_padding=1, padding_mode=dml.PaddingMode.EDGE)
dml.padding1(x, start_padding=1, end_padding=1, padding_mode="EDGE")
dml.padding1(x, start_padding=1, end_padding=1, padding_mode="DML_PADDING_MODE_EDGE", padding_value=Fraction(1, 2))
dml.depth_to_space1(np.ones((1, 4, 2, 2), np.uint8), block_size=2, order=dml.DepthSpaceOrder.COLUMN_ROW_DEPTH)
roi = np.array([[0, 0, 0, 3, 3]], np.float32)
dml.roi_pooling(x, roi, spatial_scale=np.float32(0.5), pooled_size=(2, 2))
dml.roi_pooling(x, roi, spatial_scale=1, pooled_size=2)

# Elements of 4 bits.
weights = dml.packed(np.zeros(8, np.uint8), "INT4", (4, 4))
assert_type(weights, dml.Packed)
assert_type(weights.sizes, tuple[int, ...])
dml.dequantize(weights, [np.ones((1, 1), np.float32), weights], quantization_type="SCALE_ZERO_POINT")
scales = np.ones((1, 1), np.float32)
quantized = dml.quantize(np.ones((4, 4), np.float32), [scales], quantization_type="SCALE", out=weights)
assert_type(quantized, dml.Packed)
dml.TensorDesc.from_array(weights)

# Descs.
tensor = dml.TensorDesc("FLOAT32", (1, 1, 4, 4))
assert_type(tensor.dtype, dml.TensorDataType)
assert_type(tensor.sizes, tuple[int, ...])
assert_type(tensor.flags, dml.TensorFlags)
dml.TensorDesc(x.dtype, x.shape, strides=[16, 16, 4, 1], flags="OWNED_BY_DML", total_tensor_size_in_bytes=np.int64(64))
dml.TensorDesc(np.float16, np.array([2, 2]), flags=dml.TensorFlags.NONE, dimension_count=2)
dml.TensorDesc(dml.TensorDataType.INT4, sizes=range(1, 3))
assert_type(dml.TensorDesc.from_array(x), dml.TensorDesc)
desc = dml.desc.AveragePooling(input=tensor, window_size=2)
assert_type(desc.window_size, tuple[int, ...])
assert_type(desc.include_padding, bool)
assert_type(desc.output, dml.TensorDesc)
assert_type(dml.desc.AveragePooling.from_dict(desc.to_dict()), dml.desc.AveragePooling)
assert_type(dml.desc.OperatorDesc.from_dict(desc.to_dict()), dml.desc.OperatorDesc)
padding = dml.desc.Padding1(input=tensor, start_padding=0, end_padding=(0, 0, 1, 1), padding_mode="WRAP")
assert_type(padding.padding_mode, dml.PaddingMode)
assert_type(padding.padding_value, int | float)
pooling = dml.desc.RoiPooling(
    input=tensor, roi=dml.TensorDesc(np.float32, [1, 1, 2, 5]), spatial_scale=0.5, pooled_size=(7, 7)
)
assert_type(pooling.pooled_size, dml.desc.Size2D)
assert_type(pooling.pooled_size.height, int)

# Checks.
violations = dml.check(desc, feature_level="1_0")
assert_type(violations, list[dml.Violation])
assert_type([violation.id for violation in violations], list[str])
minimum = dml.minimum_feature_level(desc)
assert_type(minimum, dml.MinimumLevel)
assert_type(minimum.forced_by, tuple[dml.LevelReason, ...])
assert_type(dml.check(desc, minimum.level), list[dml.Violation])
assert_type(dml.supports("PADDING1", dtype="INT8", rank=5, level="5_0"), bool)
assert_type(dml.supports("PADDING1", dtype=np.float16, level=dml.FeatureLevel.LEVEL_6_4, tensor="output"), bool)
assert_type(dml.support_table(), tuple[dml.SupportRow, ...])
compiled = dml.compile(desc, dml.FeatureLevel.LEVEL_2_0)
assert_type(compiled, dml.CompiledOperator)
assert_type(compiled.called, tuple[str, ...])
assert_type(compiled.desc, dml.desc.OperatorDesc)
assert_type(compiled(x), Result)
assert_type(compiled(input=x), Result)
matrix = dml.TensorDesc("FLOAT32", (1, 1, 2, 2))
product = dml.compile(dml.desc.Gemm(a=matrix, b=matrix, c=None))
assert_type(product(np.ones((1, 1, 2, 2), "f4"), np.ones((1, 1, 2, 2), "f4"), None), Result)
joined = dml.compile(dml.desc.Join(inputs=[matrix, matrix], axis=2))
assert_type(joined([np.ones((1, 1, 2, 2), "f4")] * 2), Result)
assert_type(compiled(x, out=y), np.ndarray[tuple[int, int, int, int], np.dtype[np.float32]])
known = dml.compile(desc)
known.initialize(input=x)
assert_type(known(), Result)
with dml.feature_level("5_0"), dml.feature_level(dml.FeatureLevel.LEVEL_6_4) as level:
    dml.compile(desc, level)
with dml.feature_level(dml.current_level()):
    pass
try:
    dml.average_pooling(x, window_size=9)
except dml.InvalidDescError as error:
    assert_type(error.violations, tuple[dml.Violation, ...])
    assert_type(error.field, str | None)
    assert_type(error.repairs, tuple[dml.Repair, ...])
    assert_type([one.text for one in error.violations[0].repairs], list[str])

# Graphs.
g = dml.Graph()
value = g.input(tensor, name="x")
assert_type(value, dml.graph.Value)
assert_type(value.desc, dml.TensorDesc)
assert_type(g.average_pooling(value, window_size=2, name="pool"), dml.graph.Value)
assert_type(g.max_pooling1(value, window_size=2), dml.graph.Value)
assert_type(g.max_pooling1(value, window_size=2, output_indices=True), tuple[dml.graph.Value, dml.graph.Value])
assert_type(g.split(value, axis=3, output_sizes=[(1, 1, 4, 2)] * 2), tuple[dml.graph.Value, ...])
assert_type(g.gemm(value, g.constant(x), None, trans_a="TRANSPOSE"), dml.graph.Value)
graph = g.build(g.activation_relu(value), pooled=g.max_pooling(value, window_size=2))
assert_type(graph, dml.graph.GraphDesc)
assert_type(dml.check(graph), list[dml.graph.GraphViolation])
assert_type(dml.minimum_feature_level(graph), dml.MinimumLevel)
assert_type(dml.compile(graph), dml.graph.CompiledGraph)
assert_type(dml.compile(graph, without=("chains", "folded")).optimizations, dml.graph.Optimizations)
assert_type(dml.compile(graph).optimizations.chains, tuple[tuple[int, ...], ...])
assert_type(graph.plan().steps[0].live, int)
profile = dml.compile(graph).profile(x, runs=2)
assert_type(profile, dml.graph.Profile)
assert_type(profile.steps, tuple[dml.graph.StepProfile, ...])
assert_type(profile.operators[0].rate, float | None)
assert_type(dml.graph.from_json(dml.graph.to_json(graph)), dml.graph.GraphDesc)

# ONNX models.
DIGITS = Path(__file__).parents[2] / "examples" / "onnx" / "digits.onnx"
model = dmlcy.onnx.load(DIGITS, shapes={"batch": 1})
assert_type(model, dmlcy.onnx.CompiledModel)
optimized = dmlcy.onnx.load(DIGITS, optimize="extended")
assert_type(dmlcy.onnx.report(DIGITS, optimize="basic").optimize, str)
assert_type(model.inputs, tuple[dmlcy.onnx.ModelValue, ...])
assert_type(model.graph(), dml.graph.GraphDesc | None)
assert_type([*model.run({"image": np.zeros((1, 1, 8, 8), np.float32)}, outputs=["relu"])], list[str])

# PyDirectML, both APIs.
device = directml.Device()
network = directml.Graph(device, tensor_policy=directml.TensorPolicy.default)
image, constant = network.input([1, 1, 4, 4], np.float32, name="image"), network.constant(x)
assert_type(image, directml.Expression)
assert_type(image.shape, tuple[int, ...])
assert_type(2 / image % constant - 1.0, directml.Expression)
assert_type(directml.cast(image, dtype="int32"), directml.Expression)
assert_type(directml.max_pooling(image, window_sizes=[2, 2]), directml.MaxPoolingOutputs)
assert_type(directml.top_k(image, axis=3, k=1).indices, directml.Expression)
assert_type(directml.split(image, axis=2, output_axis_sizes=[1, 3]), list[directml.Expression])
directml.padding(image, start_padding=[0] * 4, end_padding=[0] * 4, padding_mode=directml.PaddingMode.EDGE)
directml.padding(image, directml.PaddingMode.CONSTANT, 0.0, [0] * 4, [0] * 4)
directml.add(image, constant, fused_activation=directml.FusedActivation.elu(0.5))
directml.reinterpret(image, [4, 4]), directml.reinterpret(image, directml.TensorDataType.FLOAT32, [4, 4])
operator = network.compile([image + constant, image])
assert_type(operator, directml.CompiledOperator)
assert_type(operator({"image": x}), list[Result])
assert_type(operator({image: x}, readback=False), list[directml.Buffer])
assert_type(directml.Buffer(device, x).numpy(), Result)
builder = directml.GraphBuilder(device)
described = directml.TensorDesc(
    directml.TensorDataType.FLOAT32, directml.TensorFlags.NONE, [1, 1, 4, 4], [16, 16, 4, 1]
)
entry = directml.input_tensor(builder, 0, described)
assert_type(builder.build(directml.ExecutionFlags.NONE, [directml.gemm(entry, entry)]), directml.Model)

# Recordings.
with dml.record() as recording, TemporaryDirectory() as folder:
    dml.average_pooling(x, window_size=2)
    compiled(x)
    written = recording.export(folder)
    assert_type(recording.export(written.model.parent), dml.Export)
assert_type(recording, dml.Recording)
assert_type(recording.calls, tuple[dml.RecordedCall, ...])
for call in recording.calls:
    assert_type(call.desc, dml.desc.OperatorDesc)
    assert_type(call.inputs["input"], Any)  # an array, or a tuple of them
    assert_type(call.outputs["output"], Any)
assert_type(written.model, Path)
assert_type(written.unknown_to_dxdispatch, tuple[str, ...])

# Threads.
threads = dml.get_num_threads()
assert_type(threads, int)
dml.set_num_threads(threads)

# Models over dask arrays.
if find_spec("dask") is not None:
    import dmlcy.dask

    chain = dml.Graph()
    items = chain.input(dml.TensorDesc("FLOAT32", (2, 3)), name="x")
    rows = import_module("dask.array").ones((5, 3), chunks=(4, 3), dtype="float32")
    results = dmlcy.dask.run(chain.build(y=chain.activation_relu(items)), {"x": rows}, axis={"x": 0}, threads=None)
    assert_type(results, dict[str, Any])
