"""DirectML's operators on the CPU: exact checks, fast kernels, and errors that name the field.

Operators are functions of NumPy arrays, or of any objects with the buffer protocol, DLPack on the CPU, or
``__array__``. ``dmlcy.desc`` has one class per operator desc. ``check`` explains a desc, ``compile`` checks a desc once
for many calls. ``dmlcy.specs`` is what is known of DirectML, as data.
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from os import environ as _environ

if _find_spec("dmlcy._runtime.tensor") is None:
    raise ImportError(
        "dmlcy is not built in this folder. Run Python elsewhere if dmlcy is installed, or build it here: "
        "pip install 'setuptools>=77' cython jinja2 numpy && pip install --no-build-isolation -e ."
    )

if _environ.get("DMLCY_ISA"):
    _import_module("dmlcy._runtime.isa").check(_environ["DMLCY_ISA"])

from dmlcy._generated import index as _index
from dmlcy._runtime.threads import get_num_threads, set_num_threads
from dmlcy._version import __version__
from dmlcy._words.later import later as _later
from dmlcy._words.notebook import render_with as _render_with

# Each of these is imported when it is first asked for.
_LATER = {
    "dmlcy._desc.check": ("check",),
    "dmlcy._compile": ("compile",),
    "dmlcy._errors": (
        "DmlError",
        "FeatureLevelError",
        "InvalidDataError",
        "InvalidDataTypeError",
        "InvalidDescError",
        "ModelError",
        "OperatorNotRunnableError",
        "Repair",
        "Violation",
    ),
    "dmlcy._facts.levels": ("current_level", "feature_level"),
    "dmlcy._desc.minimum": ("LevelReason", "MinimumLevel", "minimum_feature_level"),
    "dmlcy._desc.packed": ("packed",),
    "dmlcy._record": ("Export", "RecordedCall", "Recording", "record"),
    "dmlcy._runtime.compiled": ("CompiledOperator",),
    "dmlcy._runtime.four_bits": ("Packed",),
    "dmlcy._check.support": ("SupportRow", "support_table", "supports"),
    "dmlcy._field_types.tensor_desc": ("TensorDesc",),
    "dmlcy._graph.build": ("Graph",),
    "dmlcy.desc": ("desc",),
    "dmlcy.graph": ("graph",),
    "dmlcy.onnx": ("onnx",),
    "dmlcy.specs": ("specs",),
}
_HOMES = {name: home for home, names in _LATER.items() for name in names}
_HOMES |= {name: "dmlcy._generated.enums" for name in _index.ENUMS}
_HOMES |= {python: f"dmlcy._generated.functions.{name.lower()}" for name, (python, *_) in _index.OPERATORS.items()}

__all__ = ["__version__", "get_num_threads", "set_num_threads"]
__all__ += _HOMES

__getattr__ = _later(__name__, _HOMES, "dmlcy._facts.words")


def __dir__() -> list[str]:
    return sorted(__all__)


_render_with(lambda value: str(_import_module("dmlcy._show.html").of(value)))
