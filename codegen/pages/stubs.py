"""The stubs of the package: what an editor knows of the functions, the descs and the enums."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import jinja2

from ..model import Field
from ..plan import OperatorPlan, Plan
from .values import literal

# What dmlcy/__init__.py exports beside operators and enums.
PUBLIC = (
    "DmlError", "Export", "FeatureLevelError", "InvalidDataError", "InvalidDataTypeError", "InvalidDescError",
    "LevelReason", "MinimumLevel", "ModelError", "RecordedCall", "Recording", "SupportRow", "TensorDesc", "Violation",
    "__version__", "check", "compile", "current_level", "desc", "feature_level", "get_num_threads",
    "minimum_feature_level", "record", "set_num_threads", "specs", "support_table", "supports",
)  # fmt: skip


class Stubs:
    """What both stub files need."""

    def __init__(self, env: jinja2.Environment, plan: Plan) -> None:
        self.plan = plan
        self.operators = [StubOperator(env, plan, operator) for operator in plan.operators]

    @property
    def names(self) -> list[str]:
        """The public names."""
        return sorted([*PUBLIC, *(enum.python for enum in self.plan.enums), *(op.python for op in self.plan.operators)])

    @property
    def desc_names(self) -> list[str]:
        """The public names of ``dmlcy.desc``."""
        return sorted(["OperatorDesc", "Size2D", *(op.desc for op in self.plan.operators)])

    @property
    def desc_imports(self) -> list[str]:
        """What ``dmlcy.desc`` takes from ``dmlcy``."""
        used = " ".join(text for stub in self.operators for text in stub.types)
        known = ["TensorDesc", "_Bool", "_Int", "_Ints", "_Number"]
        known += [name for alias in self.aliases for name in (alias[0], f"_{alias[0]}")]
        return sorted(name for name in known if re.search(rf"\b{name}\b", used))

    @property
    def aliases(self) -> list[tuple[str, list[str], list[str]]]:
        """The enums that an argument can be of, and the short and full names of their members."""
        used = {field.enum for op in self.plan.operators for field in op.operator.fields}
        found = []
        for enum in sorted(self.plan.enums, key=lambda enum: enum.python):
            if enum.name in used or enum.python == "FeatureLevel":
                names = [member.name for member in enum.members]
                found.append((enum.python, names, [f"{enum.prefix}{name}" for name in names]))
        return found


class StubOperator:
    """An operator as the stubs declare it."""

    def __init__(self, env: jinja2.Environment, plan: Plan, operator: OperatorPlan) -> None:
        self.plan = plan
        self.op = operator
        escaped: Callable[[str], str] = env.filters["docstring"]
        self.docstring = escaped(env.get_template("docstring.txt.j2").render(op=operator).strip())
        self.summary = escaped(f"{operator.operator.struct}: {operator.operator.summary}")

    @property
    def types(self) -> list[str]:
        """What the declaration of the desc class mentions."""
        return [*self.fields, *(item.annotation for item in self.op.fields)]

    @property
    def parameters(self) -> Iterator[str]:
        """The attributes of the call."""
        for attribute in self.op.parameters:
            default = "" if attribute.default is None else f" = {literal(attribute.field.default)}"
            yield f"{attribute.python}: {accepted(self.plan, attribute.field)}{default}"

    @property
    def fields(self) -> Iterator[str]:
        """The parameters of the desc class; those that must be given come first."""
        for item in sorted(self.op.fields, key=lambda item: not item.required):
            field = item.field
            taken = accepted(self.plan, field)
            if item.required:
                yield f"{field.python}: {taken}"
            elif field.default is None:
                yield f"{field.python}: {taken} | None = None"
            else:
                yield f"{field.python}: {taken} = {literal(field.default)}"


def accepted(plan: Plan, field: Field) -> str:
    """What the type of an argument is."""
    if field.is_tensor:
        return "TensorDesc"
    if field.enum is not None:
        return f"_{plan.enum(field.enum).python}"
    return {
        "uint": "_Int",
        "uint_array": "_Int | _Ints",
        "float": "_Number",
        "bool": "_Bool",
        "size_2d": "_Int | tuple[_Int, _Int]",
        "scalar_union": "_Number",
    }[field.type]
