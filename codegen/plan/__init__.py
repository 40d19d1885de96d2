"""Every name, table and line that the templates lay out, decided here.

A plan is plain data: text that is ready to stand in Cython, Python or Markdown. Templates do no arithmetic and know no
operator.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Diagnostics
from ..expr.nodes import ExprError
from ..families import FAMILIES
from ..model import DTYPE_ENUM, Enum, EnumMember, Facts, Specs
from .data import FamilyPlan, FieldPlan, OperatorPlan, Plan, RulePlan, TensorPlan
from .planner import Planner

__all__ = ["FamilyPlan", "FieldPlan", "OperatorPlan", "Plan", "RulePlan", "TensorPlan", "plan"]


def plan(specs: Specs, diagnostics: Diagnostics) -> Plan:
    """Decides everything; problems of kernels go to ``diagnostics``."""
    facts = specs.facts
    enums = (_dtype_enum(facts), *facts.enums.values())
    planned: list[OperatorPlan] = []
    for operator in specs.operators.values():
        family = FAMILIES.get(operator.family)
        if family is None:
            diagnostics.error(
                operator.family_span, f"there is no family {operator.family!r}", f"families: {', '.join(FAMILIES)}"
            )
            continue
        planner = Planner(operator, facts, {enum.name: enum for enum in enums}, family, diagnostics)
        known = len(diagnostics.errors)
        for field in operator.fields:
            planner.supported(field)
        if len(diagnostics.errors) > known:
            continue
        try:
            planned.append(planner.plan())
        except ExprError as error:
            reading = planner.steps.reading
            if reading is None or reading.span is None:
                diagnostics.error(operator.fields[0].span, f"{operator.name}: {error.message}", error.hint)
            else:
                span = reading.span.inside(reading.text, error.at, error.length)
                diagnostics.error(span, error.message, error.hint)
    diagnostics.raise_if_any()
    families = []
    for name, family in FAMILIES.items():
        members = tuple(operator for operator in planned if operator.operator.family == name)
        if members:
            families.append(FamilyPlan(family, members, family.module([operator.kernel for operator in members])))
    return Plan(specs, facts, enums, tuple(planned), tuple(families), _ids(facts, planned))


def _dtype_enum(facts: Facts) -> Enum:
    members = tuple(
        EnumMember(dtype.name, dtype.value, dtype.since, f"{dtype.bits} bits", ()) for dtype in facts.dtypes
    )
    source = "https://learn.microsoft.com/windows/win32/api/directml/ne-directml-dml_tensor_data_type"
    return Enum(DTYPE_ENUM, f"{DTYPE_ENUM}_", "TensorDataType", False, "1_0", source, None, members)


def _ids(facts: Facts, operators: Sequence[OperatorPlan]) -> tuple[tuple[str, str], ...]:
    ids = {error.id: error.about for error in facts.model_errors}
    for operator in operators:
        for error in facts.implicit:
            if "operator" in error.applies and (error.when != "later" or operator.since > 0):
                ids[f"DML-{operator.name}-operator-{error.id}"] = error.about
        for field in (*operator.fields, *operator.choices):
            ids.update({id_: about for id_, _, about in field.ids})
        for rule in operator.rules:
            ids[rule.id] = f"{rule.rule.about} {rule.rule.says}: {rule.text} must hold."
    return tuple(sorted(ids.items()))
