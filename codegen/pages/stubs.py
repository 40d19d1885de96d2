"""The stubs of the package: what an editor knows of the functions, the descs and the enums."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator

import jinja2

from ..field_types import type_of
from ..model import DTYPE_ENUM, Field
from ..names import public
from ..plan import OperatorPlan, Plan, Surroundings, TensorPlan
from .operator import OperatorPage
from .values import literal

# Types of arguments that are not those of an enum.
ARGUMENTS = (
    "_Array", "_ArrayOrPacked", "_Bool", "_DataType", "_Int", "_Ints", "_Number", "_Numbers", "_Out", "_OutArray",
    "_Outs", "_Result", "_Scalar", "_Tensors", "_Activation", "_Activations",
)  # fmt: skip
# Where the modules of each kind are that an operator has.
FOLDERS = {"function": "functions", "desc": "descs", "dask": "dask"}
# Enums that arguments are of whatever the operators are.
EVERYWHERE = {"DML_FEATURE_LEVEL", DTYPE_ENUM, "DML_TENSOR_FLAGS"}


def mentioned(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """The names among these that declarations contain."""
    used = set(re.findall(r"\w+", " ".join(texts)))
    return sorted(name for name in names if name in used)


def docstring(env: jinja2.Environment, plan: Surroundings, operator: OperatorPlan) -> str:
    """The numpydoc docstring of the functional call. A blank line would end the result of its example."""
    example = re.sub(r"\n{2,}", "\n", OperatorPage(plan, operator, None).smallest_example or "")
    text = env.get_template("docstring.txt.j2").render(op=operator, example=example, returned=returned(operator))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def returned(operator: OperatorPlan) -> str:
    """The type of the result of the functional call, in its docstring."""
    if any(type_of(field).several for field in operator.operator.outputs):
        return "tuple of numpy.ndarray"
    if sum(not output.optional for output in operator.outputs) > 1:
        return "tuple of numpy.ndarray"
    return "numpy.ndarray, or a tuple of them" if len(operator.outputs) > 1 else "numpy.ndarray"


def dask_docstring(env: jinja2.Environment, operator: OperatorPlan) -> str:
    """The declaration of the same call on dask arrays."""
    text = env.get_template("dask_docstring.txt.j2").render(op=operator)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def arguments(env: jinja2.Environment, plan: Plan) -> str:
    """The module of the types that arguments may have."""
    return env.get_template("package_arguments.py.j2").render(stubs=Stubs(plan))


class Stubs:
    """The imports of the stubs of the public modules, and the module of the types of arguments."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @property
    def names(self) -> list[str]:
        """The public names."""
        return sorted(
            [*public(), *(enum.python for enum in self.plan.enums), *(op.python for op in self.plan.operators)]
        )

    @property
    def desc_names(self) -> list[str]:
        """The public names of ``dmlcy.desc``."""
        return sorted(["OperatorDesc", "ScaleBias", "Size2D", *(op.desc for op in self.plan.operators)])

    @property
    def aliases(self) -> list[tuple[str, list[str], list[str]]]:
        """The enums that an argument can be of, and the short and full names of their members."""
        used = {field.enum for op in self.plan.operators for field in op.operator.fields} | EVERYWHERE
        found = []
        for enum in sorted(self.plan.enums, key=lambda enum: enum.python):
            if enum.name in used:
                names = [member.name for member in enum.members]
                found.append((enum.python, names, [f"{enum.prefix}{name}" for name in names]))
        return found


class StubOperator:
    """An operator as the stubs declare it."""

    def __init__(self, env: jinja2.Environment, plan: Surroundings, operator: OperatorPlan) -> None:
        self.plan = plan
        self.op = operator
        escaped: Callable[[str], str] = env.filters["docstring"]
        self.docstring = escaped(docstring(env, plan, operator))
        self.dask_docstring = escaped(dask_docstring(env, operator))
        self.summary = escaped(f"{operator.operator.struct}: {operator.operator.summary}")

    def imports(self, texts: Iterable[str]) -> str:
        """The imports of what declarations mention."""
        said = list(texts)
        enums = [enum.python for enum in self.plan.enums]
        homes = {
            "dmlcy._field_types.scale_bias": ["ScaleBias"],
            "dmlcy._field_types.size_2d": ["Size2D"],
            "dmlcy._field_types.tensor_desc": ["TensorDesc"],
            "dmlcy._generated.arguments": [*ARGUMENTS, *(f"_{enum}{end}" for enum in enums for end in ("", "Name"))],
            "dmlcy._generated.enums": enums,
        }
        used = {home: mentioned(names, said) for home, names in homes.items()}
        lines = ["from collections.abc import Sequence\n"] * any("Sequence" in text for text in said)
        return "\n".join([*lines, *(f"from {home} import {', '.join(names)}" for home, names in used.items() if names)])

    @property
    def types(self) -> list[str]:
        """The names that the declaration of the desc class mentions."""
        return [*self.fields, *(item.annotation for item in self.op.fields)]

    @property
    def call_texts(self) -> Iterator[str]:
        """The names that the declarations of the call mention."""
        yield from self.parameters
        for inputs, requests, out, result in self.overloads:
            yield from (*(taken for _, taken in inputs), *requests, out, result)

    @property
    def overloads(self) -> Iterator[tuple[list[tuple[str, str]], list[str], str, str]]:
        """For each way to call it: types of the inputs, requests for outputs, type of ``out``, type of the result."""
        if not self.op.runs:
            return
        inputs = [(tensor.python, taken) for tensor, (taken, _) in zip(self.op.inputs, self.taken, strict=True)]
        like = self.op.output.same_as
        array = "np.ndarray[Any, np.dtype[_Scalar]]"
        known = [(name, re.sub(r"\b_Array\b", array, taken) if name == like else taken) for name, taken in inputs]
        for requests, found in self.ways(self.answers):
            result = several_of([of(one, "_Result") for one in found])
            typed = several_of([of(one, array) for one in found])
            if like is not None and typed != result:  # the data type of an array is known, so that of the result is
                yield known, requests, "None = None", typed
            yield inputs, requests, "None = None", result
        for requests, found in self.ways(self.written):
            out = "_Out" if len(found) == 1 else "_Outs"
            if any(type_of(field).several for field in self.op.operator.outputs):
                out = "_OutArray"
            yield inputs, requests, out, out

    def ways(self, answers: Callable[[TensorPlan], Iterator[tuple[str, str]]]) -> Iterator[tuple[list[str], list[str]]]:
        """For each way to ask for the outputs: the requests, and the types of the results."""
        sized = [
            f"{one.python}: {one.annotation} = None"
            for one in self.op.requests
            if one.python == self.op.operator.sized_by(one.field)
        ]
        for asked in itertools.product(*(answers(tensor) for tensor in self.op.outputs)):
            found = [result for _, result in asked if result]
            if found:  # an operator computes something
                yield [*(request for request, _ in asked if request), *sized], found

    def written(self, tensor: TensorPlan) -> Iterator[tuple[str, str]]:
        """Each way to ask for an output that is written into an array: its data type is that of the array."""
        found = list(self.answers(tensor))
        (request, result), others = found[0], found[1:]
        name = request.partition(":")[0]
        if tensor.optional:
            yield request, result
            yield f"{name}: {' | '.join(one.removeprefix(f'{name}: ') for one, _ in others)}", "_Result"
        else:
            yield f"{name}: _DataType | None = None" if others else request, "_Result"

    def answers(self, tensor: TensorPlan) -> Iterator[tuple[str, str]]:
        """Each way to ask for an output, and its type then.

        "like": that of the first one; "likes": a tuple of such; "": it is not there.
        """
        same = "like" if tensor.same_as == self.op.output.same_as else "_Result"
        field = self.op.operator.field(tensor.python)
        if type_of(field).several:
            yield "", "likes"
            return
        rows = self.op.operator.types[field.types or ""]
        usual = self.op.operator.default_row(field).dtypes[0]
        first = f"np.ndarray[Any, np.dtype[np.{self.numpy(usual)}]]"
        if not self.op.operator.is_asked(field):
            only = tensor.same_as is None and len({name for row in rows for name in row.dtypes}) == 1
            yield "", first if only else same
            return
        if not tensor.optional:
            if tensor.same_as is None and not self.op.operator.has_limits(field):
                yield f"{tensor.python}_dtype: None = None", first
                yield f"{tensor.python}_dtype: _DataType", "_Result"
            else:  # the data type of the result is not known in either way
                yield f"{tensor.python}_dtype: _DataType | None = None", "_Result"
            return
        yield f"{tensor.python}: Literal[False] | None = False", ""
        if tensor.same_as is not None:
            yield f"{tensor.python}: Literal[True]", same
            return
        yield f"{tensor.python}: Literal[True]", first
        yield f"{tensor.python}: _DataType", "_Result"

    def numpy(self, dtype: str) -> str | None:
        """The name of a data type in NumPy."""
        return self.plan.facts.dtype(dtype).numpy

    def accepted(self, field: Field) -> str:
        """The annotation of an argument."""
        return type_of(field).argument_type(field, self.plan.enum)

    @property
    def parameters(self) -> Iterator[str]:
        """The attributes of the call."""
        for attribute in self.op.parameters:
            default = "" if attribute.default is None else f" = {literal(attribute.field.default)}"
            yield f"{attribute.python}: {self.accepted(attribute.field)}{default}"

    @property
    def taken(self) -> Iterator[tuple[str, str]]:
        """The annotation of each input, with the default in it, and the default."""
        for field in self.op.operator.inputs:
            default = self.op.operator.is_omissible(field)
            rows = self.op.operator.types.get(field.types or "", ())
            packed = any(self.plan.facts.dtype(name).numpy is None for row in rows for name in row.dtypes)
            one = "_ArrayOrPacked" if packed else "_Array"
            one = f"Sequence[{one}]" if type_of(field).several else one
            yield f"{one}{' | None' * field.optional}{' = None' * default}", "=None" * default

    @property
    def described(self) -> Iterator[tuple[str, str]]:
        """The parameters of the function of an operator that does not run, without their types and with them.

        An optional input that comes before one which must be given has no default.
        """
        for tensor, (taken, default) in zip(self.op.inputs, self.taken, strict=True):
            yield f"{tensor.python}{default}", f"{tensor.python}: {taken}"
        yield "*", "*"
        for attribute, typed in zip(self.op.parameters, self.parameters, strict=True):
            given = "" if attribute.default is None else f"={literal(attribute.field.default)}"
            yield f"{attribute.python}{given}", typed
        for request in self.op.requests:
            yield (
                f"{request.python}={request.default}",
                f"{request.python}: {request.annotation} = {request.default}",
            )
        yield "out=None", "out: object = None"

    @property
    def dask_inputs(self) -> Iterator[tuple[TensorPlan, str, str]]:
        """The inputs of the function for dask arrays: the default as Python, and the annotation with it."""
        for tensor, (taken, default) in zip(self.op.inputs, self.taken, strict=True):
            yield tensor, default.replace("=", " = "), taken

    @property
    def dask_texts(self) -> Iterator[str]:
        """The names that the declarations of that function mention."""
        yield from (taken for _, _, taken in self.dask_inputs)
        yield from self.parameters
        for requests, _ in self.dask_ways:
            yield from requests

    @property
    def dask_ways(self) -> Iterator[tuple[list[str], str]]:
        """For each way to ask for outputs of dask arrays: the requests, and the type of the result."""
        asked = {one.python: one for one in self.op.asked_of_chunks}
        ways: list[list[tuple[str, str]]] = []
        for tensor in self.op.outputs:
            name = tensor.python
            if not tensor.optional:
                several = type_of(self.op.operator.field(name)).several
                ways.append([("", "tuple[Array, ...]" if several else "Array")])
            elif name in asked:
                wanted = "Literal[True]" if tensor.same_as is not None else "Literal[True] | _DataType"
                ways.append([(f"{name}: Literal[False] | None = False", ""), (f"{name}: {wanted}", "Array")])
        others = [f"{one.python}: {one.annotation} = None" for one in asked.values() if one.python != one.field.python]
        found = [(way, [result for _, result in way if result]) for way in itertools.product(*ways)]
        found = [(way, results) for way, results in found if results]
        for way, results in found:
            requests = [request for request, _ in way if request]
            if len(found) == 1:  # the others are refused at run time, with an error that says so
                requests = [one.replace("Literal[True]", "bool") + " = False" for one in requests]
            yield [*others, *requests], several_of(results)

    @property
    def dask_typing(self) -> list[str]:
        """The names that these declarations need of ``typing``."""
        ways = [requests for requests, _ in self.dask_ways]
        literal = any("Literal[" in request for requests in ways for request in requests)
        return ["Literal"] * literal + ["overload"] * (len(ways) > 1)

    @property
    def names(self) -> list[str]:
        """The arguments of a call, except ``out``."""
        inputs = [tensor.python for tensor in self.op.inputs]
        return inputs + [attribute.python for attribute in (*self.op.parameters, *self.op.requests)]

    @property
    def fields(self) -> Iterator[str]:
        """The parameters of the desc class, the required ones first."""
        for item in sorted(self.op.fields, key=lambda item: not item.required):
            field = item.field
            taken = self.accepted(field)
            if item.required:
                yield f"{field.python}: {taken}"
            elif field.default is None and not field.may_be_none:
                yield f"{field.python}: {taken} | None = None"
            else:
                yield f"{field.python}: {taken} = {literal(field.default)}"


def stub(env: jinja2.Environment, plan: Plan, name: str) -> str:
    """The stub of a public module."""
    return tidy(env.get_template(f"stubs/{name}.pyi.j2").render(plan=plan, stubs=Stubs(plan)))


def operator_stub(env: jinja2.Environment, around: Surroundings, operator: OperatorPlan, name: str) -> str:
    """The stub of a module of an operator: one of FOLDERS."""
    return tidy(env.get_template(f"stubs/operator_{name}.pyi.j2").render(stub=StubOperator(env, around, operator)))


def tidy(text: str) -> str:
    """Text without spaces at the ends of its lines and without more than one blank line in a row."""
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


def of(said: str, array: str) -> str:
    """The type of an output: that of an array, of several, or its own."""
    return {"like": array, "likes": f"tuple[{array}, ...]"}.get(said, said)


def several_of(types: list[str]) -> str:
    """The type of a result of these outputs."""
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
