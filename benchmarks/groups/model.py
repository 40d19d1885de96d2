"""Groups of cells, as data: the work of a cell is an expression over its inputs, for dmlcy and for each peer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

DIRECT, COMPILED = "dmlcy", "dmlcy compiled"
BESIDE = "beside"
"""A contender that is a call of dmlcy too: the time to compare with, where no other library does the work."""
ADD = "numpy.add"
PEERS = ("numpy", "torch", "onnxruntime", BESIDE)


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a contender: ``call`` is timed, ``before`` prepares names for it."""

    call: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One row: an operator with its attributes, sizes and data type.

    Attributes
    ----------
    name
        The group, the work, the size and the data type.
    dtype
        NumPy's name of the data type.
    sizes
        The value of ``sizes`` in the expressions of the inputs.
    inputs
        An expression by name, over what ``benchmarks.groups.inputs`` offers.
    constants
        The inputs that do not change from call to call: a compiled call and ONNX Runtime know them before.
    call
        The call of dmlcy.
    works
        The work of each peer.
    network
        The name of the network, where the work is one.
    tolerance
        The greatest difference of two results, in units of their greatest magnitude; None: that of the data type.
    each
        The figure to reach in this cell; None: the figure of each cell of the group.
    """

    name: str
    dtype: str
    sizes: tuple[int, ...]
    inputs: Mapping[str, str] = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    call: str = ""
    works: Mapping[str, Work] = field(default_factory=dict)
    network: str = ""
    tolerance: float | None = None
    each: float | None = None

    @property
    def work(self) -> str:
        """The name without size and data type."""
        return "/".join(self.name.split("/")[:-2])

    def matches(self, pattern: str) -> bool:
        """Whether each part of a pattern such as ``exp/1MB`` is a part of the name."""
        return set(pattern.split("/")) <= set(self.name.split("/"))


@dataclass(frozen=True, slots=True)
class Figure:
    """The figure to reach by a form of our call: in the geometric mean over the cells of a group, and in each.

    ``at_most``: our time in units of the other's, at most so much; else the other's in units of ours, at least.
    ``seconds``: of a call, at most.
    """

    form: str
    mean: float | None = None
    each: float | None = None
    at_most: bool = False
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """A memcpy of the same bytes, which counts for nothing: the part of its bandwidth that our call has.

    Attributes
    ----------
    size
        The cells of this size are summed up.
    each
        The least part of each of them; None: no limit.
    moves
        Whether an element is read for each that is written, and no more.
    """

    size: str
    each: float | None = None
    moves: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Cells with one figure.

    Attributes
    ----------
    against
        The contenders whose best time counts.
    most_ulp
        The greatest error, in units in the last place, of a peer whose time counts; None: none is measured.
    memcpy
        How a memcpy of the same bytes is a contender; None: it is none.
    loops
        Whether the figure is about operators that have loops only; the others are summed up apart.
    """

    name: str
    title: str
    page: int
    against: tuple[str, ...]
    figures: Sequence[Figure]
    cells: Sequence[Cell]
    most_ulp: float | None = None
    memcpy: Copy | None = None
    loops: bool = False

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms of our call that are measured."""
        return tuple(figure.form for figure in self.figures)
