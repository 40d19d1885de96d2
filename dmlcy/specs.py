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
            ``name``, ``value`` of DML_OPERATOR_TYPE, ``since``, ``struct``, ``kind``, ``python``, ``desc``,
            ``family``, ``summary``, ``source``. ``state`` is one of ``states()``. ``in_place`` has the inputs whose
            memory an output may share in DirectML. ``directmlx`` is the function of DirectMLX, as in
            ``catalogue()``. ``include`` has the groups of facts that the operator shares with others. ``also`` has
            the names in NumPy, PyTorch and everyday language. ``also_after`` has the operators that are meant first
            by a name that both have.
        ``types``, ``ranks``
            By letter, rows ``since`` with the data types ``any``, or the numbers of dimensions ``min`` to ``max``, that
            the level adds. ``default``: a call that chooses no data type gives the first of these.
        ``field``
            In the order of the struct: ``name``, ``python``, ``kind`` (input, output, attribute), ``type``,
            ``optional``, ``doc``, ``default`` (Python's; JSON gives every field).

            A tensor has ``dtype`` and ``rank`` (letters of ``types`` and ``ranks``), ``sizes``, and ``leading_ones``.
            ``mixed``: the tensors of an array may have several data types. ``owned`` is false if the flag
            OWNED_BY_DML is not allowed. ``hint`` says what to do about other sizes, for descs with ``hint_when``.

            An attribute has ``length``, or ``max_length`` of an array that is as long as it is given, ``range``, and
            ``value`` (the formula that it follows from). ``among`` is the list of operators that can be fused.
            ``unsaid``: UNKNOWN is taken for this data type. ``dtype`` is the field that holds the type of a scalar.
            ``infinite``: a FLOAT may be infinite or a NaN. ``fills`` is false if one number does not fill the array.
        ``let``
            Named quantities of the formulas: ``name``, ``for``, ``value``, ``doc``. ``says`` is the name in messages,
            ``each`` the singular of the things that are counted. In a data rule, ``each`` is the tensor of which
            ``v`` is each element.
        ``rule``, ``data_rule``
            ``id``, ``for``, ``that`` (the formula that must hold), ``about``, ``says``, ``from`` (provenance),
            ``hint``, ``fix``, ``since``, ``until``. ``breaks`` is the change of an example that breaks just this
            rule. ``accepts`` is the evidence that DirectML takes a desc that breaks the rule, which then only warns.
        ``independent``
            Axes along which slices of the inputs give the slices of the output: ``doc``, ``for``, ``axes`` (of each
            tensor that has it), ``takes`` (what the size of a slice is a multiple of), ``gives`` (elements of the
            output for each), ``when``.
        ``chosen``
            Sizes of an output that the caller chooses: ``name``, ``length`` where their number follows, ``doc``. The
            name is that of the parameter of a call. In a desc, the sizes are in the output, where ``sizes`` has
            ``*name``.
        ``same``
            Older versions whose results the operator gives, bit for bit: ``as`` (the name), ``with`` (values of
            attributes), ``older`` (values in the older version of the attributes that differ there).
        ``interpretation``
            ``id``, ``question``, ``choice``, ``evidence``; ``not_judged``, the condition for elements whose value no
            document promises, with ``when`` and ``outputs``.
        ``example``
            ``title``, ``source`` or ``calculation``, ``inputs``, ``attributes``, ``outputs``. ``contradicts``: the
            page of a documented example contradicts it; the text says what the page prints, and what is right.
            ``sized``: the caller says the sizes of the outputs, though a formula gives some. ``figure``: the example
            is in the figure of its page, with the elements of the output that are followed there.
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
            The table with which the family computes; not there while the operator does not run.

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

    Each level has ``name``, ``value`` of DML_FEATURE_LEVEL, ``directml`` (the version that brought it), ``max_rank``
    and, where there is something to say, ``windows``, ``note``, ``dxdispatch`` (false: DxDispatch does not know it).
    """
    return _by("name", shipped.read("levels.toml")["level"])


def dtypes() -> dict[str, dict[str, Any]]:
    """The tensor data types by name (``"FLOAT32"``).

    Each type has ``name``, ``value`` of DML_TENSOR_DATA_TYPE, ``bits``, ``since`` and, where NumPy has it, ``numpy``.
    """
    return _by("name", shipped.read("dtypes.toml")["dtype"])


def enums() -> dict[str, dict[str, Any]]:
    """The enums by DirectML's name (``"DML_PADDING_MODE"``), with their members.

    Each enum has ``name``, ``prefix`` of its members' full names, ``python``, ``since``, ``members`` and, where they
    apply, ``flags``, ``source``, ``note`` and ``tensors``: whether tensor descs have it. A member has ``name``,
    ``value``, ``since``, ``doc``, and in ``also`` its names in other libraries.
    """
    return _by("name", shipped.read("enums.toml")["enum"])


def fused() -> dict[str, dict[str, Any]]:
    """The operators whose desc a field of another operator, its host, can hold, by name: the fused activations.

    Each row has ``operator`` and ``source`` and, where the operator is restricted, ``hosts`` and ``since``.
    """
    return _by("operator", shipped.read("fused.toml")["fused"])


def catalogue() -> dict[str, dict[str, Any]]:
    """Every operator of DirectML by name, whatever its state, with the fields of its struct.

    Each operator has ``name``, ``value`` of DML_OPERATOR_TYPE, ``since``, ``state`` (one of ``states()``), ``struct``,
    ``kind``, ``source`` and ``fields``. ``in_place`` has the inputs whose memory an output may share in DirectML.
    ``directmlx`` is the function of DirectMLX that adds the operator to a graph, with the members that its parameters
    stand for; absent where there is none. A field has ``name``, ``kind``, ``type``, ``optional``, and for an array
    ``count``, the member that counts it.
    """
    rows = shipped.read("catalogue.toml")["operator"]
    return _by("name", [{**row, "state": state_of(row["name"])} for row in rows])


def errors() -> dict[str, dict[str, Any]]:
    """The errors that no rule declares: by slug (``"dtype"``) those of a field, by id those of a model or a graph.

    Each error has ``error`` (the class), ``message`` (a str.format template) and ``about``. An error of a field also
    has ``slug``, ``applies`` and ``when``, an error of a model file ``id`` and ``breaks``. The errors of rules are in
    ``operator(name)``. ``ids()`` has all ids.
    """
    fields = shipped.read("errors.toml")
    models = [*fields.get("model", []), *shipped.read("model_errors.toml")["model"]]
    models += [*shipped.read("graph_errors.toml")["graph"], *shipped.read("onnx/errors.toml")["onnx"]]
    return _by("slug", fields["implicit"]) | _by("id", models)


def terms() -> dict[str, dict[str, Any]]:
    """Words that are neither operators nor fields of one, by name (``"E_INVALIDARG"``, ``"transpose"``).

    Each term has ``name``, ``is``, ``doc`` and, where they apply, ``also`` (other spellings), ``source`` (DirectML's
    documentation), ``page`` (of this documentation) and ``errors`` (slugs of the errors about it). An error code has
    ``value``, ``returned`` (the calls that return it: ``call``, ``when``, ``source``) and ``command`` (the command
    that helps).
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
