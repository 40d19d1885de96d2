"""The results of the calls on the pages of operators, beside the results in the examples of the specs."""

from __future__ import annotations

from typing import Any


def inputs_of(spec: Any, positional: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """The tensors of a call, by field; those by keyword are taken out of what is given."""
    names = [field.python for field in spec.inputs]
    found = dict(zip(names, positional, strict=False)) | {name: given.pop(name) for name in names if name in given}
    return {name: found[name] for name in names if found.get(name) is not None}


def sizes_of(spec: Any, one: Any) -> dict[str, Any]:
    """The arguments of a call that give the sizes of the outputs of an example."""
    found: dict[str, Any] = {}
    for field in spec.outputs:
        paths = [path for path in one.outputs if path.partition("[")[0] == field.python]
        sizes = tuple(tuple(one.outputs[path].sizes) for path in paths)
        if paths and spec.sized_by(field) is not None:
            found[spec.sized_by(field)] = sizes[0] if paths == [field.python] else sizes
    return found


def frozen(value: Any) -> Any:
    if isinstance(value, dict) and "Type" in value:  # an activation
        name = value["Type"].removeprefix("DML_OPERATOR_").title().replace("_", "")
        return name, {field.lower(): one for field, one in value.get("Desc", {}).items()}
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


class Descs:
    """Activations that calls on the pages give: the name of the class, and what it is given."""

    def __getattr__(self, name: str) -> Any:
        return lambda **given: (name, given)
