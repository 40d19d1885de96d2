"""The function of an operator, and the object that a desc becomes to be checked once and called many times."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeVar, overload

from dmlcy._desc.check import known_desc
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._desc.whole import Optimization, Whole, switches
from dmlcy._errors import Violation, raise_violations
from dmlcy._facts.levels import LEVEL, level_index
from dmlcy._facts.names import must_run
from dmlcy._facts.tables import NAMES
from dmlcy._runtime.compiled import CompiledOperator, TableOperator
from dmlcy._words.values import show

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _FeatureLevel
    from dmlcy._runtime.function import Function

__all__ = ["compile", "function"]

Compiled = TypeVar("Compiled")


@overload
def compile(
    desc: OperatorDesc, feature_level: _FeatureLevel | None = None, *, path: Literal["reference"] | None = None
) -> CompiledOperator: ...
@overload
def compile(
    desc: Whole[Compiled, Violation],
    feature_level: _FeatureLevel | None = None,
    *,
    path: Literal["reference"] | None = None,
    without: Collection[Optimization] = (),
) -> Compiled: ...
def compile(
    desc: OperatorDesc | Whole[object, Violation],
    feature_level: _FeatureLevel | None = None,
    *,
    path: Literal["reference"] | None = None,
    without: Collection[Optimization] = (),
) -> object:
    """Checks a desc and returns a callable, ``op(x, ..., out=None)``, for tensors of just these sizes and data types.

    Parameters
    ----------
    desc
        An object of a class of ``dmlcy.desc``, or a graph.
    feature_level
        Such as ``"3_0"``; None: the level in force.
    path
        ``"reference"``: the reference computes the operator, which is slower than its loops and shares no code with
        them. None: the loops do, if the operator has any.
    without
        Of a graph: the optimizations to leave out, such as ``("folded", "in_place")``. No optimization changes a bit of
        a result; ``optimizations`` of the compiled graph has their names, and counts what each one did.

    Raises
    ------
    DmlError
        All violations of the desc.
    OperatorNotRunnableError
        The operator is described, and does not run yet.
    ValueError
        ``without`` has a name that no optimization has, or ``desc`` is no graph and has none.
    """
    level = LEVEL.get() if feature_level is None else level_index(feature_level)
    found = known_desc(desc, "compile")._violations(level)
    if found:
        raise_violations(found, "compile")
    if path not in (None, "reference"):
        raise ValueError(f"compile() takes path='reference' or None, not {show(path)}")
    left_out = switches(without)
    if isinstance(desc, Whole):
        return desc._compiled(level, path, left_out)
    if left_out:
        raise ValueError("compile() takes without for graphs: a single operator has no optimizations to leave out")
    must_run(desc.operator)
    return TableOperator(desc, level, reference=path is not None)


def function(name: str) -> Function:
    """The function of an operator."""
    found: Function = getattr(import_module(f"dmlcy._generated.functions.{name.lower()}"), NAMES[name])
    return found
