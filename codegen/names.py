"""Names that are taken: by Python, by the package, and by generated modules for themselves.

Most names are read from the templates, so that no list of them has to be kept.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .model import Enum, camel

TEMPLATES = Path(__file__).parent / "templates"
FAMILIES = Path(__file__).parent / "families"
MODULES = ("dask", "directml", "testing")
"""Modules of the package that it does not import by itself."""

# Names that the generated code uses for itself, or that C or Cython read in another way.
RESERVED = frozenset({
    "a", "auto", "bint", "bool", "broken", "cdef", "char", "cls", "const", "cpdef", "ctypedef", "default", "do",
    "double", "enum", "expected", "extern", "float", "goto", "inline", "int", "keywords", "level", "long", "math",
    "nogil", "object", "out", "overflow", "range", "register", "restrict", "self", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile",
})  # fmt: skip
# The names that a tensor may have: generated code reads a tensor in the struct of its operator only, as in a.a.
OF_STRUCTS = frozenset({"a"})
# The names that a generated module may need, and where they are declared. Each module imports the names of its text.
CIMPORTS = {
    "cpython.object": "PyObject",
    "libc.math": (
        "INFINITY NAN copysign erf exp fabs floor fmax fmin frexp isfinite isinf isnan log pow round roundf signbit"
        " sqrt tanh"
    ),
    "libc.stddef": "ptrdiff_t",
    "libc.stdint": (
        "INT16_MAX INT16_MIN INT32_MAX INT32_MIN INT64_MAX INT64_MIN INT8_MIN int8_t int16_t int32_t int64_t uint8_t"
        " uint16_t uint32_t uint64_t uintptr_t"
    ),
    "libc.stdlib": "calloc free malloc realloc",
    "libc.string": "memcmp memcpy memmove memset",
    "numpy": "ndarray",
    "dmlcy._runtime.activation": "Activation",
    "dmlcy._runtime.arguments": (
        "desc_of take_asked take_bool take_desc take_descs take_dtype take_each take_each_float take_enum take_float"
        " take_floats take_open take_output take_scalar take_scale_bias take_size_2d take_sizes take_some take_uint"
        " take_uints"
    ),
    "dmlcy._runtime.attention": "Attention MASKS_EACH MASKS_ENDS MASKS_NONE MASKS_STARTS run_attention",
    "dmlcy._runtime.call": "Attributes DataHolds Holds Layout Prepare Run Take as_computed call_of",
    "dmlcy._runtime.checks": (
        "append_size append_sizes ceil_div checked_add checked_mul checked_sub each_holds floor_div floor_mod largest"
        " magnitude product same_sizes smallest take_ones tensor_at tensor_holds total"
    ),
    "dmlcy._runtime.elements": (
        "ElementKernel Elements fill_entries fill_integer float_in integer_in run_blocks run_conversion run_elements"
    ),
    "dmlcy._runtime.folds": "FoldKernel find_place run_extreme run_fold run_scan",
    "dmlcy._runtime.gather": "WindowGather run_gather",
    "dmlcy._runtime.generate": "Numbers run_diagonals run_fill run_lines run_random run_sequence",
    "dmlcy._runtime.half": "dmlcy_float_of_half dmlcy_float_to_half dmlcy_half_of_float dmlcy_half_to_float",
    "dmlcy._runtime.integer_products": (
        "Integers pack_integer_matrices pack_integer_windows run_integer_matrices run_integer_windows"
    ),
    "dmlcy._runtime.indexed": (
        "elements_inside give_elements give_places give_tuples take_elements take_lengths take_slices take_tuples"
    ),
    "dmlcy._runtime.moves": "Move run_move",
    "dmlcy._runtime.norms": "NearKernel Norm NormKernel fill_number integers_least integers_most run_near run_norm",
    "dmlcy._runtime.pad": "Pad run_pad",
    "dmlcy._runtime.context": "element_of number_of numbers_of tuple_of",
    "dmlcy._runtime.power": "power",
    "dmlcy._runtime.selection": "run_first run_nonzero",
    "dmlcy._runtime.recurrent": "GATED_UNIT MEMORY_UNIT Recurrent SIMPLE_UNIT prepare_recurrent run_recurrent",
    "dmlcy._runtime.regions": "RegionSamples run_regions run_regions_back",
    "dmlcy._runtime.resample": ("NEAREST_BEFORE NEAREST_HIGHER NEAREST_LOWER NEAREST_NEXT Resampling run_resample"),
    "dmlcy._runtime.products": "Matrices Windows pack_filters pack_right run_matrices run_windows_of_products",
    "dmlcy._runtime.scatter": "ScatterKernel WindowScatter run_scatter",
    "dmlcy._runtime.strided": (
        "FLOAT16 FLOAT32 FLOAT64 INT16 INT32 INT4 INT64 INT8 MAX_RANK Tensor TensorField UINT16 UINT32 UINT4 UINT64"
        " UINT8 item_of set_rank"
    ),
    "dmlcy._runtime.sums": "WindowSums run_greatest run_quantized run_shares",
    "dmlcy._runtime.threads": "SERIAL_BYTES Work grain_of parallel_for",
    "dmlcy._runtime.values": "element1 element2 element3 element4 element_in_order elements_of",
    "dmlcy._runtime.views": "run_copy run_join run_place run_slice run_split run_tile",
    "dmlcy._runtime.windows": "WindowKernel WindowReduce run_windows",
}

_TAGS = re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL)
_HOLES = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_PROSE = re.compile(r'""".*?"""|"[^"\n]*"|#[^\n]*', re.DOTALL)
_IMPORT = re.compile(r"^from (\S+) c?import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_DEFINED = re.compile(
    r"^(?:(?:cdef|cpdef|ctypedef|class|def)\b[^\n(:=\[]*?)?(?<![\w@])([\w@]+)\s*[(:=\[]", re.MULTILINE
)
_POINTER = re.compile(r"^ctypedef [^\n(]*\(\*(\w+)\)", re.MULTILINE)


def _text(path: Path) -> str:
    """A template without its tags and its prose; what an expression of it gives is ``@``."""
    return _PROSE.sub("", _HOLES.sub("@", _TAGS.sub("", path.read_text(encoding="utf-8"))))


def _imported(text: str, package: str = "") -> Iterator[str]:
    for module, names in _IMPORT.findall(text):
        if module.startswith(package):
            yield from re.findall(r"\w+", names)
    if not package:
        yield from re.findall(r"^import .*?(\w+)$", text, re.MULTILINE)


def _defined(text: str) -> Iterator[str]:
    yield from _DEFINED.findall(text)
    yield from _POINTER.findall(text)


@cache
def public() -> tuple[str, ...]:
    """The names that ``dmlcy`` exports beside operators and enums."""
    found = _imported(_text(TEMPLATES / "stubs" / "__init__.pyi.j2"), "dmlcy")
    return ("__version__", *sorted(name for name in found if not name.startswith("_")))


@cache
def used(family: str = "*") -> frozenset[str]:
    """The names that generated modules import, define and take from Python at the top, beside operators and enums.

    Each family has a module of its own.
    """
    patterns = ("package_*.j2", "operator_*.j2", "stubs/*.j2", "*.pyx.j2")
    found_in = [path for pattern in patterns for path in TEMPLATES.glob(pattern)]
    found_in += [
        path for path in FAMILIES.rglob("*.pyx.j2") if path.parent.name in (family, FAMILIES.name) or family == "*"
    ]
    found = {name for names in CIMPORTS.values() for name in names.split()}
    for path in found_in:
        text = _text(path)
        found |= {*_imported(text), *_defined(text), *({*re.findall(r"\w+", text)} & {*dir(builtins)})}
    return frozenset(found)


@cache
def endings() -> tuple[str, ...]:
    """How the names of functions end that a Cython module defines for an operator: ``_run``."""
    paths = (*TEMPLATES.rglob("*.pyx.j2"), *FAMILIES.rglob("*.pyx.j2"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return tuple(sorted({end for text in texts for end in re.findall(r"\{\{ op\.python \}\}(_\w+)", text)}))


def refused(name: str, family: str = "*", default: str = "") -> str | None:
    """Why an operator of a family, or an enum, cannot have this name in Python.

    ``default`` is the name that the operator has by itself. The name may be a builtin that no generated
    module uses.
    """
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        return "is a word of Python itself"
    if name in public() or name in MODULES:
        return "is another name of dmlcy"
    if name in used(family) or name in RESERVED or name.endswith(endings()):
        return "is a name that generated code uses"
    if name in dir(builtins) and name != default:
        return "is a builtin of Python"
    return None


def has_loops(family: str) -> bool:
    """Whether a family has loops in Cython."""
    return (FAMILIES / family / "run.pyx.j2").is_file()


def is_taken(name: str, tensor: bool) -> bool:
    """Whether a field cannot have this name, as generated code reads the name in another way."""
    return keyword.iskeyword(name) or (name in RESERVED and not (tensor and name in OF_STRUCTS))


def level(name: str) -> str:
    """The Cython constant of a feature level: its index."""
    return f"LEVEL_{name}"


def constant(enum: Enum, member: str) -> str:
    """The Cython constant of a member of an enum."""
    return f"{enum.prefix}{member}".removeprefix("DML_")


def classes(operator: str) -> tuple[str, str]:
    """The classes of an operator, given its name in DirectML: its desc, and the struct of the keywords of a call."""
    return camel(operator), f"{camel(operator)}Keywords"
