"""ONNX models: which nodes ONNX Runtime gives to DirectML, whether their descs are valid, and what the model computes.

Nothing here needs the package ``onnx``, ONNX Runtime, Windows or a GPU.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from dmlcy._errors import ModelError, Violations
from dmlcy._facts.levels import NEWEST, level_index
from dmlcy._facts.tables import LEVELS, FeatureLevelName
from dmlcy._frontends.dxdispatch.problems import Refusal
from dmlcy._frontends.onnx import binding, lint, reader
from dmlcy._frontends.onnx.binding import FreeDimension, sizes_of
from dmlcy._frontends.onnx.fusing import LEVELS as OPTIMIZATIONS
from dmlcy._frontends.onnx.fusing import optimized
from dmlcy._frontends.onnx.loading import CompiledModel, ModelValue
from dmlcy._frontends.onnx.model_report import ModelReport, NodeReport, Why, to_json
from dmlcy._frontends.onnx.placing import Where
from dmlcy._frontends.onnx.report import report_of
from dmlcy._frontends.onnx.tables import RELEASES
from dmlcy._graph.limits import MOST
from dmlcy._words.values import show

ONNXRUNTIMES: Final = tuple(RELEASES)
"""The releases of ONNX Runtime whose rules are known, the default first."""

__all__ = [
    "ONNXRUNTIMES",
    "CompiledModel",
    "FreeDimension",
    "ModelReport",
    "ModelValue",
    "NodeReport",
    "Where",
    "Why",
    "check",
    "load",
    "report",
    "to_json",
]


def report(
    path: str | os.PathLike[str],
    *,
    shapes: Mapping[str, int | Sequence[int]] | None = None,
    onnxruntime: str = ONNXRUNTIMES[0],
    feature_level: str | None = None,
    device_types: Collection[str] | None = None,
    limit: int = MOST,
    optimize: Literal["none", "basic", "extended"] = "none",
) -> ModelReport:
    """Say of each node of a model where ONNX Runtime puts it, why, and which operators of DirectML it becomes.

    Parameters
    ----------
    path
        The model. Weights are read only where a shape depends on them.
    shapes
        The sizes of inputs, and of free dimensions by their names: ``{"x": (1, 3, 224, 224)}`` or ``{"batch": 1}``.
    onnxruntime
        The release of ONNX Runtime, one of ``ONNXRUNTIMES``.
    feature_level
        The level of the device; by default the newest one.
    device_types
        The data types of DirectML that the device has, such as ``{"FLOAT32", "FLOAT16"}``; by default all.
    limit
        The most nodes of DirectML.
    optimize
        The level of ONNX Runtime's optimiser, whose passes are applied first, as far as they are known. Nodes that
        it joins with others are "fused", and their reasons name the other node.

    Returns
    -------
    ModelReport
        The nodes, the number of DirectML graphs, the free dimensions. ``str`` lays it out, ``to_json`` gives data.

    Raises
    ------
    ModelError
        The file is no valid ONNX model, or ``shapes`` names what the model does not have (``DML-ONNX-...``).
    ValueError
        The release, a level or a data type is not known, or ``shapes`` has what are no sizes.

    Examples
    --------
    >>> import dmlcy.onnx
    >>> report = dmlcy.onnx.report("model.onnx", shapes={"x": (1, 3, 224, 224)})  # doctest: +SKIP
    >>> [node.place for node in report.nodes if node.where == "cpu"]  # doctest: +SKIP
    ['node 17 "/conv1/Conv" (Conv)']
    """
    if onnxruntime not in RELEASES:
        known = ", ".join(RELEASES)
        raise ValueError(f"report() knows the releases {known} of ONNX Runtime, not {show(onnxruntime)}.")
    try:
        model = reader.read(os.fspath(path))
        return report_of(
            model,
            shapes=sizes_of(shapes),
            runtime=onnxruntime,
            level=_level(feature_level),
            types=None if device_types is None else binding.device_types(device_types),
            limit=limit,
            optimize=_optimization(optimize),
        )
    except Refusal as error:
        raise ModelError(error.violations) from None


def check(
    path: str | os.PathLike[str],
    *,
    shapes: Mapping[str, int | Sequence[int]] | None = None,
    feature_level: str | None = None,
    limit: int = MOST,
) -> Violations:
    """Everything that is wrong with the descs of the nodes of a model, each message opened by the node.

    Parameters
    ----------
    path, shapes, limit
        As of ``report``. A node whose sizes are not known is not checked.
    feature_level
        The level to check at; by default the newest one.

    Returns
    -------
    Violations
        Errors and warnings, as ``dmlcy.check`` gives them for a desc.

    Raises
    ------
    ModelError
        The file is no valid ONNX model, or ``shapes`` names what the model does not have (``DML-ONNX-...``).
    ValueError
        The level is not known, or ``shapes`` has what are no sizes.
    """
    try:
        found = lint.problems(reader.read(os.fspath(path)), _level(feature_level), sizes_of(shapes), limit)
    except Refusal as error:
        raise ModelError(error.violations) from None
    return Violations([one.located() for one in found.problems])


def load(
    path: str | os.PathLike[str],
    *,
    shapes: Mapping[str, int | Sequence[int]] | None = None,
    feature_level: str | None = None,
    limit: int = MOST,
    optimize: Literal["none", "basic", "extended"] = "none",
) -> CompiledModel:
    """A model that runs, as a compiled graph does: ``model(x, ...)``, with the inputs of the model by position or name.

    The nodes become the operators of DirectML that ONNX Runtime makes of them, and run here. A
    node that DirectML leaves to the CPU is computed as ONNX defines it, if dmlcy has a table of it. Its inputs are
    computed first, and the rest of the model is compiled with its results. A node whose opset has no DirectML kernel
    runs as the version before.

    Parameters
    ----------
    path, shapes, limit
        As of ``report``. Free dimensions that ``shapes`` does not name take the sizes of the inputs of each call.
    feature_level
        The level that the descs are checked at; by default the level in force.
    optimize
        As of ``report``. Values that only joined nodes had are no values of the model then.

    Returns
    -------
    CompiledModel
        The model is compiled at once if all sizes are known, else when it is called. The graphs of the last calls are
        kept.

    Raises
    ------
    ModelError
        The file is no valid ONNX model, ``shapes`` names what the model does not have, or a node cannot be computed:
        the message names the node (``DML-ONNX-...``).
    DmlError
        A rule of DirectML refuses the desc of a node.
    ValueError
        The level is not known, or ``shapes`` has what are no sizes.

    Examples
    --------
    >>> import dmlcy.onnx
    >>> model = dmlcy.onnx.load("model.onnx")  # doctest: +SKIP
    >>> y = model(x)  # doctest: +SKIP
    >>> model.run({"x": x}, outputs=["/conv1/Conv_output_0"])  # doctest: +SKIP
    """
    level = None if feature_level is None else _level(feature_level)
    try:
        sizes = sizes_of(shapes)
        model, gone = optimized(reader.read(os.fspath(path)), _optimization(optimize), sizes)
        return CompiledModel(model, sizes, level=level, limit=limit, gone=gone)
    except Refusal as error:
        raise ModelError(error.violations) from None


def _optimization(name: str) -> str:
    """A level of the optimiser; ValueError for one that is not known."""
    if name not in OPTIMIZATIONS:
        raise ValueError(f"optimize is one of {', '.join(OPTIMIZATIONS)}, not {show(name)}.")
    return name


def _level(name: str | None) -> FeatureLevelName:
    """The level of this name; ValueError for one that is not known."""
    return LEVELS[NEWEST if name is None else level_index(name)].name
