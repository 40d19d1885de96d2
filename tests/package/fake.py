"""Operators written by hand, one per kind of field, for the tests of what explains a refusal."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from dmlcy._facts.rows import MISSING, Definition, DtypeRow, Field, Formula, Operator, RankRow, Rule, Rules, Term

FLOATS = (DtypeRow("1_0", ("FLOAT32", "FLOAT16")),)
GROWING = (
    DtypeRow("2_1", ("FLOAT32", "FLOAT16", "INT32", "UINT8")),
    DtypeRow("5_0", ("FLOAT64", "INT64", "UINT64")),
)
ALL = ("FLOAT64", "FLOAT32", "FLOAT16", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8")


def formula(text: str, reads: str, function: Any) -> Formula:
    return Formula(text, frozenset(reads.split()), function)


def tensor(name: str, kind: str, dtypes: Any, ranks: Any, **more: Any) -> Field:
    python = {"InputTensor": "input", "OutputTensor": "output", "ROITensor": "roi", "ScaleTensor": "scale"}[name]
    return Field(name, python, kind, "tensor", more.pop("optional", False), dtypes=dtypes, ranks=ranks, **more)


def attribute(name: str, python: str, kind: str, **more: Any) -> Field:
    return Field(name, python, "attribute", kind, more.get("default", MISSING) is None, **more)


def operator(name: str, since: str, fields: tuple[Field, ...], rules: tuple[Rule, ...], cls: type[Rules]) -> Operator:
    desc = "".join(word.capitalize() for word in name.split("_"))
    struct = f"DML_{name}_OPERATOR_DESC"
    definition = Definition({}, {}, {})
    head = (name, name.lower(), desc, struct, "fake", since, "")
    return Operator(*head, fields, (), (), rules, (), cls, {}, None, 0.0, definition)


def rule(
    id_: str, about: str, says: str, text: str, shown: str, reads: str, holds: Any, terms: Any, **more: Any
) -> Rule:
    return Rule(
        id=id_,
        about=about,
        says=says,
        text=text,
        shown=shown,
        index=more.get("index"),
        reads=frozenset(reads.split()),
        domain=more.get("domain"),
        holds=holds,
        terms=tuple(Term(label, function) for label, function in terms),
        hint=more.get("hint", ""),
        fix=more.get("fix"),
        provenance="inferred",
        since=more.get("since", "1_0"),
        until=more.get("until"),
        data=more.get("data", False),
    )


class PoolRules(Rules):
    input: Any
    start_padding: Any
    end_padding: Any
    window_size: Any
    strides: Any
    scale: float

    def spatial(self) -> int:
        return len(self.input.sizes) - 2

    def padded(self, d: int) -> int:
        return self.input.sizes[2 + d] + self.start_padding[d] + self.end_padding[d]  # type: ignore[no-any-return]

    def pooled(self, d: int) -> int:
        return (self.padded(d) - self.window_size[d]) // self.strides[d] + 1  # type: ignore[no-any-return]

    def output_sizes(self) -> list[int]:
        return [*self.input.sizes[:2], *(self.pooled(d) for d in range(self.spatial()))]


POOL_RANKS = (RankRow("1_0", 4, 5),)
SPATIAL = formula("spatial", "input.sizes", PoolRules.spatial)
POOL_READS = "input.sizes start_padding end_padding window_size strides"
POOL = operator(
    "FAKE_POOLING",
    "1_0",
    (
        tensor("InputTensor", "input", FLOATS, POOL_RANKS),
        tensor("OutputTensor", "output", FLOATS, POOL_RANKS, same_dtype_as="input",
               sizes=formula("[sizes(input)[0], sizes(input)[1], *pooled]", POOL_READS, PoolRules.output_sizes)),
        attribute("DimensionCount", "dimension_count", "uint", value=SPATIAL),
        attribute("Strides", "strides", "uint_array", length=SPATIAL, minimum=1, default=1, provenance="inferred"),
        attribute("WindowSize", "window_size", "uint_array", length=SPATIAL, minimum=1),
        attribute("StartPadding", "start_padding", "uint_array", length=SPATIAL, default=0),
        attribute("EndPadding", "end_padding", "uint_array", length=SPATIAL, default=0),
        attribute("IncludePadding", "include_padding", "bool", default=False),
        attribute("BlockSize", "block_size", "uint", minimum=1, default=1),
        attribute("Scale", "scale", "float", default=1.0),
    ),
    (
        rule("DML-FAKE_POOLING-window_size-fits", "window_size", "does not fit", "extent[d] <= padded[d]",
             "{0} must be <= {1}", "input.sizes window_size start_padding end_padding",
             lambda self, d: self.window_size[d] <= self.padded(d),
             [("extent[{d}]", lambda self, d: self.window_size[d]), ("padded[{d}]", PoolRules.padded)],
             index="d", domain=PoolRules.spatial, hint="Increase the padding, or reduce window_size.",
             fix=formula("padded[d]", "", PoolRules.padded)),
        rule("DML-FAKE_POOLING-scale-positive", "scale", "is not positive", "scale > 0", "{0} must be > 0", "scale",
             lambda self: self.scale > 0, [("scale", lambda self: self.scale)], until="6_0"),
        rule("DML-FAKE_POOLING-block_size-one", "block_size", "is not one", "block_size == 1", "{0} must be 1",
             "block_size", lambda self: self.block_size == 1, [("block_size", lambda self: self.block_size)],
             since="6_2"),
    ),
    PoolRules,
)  # fmt: skip


class PadRules(Rules):
    input: Any
    output: Any
    start_padding: Any
    end_padding: Any

    def axes(self) -> int:
        return len(self.input.sizes)

    def padded(self) -> list[int]:
        sizes = self.input.sizes
        return [sizes[d] + self.start_padding[d] + self.end_padding[d] for d in range(self.axes())]


AXES = formula("axes", "input.sizes", PadRules.axes)
PAD = operator(
    "FAKE_PADDING",
    "2_1",
    (
        tensor("InputTensor", "input", GROWING, (RankRow("2_1", 1, 5), RankRow("4_0", 1, 8))),
        tensor("OutputTensor", "output", GROWING, (RankRow("2_1", 1, 5), RankRow("4_0", 1, 8)), same_dtype_as="input",
               sizes=formula("padded", "input.sizes start_padding end_padding", PadRules.padded)),
        attribute("PaddingMode", "padding_mode", "enum:DML_PADDING_MODE", default="CONSTANT"),
        attribute("PaddingValueDataType", "padding_value_data_type", "enum:DML_TENSOR_DATA_TYPE",
                  value=formula("dtype(output)", "output.dtype", lambda self: self.output.dtype)),
        attribute("PaddingValue", "padding_value", "scalar_union", scalar_type="PaddingValueDataType", default=0),
        attribute("DimensionCount", "dimension_count", "uint", value=AXES),
        attribute("StartPadding", "start_padding", "uint_array", length=AXES),
        attribute("EndPadding", "end_padding", "uint_array", length=AXES),
    ),
    (),
    PadRules,
)  # fmt: skip


class UnfoldRules(Rules):
    input: Any
    output: Any

    def sizes(self) -> list[int]:
        return [self.input.sizes[0], self.input.sizes[1], math.prod(self.input.sizes[2:])]


UNFOLD = operator(
    "FAKE_UNFOLD",
    "6_4",
    (
        tensor("InputTensor", "input", (DtypeRow("6_4", ALL),), (RankRow("6_4", 3, 8),)),
        tensor("OutputTensor", "output", (DtypeRow("6_4", ALL),), (RankRow("6_4", 3, 8),), same_dtype_as="input",
               sizes=formula("[N, C, prod(image)]", "input.sizes", UnfoldRules.sizes), leading_ones="desc"),
    ),
    (
        rule("DML-FAKE_UNFOLD-output-rank", "output", "has too many dimensions", "rank(output) <= rank(input)",
             "{0} must be <= {1}", "output.sizes input.sizes",
             lambda self: len(self.output.sizes) <= len(self.input.sizes),
             [("rank(output)", lambda self: len(self.output.sizes)),
              ("rank(input)", lambda self: len(self.input.sizes))]),
    ),
    UnfoldRules,
)  # fmt: skip


class RoiRules(Rules):
    input: Any
    roi: Any
    roi_data: Any
    pooled_size: Any

    def regions(self) -> int:
        return self.roi.sizes[2]  # type: ignore[no-any-return]

    def output_sizes(self) -> list[int]:
        return [self.regions(), self.input.sizes[1], self.pooled_size.height, self.pooled_size.width]


def coordinate(k: int) -> Any:
    return lambda self, r: float(self.roi_data[0, 0, r, k])


FOUR = (RankRow("1_0", 4, 4),)
ROI = operator(
    "FAKE_ROI",
    "1_0",
    (
        tensor("InputTensor", "input", FLOATS, FOUR),
        tensor("ROITensor", "input", FLOATS, FOUR, same_dtype_as="input", leading_ones="call",
               sizes=formula("[1, 1, regions, 5]", "roi.sizes", lambda self: [1, 1, self.regions(), 5])),
        tensor("ScaleTensor", "input", FLOATS, FOUR, optional=True),
        tensor("OutputTensor", "output", FLOATS, FOUR, same_dtype_as="input",
               sizes=formula("[regions, C, pooled_size.Height, pooled_size.Width]", "roi.sizes input.sizes pooled_size",
                             RoiRules.output_sizes)),
        attribute("PooledSize", "pooled_size", "size_2d", minimum=1, maximum=2**31 - 1),
    ),
    (
        rule("DML-FAKE_ROI-roi-finite", "roi", "is not finite", "all(isfinite(roi[0, 0, r, k]) for k in 5)",
             "all(isfinite(roi[0, 0, r, k]) for k in 5) must hold, where {0}, {1}", "roi.sizes roi.dtype",
             lambda self, r: all(math.isfinite(self.roi_data[0, 0, r, k]) for k in range(5)),
             [(f"roi[0, 0, {{r}}, {k}]", coordinate(k)) for k in range(2)],
             index="r", domain=RoiRules.regions, data=True),
        rule("DML-FAKE_ROI-roi-batch", "roi", "is not the index of an item of the batch", "floor(roi[0, 0, r, 0]) < N",
             "{0} must be < {1}", "roi.sizes roi.dtype input.sizes",
             lambda self, r: math.floor(self.roi_data[0, 0, r, 0]) < self.input.sizes[0],
             [("roi[0, 0, {r}, 0]", coordinate(0)), ("N", lambda self, r: self.input.sizes[0])],
             index="r", domain=RoiRules.regions, data=True),
    ),
    RoiRules,
)  # fmt: skip

HOST = operator(
    "FAKE_HOST",
    "1_0",
    (
        tensor("InputTensor", "input", FLOATS, FOUR),
        tensor("OutputTensor", "output", FLOATS, FOUR, same_dtype_as="input",
               sizes=formula("sizes(input)", "input.sizes", lambda self: self.input.sizes)),
        attribute("Before", "before", "operator_desc", default=None, among=(("PADDING", "1_0"), ("PADDING1", "5_0"))),
    ),
    (),
    Rules,
)  # fmt: skip

OPERATORS = {one.name: one for one in (POOL, PAD, UNFOLD, ROI, HOST)}


@cache
def descs() -> dict[str, Any]:
    """The desc classes of the operators: what is generated for real ones."""
    from dmlcy._desc.operator_desc import OperatorDesc

    return {
        name: type(one.desc, (OperatorDesc,), {"operator": one, "__module__": __name__, "__qualname__": one.desc})
        for name, one in OPERATORS.items()
    }
