"""DML_BUFFER_TENSOR_DESC as a Python object, and the conditions that hold for every tensor desc."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from dmlcy._facts.tables import DTYPES, ENUMS, TensorDataType, TensorFlags
from dmlcy._field_types.enum import as_enum, spelling
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.values import REPORTED, Keyed, Refused, as_dtype, as_entries, as_int, key, wrong_type
from dmlcy._field_types.wording import entries as entry_text
from dmlcy._runtime.tensor import to_array
from dmlcy._words.alike import did_you_mean
from dmlcy._words.notebook import Shown
from dmlcy._words.values import is_a, printable, show

if TYPE_CHECKING:
    from dmlcy._facts.rows import Given
    from dmlcy._generated.arguments import _ArrayOrPacked, _DataType, _Int, _Ints, _TensorFlags

UINT64_MAX: Final = 2**64 - 1
WORK: Final = 10_000
INT: Final = frozenset([int])
MEMBERS: Final = {
    "DataType": "dtype", "Flags": "flags", "DimensionCount": "dimension_count", "Sizes": "sizes", "Strides": "strides",
    "TotalTensorSizeInBytes": "total_tensor_size_in_bytes",
    "GuaranteedBaseOffsetAlignment": "guaranteed_base_offset_alignment",
}  # fmt: skip


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class TensorDesc(Shown, Keyed):
    """Data type, sizes and layout of a tensor.

    The constructor takes anything: what it cannot understand is kept as it is, for ``check`` to report.

    Parameters
    ----------
    dtype
        TensorDataType, its short or full DirectML spelling, or a NumPy data type.
    sizes
        Elements along each dimension.
    strides
        Elements between neighbours along each dimension; None: packed.
    flags
        TensorFlags or a name of a member.
    total_tensor_size_in_bytes
        None: up to the last element, rounded up to 4.
    guaranteed_base_offset_alignment
        0, or a power of two.
    dimension_count
        None: the number of sizes.
    """

    dtype: TensorDataType
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    flags: TensorFlags
    total_tensor_size_in_bytes: int
    guaranteed_base_offset_alignment: int
    dimension_count: int
    _unknown: tuple[str, ...]  # members of a JSON object that are none
    _type: object  # DML_TENSOR_TYPE of a JSON object

    def __init__(
        self,
        dtype: _DataType,
        sizes: _Ints,
        strides: _Ints | None = None,
        flags: _TensorFlags = "NONE",
        total_tensor_size_in_bytes: _Int | None = None,
        guaranteed_base_offset_alignment: _Int = 0,
        *,
        dimension_count: _Int | None = None,
    ) -> None:
        known = as_dtype(dtype)
        self._set("dtype", dtype if known is None else known)
        self._set("sizes", _ints(sizes))
        self._set("strides", None if strides is None else _ints(strides))
        self._set("flags", _flags(flags))
        self._set("guaranteed_base_offset_alignment", _int(guaranteed_base_offset_alignment))
        count = len(self.sizes) if dimension_count is None and _known(self.sizes) else dimension_count
        self._set("dimension_count", _int(count))
        total = minimum_size(self) if total_tensor_size_in_bytes is None else total_tensor_size_in_bytes
        self._set("total_tensor_size_in_bytes", _int(total))
        self._set("_unknown", ())
        self._set("_type", "BUFFER")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self._valid_sizes())

    @property
    def element_count(self) -> int:
        """Product of the sizes."""
        return math.prod(self._valid_sizes())

    def _valid_sizes(self) -> tuple[int, ...]:
        if not _known(self.sizes):
            raise ValueError(f"the sizes of this tensor desc are not valid: {show(self.sizes)}")
        return self.sizes

    @classmethod
    def from_array(cls, x: _ArrayOrPacked) -> TensorDesc:
        """The desc of an array: NumPy, buffer protocol, DLPack on the CPU, ``__array__``, or packed."""
        array = to_array(x)
        if array is None:
            raise TypeError(f"expected an array, not {show(x)}")
        if array.flags.c_contiguous:
            return cls(array.dtype, array.shape)
        if any(stride % array.itemsize for stride in array.strides):
            raise ValueError("the strides of this array are no multiples of its element size, as a desc needs")
        return cls(array.dtype, array.shape, tuple(stride // array.itemsize for stride in array.strides))

    @classmethod
    def from_dict(cls, desc: Mapping[str, object], *, ignore_unknown: bool = False) -> TensorDesc:
        """The desc from DirectML's JSON spelling, short or long (``{"Type": "BUFFER", "Desc": {...}}``).

        ``Flags`` may be a list of one or none, since there are no two flags to combine.
        """
        kind = desc.get("Type", "BUFFER")
        if is_a(desc.get("Desc"), dict):
            desc = cast(Mapping[str, object], desc["Desc"])
        given: dict[str, Any] = {python: desc[name] for name, python in MEMBERS.items() if name in desc}
        dtype, flags = given.pop("dtype", None), given.get("flags")
        if type(flags) is list and len(flags) <= 1:
            given["flags"] = flags[0] if flags else "NONE"
        result = cls(dtype, given.pop("sizes", None), **given)
        known_dtype = as_dtype(dtype, numpy=False)
        result._set("dtype", dtype if known_dtype is None else known_dtype)
        if not ignore_unknown:
            known = (*MEMBERS, "Type")
            result._set("_unknown", tuple(name for name in desc if type(name) is str and name not in known))
        if not is_a(kind, str) or kind not in ("BUFFER", "DML_TENSOR_TYPE_BUFFER"):
            result._set("_type", kind)
        return result

    def to_dict(self) -> dict[str, Any]:
        """DirectML's JSON spelling, every member."""
        return {
            "DataType": spelling(self.dtype, ENUMS["DML_TENSOR_DATA_TYPE"]),
            "Flags": spelling(self.flags, ENUMS["DML_TENSOR_FLAGS"]),
            "DimensionCount": self.dimension_count,
            "Sizes": _listed(self.sizes),
            "Strides": _listed(self.strides),
            "TotalTensorSizeInBytes": self.total_tensor_size_in_bytes,
            "GuaranteedBaseOffsetAlignment": self.guaranteed_base_offset_alignment,
        }

    def _key(self) -> object:
        return tuple(key(getattr(self, name)) for name in type(self).__slots__)

    def __eq__(self, other: object) -> bool:
        if not is_a(other, TensorDesc):
            return NotImplemented
        return self._key() == cast(TensorDesc, other)._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        sizes = repr(self.sizes) if _known(self.sizes) and all(map(printable, self.sizes)) else show(self.sizes)
        parts = [repr(self.dtype.name) if type(self.dtype) is TensorDataType else show(self.dtype), sizes]
        if self.strides is not None:
            known = _known(self.strides) and all(map(printable, self.strides))
            parts.append(f"strides={self.strides!r}" if known else f"strides={show(self.strides)}")
        if self.flags is not TensorFlags.NONE:
            parts.append(f"flags={spelled(self.flags)}")
        minimum = minimum_size(self)
        if minimum is None or key(self.total_tensor_size_in_bytes) != key(minimum):
            parts.append(f"total_tensor_size_in_bytes={show(self.total_tensor_size_in_bytes)}")
        if key(self.guaranteed_base_offset_alignment) != key(0):
            parts.append(f"guaranteed_base_offset_alignment={show(self.guaranteed_base_offset_alignment)}")
        if not _known(self.sizes) or key(self.dimension_count) != key(len(self.sizes)):
            parts.append(f"dimension_count={show(self.dimension_count)}")
        return f"TensorDesc({', '.join(parts)})"


TensorDesc.__module__ = "dmlcy"  # as users import it

Described: TypeAlias = TensorDesc | tuple[TensorDesc, ...]
"""The desc of a tensor, or the descs of an array of tensors."""


def described(tensors: Mapping[str, Given]) -> dict[str, Described]:
    """Descs of the tensors of an example; those of an array (inputs[0], inputs[1]) in a tuple."""
    found: dict[str, Described] = {}
    for path, (dtype, sizes, _) in tensors.items():
        name, entry, _ = path.partition("[")
        desc, before = TensorDesc(dtype, sizes), found.get(name, ())
        found[name] = (*before, desc) if entry and isinstance(before, tuple) else desc
    return found


def changed_tensors(old: Described, change: Any) -> Described:
    """A tensor of an example, or the tensors of an array, changed as ``breaks`` of a rule says.

    For an array a list: each entry changes the tensor at its place, and an entry more is the last tensor, changed.
    """
    if isinstance(old, tuple):
        return tuple(_changed(old[min(place, len(old) - 1)], one) for place, one in enumerate(change))
    return _changed(old, change)


def _changed(old: TensorDesc, change: Mapping[str, Any]) -> TensorDesc:
    return TensorDesc(change.get("dtype") or old.dtype, change.get("sizes") or old.sizes)


def spelled(value: object) -> str:
    """A member by its name in quotes, anything else as ``show`` says it."""
    name = getattr(value, "_name_", None) if is_a(value, int) else None
    return repr(name) if isinstance(name, str) else show(value)


def in_words(desc: TensorDesc) -> str:
    """FLOAT32 (1, 1, 2, 3), and the strides that a desc has."""
    sizes = f"{spelled(desc.dtype)} {show(desc.sizes)}".replace("'", "")
    return sizes if desc.strides is None else f"{sizes}\nstrides {show(desc.strides)}"


def _kept(read: Callable[[], object], value: object) -> object:
    try:
        return read()
    except Refused:
        return value


def _flags(value: object) -> object:
    """A member, or the value as it was given."""
    if type(value) is str and value == "NONE":
        return TensorFlags.NONE
    return _kept(lambda: as_enum(value, ENUMS["DML_TENSOR_FLAGS"]), value)


def _int(value: object) -> object:
    """An int, or the value as it was given."""
    return value if value is None or type(value) is int else _kept(lambda: as_int(value), value)


def _ints(value: object) -> object:
    """A tuple of ints, or the value as it was given."""
    if _known(value):
        return value
    return _kept(lambda: tuple(as_int(entry) for entry in as_entries(value, "")), value)


def _known(ints: object) -> bool:
    return type(ints) is tuple and {*map(type, ints)} <= INT


def _listed(value: object) -> object:
    return list(cast(tuple[object, ...], value)) if is_a(value, tuple) else value


def packed_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a row-major tensor without gaps."""
    return tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


def minimum_size(desc: TensorDesc) -> int | None:
    """Bytes up to the last element, rounded up to 4, as DMLCalcBufferTensorSize does it; None: not to be known."""
    if type(desc.dtype) is not TensorDataType or not _known(desc.sizes) or min(desc.sizes, default=1) < 1:
        return None
    if desc.strides is None:
        elements = math.prod(desc.sizes)
    elif _known(desc.strides) and len(desc.strides) == len(desc.sizes) and all(stride >= 0 for stride in desc.strides):
        elements = 1 + sum((size - 1) * stride for size, stride in zip(desc.sizes, desc.strides, strict=True))
    else:
        return None
    return _size_of(elements, desc.dtype)


def _size_of(elements: int, dtype: TensorDataType) -> int:
    """Bytes of so many elements without gaps, rounded up to 4."""
    return -(-elements * DTYPES[dtype._name_].bits // 32) * 4


def entry_count(sizes: object) -> int | None:
    """Number of dimensions; None where the sizes are no sequence."""
    try:
        return len(as_entries(sizes, ""))
    except Refused:
        return None


def structure(desc: TensorDesc) -> Iterator[Refused]:
    """The mistakes in the sizes alone: after any of these, no formula can read them."""
    if desc.sizes is None:
        yield Refused("required", part=".sizes")
        return
    if _known(desc.sizes) and (not desc.sizes or 1 <= min(desc.sizes) <= max(desc.sizes) <= UINT_MAX):
        return
    try:
        entries = as_entries(desc.sizes, "a sequence of ints, one for each axis")
    except Refused as refused:
        refused.part = ".sizes"
        yield refused
        return
    for index, entry in enumerate(entries):
        yield from _size(entry, index)


def _size(entry: object, index: int) -> Iterator[Refused]:
    try:
        size = as_int(entry)
    except Refused as refused:
        refused.part, refused.index = ".sizes", index
        yield refused
        return
    if not 1 <= size <= UINT_MAX:
        yield Refused(
            "range",
            part=".sizes",
            index=index,
            values={"actual": size, "minimum": 1, "maximum": UINT_MAX},
            fix=min(max(size, 1), UINT_MAX),
        )


def not_owned(desc: TensorDesc) -> Refused:
    """The refusal of the flags of an output."""
    hint = "Only an input can be owned by DirectML."
    values: dict[str, object] = {"actual": desc.flags}
    return Refused("member", part=".flags", values=values, words={"allowed": "NONE"}, hint=hint, fix="NONE")


def layout(desc: TensorDesc, written: bool) -> Iterator[Refused]:
    """The mistakes beside data type and sizes, which are valid where ``minimum_size`` needs them."""
    if _is_plain(desc):
        return
    yield from _words(desc, written)
    if _known(desc.sizes) and desc.dimension_count is not None:
        if type(desc.dimension_count) is not int:
            yield wrong_type(desc.dimension_count, "an int", part=".dimension_count")
        elif desc.dimension_count != len(desc.sizes):
            yield Refused(
                "length",
                part=".dimension_count",
                values={"actual": desc.dimension_count, "expected": len(desc.sizes)},
                words={"has": f"is {show(desc.dimension_count)}", "needs": "must be", "each": "one for each size"},
                fix=len(desc.sizes),
            )
    strides_fine = True
    for wrong in _strides(desc):
        strides_fine = False
        yield wrong
    sizes_fine = _known(desc.sizes) and all(0 < size <= UINT_MAX for size in desc.sizes)
    elements_fine = sizes_fine and math.prod(desc.sizes) <= UINT_MAX
    if sizes_fine and not elements_fine:
        yield Refused("elements", member="sizes", values={"actual": math.prod(desc.sizes), "maximum": UINT_MAX})
    checked = written and strides_fine and sizes_fine and len(desc.sizes) <= 8
    if checked and desc.strides is not None and overlaps_itself(desc.sizes, desc.strides):
        yield Refused(
            "overlap",
            member="strides",
            words={"other": "itself"},
            values={"strides": desc.strides},
            hint=f"The strides {show(desc.strides)} put two elements in one place.",
            fix=packed_strides(desc.sizes),
        )
    yield from _total(desc, strides_fine, elements_fine)
    yield from _alignment(desc)


def _words(desc: TensorDesc, written: bool) -> Iterator[Refused]:
    """Unknown members, and members that are not numbers."""
    info = ENUMS["DML_TENSOR_FLAGS"]
    for name in desc._unknown[:REPORTED]:
        yield Refused("unknown", values={"actual": name}, hint=did_you_mean(name, list(MEMBERS)))
    if type(desc._type) is not str or desc._type != "BUFFER":
        yield Refused("member", part=".type", values={"actual": desc._type}, words={"allowed": "BUFFER"}, fix="BUFFER")
    if type(desc.flags) is not info.cls:
        try:
            as_enum(desc.flags, info)
        except Refused as refused:
            refused.part = ".flags"
            yield not_owned(desc) if written and refused.slug == "member" else refused
    elif written and desc.flags is TensorFlags.OWNED_BY_DML:
        yield not_owned(desc)


def _total(desc: TensorDesc, strides_fine: bool, elements_fine: bool) -> Iterator[Refused]:
    """The number of bytes, which covers all elements."""
    minimum = minimum_size(desc)
    fix = minimum if minimum is not None and minimum <= UINT64_MAX else None
    total: object = desc.total_tensor_size_in_bytes
    part = ".total_tensor_size_in_bytes"
    if type(total) is not int:
        if total is not None:
            yield wrong_type(total, "an int", part=part)
    elif total == minimum and not (strides_fine and elements_fine):
        pass  # those are refused, not what follows from them
    elif not 0 <= total <= UINT64_MAX:
        yield Refused("range", part=part, values={"actual": total, "minimum": 0, "maximum": UINT64_MAX}, fix=fix)
    elif minimum is not None and strides_fine and total < minimum:
        yield Refused("total-size", part=part, values={"actual": total, "minimum": minimum}, fix=fix)


def _is_plain(desc: TensorDesc) -> bool:
    """Whether a desc says nothing beside data type and valid sizes, as most do: it is packed and of its least size."""
    if desc.strides is not None or desc.flags is not TensorFlags.NONE or desc._unknown or type(desc._type) is not str:
        return False
    said = (desc.dimension_count, desc.guaranteed_base_offset_alignment, desc.total_tensor_size_in_bytes)
    if not _known(desc.sizes) or not _known(said) or type(desc.dtype) is not TensorDataType:
        return False
    elements = math.prod(desc.sizes)
    fine = elements <= UINT_MAX and min(desc.sizes, default=1) >= 1 and desc._type == "BUFFER"
    return fine and said == (len(desc.sizes), 0, _size_of(elements, desc.dtype))


def _alignment(desc: TensorDesc) -> Iterator[Refused]:
    alignment: object = desc.guaranteed_base_offset_alignment
    part = ".guaranteed_base_offset_alignment"
    item = max(DTYPES[desc.dtype.name].bits // 8, 1) if type(desc.dtype) is TensorDataType else 1
    if type(alignment) is not int:
        yield wrong_type(alignment, "an int", part=part)
    elif not 0 <= alignment <= UINT_MAX or alignment & (alignment - 1) or 0 < alignment < item:
        valid = (0, *(2**power for power in range(32) if 2**power >= item))
        fix = min(valid, key=lambda one: abs(one - alignment))
        yield Refused("alignment", part=part, values={"actual": alignment, "minimum": item}, fix=fix)


def _strides(desc: TensorDesc) -> Iterator[Refused]:
    if desc.strides is None:
        return
    try:
        entries = as_entries(desc.strides, "a sequence of ints")
    except Refused as refused:
        refused.part = ".strides"
        yield refused
        return
    if _known(desc.sizes) and len(entries) != len(desc.sizes):
        words = {"has": f"has {entry_text(len(entries))}", "needs": f"needs {len(desc.sizes)}, one for each size"}
        yield Refused("strides", part=".strides", words=words, values={"actual": len(entries)})
    for index, entry in enumerate(entries):
        try:
            stride = as_int(entry)
        except Refused as refused:
            refused.part, refused.index = ".strides", index
            yield refused
            continue
        if not 0 <= stride <= UINT_MAX:
            yield Refused(
                "strides",
                part=".strides",
                index=index,
                words={"has": f"is {show(stride)}", "needs": f"must be from 0 to {UINT_MAX}"},
                values={"actual": stride},
                fix=min(max(stride, 0), UINT_MAX),
            )


def overlaps_itself(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether two elements lie in one place; what cannot be decided with little work counts as yes."""
    axes = sorted(((stride, size) for size, stride in zip(sizes, strides, strict=True) if size > 1), reverse=True)
    if any(stride == 0 for stride, _ in axes):
        return True
    reach = [sum((size - 1) * stride for stride, size in axes[axis:]) for axis in range(len(axes) + 1)]
    if all(stride > reach[axis + 1] for axis, (stride, _) in enumerate(axes)):
        return False
    work = WORK

    def meets(axis: int, offset: int, moved: bool) -> bool:
        """Whether steps along the axes from this one on can lead back to offset 0."""
        nonlocal work
        if axis == len(axes):
            return moved
        stride, size = axes[axis]
        low = max(-((reach[axis + 1] + offset) // stride), 1 - size)
        high = min((reach[axis + 1] - offset) // stride, size - 1)
        for step in range(low if moved else max(low, 0), high + 1):
            work -= 1
            if work < 0 or meets(axis + 1, offset + step * stride, moved or step != 0):
                return True
        return False

    return meets(0, 0, False)
