"""The functions, enums and named tuples of PyDirectML as Python, and their stubs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping

import jinja2

from ..model import Bindings, BoundActivation, BoundFunction, BoundParameter
from ..plan import OperatorPlan, Plan
from .markdown import code, level_link, page_link, table
from .stubs import tidy

LINE = 120
FOLDER = "directml"
CONVERTED = {
    "integers": "entries", "reals": "entries", "member": "member", "data_type": "data_type", "activation": "activation",
    "activations": "activations", "area": "size", "options": "options",
}  # fmt: skip
"""The method that takes a parameter of each kind; the operator itself checks the others."""
TYPES = {
    "expression": "Expression", "expressions": "Sequence[Expression]", "operand": "Expression | float",
    "integers": "Sequence[int]", "reals": "Sequence[float]", "integer": "int", "real": "float", "flag": "bool",
    "scalar": "float", "data_type": "TensorDataType | npt.DTypeLike", "activation": "FusedActivation | None",
    "activations": "Sequence[FusedActivation]", "area": "tuple[int, int] | Size2D",
    "scaling": "tuple[float, float] | None", "graph": "Graph",
}  # fmt: skip
WORDS = {
    "expression": "Expression", "expressions": "sequence of Expression", "operand": "Expression or float",
    "integers": "sequence of int", "reals": "sequence of float", "scalar": "int or float",
    "data_type": "TensorDataType or NumPy data type", "activation": "FusedActivation or None",
    "activations": "sequence of FusedActivation", "area": "tuple of int", "scaling": "tuple of float or None",
    "graph": "Graph", "integer": "int", "real": "float", "flag": "bool",
}  # fmt: skip


def double(name: str) -> str:
    """A name as Python, in double quotes."""
    return f'"{name}"'


def enum_of(default: str | None) -> str:
    """The enum of a member."""
    return (default or "").partition(".")[0]


class Function:
    """A function of PyDirectML as the templates lay it out."""

    def __init__(self, bindings: Bindings, operator: OperatorPlan, bound: BoundFunction) -> None:
        self.bound, self.name, self.operator = bound, bound.name, operator
        self.enums = {one.name for one in bindings.enums}
        self.fields = {one.field.python: one.field for one in operator.fields if one.field.kind != "output"}
        self.outputs = next((one for one in bindings.outputs if one.name == bound.outputs), None)

    @property
    def signature(self) -> str:
        """The parameters, without types."""
        return ", ".join(self._parameters(lambda one: one.name if one.default is None else f"{one.name}={one.default}"))

    def _parameters(self, shown: object) -> Iterator[str]:
        keyword = False
        for one in self.bound.parameters:
            if one.keyword and not keyword:
                keyword = True
                yield "*"
            assert callable(shown)
            yield str(shown(one))

    def typed(self, one: BoundParameter, required: bool = False) -> str:
        """A parameter with its type."""
        kind = one.enum or TYPES.get(one.kind, "")
        if one.kind == "options":
            kind = enum_of(one.default)
        if one.default == "None" and not kind.endswith("None"):
            kind += " | None"
        return f"{one.name}: {kind}" + ("" if one.default is None or required else f" = {one.default}")

    @property
    def declarations(self) -> Iterator[str]:
        """The declaration in the stub; a second one where the older API takes parameters by position."""
        by_name = [*self._parameters(self.typed)]
        parameters = self.bound.parameters
        if not self.bound.older:
            yield self._declared(by_name)
            return
        last = max((place for place, one in enumerate(parameters) if one.default is None), default=-1)
        by_place = [self.typed(one, required=place <= last) for place, one in enumerate(parameters)]
        if any(one.default is not None for one in parameters[:last]):
            yield self._declared(by_name)
        yield self._declared(by_place)

    def _declared(self, parameters: list[str]) -> str:
        line = f"def {self.name}({', '.join(parameters)}) -> {self.returned}:"
        if len(line) <= LINE - 4:
            return line
        whole = ", ".join(one.replace(" ", "\0") for one in parameters)
        rows = textwrap.fill(whole, LINE, initial_indent=" " * 4, subsequent_indent=" " * 4).replace("\0", " ")
        return f"def {self.name}(\n{rows}\n) -> {self.returned}:"

    @property
    def returned(self) -> str:
        """The type of the result."""
        return self.bound.outputs or ("list[Expression]" if self.bound.result == "list" else "Expression")

    @property
    def decorator(self) -> str | None:
        """Code that accepts the older forms of a call."""
        if not self.bound.older:
            return None
        arguments = []
        if self.bound.lacks is not None:
            name, fits = self.bound.lacks
            default = next(one.default for one in self.bound.parameters if one.name == name)
            arguments.append(f'lacks=("{name}", {fits}, {default})')
        arguments += [f'{new}="{old}"' for new, old in self.bound.also.items()]
        return f"older({', '.join(arguments)})"

    @property
    def call(self) -> str:
        """The beginning of the body: the tensors, and what the operator calls parameters that have other names."""
        graph = next((one.name for one in self.bound.parameters if one.kind == "graph"), None)
        tensors = [one for one in self.bound.parameters if one.is_tensor or one.kind == "operand"]
        parts = [f'"{self.name}"', "{" + ", ".join(f'"{one.name}": {one.name}' for one in tensors) + "}"]
        for word, named in (
            ("optional", [one.name for one in tensors if one.optional]),
            ("several", [one.name for one in tensors if one.kind == "expressions"]),
            ("numbers", [one.name for one in tensors if one.kind == "operand"]),
        ):
            if named:
                parts.append(f"{word}=[{', '.join(map(double, named))}]")
        if graph is not None:
            parts.append(f"graph={graph}")
        parts += [
            f'{one.argument}="{one.name}"'
            for one in self.bound.parameters
            if one.argument not in ("", one.name) and one.kind != "graph"
        ]
        return f"Call({', '.join(parts)})"

    @property
    def conversions(self) -> Iterator[str]:
        """Code that changes parameters before the operator gets them."""
        for one in self.bound.parameters:
            method = CONVERTED.get(one.kind)
            if one.kind == "flag":
                yield f"{one.name} = bool({one.name})"
            elif method is not None:
                yield f"{one.name} = call.{method}({', '.join([double(one.name), one.name, *self._more(one)])})"

    def _more(self, one: BoundParameter) -> Iterator[str]:
        """The arguments of a converting method beside the name and the value."""
        if one.kind == "member":
            yield one.enum
        elif one.kind == "options":
            assert self.outputs is not None
            yield enum_of(one.default)
            yield f"({', '.join(double(name) for name, _ in self.outputs.fields)})"
        elif one.default == "()":
            yield "empty=LEFT_OUT"
        elif one.kind == "data_type" and one.default == "None":
            yield "absent=LEFT_OUT"

    @property
    def checks(self) -> Iterator[str]:
        """Code that checks tensors before the operator does."""
        if self.bound.alike:
            yield f"call.alike({', '.join(map(double, self.bound.alike))})"
        if self.bound.same_sizes:
            yield f"call.same_sizes({', '.join(map(double, self.bound.same_sizes))})"

    @property
    def arguments(self) -> Iterator[str]:
        """The arguments of the operator."""
        given = {one.argument: one.name for one in self.bound.parameters if one.argument}
        every = next((one.name for one in self.bound.parameters if one.kind == "options"), None)
        if every is not None:
            given |= {name: f"{every}[{place}]" for place, (name, _) in enumerate(self.bound.asked)}
        given |= self.bound.values
        yield from (f"{argument}={value}" for argument, value in given.items())

    @property
    def used(self) -> str:
        """The operator, as Python."""
        name = f'"{self.operator.python}"'
        if self.bound.instead is None:
            return name
        other, when = self.bound.instead
        return f'"{other.lower()}" if {when} else {name}'

    @property
    def result(self) -> str:
        """The result of the function, made from ``found``."""
        if self.outputs is None:
            return {"": "found", "list": "[*found]"}.get(self.bound.result, f"{self.bound.result}(found, call)")
        every = next((one.name for one in self.bound.parameters if one.kind == "options"), None)
        asked = [parameter or "True" for _, parameter in self.bound.asked]
        if every is not None:
            asked = [f"{every}[{place}]" for place in range(len(asked))]
        return f"{self.bound.outputs}(*apart(found, ({', '.join(asked)},)))"

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, for the stub."""
        text = self.operator.operator.summary.replace("\\", "\\\\")
        return textwrap.fill(text, LINE - 3, initial_indent=" " * 7, subsequent_indent=" " * 4).strip()

    @property
    def docstring(self) -> str:
        """In the form of numpydoc."""
        spec = self.operator.operator
        operators = [spec.name, *([self.bound.instead[0]] if self.bound.instead else [])]
        rows = [textwrap.fill(spec.summary, 112), "", "Parameters", "----------"]
        for one in self.bound.parameters:
            kind = one.enum or WORDS.get(one.kind, "")
            kind = enum_of(one.default) if one.kind == "options" else kind
            rows.append(f"{one.name} : {kind}{'' if one.default is None else f', default {one.default}'}")
            rows.append(textwrap.fill(self._said(one), 112, initial_indent="    ", subsequent_indent="    "))
        rows += ["", "Returns", "-------", self.bound.outputs or self.returned]
        rows += [textwrap.fill(self._given, 112, initial_indent="    ", subsequent_indent="    ")]
        rows += ["", "Raises", "------", "InvalidDescError, InvalidDataTypeError, FeatureLevelError"]
        refused = f"The operator refuses a size, a data type or a value: the ids begin with DML-{spec.name}-."
        if self.bound.alike:
            refused += " Tensors that differ: DML-GRAPH-operand-sizes, DML-GRAPH-operand-types."
        rows += [textwrap.fill(refused, 112, initial_indent="    ", subsequent_indent="    ")]
        rows += ["TypeError", "    An argument is of another class, such as a text in place of a member of an enum."]
        rows += ["", "References", "----------", f"{' or '.join(operators)}, feature level {spec.since}:", spec.source]
        return "\n".join(rows)

    def _said(self, one: BoundParameter) -> str:
        """The docstring's text about a parameter."""
        said = [self.bound.takes.get(one.name, "")]
        field = self.fields.get(one.argument)
        if field is not None and not said[0]:
            said.append(field.doc)
            if field.is_tensor:
                said.append(f"Data types: {self._types(field.types or '')}.")
        return " ".join(filter(None, said)) or KINDS_SAID[one.kind]

    def _types(self, name: str) -> str:
        rows = self.operator.operator.types.get(name, ())
        texts = []
        for row in rows:
            since = f" (from level {row.since})" if row.since != self.operator.operator.since else ""
            texts.append(f"{', '.join(row.dtypes)}{since}")
        return "; ".join(texts)

    @property
    def _given(self) -> str:
        """The docstring's text about the result."""
        outputs = self.operator.operator.outputs
        if self.outputs is None:
            return f"{outputs[0].doc} Data types: {self._types(outputs[0].types or '')}."
        parts = zip(self.outputs.fields, outputs, strict=True)
        return " ".join(f"{name}{' (None if not asked for)' * may}: {field.doc}" for (name, may), field in parts)


KINDS_SAID = {
    "integers": "The sizes.", "integer": "A size.", "data_type": "The data type of the result.",
    "flag": "Whether the output is there.",
    "graph": "The graph that gets the tensor.", "options": "Which outputs there are.", "expression": "A tensor.",
    "expressions": "Tensors.", "operand": "A tensor, or a number for all elements.",
}  # fmt: skip


ACTIVATION = """An activation that an operator applies to its result, with its first two float parameters.

Parameters
----------
activation : OperatorType
    The operator; INVALID: none.
param_1, param_2 : float, default 0.0
    The float fields of its desc, in their order."""


class Factory:
    """A factory of activations as the templates lay it out."""

    def __init__(self, bound: BoundActivation) -> None:
        self.name, self.operator = bound.name, bound.operator
        self.signature = ", ".join(n if default is None else f"{n}={default}" for n, default in bound.parameters)
        self.typed = ", ".join(
            f"{n}: float" + ("" if default is None else f" = {default}") for n, default in bound.parameters
        )
        self.values = "".join(f", {n}" for n, _ in bound.parameters)


def _functions(plan: Plan) -> list[Function]:
    """The functions whose operators are there."""
    known = {operator.name: operator for operator in plan.operators}
    return [
        Function(plan.facts.bindings, known[one.operator], one)
        for one in plan.facts.bindings.functions
        if {one.operator, *([one.instead[0]] if one.instead else [])} <= {*known}
    ]


def context(plan: Plan) -> Mapping[str, object]:
    """The names of the templates: a function whose operator is not there is left out."""
    bindings, functions = plan.facts.bindings, _functions(plan)
    known = {operator.name for operator in plan.operators}
    factories = [Factory(one) for one in bindings.activations if one.operator in ("", *known)]
    names = sorted([*(one.name for one in functions), *(one.name for one in bindings.outputs), "FusedActivation"])
    return {
        "functions": functions, "factories": factories, "outputs": bindings.outputs, "names": names,
        "enum_names": sorted(one.name for one in bindings.enums if _is_said(one.name, functions)),
        "activation_doc": ACTIVATION, "of_tuples": dir(tuple),
    }  # fmt: skip


def functions_page(plan: Plan) -> Mapping[str, str]:
    """The names of the page's template: a table of the functions by name."""
    rows = []
    for one in sorted(_functions(plan), key=lambda one: one.name):
        operators = [one.operator.name, *([one.bound.instead[0]] if one.bound.instead else [])]
        links, levels = map(page_link, operators), (plan.facts.catalogue[name].since for name in operators)
        parameters = code(one.signature, in_table=True)
        rows.append((code(one.name), ", ".join(links), ", ".join(map(level_link, levels)), parameters))
    return {"functions": table(("Function", "Operator", "Level", "Parameters"), rows)}


def _is_said(enum: str, functions: list[Function]) -> bool:
    """Whether a stub of a function names an enum."""
    return any(re.search(rf"\b{enum}\b", text) for one in functions for text in one.declarations)


def bindings_module(env: jinja2.Environment, plan: Plan, name: str) -> str:
    """A module of the functions, or its stub."""
    return tidy(env.get_template(f"directml/{name}.j2").render(**context(plan)))


def bound_enums(env: jinja2.Environment, bindings: Bindings) -> str:
    """The module of the enums, which is its own stub."""
    names = sorted(name for one in bindings.enums for name in (one.name, one.also) if name)
    return tidy(env.get_template("directml/enums.py.j2").render(enums=bindings.enums, names=names))
