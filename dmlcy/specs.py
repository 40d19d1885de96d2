"""The specs as plain data: what DirectML's levels, data types, enums and operators are, for bindings and back ends.

The facts are TOML files that come with the package. Each function reads them anew, so that what it returns is the
caller's own. ``files()["schema.json"]`` is the JSON Schema of all of them: every key, its type, and whether it must be
there. ``ids()`` is a table of all error ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dmlcy._facts import shipped
from dmlcy._facts.ids import published
from dmlcy._facts.names import known_operator_name
from dmlcy._facts.tables import CATALOGUE, ERRORS, OPERATORS, STATES, state_of
from dmlcy._words.values import is_a, listing, show

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from dmlcy._facts.rows import Rule

__all__ = [
    "catalogue", "dtypes", "enums", "errors", "files", "fused", "ids", "levels", "operator", "operators",
    "provisional_ids", "states", "terms",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def states() -> dict[str, str]:
    """The states of operators, from the least on, with what dmlcy can do then."""
    return dict(STATES)


def operators(state: str | None = None) -> tuple[str, ...]:
    """Names of the operators that have a spec, such as ``"PADDING1"``.

    Parameters
    ----------
    state
        One of ``states()``: the operators of DirectML's catalogue in this state.

    Raises
    ------
    ValueError
        There is no such state.
    """
    if state is None:
        return tuple(OPERATORS)
    if not is_a(state, str) or state not in STATES:
        raise ValueError(f"unknown state {show(state)}. The states are {listing(list(STATES))}.")
    return tuple(name for name in CATALOGUE if state_of(name) == state)


def operator(name: str) -> dict[str, Any]:
    """All facts of an operator that has a spec: its file ``operators/<name>.toml``, and its state.

    Its rules are in two keys: ``rule``, checked on the desc, and ``data_rule``, checked on the values of a tensor when
    the operator runs. A reader of ``rule`` alone misses the latter. Keys that an operator has no use for are left out.

    Parameters
    ----------
    name
        ``"PADDING1"``, ``"DML_OPERATOR_PADDING1"``, ``"padding1"`` or ``"Padding1"``.

    Returns
    -------
    dict
        ``operator``
            ``name``, ``value`` of DML_OPERATOR_TYPE, ``since``, ``struct``, ``kind``, ``in_place`` (the inputs whose
            memory an output may share in DirectML), ``directmlx`` (the function of DirectMLX, as in ``catalogue()``),
            ``python``, ``desc``, ``family``, ``state`` (one of ``states()``), ``summary``, ``source``, ``include``
            (groups of facts that it shares with others), ``also`` (what NumPy, PyTorch and everyday language call it),
            ``also_after`` (operators that are meant first by a name that both have).
        ``types``, ``ranks``
            By letter, rows ``since`` with the data types ``any``, or the numbers of dimensions ``min`` to ``max``, that
            the level adds; ``default``: a call that chooses none gives the first of these data types.
        ``field``
            In the order of the struct: ``name``, ``python``, ``kind`` (input, output, attribute), ``type``,
            ``optional``, ``doc``, ``default`` (Python's; JSON gives every field); of a tensor ``dtype`` and ``rank``
            (letters of ``types`` and ``ranks``), ``sizes``, ``hint`` (what to do about others; ``hint_when``: of which
            descs that is said), ``leading_ones``, ``mixed`` (the tensors of an
            array may have several data types), ``owned`` (false: it must not have the flag OWNED_BY_DML); of an
            attribute ``length``, or ``max_length`` of an array that is as long as it is given, ``range``, ``among``
            (the list of operators that one may be fused from), ``value`` (the formula that it follows from),
            ``unsaid`` (UNKNOWN is taken for this data type), ``dtype`` (the field that holds the type of a scalar),
            ``infinite`` (of a FLOAT: it may be infinite or a NaN).
        ``let``
            Named quantities of the formulas: ``name``, ``for``, ``value``, ``doc``; ``says`` is
            what messages call it, ``each`` in the singular what a count is of; of a data rule, of which tensor ``v`` is
            each element.
        ``rule``, ``data_rule``
            ``id``, ``for``, ``that`` (the formula that must hold), ``about``, ``says``, ``from`` (provenance),
            ``hint``, ``fix``, ``since``, ``until``, ``breaks`` (what to change in an example to break just it),
            ``accepts`` (the evidence that DirectML takes what breaks it, so that it only warns).
        ``independent``
            Axes along which slices of the inputs give the slices of the output: ``doc``, ``for``, ``axes`` (of each
            tensor that has it), ``takes`` (what the size of a slice is a multiple of), ``gives`` (elements of the
            output for each), ``when``.
        ``chosen``
            Sizes of an output that the caller chooses: ``name`` (of the parameter of a call; in a desc they stand in
            the output, where ``sizes`` has ``*name``), ``length`` where their number follows, ``doc``.
        ``same``
            Older versions whose results the operator gives, bit for bit: ``as`` (the name), ``with`` (values of
            attributes), ``older`` (values in the older version of those that differ there).
        ``interpretation``
            ``id``, ``question``, ``choice``, ``evidence``; ``not_judged``, the condition for elements whose value no
            document promises, with ``when`` and ``outputs``.
        ``example``
            ``title``, ``source`` or ``calculation``, ``contradicts`` (of a documented example that its page
            contradicts: what the page prints, and what is right), ``inputs``, ``attributes``, ``outputs``, ``sized``
            (that the caller says the sizes of the outputs, though a formula gives some), ``figure`` (that it is in the
            figure of its page, and which elements of the output are followed there).
        ``equivalent``
            The same in another ``library``: ``call``, ``source``, ``note``; after ``setup``, the expressions ``ours``
            and ``theirs`` both give ``gives``; ``differs``, each with ``says``, ``setup``, and under ``ours`` and
            ``theirs`` the ``code`` and what it ``gives`` or ``raises``.
        ``accuracy``
            By data type, ``ulp`` and ``of``; a data type without entry is exact.
        ``device``
            ``flushes``: whether a device may take 0 in place of operands below the normal numbers; ``absolute``: what
            its results may be off besides; the ``reason``.
        ``kernel``
            What the family computes with; not there while the operator does not run.

    Raises
    ------
    ModelError
        No operator has that name.
    OperatorNotRunnableError
        The operator is only listed: no spec describes it.
    """
    known = known_operator_name(name)
    found = shipped.operator(known)
    found["operator"]["state"] = state_of(known)
    return found


def levels() -> dict[str, dict[str, Any]]:
    """The feature levels by name (``"5_0"``), oldest first.

    Each has ``name``, ``value`` of DML_FEATURE_LEVEL, ``directml`` (the version that brought it), ``max_rank`` and,
    where there is something to say, ``windows``, ``note``, ``dxdispatch`` (false: DxDispatch does not know it).
    """
    return _by("name", shipped.read("levels.toml")["level"])


def dtypes() -> dict[str, dict[str, Any]]:
    """The tensor data types by name (``"FLOAT32"``).

    Each has ``name``, ``value`` of DML_TENSOR_DATA_TYPE, ``bits``, ``since`` and, where NumPy has it, ``numpy``.
    """
    return _by("name", shipped.read("dtypes.toml")["dtype"])


def enums() -> dict[str, dict[str, Any]]:
    """The enums by DirectML's name (``"DML_PADDING_MODE"``), with their members.

    Each has ``name``, ``prefix`` of its members' full names, ``python``, ``since``, ``members`` (``name``, ``value``,
    ``since``, ``doc``, ``also``: what other libraries call it) and, where they apply, ``flags``, ``source``, ``note``.
    """
    return _by("name", shipped.read("enums.toml")["enum"])


def fused() -> dict[str, dict[str, Any]]:
    """The operators whose desc a field of another operator, its host, can hold, by name: the fused activations.

    Each has ``operator`` and ``source`` and, where it is restricted, ``hosts`` and ``since``.
    """
    return _by("operator", shipped.read("fused.toml")["fused"])


def catalogue() -> dict[str, dict[str, Any]]:
    """Every operator of DirectML by name, whatever its state, with the fields of its struct.

    Each has ``name``, ``value`` of DML_OPERATOR_TYPE, ``since``, ``state`` (one of ``states()``), ``struct``, ``kind``,
    ``in_place`` (the inputs whose memory an output may share in DirectML), ``directmlx`` (the function of DirectMLX
    that adds it to a graph, with the members that its parameters stand for; absent where there is none), ``source`` and
    ``fields`` (``name``, ``kind``, ``type``, ``optional``; of an array ``count``, the member that counts it).
    """
    rows = shipped.read("catalogue.toml")["operator"]
    return _by("name", [{**row, "state": state_of(row["name"])} for row in rows])


def errors() -> dict[str, dict[str, Any]]:
    """The errors that no rule declares: by slug (``"dtype"``) those of a field, by id those of a model or a graph.

    Each has ``error`` (the class), ``message`` (a str.format template), ``about``; those of a field also ``slug``,
    ``applies`` and ``when``, those of a model file ``id`` and ``breaks``. Those of rules are in ``operator(name)``:
    ``ids()`` has them all.
    """
    fields = shipped.read("errors.toml")
    models = [*fields.get("model", []), *shipped.read("model_errors.toml")["model"]]
    models += [*shipped.read("graph_errors.toml")["graph"], *shipped.read("onnx/errors.toml")["onnx"]]
    return _by("slug", fields["implicit"]) | _by("id", models)


def terms() -> dict[str, dict[str, Any]]:
    """Words that are neither operators nor fields of one, by name (``"E_INVALIDARG"``, ``"transpose"``).

    Each has ``name``, ``is``, ``doc`` and, where they apply, ``also`` (other spellings), ``source`` (DirectML's
    documentation), ``page`` (of this documentation) and ``errors`` (slugs of the errors about it). An error code has
    ``value``, ``returned`` (the calls that return it: ``call``, ``when``, ``source``) and ``command`` (what helps).
    """
    return _by("name", shipped.read("terms.toml")["term"])


def ids() -> dict[str, str]:
    """Every error id in force, with what it says: first the permanent ones, then those of ``provisional_ids()``."""
    rules = {rule.id: _says(rule) for operator in OPERATORS.values() for rule in operator.rules}
    said = rules | {id_: text.about for id_, text in ERRORS.items()}
    slugs = {id_: id_.split("-", 3)[-1] for id_ in published().in_force}  # of an error of a field
    return {id_: said[id_ if id_ in said else slug] for id_, slug in slugs.items()}


def provisional_ids() -> tuple[str, ...]:
    """The ids of operators that do not run yet: they may change until the operator runs, and the others never do."""
    return tuple(published().provisional)


def _says(rule: Rule) -> str:
    loop = f" for {rule.loop}" if rule.loop else ""
    return f"{rule.about} {rule.says}. Must hold{loop}: {rule.text}"


def files() -> dict[str, Traversable]:
    """The files by relative name (``"operators/padding1.toml"``, ``"ids.lock"``, ``"schema.json"``), for their text."""
    return dict(sorted(_walk("", shipped.folder())))


def _walk(prefix: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(f"{prefix}{entry.name}/", entry)
        else:
            yield f"{prefix}{entry.name}", entry


def _by(key: str, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row[key]: row for row in rows}
