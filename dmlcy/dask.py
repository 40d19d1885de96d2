"""The operators on dask arrays, as functions like those of ``dmlcy``, and models: ``pip install 'dmlcy[dask]'``."""

try:
    import dask.array as _  # noqa: F401
except ImportError as error:
    raise ImportError(f"dmlcy.dask needs dask: pip install 'dmlcy[dask]' ({error})", name=error.name) from error

from dmlcy._facts.tables import IN_CHUNKS as _IN_CHUNKS
from dmlcy._facts.tables import NAMES as _NAMES
from dmlcy._facts.tables import RUNNABLE as _RUNNABLE
from dmlcy._words.later import later as _later

_HOMES = {_NAMES[name]: f"dmlcy._generated.dask.{name.lower()}" for name in _IN_CHUNKS}
_HOMES["run"] = "dmlcy._dask.batches"
_WHOLE = {_NAMES[name] for name in _RUNNABLE} - set(_HOMES)

__all__ = [*_HOMES]

_FOUND = _later(__name__, _HOMES)


def __getattr__(name: str) -> object:
    if name in _WHOLE:
        raise AttributeError(
            f"dmlcy.dask has no {name}: no slice of the results follows from slices of the inputs. "
            f"Pass arrays, such as x.compute(), to dmlcy.{name}.",
            name=name,
        )
    return _FOUND(name)


def __dir__() -> list[str]:
    return sorted(__all__)
