"""The operators on dask arrays, as functions like those of ``dmlcy``: ``pip install 'dmlcy[dask]'``."""

try:
    import dask.array as _  # noqa: F401
except ImportError as error:
    raise ImportError(f"dmlcy.dask needs dask: pip install 'dmlcy[dask]' ({error})", name=error.name) from error

from dmlcy._generated import dask as _dask
from dmlcy._generated.dask import *  # noqa: F403

__all__ = _dask.__all__
