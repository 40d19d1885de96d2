"""The tensors and attributes that a call takes."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Field


@dataclass(frozen=True, slots=True)
class TensorPlan:
    """A tensor in the C struct of its operator, or an array of tensors."""

    python: str
    kind: str
    dtypes: str  # name of the level tables
    ranks: str
    same_as: str | None
    optional: bool  # it may be left out: its data type is 0 then
    several: bool  # an array of tensors
    mixed: bool  # of any data types
    call_rank: int | None  # a call may leave leading ones out, up to this rank
    desc_rank: int | None  # a desc may add leading ones; the kernel sees this rank
    more_ones: bool  # a call and a desc may add leading ones, which the kernel sees
    doc: str
    takes: str  # "Rank 4; data type FLOAT32 or FLOAT16."

    @property
    def desc_ones(self) -> bool:
        """Whether a desc may add leading ones."""
        return self.desc_rank is not None or self.more_ones

    @property
    def number(self) -> str:
        """How many tensors a call has for it, as C."""
        if self.several:
            return "DMLCY_MIXED" if self.mixed else "DMLCY_SEVERAL"
        return "DMLCY_AT_MOST_ONE" if self.optional else "DMLCY_ONE"


@dataclass(frozen=True, slots=True)
class AttributePlan:
    """An attribute that the caller gives, or whether a call asks for an optional output."""

    python: str
    declarations: tuple[str, ...]
    take: str  # the condition that takes it from Python
    value: str  # what was taken, as Python has it
    members: str | None  # name of the level table of an enum
    default: str | None  # as Python
    doc: str
    summary: str  # numpydoc type
    takes: str  # which values of the type, in a sentence
    field: Field
    in_desc: tuple[str, int, int] | None  # None: a field; else of a tensor: sizes before and after it, or -1: its type
    annotation: str = "_DataType | bool | None"  # of what a call asks about an output

    @property
    def takes_type(self) -> bool:
        """Whether it is about the data type of an output, or asks for the output."""
        return self.in_desc is not None and self.in_desc[1] < 0
