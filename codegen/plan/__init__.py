"""Every name, table and line that the templates lay out, decided here.

A plan is plain data: text that is ready for Cython, Python or Markdown. Templates do no arithmetic and know no
operator.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostics import Diagnostics
from ..expr.nodes import ExprError
from ..families import FAMILIES, LOOPS
from ..model import DTYPE_ENUM, Enum, EnumMember, Facts, Operator, Specs
from .data import FamilyPlan, FieldPlan, Newer, OperatorPlan, Plan, RulePlan, Surroundings
from .planner import Planner
from .taken import TensorPlan

__all__ = [
    "FamilyPlan", "FieldPlan", "OperatorPlan", "Plan", "RulePlan", "Surroundings", "TensorPlan", "assemble", "plan",
    "plan_operator",
]  # fmt: skip


def plan(specs: Specs, diagnostics: Diagnostics) -> Plan:
    """Decides everything; problems of kernels go to ``diagnostics``."""
    planned = [plan_operator(operator, specs.facts, diagnostics) for operator in specs.operators.values()]
    diagnostics.raise_if_any()
    return assemble(specs, [operator for operator in planned if operator is not None])


def plan_operator(operator: Operator, facts: Facts, diagnostics: Diagnostics) -> OperatorPlan | None:
    """The plan of one operator; None, and a problem reported, if its family cannot have it."""
    family = FAMILIES.get(operator.family)
    if family is None and operator.kernel is not None:
        families = f"families: {', '.join(FAMILIES)}"
        diagnostics.error(operator.family_span, f"there is no family {operator.family!r}", families)
        return None
    loops = LOOPS.get(operator.family)
    if operator.kernel is None:
        family = loops = None
    planner = Planner(operator, facts, {enum.name: enum for enum in _enums(facts)}, family, loops, diagnostics)
    try:
        return planner.plan()
    except ExprError as error:
        reading = planner.steps.reading
        if reading is None or reading.span is None:
            diagnostics.error(operator.fields[0].span, f"{operator.name}: {error.message}", error.hint)
        else:
            span = reading.span.inside(reading.text, error.at, error.length)
            diagnostics.error(span, error.message, error.hint)
        return None


def assemble(specs: Specs, planned: Iterable[OperatorPlan]) -> Plan:
    """The plan of all operators, from the plans of each."""
    operators = tuple(planned)
    families = []
    for name, family in FAMILIES.items():
        called = [one for one in operators if one.compiled is not None and one.operator.family == name]
        if called:
            members = tuple(sorted(called, key=lambda one: not one.is_fast))
            kernels = [one.kernel for one in members if one.is_fast]
            families.append(FamilyPlan(family, members, LOOPS[name].module(kernels) if kernels else None))
    ids = {error.id: error.about for error in specs.facts.model_errors}
    newer: dict[str, tuple[Newer, ...]] = {}
    for operator in operators:
        ids.update(operator.ids)
        for same in operator.operator.same:
            known = newer.get(same.older, ())
            newer[same.older] = (*known, Newer(operator.name, operator.operator.since, same, operator.drawn))
    return Plan(
        facts=specs.facts,
        enums=_enums(specs.facts),
        names=tuple(operator.name for operator in operators),
        newer=newer,
        specs=specs,
        operators=operators,
        families=tuple(families),
        ids=tuple(sorted(ids.items())),
        onnx=specs.onnx,
    )


def _enums(facts: Facts) -> tuple[Enum, ...]:
    return (_dtype_enum(facts), *facts.enums.values())


def _dtype_enum(facts: Facts) -> Enum:
    members = tuple(
        EnumMember(dtype.name, dtype.value, dtype.since, f"{dtype.bits} bits", ()) for dtype in facts.dtypes
    )
    source = "https://learn.microsoft.com/windows/win32/api/directml/ne-directml-dml_tensor_data_type"
    return Enum(DTYPE_ENUM, f"{DTYPE_ENUM}_", "TensorDataType", False, "1_0", source, None, members)
