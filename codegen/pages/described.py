"""An example of an operator that does not run: its data, and the desc that passes ``check``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..model import Dtype, Example, TensorData
from ..plan import FieldPlan, OperatorPlan
from .markdown import block
from .values import array_text, call, literal, prompt


def described_example(op: OperatorPlan, example: Example, dtypes: Iterable[Dtype]) -> Iterator[str]:
    """Blocks of code: the desc at the prompt, and the data."""
    fields = [*(item for item in op.fields if item.required), *(item for item in op.fields if not item.required)]
    outputs = _by_field(example.outputs)
    shown = {item.field.python for item in op.fields if item.field.python in outputs and _is_given(item)}
    tensors = _by_field(example.inputs) | {name: outputs[name] for name in shown}
    given = [
        f"{name}={_desc(tensors[name]) if name in tensors else literal(example.attributes[name])}"
        for name in (item.field.python for item in fields)
        if name in tensors or name in example.attributes
    ]
    made = call(f"desc = dml.desc.{op.desc}", given)
    yield block("\n".join([prompt(made), ">>> dml.check(desc)", "[]"]), "pycon")
    known = {dtype.name: dtype for dtype in dtypes}
    lines = [line for tensors in (example.inputs, example.outputs) for line in _data(tensors, known)]
    yield block("\n".join(lines), "text")


def _by_field(tensors: Mapping[str, TensorData]) -> dict[str, TensorData | list[TensorData]]:
    """The tensors of each field: ``inputs[0]``, ``inputs[1]`` are of the array ``inputs``."""
    found: dict[str, TensorData | list[TensorData]] = {}
    for path, tensor in tensors.items():
        name, bracket, _ = path.partition("[")
        several = found.setdefault(name, []) if bracket else None
        if isinstance(several, list):
            several.append(tensor)
        else:
            found[name] = tensor
    return found


def _is_given(item: FieldPlan) -> bool:
    """Whether an example shows an output of its desc: one that must be given, or whose sizes are among several."""
    reads_itself = item.sizes is not None and f"{item.field.python}.sizes" in item.sizes.reads
    return item.required or item.field.optional or reads_itself


def _desc(tensor: TensorData | list[TensorData]) -> str:
    if isinstance(tensor, list):
        return f"[{', '.join(map(_desc, tensor))}]"
    return f'dml.TensorDesc("{tensor.dtype}", {literal(tensor.sizes)})'


def _data(tensors: Mapping[str, TensorData], dtypes: Mapping[str, Dtype]) -> Iterator[str]:
    for name, tensor in tensors.items():
        yield f"{name} = {_array(tensor, dtypes[tensor.dtype], len(name) + 3)}"


def _array(tensor: TensorData, dtype: Dtype, indent: int) -> str:
    """As NumPy prints it; a list where NumPy does not have the data type or shortens it."""
    text = array_text(tensor, dtype)
    return f"{tensor.data!r}, {tensor.dtype}" if text is None else text.replace("\n", "\n" + " " * indent)
