"""window_reduce: each position of a window becomes one element.

``reduction`` says how partial results combine, which lets the loops reduce rows first, then columns. Of a sum ``init``,
``step`` (over ``acc`` and ``x``) and ``finish`` (over ``acc``, ``count``, ``volume`` and attributes) are expressions; a
maximum is one of the elements, and needs none. The role ``indices`` of a maximum is an output that says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...diagnostics import Diagnostics
from ...expr.cython import Cython
from ...expr.nodes import Arith, Name, Node, Number, substitute
from ...expr.types import Kind
from ...model import Facts, Operator
from ...source import Table
from ..base import (
    C_TYPES,
    Definition,
    KernelTable,
    Looped,
    Picture,
    Place,
    Use,
    attribute_locals,
    grid,
    inside,
    local,
    shown,
)
from ..windows import Slide, Window, window_of

# The operation that combines two accumulators: an operator, or a function, which blocks.h has for blocks of them too.
COMBINE = {"sum": "+", "max": "max"}
FIRST_PLACE = "dmlcy_first_place"  # of places.h, where an element and its number are a struct
COMBINE_WORDS = {"+": "sum", "max": "max", FIRST_PLACE: "first_place"}  # of combine_rows.h
CONVERSIONS = {"half": ("dmlcy_float_of_half", "dmlcy_half_of_float")}
CONVERSIONS |= {f"{name}_key": (f"dmlcy_key_of_{name}", f"dmlcy_{name}_of_key") for name in ("float", "half")}
CONVERSIONS["number"] = ("dmlcy_number_of_float", "")
# Types of which the baseline of x86-64 has an instruction for maxima of blocks.
QUICK_MAXIMA = ("float", "int16_t", "uint8_t")
KEYS = {"FLOAT32": ("float_key", "int32_t"), "FLOAT16": ("half_key", "int16_t")}  # floats are compared as these


@dataclass(frozen=True, slots=True)
class ReduceLoop:
    """The kernel of one data type."""

    name: str
    dtype: str
    ctype: str
    item: int
    stored: str  # how blocks of elements are loaded and stored: `half`, `number`, `float_key`, the C type
    widen: str  # makes of an element what `step` takes, and of a result an element; "": nothing does
    narrow: str
    acc: str
    scalars: tuple[tuple[str, str], ...]  # attributes of the operator that the functions of the kernel read
    init: str
    plain: bool  # an element is its own accumulator, except for the sign of zero
    step: str
    combine: str  # of COMBINE, or FIRST_PLACE
    sums: str  # the loops that combine rows of accumulators
    elements: str | None  # the same for rows of elements, if these are accumulators
    finish: str | None  # None: the accumulator
    divisor: str | None  # `finish` is `acc` divided by it
    folds: bool = False  # elements are accumulators, which are combined in any order, and twice where that is easier
    placed: bool = False  # accumulators are elements with their number in the input, as places.h has them
    exact: ReduceLoop | None = None  # the same, slower, for bands with a result that is doubtful
    owner: str = ""  # the kernel whose functions this one calls: of the first operator that computes the same

    @property
    def functions(self) -> str:
        """The beginning of the names of the functions that the kernel calls for each element or result."""
        return self.owner or self.name

    @property
    def attributes(self) -> str:
        """The struct of the attributes that these functions read."""
        return attributes_of(self.scalars)

    @property
    def element(self) -> str:
        """The value of a result before it is stored."""
        return "float" if self.stored == "half" else self.ctype

    @property
    def load(self) -> str:
        """The name of the loop that makes accumulators of elements."""
        return load_of(self).name

    @property
    def finisher(self) -> str:
        """The name of the loop that makes elements of results."""
        return finish_of(self).name


@dataclass(frozen=True, slots=True)
class Adder:
    """The loops that combine rows of elements of one type; combine_rows.h has their texts."""

    name: str
    word: str  # of COMBINE_WORDS
    acc: str
    stored: str
    ctype: str
    widen: str
    init: str
    sums: bool  # rows of accumulators that are combined once more
    near: bool  # and with themselves
    direct: bool  # rows of the tensor
    folds: bool
    rare: bool  # what some results are computed again with

    @property
    def after(self) -> str:
        """DMLCY_AFTER of combine_rows.h."""
        return self.ctype if self.stored == "number" else self.stored

    @property
    def costly(self) -> int:
        """DMLCY_COSTLY of combine_rows.h."""
        if self.rare or self.word not in ("sum", "max"):
            return 2
        quick = self.word == "sum" or self.acc in QUICK_MAXIMA
        return 0 if quick and not self.stored.startswith("half") else 1


@dataclass(frozen=True, slots=True)
class Load:
    """The loop that makes accumulators of elements; load_rows.h has its text."""

    name: str
    way: str
    acc: str
    stored: str
    ctype: str
    item: int
    widen: str
    first: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The loop that makes elements of results; finish_rows.h has its text."""

    name: str
    way: str
    word: str  # of COMBINE_WORDS
    acc: str
    stored: str
    ctype: str
    narrow: str
    result: str
    init: str
    exact: bool  # says whether a result is doubtful


@dataclass(frozen=True, slots=True)
class ReduceKernel:
    """The run template's view."""

    window: Window
    indices: str | None
    loops: tuple[ReduceLoop, ...]
    placed: tuple[ReduceLoop, ...]  # kernels that give indices, too
    scalars: tuple[tuple[str, str], ...]
    definition: Definition

    @property
    def attributes(self) -> str:
        """The struct of the attributes that the functions of the kernels read."""
        return attributes_of(self.scalars)


class WindowReduce(Looped):
    """The family."""

    name = "window_reduce"
    told: ClassVar = {
        "count": (Kind.INT, "the number of elements of the window that are not padding"),
        "volume": (Kind.INT, "the number of elements of the window, with padding"),
        "beyond": (Kind.BOOL, "whether the window reaches past the end padding"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ReduceKernel:
        """Reads roles and expressions, for each data type."""
        kernel = KernelTable(operator, facts, diagnostics)
        loops = tuple(self.loops(kernel))
        indices = None
        if kernel.definition.words.get("reduction") == "max" and "output_indices" in operator.scope:
            indices = kernel.role("indices", "output_indices", Kind.TENSOR)
        roles = ReduceKernel(
            window=window_of(kernel),
            indices=indices,
            loops=loops,
            placed=() if indices is None else tuple(map(placed, loops)),
            scalars=next((loop.scalars for loop in loops), ()),
            definition=kernel.definition,
        )
        kernel.finish()
        return roles

    def loops(self, kernel: KernelTable) -> list[ReduceLoop]:
        """One loop per data type."""
        table = kernel.table
        if table is None:
            kernel.error("reduction", "family window_reduce needs [kernel] with a reduction")
            return []
        kernel.word("reduction", table.choice("reduction", tuple(COMBINE)))
        return self.maxima(kernel) if table.str("reduction") == "max" else self.sums(kernel, table)

    def maxima(self, kernel: KernelTable) -> list[ReduceLoop]:
        """One loop per data type of the tensors; operators share them."""
        loops = []
        rows = kernel.operator.types[kernel.operator.inputs[0].types or ""]
        for dtype in dict.fromkeys(dtype for row in rows for dtype in row.dtypes):
            bits = kernel.facts.dtype(dtype).bits
            if dtype not in KEYS and not dtype.startswith(("INT", "UINT")):
                kernel.lack(f"family window_reduce has no maxima of {dtype}")
                continue
            stored, ctype = KEYS.get(dtype, (f"{dtype.lower()}_t",) * 2)
            widen, narrow = CONVERSIONS.get(stored, ("", ""))
            loop = ReduceLoop(
                name=f"max_{dtype}",
                dtype=dtype,
                ctype=ctype,
                item=bits // 8,
                stored=stored,
                widen=widen,
                narrow=narrow,
                acc=ctype,
                scalars=(),
                init="0" if ctype.startswith("u") else f"INT{bits}_MIN",
                plain=True,
                step="x",
                combine=COMBINE["max"],
                sums=f"max_{ctype}",
                elements=f"max_{stored}",
                finish=None,
                divisor=None,
                folds=True,
            )
            loops.append(without_keys(loop) if stored == "float_key" else loop)
        return loops

    def sums(self, kernel: KernelTable, table: Table) -> list[ReduceLoop]:
        """One loop per data type in ``acc``."""
        names = {
            "x": local(Kind.FLOAT),
            "acc": local(Kind.FLOAT),
            "count": local(Kind.INT, 0, 2**62),
            "volume": local(Kind.INT, 1, 2**62),
        }
        scalars = attribute_locals(kernel.operator)
        init = kernel.expression(table, "init", names, Kind.FLOAT)[1]
        step = kernel.expression(table, "step", names, Kind.FLOAT)[1]
        table.str("finish")
        loops = []
        for dtype, acc in kernel.accumulators(table, ("FLOAT32", "FLOAT64")):
            acc_type = C_TYPES[acc]
            renderer = FloatCython({}, place="", acc=acc_type)
            plain = (init, step) == ("0", "acc + x")
            stored = "half" if dtype == "FLOAT16" else C_TYPES[dtype]
            widen, narrow = CONVERSIONS.get(stored, ("", ""))
            own = acc_type == ("float" if stored == "half" else stored)
            quotient, finish = kernel.expression(table, "finish", names, Kind.FLOAT, renderer)
            loops.append(
                ReduceLoop(
                    name=f"{kernel.operator.python}_{dtype}",
                    dtype=dtype,
                    ctype=C_TYPES[dtype],
                    item=kernel.facts.dtype(dtype).bits // 8,
                    stored=stored,
                    widen=widen,
                    narrow=narrow,
                    acc=acc_type,
                    scalars=scalars,
                    init=init,
                    plain=plain,
                    step=step,
                    combine=COMBINE["sum"],
                    sums=f"sum_{acc_type}",
                    elements=f"sum_{stored}" if own and plain else None,
                    finish=finish,
                    divisor=divisor_of(quotient, renderer) if own else None,
                )
            )
        return loops

    def needs(self, kernel: ReduceKernel) -> Sequence[str]:
        """The lets among the roles."""
        return (kernel.window.spatial,)

    def pieces(self, kernel: ReduceKernel) -> str:
        """Windows overlap at the ends of a piece."""
        return "The spatial axes can be cut too: neighbouring pieces overlap by the elements that a window spans."

    def module(self, kernels: Sequence[ReduceKernel]) -> Mapping[str, Any]:
        """One kernel per operator and data type."""
        called = [loop for kernel in kernels for loop in (*kernel.loops, *kernel.placed)]
        exact = [loop.exact for loop in called if loop.exact]
        loops = shared({loop.name: loop for loop in (*exact, *called)}.values())
        accs = dict.fromkeys(loop.acc for loop in loops if loop.placed)
        finishes = [*map(finish_of, loops), *(index_of(acc, item) for acc in accs for item in (4, 8))]
        return {
            "kernels": loops,
            "exact": {loop.name for loop in exact},
            "structs": dict.fromkeys((loop.attributes, loop.scalars) for loop in loops if loop.scalars),
            "adders": adders_of(loops),
            "loads": list(dict.fromkeys(map(load_of, loops))),
            "finishes": list(dict.fromkeys(finishes)),
            "lanes": [loop for loop in loops if loop.placed],
        }

    def picture(self, kernel: ReduceKernel, use: Use) -> Picture:
        """Each element of the output is made of the elements that its window covers."""
        slide, sizes = Slide(use, kernel.window), use.sizes(use.input)
        lead = len(sizes) - len(slide.window)
        taps = list(grid(slide.window))
        sources: dict[Place, tuple[Place, ...]] = {}
        worked: dict[Place, str] = {}
        volume = len(taps)
        maximum = kernel.definition.words["reduction"] == "max"
        # Padding is an element like the others where the result does not depend on how many of them are inside.
        counted = not maximum and use.of("finish", acc=1.0, count=1, volume=volume) == use.of(
            "finish", acc=1.0, count=2, volume=volume
        )
        for place in grid(use.sizes(use.output)):
            sources[place] = tuple(place[:lead] + slide.place(place[lead:], tap) for tap in taps)
            within = [at for at in sources[place] if inside(at, sizes)]
            result = shown(use.element(use.output, place))
            if maximum and within:
                values = ", ".join(shown(use.element(use.input, at)) for at in within)
                worked[place] = f"max({values}) = {result}"
            elif all(loop.plain and loop.divisor for loop in kernel.loops):
                read = sources[place] if counted else within
                terms = [use.element(use.input, at) if at in within else 0 for at in read]
                divisor = 1 / use.of("finish", acc=1.0, count=len(within), volume=volume)
                total = " + ".join(map(shown, terms)) or "0"
                total = f"({total})" if len(terms) > 1 else total
                worked[place] = f"{total} / {shown(round(divisor, 6))} = {result}"
            elif not maximum and within:
                init = use.of("init")
                taken = [use.of("step", acc=init, x=use.element(use.input, at)) for at in within]
                worked[place] = f"{' + '.join(map(shown, taken))} = {shown(sum(taken))} gives {result}"
        keys = {place: place for place in sources}
        caption = ["Each element of the output is computed from the elements in the window of the same colour."]
        caption += [] if counted else ["An empty cell does not count."]
        padding = use.of("init") if counted else None
        return Picture(tuple(caption), sources, keys, padding=padding, worked=worked)


def attributes_of(scalars: Sequence[tuple[str, str]]) -> str:
    """The name of the struct of these attributes; "" without any."""
    words = [word.capitalize() for _, name in scalars for word in name.split("_")]
    return f"{''.join(words)}Attributes" if words else ""


def shared(loops: Iterable[ReduceLoop]) -> list[ReduceLoop]:
    """The kernels; kernels that differ in their names only call the functions of the first of them."""
    first: dict[ReduceLoop, str] = {}
    return [replace(loop, owner=first.setdefault(replace(loop, name=""), loop.name)) for loop in loops]


def adders_of(loops: Sequence[ReduceLoop]) -> list[Adder]:
    """The loops that combine rows of accumulators, and of elements, which are the same where these are accumulators."""
    found: dict[str, Adder] = {}
    again = [loop.exact for loop in loops]
    for loop in loops:
        own = loop.elements in (None, loop.sums)
        for name, widened in ((loop.sums, False), (loop.elements, True)):
            if name is None or (own and widened):
                continue
            found[name] = Adder(
                name=name,
                word=COMBINE_WORDS[loop.combine],
                acc=loop.acc,
                stored=loop.stored if widened else loop.acc,
                ctype=loop.ctype if widened else loop.acc,
                widen=loop.widen if widened else "",
                init=loop.init,
                sums=any(other.sums == name for other in loops),
                near=any(other.sums == name and not other.placed for other in loops),
                direct=any(other.elements == name for other in loops),
                folds=any(other.elements == name and other.folds for other in loops),
                rare=all(other in again for other in loops if name in (other.elements, other.sums)),
            )
    return [found[name] for name in sorted(found)]


def load_of(loop: ReduceLoop) -> Load:
    """The loop that makes accumulators of its elements; where these are the same, all types of a size have one."""
    name, way, first = f"load_{loop.stored}", "each", "DMLCY_ITSELF"
    if loop.placed:
        name, way = f"load_placed_{loop.stored}", "placed"
    elif loop.plain and not loop.widen and loop.acc == loop.ctype:
        word = f"uint{8 * loop.item}_t"
        return Load(f"load_{loop.item}", "same", word, word, word, loop.item, "", first)
    elif loop.stored == "half":
        way = "floats" if loop.acc == "float" else "halves"
    if not loop.plain:
        name, first = f"load_{loop.functions}", f"{loop.functions}_first"
    elif loop.acc != loop.element:
        name = f"{name}_{loop.acc}"
    return Load(name, way, loop.acc, loop.stored, loop.ctype, loop.item, loop.widen, first)


def finish_of(loop: ReduceLoop) -> Finish:
    """The loop that makes elements of its results."""
    name, way, result, init = f"finish_{loop.stored}", "plain", "", ""
    if loop.placed:
        name, way = f"finish_placed_{loop.stored}", "placed"
    elif loop.divisor:
        name, way, init = f"quotient_{loop.stored}", "quotient", loop.init
        name = name if init == "0" else f"quotient_{loop.functions}"
    elif loop.finish:
        name, way = f"finish_{loop.functions}", "halves" if loop.stored == "half" else "result"
        result = f"{loop.functions}_result"
    word, exact = COMBINE_WORDS[loop.combine], loop.exact is not None and not loop.placed
    return Finish(name, way, word, loop.acc, loop.stored, loop.ctype, loop.narrow, result, init, exact)


def index_of(acc: str, item: int) -> Finish:
    """The loop that makes indices of places."""
    ctype, narrow = f"uint{8 * item}_t", f"dmlcy_index_{acc}"
    return Finish(f"index_{acc}_{item}", "placed", "max", acc, ctype, ctype, narrow, "", "", False)


def without_keys(loop: ReduceLoop) -> ReduceLoop:
    """The loop of a maximum of floats that are compared as they are, which some results make doubtful."""
    return replace(
        loop,
        ctype="float",
        stored="number",
        widen=CONVERSIONS["number"][0],
        narrow=CONVERSIONS["number"][1],
        acc="float",
        init="-INFINITY",
        sums="max_float",
        elements="max_number",
        exact=replace(loop, name=f"exact_{loop.name}"),
    )


def placed(loop: ReduceLoop) -> ReduceLoop:
    """The loop of a maximum that also gives its place."""
    name, loop = loop.name, loop.exact or loop
    acc, init, combine = ("int64_t", "INT64_MIN", COMBINE["max"])
    if loop.item == 8:
        acc, init, combine = ("place_t", "dmlcy_no_place", FIRST_PLACE)
    return replace(
        loop,
        name=f"placed_{name}",
        widen=f"dmlcy_placed_{loop.stored}",
        narrow=f"dmlcy_of_placed_{loop.stored}",
        acc=acc,
        init=init,
        combine=combine,
        sums=f"max_{acc}",
        elements=None,
        folds=False,
        placed=True,
    )


def divisor_of(finish: Node, cython: Cython) -> str | None:
    """The divisor of an accumulator, if nothing else happens to it."""
    match finish:
        case Arith(op="/", left=Name(id="acc"), right=right) if substitute(right, "acc", Number(0)) == right:
            return cython.expression(right)
    return None


@dataclass(slots=True)
class FloatCython(Cython):
    """Casts the integer side of mixed arithmetic to the accumulator's type, which C would promote elsewhere."""

    acc: str = "float"

    def _arith(self, node: Any, scope: Any) -> tuple[str, int]:
        from ...expr.types import kind_of

        text, binding = Cython._arith(self, node, scope)
        kinds = (kind_of(node.left, scope), kind_of(node.right, scope))
        if kinds == (Kind.FLOAT, Kind.INT):
            left = self._operand(node.left, scope, binding)
            return f"{left} {node.op} <{self.acc}>({self._render(node.right, scope)[0]})", binding
        if kinds == (Kind.INT, Kind.FLOAT):
            right = self._operand(node.right, scope, binding + 1)
            return f"<{self.acc}>({self._render(node.left, scope)[0]}) {node.op} {right}", binding
        return text, binding


FAMILY = WindowReduce()
