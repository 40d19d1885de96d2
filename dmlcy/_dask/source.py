"""Sources of models: from one, each block of a dask array finds its model, by the contents or the path, and a hash.

Each process makes the model once, from the first source of it that it meets, and keeps it for the others.
"""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Final

from dmlcy._compile import compile as compile_desc
from dmlcy._dask.models import FUNCTION, Model, OfGraph, OfModel, refuse
from dmlcy._errors import ModelError
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._frontends.dxdispatch.files import open_regular
from dmlcy._frontends.dxdispatch.problems import Refusal, make, whole
from dmlcy._frontends.dxdispatch.problems import refuse as refuse_file
from dmlcy._frontends.graphs.kinds import is_onnx
from dmlcy._frontends.graphs.public import load
from dmlcy._frontends.onnx import reader
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.run import CompiledGraph
from dmlcy._types import Array
from dmlcy._words.values import quote, show

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

KEPT: Final = 4
"""Models that a process keeps for the blocks to come."""
_PART: Final = 1 << 24


class Loaded:
    """The model of a source in a process. ``made``: how many times it was compiled, for as many sizes of blocks."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.made: dict[object, None] = {}
        self._lock = Lock()

    def run(self, arrays: Mapping[str, Array], names: Sequence[str]) -> list[Array]:
        """The outputs of these names. The first call for some sizes compiles, and others with them wait for it."""
        sizes = tuple((name, array.shape) for name, array in arrays.items())
        if sizes not in self.made:
            with self._lock:
                if sizes not in self.made:
                    self.model.prepare(arrays, names)
                    self.made[sizes] = None
        return self.model.run(arrays, names)


_LOADED: OrderedDict[str, Loaded] = OrderedDict()
_LOCK: Final = Lock()


def loaded() -> dict[str, Loaded]:
    """The models that this process keeps, by the keys of their sources."""
    return dict(_LOADED)


class Source:
    """Where a process finds a model. ``key``: the same for the same contents."""

    key: str

    def load(self) -> Model:
        """The model, made anew."""
        raise NotImplementedError

    def loaded(self) -> Loaded:
        """The model of this process."""
        with _LOCK:  # others that need the same model wait for it
            if self.key not in _LOADED:
                self.keep(self.load())
            _LOADED.move_to_end(self.key)
            return _LOADED[self.key]

    def keep(self, model: Model) -> Loaded:
        """Keeps a model that was made already."""
        found = _LOADED.setdefault(self.key, Loaded(model))
        while len(_LOADED) > KEPT:
            _LOADED.popitem(last=False)
        return found

    def __dask_tokenize__(self) -> str:
        return self.key


class FromGraph(Source):
    """A compiled graph: what it was compiled of, as bytes, which are made when they are first sent."""

    def __init__(self, compiled: CompiledGraph) -> None:
        self._parts = compiled.__reduce__()
        hashed = _Hashed()
        pickle.Pickler(hashed, 5).dump(self._parts)
        self.key = hashed.digest.hexdigest()
        self._data: bytes | None = None

    def load(self) -> Model:
        make_graph, arguments = pickle.loads(self._bytes())
        return OfGraph(make_graph(*arguments))

    def of(self, compiled: CompiledGraph) -> OfGraph:
        """The model of a compiled graph in this process; a copy if ``initialize`` can give it other inputs later."""
        make_graph, arguments = self._parts
        return OfGraph(make_graph(*arguments) if compiled.owned else compiled)

    def _bytes(self) -> bytes:
        if self._data is None:
            self._data = pickle.dumps(self._parts, 5)
        return self._data

    def __getstate__(self) -> dict[str, object]:
        return {"key": self.key, "_data": self._bytes()}


class _Hashed:
    """A file of which only the hash is kept."""

    def __init__(self) -> None:
        self.digest = blake2b(digest_size=16)

    def write(self, data: ReadableBuffer) -> int:
        """Takes bytes of any kind."""
        self.digest.update(data)
        return memoryview(data).nbytes


class FromFile(Source):
    """An ONNX model: its path, the hash of its contents, or with ``data`` these, and how it was loaded."""

    def __init__(self, model: CompiledModel, send: bool) -> None:
        self._path = os.path.abspath(model.file)
        contents, self._digest = _read(self._path, keep=send)
        self._data = contents if send else None
        self._settings = model.settings
        hashed = blake2b(self._digest, digest_size=16)
        hashed.update(pickle.dumps((self._path, self._settings, send)))
        self.key = hashed.hexdigest()

    def load(self) -> Model:
        try:
            if self._data is not None:
                found = reader.decode(self._path, self._data, None)
            elif _read(self._path)[1] != self._digest:
                refuse("file", file=quote(self._path))
            else:
                found = reader.read(self._path)
            return OfModel(CompiledModel(found, **self._settings, at_once=False))
        except Refusal as error:
            raise ModelError(error.violations) from None


def _read(path: str, keep: bool = False) -> tuple[bytes, bytes]:
    """The contents of a file, if they are to be kept, and their hash."""
    digest, parts = blake2b(digest_size=16), []
    try:
        with open_regular(path) as stream:
            while part := stream.read(_PART):
                digest.update(part)
                if keep:
                    parts.append(part)
    except OSError as error:
        refuse_file([make("DML-MODEL-file", whole(path), {"why": (error.strerror or str(error)).lower()})])
    return b"".join(parts), digest.digest()


def source_of(model: object, level: FeatureLevelName, send: bool) -> tuple[Source, Model]:
    """The source of a model, and the model in this process, which is kept for the blocks that it computes."""
    if isinstance(model, str | os.PathLike):
        path = os.fspath(model)
        try:
            model = CompiledModel(reader.read(path), {}, at_once=False) if is_onnx(path) else load(path)
        except Refusal as error:
            raise ModelError(error.violations) from None
    if isinstance(model, GraphDesc):
        model = compile_desc(model, level)
    source: Source
    found: Model
    if isinstance(model, CompiledGraph):
        source = of_graph = FromGraph(model)
        with _LOCK:
            kept = _LOADED.get(source.key)
        found = of_graph.of(model) if kept is None else kept.model
    elif isinstance(model, CompiledModel):
        try:
            source = FromFile(model, send)
            found = source.load() if send else OfModel(model)  # a file that is not whole without others is refused here
        except Refusal as error:
            raise ModelError(error.violations) from None
    else:
        raise TypeError(
            f"{FUNCTION}() takes a graph, a compiled graph, an ONNX model that dmlcy.onnx.load gives, or the path of a "
            f"file, not {show(model)}."
        )
    with _LOCK:
        return source, source.keep(found).model
