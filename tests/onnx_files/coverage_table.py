"""The operators of ONNX with a kernel of DirectML's provider, and how far dmlcy computes each of them."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcy._frontends.onnx.tables import CONDITIONS, OperatorRow, operator, shown
from dmlcy._generated.onnx import OPERATORS

SEQUENCES = "reads or gives a sequence or an optional value, which DirectML does not have"
NOT_DONE = {
    "ConcatFromSequence": SEQUENCES,
    "DFT": "a compute shader of the provider, no operator of DirectML",
    "GridSample": "a compute shader of the provider, no operator of DirectML",
    "GroupNorm": "ONNX has no operator of this name",
    "MemcpyFromHost": "ONNX Runtime inserts it, models do not have it",
    "MemcpyToHost": "ONNX Runtime inserts it, models do not have it",
    "OptionalGetElement": SEQUENCES,
    "OptionalHasElement": SEQUENCES,
    "STFT": "a compute shader of the provider, no operator of DirectML",
    "SequenceAt": SEQUENCES,
    "SequenceConstruct": SEQUENCES,
    "SequenceEmpty": SEQUENCES,
    "SequenceErase": SEQUENCES,
    "SequenceInsert": SEQUENCES,
    "SequenceLength": SEQUENCES,
}
"""Why operators of ONNX's own domain are not computed."""
BRANCHES = "the branch that is taken, once the condition is known"


def kernels() -> list[OperatorRow]:
    """The operators with a kernel, in the order of the tables."""
    rows = [row for key in OPERATORS if (row := operator(*key)) is not None]
    return [row for row in rows if row.kernels]


def how(row: OperatorRow) -> str:
    """How an operator is computed; "" where it is not."""
    if row.conversion:
        return " or ".join(" ".join(way) for way in row.becomes) or "no operator: only the sizes change"
    if row.fold:
        return "on the CPU, as ONNX defines it"
    return BRANCHES if row.name == "If" else ""


def lines() -> Iterator[str]:
    """The table: each operator, whether it is computed, and how or why not."""
    rows = kernels()
    for row in rows:
        said = how(row)
        yield f"{'done' if said else 'not':5}{shown(row.domain, row.name):46}{said or NOT_DONE[row.name]}".rstrip()
        if row.query:
            yield f"{'':5}{'':46}{CONDITIONS[row.query]}"
    done = sum(how(row) != "" for row in rows)
    yield f"{done} of {len(rows)} operators are computed"
