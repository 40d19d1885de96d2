"""The stub of the operators as methods of a graph that is being built."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator

import jinja2

from ..field_types import type_of
from ..plan import OperatorPlan, Plan, TensorPlan
from .stubs import StubOperator, tidy

LINE = 120


class GraphMethod:
    """An operator as a method that takes values."""

    def __init__(self, env: jinja2.Environment, plan: Plan, operator: OperatorPlan) -> None:
        self.op = operator
        self.stub = StubOperator(env, plan, operator)
        self.summary: str = env.filters["docstring"](operator.operator.summary)

    def tensor(self, tensor: TensorPlan) -> str:
        """The type of an input, or of an output."""
        several = type_of(self.op.operator.field(tensor.python)).several
        return "Sequence[Value]" if several else "Value"

    @property
    def inputs(self) -> Iterator[str]:
        """The values that it takes."""
        for tensor in self.op.inputs:
            field = self.op.operator.field(tensor.python)
            left_out = self.op.operator.is_omissible(field)
            yield f"{tensor.python}: {self.tensor(tensor)}{' | None' * field.optional}{' = None' * left_out}"

    def answers(self, tensor: TensorPlan) -> Iterator[tuple[str, str]]:
        """Each way to ask for an output, and its type then; "": it is not there."""
        field = self.op.operator.field(tensor.python)
        value = "tuple[Value, ...]" if type_of(field).several else "Value"
        if not self.op.operator.is_asked(field) or type_of(field).several:
            yield "", value
        elif tensor.optional:
            yield f"{tensor.python}: Literal[False] | None = False", ""
            yield f"{tensor.python}: Literal[True] | _DataType", value
        else:
            yield f"{tensor.python}_dtype: _DataType | None = None", value

    @property
    def declarations(self) -> Iterator[str]:
        """The method, once for each combination of outputs."""
        sized = {self.op.operator.sized_by(field) for field in self.op.operator.outputs}
        sizes = [f"{one.python}: {one.annotation} = None" for one in self.op.requests if one.python in sized]
        for asked in itertools.product(*(self.answers(tensor) for tensor in self.op.outputs)):
            found = [result for _, result in asked if result]
            if not found:  # an operator computes something
                continue
            requests = [request for request, _ in asked if request]
            keywords = [*self.stub.parameters, *requests, *sizes, "outputs: OutputDescs = None", 'name: str = ""']
            result = found[0] if len(found) == 1 else f"tuple[{', '.join(found)}]"
            yield self.laid_out(["self", *self.inputs, "*", *keywords], result)

    def laid_out(self, arguments: list[str], result: str) -> str:
        """A declaration, over as many lines as it needs."""
        line = f"    def {self.op.python}({', '.join(arguments)}) -> {result}:"
        if len(line) <= LINE:
            return line
        whole = ", ".join(one.replace(" ", "\0") for one in arguments)
        rows = textwrap.fill(whole, LINE, initial_indent=" " * 8, subsequent_indent=" " * 8).replace("\0", " ")
        return f"    def {self.op.python}(\n{rows}\n    ) -> {result}:"

    @property
    def docstring(self) -> str:
        """The docstring of the method: the summary of the operator."""
        return textwrap.fill(self.summary, LINE - 3, initial_indent=" " * 8 + '"""', subsequent_indent=" " * 8) + '"""'


def graph_stub(env: jinja2.Environment, plan: Plan) -> str:
    """The text of the stub."""
    methods = [GraphMethod(env, plan, operator) for operator in plan.operators]
    texts = [text for method in methods for text in method.declarations]
    imports = methods[0].stub.imports(texts) if methods else ""
    return tidy(env.get_template("stubs/graph_operators.pyi.j2").render(methods=methods, imports=imports))
