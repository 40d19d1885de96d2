"""Ten public questions about ONNX models on DirectML, as the smallest models that show what was asked.

Operators and names are those of a thread where it gives them. Where it names only a model (20575, 18666, 521), the
operator is one that this model has. Sizes are chosen. ``docs/onnx-threads.md`` shows the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from onnx import parser

ISSUES = "https://github.com/microsoft/onnxruntime/issues/"


class Thread(NamedTuple):
    """A question and its answer."""

    link: str
    user: str  # what the user had
    symptom: str
    opsets: str  # as the text form has them
    text: str  # the graph in ONNX's text form, and functions
    command: Literal["onnx", "lint"]  # what is asked
    options: Mapping[str, Any]  # level and shapes
    ids: Mapping[str, tuple[str, ...]]  # all ids of the answer, by the place of the node
    said: str  # the lines of the answer that say the cause
    mended: Mapping[str, Any]  # what to change, after which nothing is left to say: opsets, text, level, shapes

    def __str__(self) -> str:
        return self.link

    @property
    def asked(self) -> str:
        """The command."""
        shapes = (
            f" --shape {name}={'x'.join(map(str, sizes))}" for name, sizes in self.options.get("shapes", {}).items()
        )
        level = f" --feature-level {self.options['level']}" if "level" in self.options else ""
        return f"dmlcy {self.command} model.onnx{''.join(shapes)}{level}"

    @property
    def model(self) -> Any:
        """The model."""
        return parser.parse_model(f"<ir_version: 8, opset_import: [{self.opsets}]> {self.text}")


def _opset(number: int, *domains: str) -> str:
    return ", ".join([f'"" : {number}', *(f'"{one}" : 1' for one in domains)])


PRODUCT = """main (float[{a}] a, float[{b}] b) => (float[{y}] y) { ["/MatMul"] y = MatMul(a, b) }"""
POOL = """\
main (float[1,64,112,112] x) => (float[1,64,56,56] y) {
  ["aten_max_pool2d_3"] y = torch_lib.aten_max_pool2d(x)
}
<domain: "torch_lib", opset_import: ["" : 18]> aten_max_pool2d (self) => (result) {
  ["n0"] result = MaxPool <kernel_shape = [3, 3], strides = [2, 2], {rounding}> (self)
}"""
UPSAMPLE = """\
main (float[1,64,20,20] x, float[1,64,40,40] skip) => (float[1,128,40,40] y)
<float[0] roi = {}, float[4] scales = {1, 1, 2, 2}> {
  ["Resize_130"] u = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric"> (x, roi, scales)
  y = Concat <axis = 1> (u, skip)
}"""
RECOGNITION = """\
main (float[1,width,8] x, float[8,97] w) => (float[1,{said},97] y) {
  z = MatMul(x, w)
  ["Softmax@0"] y = Softmax <axis = 2> (z)
}"""
ATTENTION = """\
main (float[1,length] scores, int64 steps) => (float[K,1,N] y) <bool go = {1}> {
  ["Loop_198"] y = Loop <body = step (int64 i, bool before) => (bool after, float[1,{said}] weights) {
    after = Identity(before)
    ["Softmax_334"] weights = Softmax <axis = 1> (scores)
  }> (steps, go)
}"""
PREDICTOR = """\
main (float[1,tokens] alphas, int64 steps) => (float[K,N] y) <bool go = {1}> {
  ["Loop_5471"] y = Loop <body = step (int64 i, bool before) => (bool after, float[N] alpha) <int64[1] first = {0}> {
    after = Identity(before)
    ["Squeeze_5478"] alpha = Squeeze({inputs})
  }> (steps, go)
}"""
ADD = "StatefulPartitionedCall/generator/tf.__operators__.add/AddV2"
SKIP = f"""\
main (float[unk__1,64,64,3] x, float[unk__1,64,64,3] skip) => (float[unk__1,64,64,3] y) {{
  ["{ADD}"] y = Add(x, skip)
}}"""
EMBEDDING = """\
main (float[batch,196,768] patches, float[1,1,768] token) => (float[batch,197,768] y)
<int64 first = {0}, int64[1] own = {1}> {
  sizes = Shape(patches)
  one = Gather <axis = 0> (sizes, first)
  several = Unsqueeze <axes = [0]> (one)
  ["Concat_7"] wanted = Concat <axis = 0> (several, own, own)
  tokens = Expand(token, wanted)
  ["Concat_25"] y = Concat <axis = 1> (tokens, patches)
}"""
LINEAR = """\
main (float[1,64,8,8] x, float[4096,4096] w, float[4096] b) => (float[1,4096] y) {
  ["Flatten_0"] flat = Flatten(x)
  ["Gemm_1"] y = Gemm <transB = 1> (flat, w, b)
}"""
PROJECTION = """\
main (float16[1,1,256] x, uint8[256,2,64] w, float16[512] scales) => (float16[1,1,256] y) {
  ["q_proj/MatMul_Q4"] y = com.microsoft.MatMulNBits <K = 256, N = 256, bits = 4, block_size = 128> (x, w, scales)
}"""


def _filled(text: str, **values: str) -> str:
    """A text whose braces of ONNX stay as they are."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


THREADS = (
    Thread(
        f"{ISSUES}21583",
        "KBNet-S, exported by PyTorch; ONNX Runtime of mid 2024",
        "the session is not made: AbiCustomRegistry.cpp, 80070057",
        _opset(17),
        _filled(PRODUCT, a="1,2,4,8,16", b="1,2,4,16,8", y="1,2,4,8,8"),
        "lint",
        {},
        {'node 0 "/MatMul" (MatMul)': ("DML-GEMM-a-rank", "DML-GEMM-b-rank")},
        'model.onnx: node 0 "/MatMul" (MatMul): error: GEMM: a has 5 dimensions, and must have 2 to 4. '
        "[DML-GEMM-a-rank]",
        {"text": _filled(PRODUCT, a="2,4,8,16", b="2,4,16,8", y="2,4,8,8")},
    ),
    Thread(
        f"{ISSUES}20575",
        "GoogLeNet, exported by TorchDynamo as functions; ONNX Runtime 1.17.3",
        "the session is not made: DmlGraphFusionHelper.cpp, 80070057; the debug layer names GraphDescValidator.h only",
        _opset(18, "torch_lib"),
        _filled(POOL, rounding="ceil_mode = 1"),
        "lint",
        {},
        {
            'node 0 "aten_max_pool2d_3" (aten_max_pool2d), aten_max_pool2d, node 0 "n0" (MaxPool)': (
                "DML-MAX_POOLING-output-whole-windows",
                "DML-MAX_POOLING-output-whole-windows",
            )
        },
        'model.onnx: node 0 "aten_max_pool2d_3" (aten_max_pool2d), aten_max_pool2d, node 0 "n0" (MaxPool): warning: '
        "MAX_POOLING: output[0] has windows that reach past the padding: sizes(output)[2] = 56 must be the number of "
        "whole windows[0] = 55. input is (1, 64, 112, 112), read as {N, C, H, W}. The documentation rules this out, "
        "but DirectML was observed to accept it. [DML-MAX_POOLING-output-whole-windows]",
        {"text": _filled(POOL, rounding="pads = [0, 0, 1, 1]")},
    ),
    Thread(
        f"{ISSUES}18666",
        "YOLOv7-tiny for Windows ML; a program built for AnyCPU, without DirectML.dll beside it",
        "the session is not made: AbiCustomRegistry.cpp, 80070057",
        _opset(12),
        UPSAMPLE,
        "onnx",
        {"level": "5_0"},
        {'node 0 "Resize_130" (Resize)': ("DML-ONNX-level",)},
        'model.onnx: node 0 "Resize_130" (Resize): DirectML refuses this node: it needs feature level 6_4 for '
        "RESAMPLE3, and the device has 5_0. [DML-ONNX-level]",
        {"level": "6_4"},
    ),
    Thread(
        f"{ISSUES}8118",
        "a recognition model of PaddleOCR, whose images have any width; ONNX Runtime 1.8",
        "the first run fails in Softmax@0: MLOperatorAuthorImpl.cpp, 80070057",
        _opset(11),
        _filled(RECOGNITION, said="25"),
        "lint",
        {"shapes": {"width": (80,)}},
        {'node 1 "Softmax@0" (Softmax)': ("DML-ONNX-output-sizes",)},
        'model.onnx: node 1 "Softmax@0" (Softmax): error: The output "y" has the sizes 1x80x97, but the model says '
        "1x25x97. [DML-ONNX-output-sizes]",
        {"text": _filled(RECOGNITION, said="width")},
    ),
    Thread(
        f"{ISSUES}5197",
        "a decoder that is a Loop, for texts of any length; ONNX Runtime of September 2020",
        "a run fails in Softmax_334 of Loop_198: 80070057, in the comparison of an expected with an actual size",
        _opset(12),
        _filled(ATTENTION, said="8"),
        "lint",
        {"shapes": {"length": (12,)}},
        {'node 0 "Loop_198" (Loop), body, node 1 "Softmax_334" (Softmax)': ("DML-ONNX-output-sizes",)},
        'model.onnx: node 0 "Loop_198" (Loop), body, node 1 "Softmax_334" (Softmax): error: The output "weights" has '
        "the sizes 1x12, but the model says 1x8. [DML-ONNX-output-sizes]",
        {"text": _filled(ATTENTION, said="N")},
    ),
    Thread(
        f"{ISSUES}21875",
        "Paraformer, with a scripted Loop; ONNX Runtime of August 2024",
        "a run fails in Squeeze_5478 of Loop_5471: MLOperatorAuthorImpl.cpp, 80070057",
        _opset(13),
        _filled(PREDICTOR, inputs="alphas"),
        "lint",
        {"shapes": {"tokens": (1,)}},
        {'node 0 "Loop_5471" (Loop), body, node 1 "Squeeze_5478" (Squeeze)': ("DML-ONNX-output-rank",)},
        'model.onnx: node 0 "Loop_5471" (Loop), body, node 1 "Squeeze_5478" (Squeeze): error: The output "alpha" has '
        "0 axes, but the model says that it has 1. [DML-ONNX-output-rank]",
        {"text": _filled(PREDICTOR, inputs="alphas, first")},
    ),
    Thread(
        f"{ISSUES}20464",
        "a U-Net of TensorFlow with a free batch, run with ORT_PARALLEL; ONNX Runtime 1.17.3",
        "on one computer a run fails in Add: MLOperatorAuthorImpl.cpp, 80070057",
        _opset(12),
        SKIP,
        "onnx",
        {},
        {f'node 0 "{ADD}" (Add)': ("DML-ONNX-alone-sizes",)},
        f'model.onnx: node 0 "{ADD}" (Add): DirectML, but in no graph: the sizes of "x" are not known before the model '
        "runs. [DML-ONNX-alone-sizes]",
        {"shapes": {"unk__1": (1,)}},
    ),
    Thread(
        f"{ISSUES}21013",
        "a vision transformer with a free batch; ONNX Runtime 1.18",
        "Concat_7 is on the CPU, and Concat_25 is on DirectML",
        _opset(11),
        EMBEDDING,
        "onnx",
        {},
        {
            "node 0 (Shape)": ("DML-ONNX-cpu-memory",),
            "node 1 (Gather)": ("DML-ONNX-cpu-shape",),
            "node 2 (Unsqueeze)": ("DML-ONNX-cpu-shape",),
            'node 3 "Concat_7" (Concat)': ("DML-ONNX-cpu-shape",),
            "node 4 (Expand)": ("DML-ONNX-alone-sizes",),
            'node 5 "Concat_25" (Concat)': ("DML-ONNX-alone-sizes",),
        },
        'model.onnx: node 1 (Gather): CPU: the node computes with shapes. Its input "sizes" is in the memory of the '
        "CPU, and each other input is in this memory or has few elements. [DML-ONNX-cpu-shape]\n"
        '    also node 2 (Unsqueeze); node 3 "Concat_7" (Concat)',
        {"shapes": {"batch": (1,)}},
    ),
    Thread(
        f"{ISSUES}9719",
        "four Linear layers, exported with opset 13; ONNX Runtime before 1.12, whose kernels ended at opset 12",
        "no node runs on DirectML, which is registered",
        _opset(23),  # the newest opset of a kernel is 21 now
        LINEAR,
        "onnx",
        {},
        {'node 0 "Flatten_0" (Flatten)': ("DML-ONNX-cpu-version",)},
        'model.onnx: node 0 "Flatten_0" (Flatten): CPU: DirectML has no kernel for version 23 of Flatten, only for 1, '
        "9, 11, 13, 21. Export the model again with opset 22 or less. [DML-ONNX-cpu-version]",
        {"opsets": _opset(13)},
    ),
    Thread(
        "https://github.com/microsoft/onnxruntime-genai/issues/521",
        "Phi-3 with weights of 4 bits, on Windows 10",
        "the program fails inside DirectML.dll: ComputeShaderFactory.cpp, DmlDevice.cpp, 80070057",
        _opset(14, "com.microsoft"),
        PROJECTION,
        "onnx",
        {"level": "6_2"},
        {'node 0 "q_proj/MatMul_Q4" (MatMulNBits)': ("DML-ONNX-level",)},
        'model.onnx: node 0 "q_proj/MatMul_Q4" (MatMulNBits): DirectML refuses this node: it needs feature level 6_3 '
        "for DEQUANTIZE, and the device has 6_2. [DML-ONNX-level]",
        {"level": "6_3"},
    ),
)
"""The threads."""
