"""DirectML's operators on the CPU: exact checks, fast kernels, and errors that name the field.

Operators are functions of NumPy arrays (or anything with the buffer protocol, DLPack on the CPU, or ``__array__``);
``dmlcy.desc`` has one class per operator desc, ``check`` explains a desc, ``compile`` checks it once for many calls.
``dmlcy.specs`` is what is known of DirectML, as data.
"""

from importlib.util import find_spec as _find_spec

if _find_spec("dmlcy._runtime.tensor") is None:
    raise ImportError(
        "dmlcy is not built in this folder. Run Python elsewhere if dmlcy is installed, or build it here: "
        "pip install --no-build-isolation -e ."
    )

from dmlcy import desc, specs
from dmlcy._check import check
from dmlcy._compile import compile
from dmlcy._errors import (
    DmlError,
    FeatureLevelError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidDescError,
    ModelError,
    Violation,
)
from dmlcy._generated import api as _api
from dmlcy._generated.api import *  # noqa: F403
from dmlcy._levels import current_level, feature_level
from dmlcy._minimum import LevelReason, MinimumLevel, minimum_feature_level
from dmlcy._record import Export, RecordedCall, Recording, record
from dmlcy._runtime.threads import get_num_threads, set_num_threads
from dmlcy._support import SupportRow, support_table, supports
from dmlcy._tensor_desc import TensorDesc
from dmlcy._version import __version__

__all__ = [
    "DmlError",
    "Export",
    "FeatureLevelError",
    "InvalidDataError",
    "InvalidDataTypeError",
    "InvalidDescError",
    "LevelReason",
    "MinimumLevel",
    "ModelError",
    "RecordedCall",
    "Recording",
    "SupportRow",
    "TensorDesc",
    "Violation",
    "__version__",
    "check",
    "compile",
    "current_level",
    "desc",
    "feature_level",
    "get_num_threads",
    "minimum_feature_level",
    "record",
    "set_num_threads",
    "specs",
    "support_table",
    "supports",
]
__all__ += _api.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
