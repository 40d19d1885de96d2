"""Arrays for the inputs of a model: those in ``.npy`` files, or made ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dmlcy._errors import ModelError
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.files import open_regular
from dmlcy._frontends.dxdispatch.given import error_of, made
from dmlcy._frontends.dxdispatch.npy import NpyError, read_elements, read_header
from dmlcy._frontends.dxdispatch.problems import Problem, make, refuse, whole
from dmlcy._frontends.onnx.binding import options, written
from dmlcy._frontends.onnx.loading import CompiledModel, ModelValue
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._runtime import four_bits
from dmlcy._types import Array
from dmlcy._words.values import quote


def arrays_for(
    model: CompiledModel, files: Mapping[str, str], seed: int, given: Mapping[str, Array] | None = None
) -> dict[str, Array]:
    """An array for each input: the given arrays, the arrays of files, and small integers for the others.

    ``given``: arrays of another program, which may have more than the inputs.
    """
    found = {one.name: given[one.name] for one in model.inputs if given is not None and one.name in given}
    for one in model.inputs:
        if one.name in files:
            found[one.name] = of_file(files[one.name], one)
    free = {one.name: one for one in model.inputs[: model.required] if one.name not in found}
    dimensions = _dimensions(model.inputs, found)
    wrong: list[Problem] = []
    for place, one in enumerate(model.inputs):
        if one.name not in free:
            continue
        sizes = [dimensions.get(size, size) if isinstance(size, str) else size for size in one.sizes or (None,)]
        if one.sizes is None or not all(isinstance(size, int) for size in sizes):
            said = {one.name: tuple(sizes)}
            values = {"name": one.name, "sizes": written(one.sizes or (None,)), "options": options(said)}
            wrong.append(make("DML-ONNX-run-shape", whole(model.file), values))
        else:
            found[one.name] = _made(one, [size for size in sizes if isinstance(size, int)], (seed, place), model.file)
    if wrong:
        refuse(wrong)
    return found


def named(model: CompiledModel, given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The files by the name of the input; ModelError for a name that the model does not have, or has got twice."""
    names, files, wrong = [one.name for one in model.inputs], dict[str, str](), list[Problem]()
    for name, file in given:
        if name not in names:
            listed = ", ".join(quote(one) for one in names)
            known = f"The model has the inputs {listed}." if names else "The model has no inputs."
            values = {"what": "input", "name": name}
            wrong.append(make("DML-MODEL-reference", whole(model.file), values, hint=known))
        elif name in files:
            values = {"what": "other input", "name": name}
            hint = "Give --input once for each input."
            wrong.append(make("DML-MODEL-reference", whole(model.file), values, hint=hint))
        files[name] = file
    if wrong:
        refuse(wrong)
    return files


def of_file(file: str, one: ModelValue) -> Array:
    """The array in a ``.npy`` file; elements in a row take the sizes of the input, if these are known."""
    element = None if one.element is None else ELEMENTS[one.element]
    try:
        with open_regular(file) as stream:
            header = read_header(stream)
            if header.kind.hasobject or header.kind.kind not in "biufc":
                raise error_of("DML-MODEL-npy-type", file, found=str(header.kind), wanted="numbers or bools")
            array = read_elements(stream, header).astype(header.kind.newbyteorder("="), order="C")
    except NpyError as error:
        raise error_of("DML-MODEL-npy", file, error.hint, why=str(error)) from None
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise error_of("DML-MODEL-source", file, why=why) from None
    if element is not None and element.numpy == "bool" and array.dtype == np.uint8:
        array = array.view(bool) if array.max(initial=0) <= 1 else array != 0
    sizes = [size for size in one.sizes or () if isinstance(size, int)]
    if one.sizes is not None and len(sizes) == len(one.sizes) and array.ndim == 1 and array.size == np.prod(sizes):
        return array.reshape(sizes)
    return array


def _dimensions(inputs: Sequence[ModelValue], arrays: Mapping[str, Array]) -> dict[str, int]:
    """The free dimensions of which an array says the size."""
    found: dict[str, int] = {}
    for one in inputs:
        if one.name in arrays:
            for size, own in zip(one.sizes or (), arrays[one.name].shape, strict=False):
                if isinstance(size, str):
                    found.setdefault(size, own)
    return found


def _made(one: ModelValue, sizes: Sequence[int], seed: Sequence[int], file: str) -> Array:
    """Small integers."""
    dtype = None if one.element is None else ELEMENTS[one.element].directml
    if dtype is None or one.element is None:
        refuse([make("DML-ONNX-type", whole(file), {"element": one.element or "unknown", "name": one.name})])
    wanted = np.dtype(ELEMENTS[one.element].numpy)
    if 0 in sizes:
        return np.zeros(sizes, wanted)
    found = made(TensorDesc(dtype, tuple(sizes) or (1,)), np.random.default_rng(seed))
    array = found.values() if isinstance(found, four_bits.Packed) else np.asarray(found)
    array = array % 2 != 0 if wanted.kind == "b" else array.astype(wanted, copy=False)
    return array.reshape(sizes)
