"""Small graphs that an optimiser joins, and the operators that are left of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from onnx import helper, numpy_helper, parser

Array = Any
RNG = np.random.default_rng(12)
ONE = np.float32


class Pattern(NamedTuple):
    """A graph as ``onnx.parser`` reads it, and its constants.

    ``basic``, ``extended``: the operators behind the optimiser, those of com.microsoft with M before the name and those
    of the DirectML provider with D; None: as they are.
    """

    text: str
    basic: str | None = None
    extended: str | None = None
    opset: int = 17
    constants: Mapping[str, Array] = {}

    def __str__(self) -> str:
        return f"{self.text.partition('{')[2].strip(' }')[:80]} ({self.opset})"

    def model(self) -> Any:
        """The model."""
        made = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {self.opset}]>\n{self.text}')
        given = {**CONSTANTS, **self.constants}
        read = {name for node in made.graph.node for name in node.input} - {one.name for one in made.graph.input}
        read -= {name for node in made.graph.node for name in node.output}
        made.graph.initializer.extend(
            numpy_helper.from_array(np.asarray(given[name]), name) for name in sorted(read - {""})
        )
        return made

    def inputs(self) -> dict[str, Array]:
        """An array for each input; free dimensions are 2."""
        return {
            one.name: RNG.standard_normal(
                [size.dim_value or 2 for size in one.type.tensor_type.shape.dim]
            ).astype(helper.tensor_dtype_to_np_dtype(one.type.tensor_type.elem_type))
            for one in self.model().graph.input
        }  # fmt: skip

    def left(self, level: str) -> list[str]:
        """The operators that are left at a level."""
        plain = [node.op_type for node in self.model().graph.node]
        said = self.basic if level == "basic" else self.basic if self.extended is None else self.extended
        return sorted(plain if said is None else said.split())


V8 = np.linspace(0.5, 1.5, 8, dtype=np.float32)
V4 = np.linspace(0.5, 2, 4, dtype=np.float32)
CONSTANTS = {
    "r2": ONE(np.sqrt(2)), "one": ONE(1), "half": ONE(0.5), "two": ONE(2), "eps": ONE(1e-5),
    "six": ONE(6), "neg": ONE(-1), "v8": V8, "w8": V8[::-1].copy(), "v4": V4, "n4": -V4,
    "m8": RNG.standard_normal((8, 8)).astype(np.float32),
    "c11": V4.reshape(4, 1, 1), "f11": V4.reshape(1, 4, 1, 1), "c1": np.ones(1, np.float32) * 2,
    "k": RNG.standard_normal((4, 3, 3, 3)).astype(np.float32), "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
    "sx": ONE(0.02), "zx": np.uint8(128), "sy": ONE(0.05), "zy": np.uint8(100), "sw": ONE(0.01), "zw": np.int8(0),
    "sb": ONE(0.0002), "zb": np.int32(0), "sc": np.full(4, 0.01, np.float32), "zc": np.zeros(4, np.int8),
    "bq": np.array([-90, 0, 40, 99], np.int32), "kq": RNG.integers(-128, 127, (4, 3, 3, 3)).astype(np.int8),
    "mq": RNG.integers(-128, 127, (8, 8)).astype(np.int8), "mu": RNG.integers(0, 255, (8, 8)).astype(np.uint8),
    "sizes": np.array([2, 3, 8]), "last": np.array([-1]), "q": np.float32(1.702), "s4": np.array([3, 16]),
    "s5": np.array([6, 8]),
}  # fmt: skip
X = "g (float[2,3,8] x) => (float[2,3,8] y) "
XS = "g (float[2,3,8] x, float[2,3,8] s) => (float[2,3,8] y) "
ROWS = "g (float[4,8] x) => (float[4,8] y) "
PLANES = "g (float[1,3,8,8] x) => (float[1,4,6,6] y) "
LINE = "g (float[4] x) => (float[4] y) "
PAIR = "g (float[3,8] x, float[8,8] w) => (float[3,8] y) "
BATCH = "g (float[2,3,8] x, float[2,8,8] z) => (float[2,3,8] y) "
GELU = "{ a = Div(x, r2) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half) }"
OTHER = "{ a = Div(x, r2) b = Erf(a) c = Add(b, one) d = Mul(x, half) y = Mul(d, c) }"
NORM = (
    "{ m = ReduceMean<axes=[-1]>(x) d = Sub(x,m) p = Pow(d,two) n = ReduceMean<axes=[-1]>(p) e = Add(n,eps) "
    "t = Sqrt(e) u = Div(d,t) o = Mul(u,v8) y = Add(o,w8) }"
)
NORM_OF_INPUTS = NORM.replace("<axes=[-1]>(x)", "(x,last)").replace("<axes=[-1]>(p)", "(p,last)")
LINES = LINE.replace("y)", "y, float[4] z)")
TURNED = PAIR.replace("3,8] y", "8,3] y")
SKIP, PLAIN = "MSkipLayerNormalization", "Add LayerNormalization"
ERF = "Add Div Erf Mul Mul"
MEANS = "Add Add Div Mul Pow ReduceMean ReduceMean Sqrt Sub"
INTEGERS = "h = QuantizeLinear(x,sx,zx) i = DequantizeLinear(h,sx,zx)"
WEIGHT, CHANNELS = "j = DequantizeLinear(%s,sw,zw)", "j = DequantizeLinear<axis=0>(kq,sc,zc)"
TWICE = "k = QuantizeLinear(x,sw,zx) j = DequantizeLinear(k,sw,zx)"
ENDS = "DequantizeLinear QuantizeLinear"
PAIRS = f"{ENDS} {ENDS}"


def between(nodes: str, output: str = "sy,zy") -> str:
    """Nodes that read i and give r, between quantized tensors."""
    return f"{{ {INTEGERS} {nodes} z = QuantizeLinear(r,{output}) y = DequantizeLinear(z,{output}) }}"


ATTENTION = """{ p = Neg(x) q0 = MatMul(x,w0) q1 = Add(q0,v8)
 k0 = MatMul(x,w1) k1 = Add(k0,v8) v0 = MatMul(x,w2) v1 = Add(v0,v8)
 q2 = Reshape(q1,heads) q3 = Transpose<perm=[0,2,1,3]>(q2) k2 = Reshape(k1,heads) k3 = Transpose<perm=[0,2,3,1]>(k2)
 v2 = Reshape(v1,heads) v3 = Transpose<perm=[0,2,1,3]>(v2) s0 = MatMul(q3,k3) s1 = Div(s0,two) s2 = Softmax(s1)
 o0 = MatMul(s2,v3) o1 = Transpose<perm=[0,2,1,3]>(o0) o2 = Reshape(o1,whole) o3 = MatMul(o2,w3) o4 = Add(o3,v8)
 r = Add(o4,p) h = LayerNormalization(r,v8,w8) f0 = MatMul(h,w4) f1 = Add(f0,v8) f2 = Relu(f1) f3 = MatMul(f2,w5)
 f4 = Add(f3,v8) y = Add(f4,h) }"""
GEMMS = f"Relu Softmax {'Gemm ' * 6}{'Reshape ' * 12}{'Transpose ' * 4}"
WEIGHTS = {
    **{f"w{at}": 0.3 * RNG.standard_normal((8, 8)).astype(np.float32) for at in range(6)},
    "heads": np.array([0, 0, 2, 4]), "whole": np.array([0, 0, 8]),
}  # fmt: skip
PATTERNS = [
    Pattern(X + GELU, ERF, "MGelu"),
    Pattern(X + OTHER, ERF, "MGelu"),
    Pattern(X + GELU, "Gelu", opset=20),
    Pattern(X + GELU.replace("Div(x, r2)", "Mul(x, half)")),
    Pattern(X + "{ x1 = Add(x,v8) " + GELU[1:].replace("x,", "x1,"), f"Add {ERF}", "MBiasGelu"),
    Pattern(ROWS + "{ a = MatMul(x,m8) y = Add(a,v8) }", "Gemm"),
    Pattern(ROWS + "{ a = MatMul(x,m8) y = Add(v8,a) }", "Gemm"),
    Pattern(ROWS + "{ a = MatMul(x,m8) y = Add(a,c1) }"),
    Pattern(ROWS.replace("4,", "N,") + "{ a = MatMul(x,m8) y = Add(a,v8) }", "Gemm"),
    Pattern(X + "{ a = MatMul(x,m8) y = Add(a,v8) }", "Gemm Reshape Reshape"),
    Pattern(X.replace("2,", "N,") + "{ a = MatMul(x,m8) y = Add(a,v8) }"),
    Pattern(X + NORM, MEANS, "LayerNormalization", 13),
    Pattern(X + NORM, "LayerNormalization"),
    Pattern(X + NORM_OF_INPUTS, "LayerNormalization", opset=18),
    Pattern(X + NORM.replace("p = Pow(d,two)", "j = Sub(x,m) p = Pow(j,two)"), "LayerNormalization"),
    Pattern(X + NORM.replace("-1", "1,2")),
    Pattern(X + NORM.replace("Pow(d,two)", "Abs(d)").replace("Pow", "Abs")),
    Pattern(PLANES + "{ a = Conv(x,k) y = BatchNormalization(a,v4,n4,n4,v4) }", "Conv"),
    Pattern(PLANES + "{ a = Conv(x,k,v4) y = BatchNormalization<epsilon=0.1>(a,v4,n4,n4,v4) }", "Conv", opset=21),
    Pattern(PLANES + "{ a = Conv(x,k) b = Mul(a,c11) c = Add(b,f11) y = BatchNormalization(c,v4,n4,n4,v4) }", "Conv"),
    Pattern(PLANES + "{ a = Conv(x,k,v4) y = Mul(a,half) }", "Conv"),
    Pattern(PLANES + "{ a = Conv(x,k) y = Mul(c11,a) }"),
    Pattern(PLANES + "{ a = Conv(x,k) y = Mul(a,c1) }"),
    Pattern(PLANES + "{ a = Conv(x,k) y = Add(a,half) }"),
    Pattern(PLANES.replace("y)", "y, float[1,4,6,6] a)") + "{ a = Conv(x,k) y = Add(a,c11) }"),
    Pattern(PLANES.replace("6,6", "8,8") + "{ a = Pad(x,pads) y = Conv(a,k) }", "Conv"),
    Pattern(PLANES.replace("6,6", "8,8") + "{ a = Pad(x,pads,one) y = Conv(a,k) }"),
    Pattern(LINE + "{ a = Relu(x) y = Clip(a,neg,six) }", "Clip"),
    Pattern(LINE + "{ a = Relu(x) y = Clip(a,,six) }", "Clip"),
    Pattern(LINE + "{ a = Relu(x) y = Clip(a,half,six) }", "Clip"),
    Pattern(LINE + "{ a = Relu(x) y = Clip<min=-1.0,max=6.0>(a) }", "Clip", opset=10),
    Pattern(LINE + "{ a = Clip(x,neg,six) y = Relu(a) }"),
    Pattern(LINE + "{ a = Identity(x) b = Dropout(a) c = Cast<to=1>(b) y = Tanh(c) }", "Tanh"),
    Pattern(LINE + "{ a = Tanh(x) y = Identity(a) }", "Tanh"),
    Pattern(LINE + "{ y = Identity(x) }"),
    Pattern(LINES + "{ a = Tanh(x) y = Identity(a) z = Neg(a) }"),
    Pattern(LINES + "{ a = Relu(x) b = Relu(x) y = Tanh(a) z = Cos(b) }", "Cos Relu Tanh"),
    Pattern(LINES + "{ y = Relu(x) b = Relu(x) z = Tanh(b) }"),
    Pattern(PAIR + "{ a = Transpose<perm=[1,0]>(w) y = Gemm(x,a) }", "Gemm"),
    Pattern(TURNED + "{ a = Gemm<alpha=2.0,transB=1>(x,w) y = Transpose<perm=[1,0]>(a) }", "Gemm"),
    Pattern(TURNED + "{ a = Gemm(x,w,v8) y = Transpose<perm=[1,0]>(a) }"),
    Pattern(PAIR.replace("w)", "w, float[3,8] s)") + "{ a = Gemm<alpha=2.0,beta=3.0>(x,w) y = Sum(s,a) }", "Gemm"),
    Pattern("g (float[2,3,8] x) => (float[6,8] y) { a = Reshape(x,s4) y = Reshape(a,s5) }", "Reshape"),
    Pattern(XS + "{ a = Add(x,s) y = LayerNormalization<epsilon=0.1>(a,v8,w8) }", PLAIN, SKIP),
    Pattern(XS + "{ b = Add(x,v8) a = Add(b,s) y = LayerNormalization(a,v8,w8) }", f"Add {PLAIN}", SKIP),
    Pattern(XS + "{ b = Add(x,v8) a = Add(s,b) y = LayerNormalization(a,v8) }", f"Add {PLAIN}", SKIP),
    Pattern(XS + "{ b = Add(v8,x) a = Add(s,b) y = LayerNormalization(a,v8,w8) }", f"Add {PLAIN}", f"Add {SKIP}"),
    Pattern(XS.replace("y)", "y, float[2,3,8] a)") + "{ a = Add(x,s) y = LayerNormalization(a,v8,w8) }"),
    Pattern(X + "{ s = Sigmoid(x) y = Mul(x,s) }", "Mul Sigmoid", "MQuickGelu"),
    Pattern(X + "{ a = Mul(q,x) s = Sigmoid(a) y = Mul(s,x) }", "Mul Mul Sigmoid", "MQuickGelu"),
    Pattern(BATCH + "{ a = MatMul(x,z) y = Div(a,two) }", "Div MatMul", "MFusedMatMul"),
    Pattern(BATCH + "{ b = Mul(x,half) a = MatMul(b,z) y = Mul(two,a) }", "MatMul Mul Mul", "MFusedMatMul"),
    Pattern(BATCH + "{ a = MatMul(x,z) y = Div(two,a) }"),
    Pattern(
        BATCH + "{ a = MatMul(x,z) b = Div(a,two) y = Softmax(b) }", "Div MatMul Softmax", "MFusedMatMulActivation"
    ),
    Pattern(
        BATCH + "{ a = MatMul(x,z) b = Div(a,two) y = Softmax<axis=1>(b) }",
        "Div MatMul Softmax",
        "MFusedMatMulActivation",
    ),
    Pattern(
        BATCH + "{ a = MatMul(x,z) b = Div(a,two) y = Softmax(b) }", "Div MatMul Softmax", "MFusedMatMul Softmax", 11
    ),
    Pattern(BATCH + "{ a = MatMul(x,z) y = Softmax(a) }"),
    Pattern(
        BATCH + "{ b = Transpose<perm=[0,2,1]>(z) a = MatMul(x,b) y = Mul(a,half) }",
        "MatMul Mul Transpose",
        "MFusedMatMul",
    ),
    Pattern(
        PLANES + between(f"{WEIGHT % 'kq'} r = Conv(i,j)"), f"Conv {PAIRS} DequantizeLinear", f"QLinearConv {ENDS}"
    ),
    Pattern(
        PLANES + between(f"{CHANNELS} l = DequantizeLinear(bq,sb,zb) r = Conv(i,j,l)"),
        f"Conv {PAIRS} DequantizeLinear DequantizeLinear",
        f"QLinearConv {ENDS}",
    ),
    Pattern(
        X + between(f"{WEIGHT % 'mq'} r = MatMul(i,j)"), f"MatMul {PAIRS} DequantizeLinear", f"QLinearMatMul {ENDS}"
    ),
    Pattern(
        f"{X} {{ {INTEGERS} j = DequantizeLinear(mu,sw,zx) y = MatMul(i,j) }}",
        "MatMul QuantizeLinear DequantizeLinear DequantizeLinear",
        "MMatMulIntegerToFloat QuantizeLinear",
    ),
    Pattern(X + between(f"{TWICE} r = Add(i,j)"), f"Add {PAIRS} {ENDS}", f"MQLinearAdd {ENDS} QuantizeLinear"),
    Pattern(
        X.replace("[2,3,8] y", "[4,3,8] y") + between(f"{TWICE} r = Concat<axis=0>(i,j)"),
        f"Concat {PAIRS} {ENDS}",
        f"MQLinearConcat {ENDS} QuantizeLinear",
    ),
    Pattern(X + between("r = Sigmoid(i)"), f"Sigmoid {PAIRS}", f"MQLinearSigmoid {ENDS}"),
    Pattern(X + between("r = Reshape(i,sizes)", "sx,zx"), f"Reshape {PAIRS}", f"Reshape {ENDS}"),
    Pattern(X + between("r = Transpose<perm=[0,1,2]>(i)"), f"Transpose {PAIRS}"),
    Pattern(
        PLANES.replace("4,6,6", "3,7,7") + between("r = AveragePool<kernel_shape=[2,2]>(i)"),
        f"AveragePool {PAIRS}",
        f"MQLinearAveragePool {ENDS}",
    ),
    Pattern(
        PLANES.replace("4,6,6", "3,7,7") + between("r = MaxPool<kernel_shape=[2,2]>(i)", "sx,zx"),
        f"MaxPool {PAIRS}",
        f"MaxPool {ENDS}",
    ),
    Pattern(
        X + ATTENTION,
        f"{GEMMS} Neg Add Add Div LayerNormalization MatMul MatMul",
        f"{GEMMS.removeprefix('Relu Softmax')} Relu Neg Add MatMul MFusedMatMulActivation {SKIP}",
        constants=WEIGHTS,
    ),
]  # fmt: skip
"""ONNX Runtime 1.32 leaves the same ones on the CPU, where a product takes no Softmax."""
