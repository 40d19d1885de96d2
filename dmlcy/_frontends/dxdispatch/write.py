"""Models to be run elsewhere: uses of operators, and the values of their tensors, in DxDispatch's format."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dmlcy._desc.memory import dtype_of, extent, in_memory, rounded
from dmlcy._desc.minimum import minimum_feature_level
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import ModelError
from dmlcy._facts.dtypes import has_four_bits, in_files, numpy_dtype
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, TensorFlags
from dmlcy._field_types.tensor_desc import TensorDesc, minimum_size
from dmlcy._frontends.dxdispatch import files
from dmlcy._frontends.dxdispatch.npy import writer
from dmlcy._frontends.dxdispatch.problems import make, whole
from dmlcy._frontends.dxdispatch.reader import UINT32

_WIDTH: Final = 100
_MODEL: Final = "model.json"


@dataclass(frozen=True, slots=True)
class Export:
    """A model that was written.

    Attributes
    ----------
    model
        The path of its ``model.json``.
    unknown_to_dxdispatch
        The features of the model that no stock DxDispatch knows, such as ``"feature level 6_4, which padding_mode WRAP
        needs"``. Empty: DxDispatch runs it.
    """

    model: Path
    unknown_to_dxdispatch: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """An operator that a model runs once."""

    name: str  # of the dispatchable
    desc: OperatorDesc
    inputs: Mapping[str, Any]  # by Python name
    prefix: str = ""  # of the names of its resources

    def tensors(self, kind: str) -> dict[str, TensorDesc]:
        """The descs of its tensors of a kind, by Python name; those of an array by their paths, such as inputs[0]."""
        values = self.desc._values()
        named = {f.python: values[f.python] for f in self.desc.operator.fields if f.kind == kind}
        arrays = {name: several for name, several in named.items() if isinstance(several, tuple)}
        named |= {f"{name}[{number}]": one for name, several in arrays.items() for number, one in enumerate(several)}
        return {name: tensor for name, tensor in named.items() if isinstance(tensor, TensorDesc)}

    def resource(self, name: str) -> str:
        """The name of the resource of a tensor."""
        return self.prefix + name.replace("[", "_").removesuffix("]")


def model(uses: Iterable[Use], report: Callable[[str, TensorDesc], dict[str, object]]) -> dict[str, object]:
    """A model that runs the operators in turn. Their inputs are resources as JSON.

    ``report`` makes the command that follows for each output, from the name of its resource and its desc.
    """
    resources: dict[str, object] = {}
    dispatchables: dict[str, object] = {}
    commands: list[dict[str, object]] = []
    for use in uses:
        inputs, outputs = use.tensors("input"), use.tensors("output")
        resources |= {use.resource(name): use.inputs[name] for name in inputs}
        resources |= {use.resource(name): zeros(tensor) for name, tensor in outputs.items()}
        described = use.desc.to_dict()
        bound: dict[bool, dict[str, object]] = {False: {}, True: {}}
        for field in use.desc.operator.fields:
            tensors = {**inputs, **outputs}
            tensor, value = tensors.get(field.python), getattr(use.desc, field.python)
            if tensor is not None:
                described["desc"][field.name] = brief(tensor)
                bound[tensor.flags is TensorFlags.OWNED_BY_DML][field.name] = use.resource(field.python)
            elif f"{field.python}[0]" in tensors:
                described["desc"][field.name] = [brief(one) for one in value]
                owned = all(one.flags is TensorFlags.OWNED_BY_DML for one in value)
                paths = [f"{field.python}[{number}]" for number in range(len(value))]
                bound[owned][field.name] = [use.resource(path) for path in paths]
        described["desc"] = {name: member for name, member in described["desc"].items() if member is not None}
        dispatchables[use.name] = described | ({"bindings": bound[True]} if bound[True] else {})
        commands.append({"type": "dispatch", "dispatchable": use.name, "bindings": bound[False]})
        commands += [report(use.resource(name), tensor) for name, tensor in outputs.items()]
    return {"resources": resources, "dispatchables": dispatchables, "commands": commands}


def export(uses: Sequence[Use], folder: str) -> Export:
    """Write a model of uses whose inputs are arrays: all of its files, or none."""
    if not uses:
        raise _error("DML-MODEL-no-calls", folder)
    contents: files.Contents = {}
    written = []
    for use in uses:
        inputs = {}
        for name, tensor in use.tensors("input").items():
            file = f"{use.resource(name)}.npy"
            values = in_memory(tensor, use.inputs[name])
            contents[(file,)] = writer(values)
            inputs[name] = sized(tensor, {"initialValues": {"sourcePath": file}}, values.nbytes)
        written.append(Use(use.name, use.desc, inputs, use.prefix))
    text = (layout(model(written, _write_file)) + "\n").encode()
    contents[(_MODEL,)] = lambda stream: stream.write(text)
    try:
        paths = files.write_all(Path(folder), contents)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or str(error)
        raise _error("DML-MODEL-write", folder, path=folder, why=why) from None
    unknown = [phrase for use in uses for phrase in _unknown_to_dxdispatch(use.desc)]
    return Export(paths[-1], tuple(dict.fromkeys(unknown)))


def layout(value: object, indent: str = "") -> str:
    """JSON text: a value that fits on a line is on one line."""
    text = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(text) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return text
    inner = indent + "  "
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        rows = textwrap.fill(text[1:-1], _WIDTH, initial_indent=inner, subsequent_indent=inner)
        return f"[\n{rows}\n{indent}]"
    if isinstance(value, dict):
        items = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {layout(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + layout(item, inner) for item in value) + f"\n{indent}]"


def _unknown_to_dxdispatch(desc: OperatorDesc) -> list[str]:
    needed = minimum_feature_level(desc)
    if LEVELS[LEVEL_INDEX[needed.level]].dxdispatch:
        return []
    return [f"feature level {needed.level}, which {reason.subject} needs" for reason in needed.forced_by]


def brief(tensor: TensorDesc) -> dict[str, object]:
    """A tensor desc without the members that DxDispatch fills in."""
    whole = tensor.to_dict()
    known = {"Flags": tensor.flags is TensorFlags.NONE, "DimensionCount": True, "Strides": tensor.strides is None}
    known["TotalTensorSizeInBytes"] = tensor.total_tensor_size_in_bytes == minimum_size(tensor)
    known["GuaranteedBaseOffsetAlignment"] = tensor.guaranteed_base_offset_alignment == 0
    return {name: member for name, member in whole.items() if not known.get(name, False)}


def zeros(tensor: TensorDesc) -> dict[str, object]:
    """A resource for an output."""
    dtype = in_files(dtype_of(tensor))
    item = numpy_dtype(dtype).itemsize
    count = min(extent(tensor) // item, UINT32)
    values: dict[str, object] = {
        "initialValuesDataType": dtype.name,
        "initialValues": {"valueCount": count, "value": 0},
    }
    return sized(tensor, values, count * item)


def sized(tensor: TensorDesc, resource: dict[str, object], length: int) -> dict[str, object]:
    """The resource with its size, where the tensor needs more than the bytes of its values."""
    needed = tensor.total_tensor_size_in_bytes
    return resource | ({"sizeInBytes": needed} if needed > rounded(length) else {})


def _write_file(name: str, tensor: TensorDesc) -> dict[str, object]:
    """The command that writes an output: in its sizes, or, when the elements do not follow each other, as they lie."""
    command = {"type": "writeFile", "resource": name, "targetPath": f"{name}.npy"}
    in_its_sizes = tensor.strides is None and not has_four_bits(dtype_of(tensor))
    return command | ({"dimensions": list(tensor.sizes)} if in_its_sizes else {})


def _error(identifier: str, folder: str, **values: object) -> ModelError:
    return ModelError([make(identifier, whole(folder), values).violation], "export")
