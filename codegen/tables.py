"""The tables of the package as Python: one module per operator, one of what belongs to none, and an index of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from .model import Onnx
from .plan import OperatorPlan, Plan
from .plan.data import STATES
from .plan.rows import LETS, Code, fact_rows, operator_row, without_outer

WIDTH = 120
INDENT = "    "


def operator_module(op: OperatorPlan) -> str:
    """The tables of one operator, and its lets as methods of the values of a desc."""
    lets = []
    for let in op.lets:
        index = f", {let.index}: int" if let.index else ""
        lets.append(f"    def {let.name}(self: Any{index}) -> Any:\n        return {without_outer(let.python)}\n")
    body = "\n".join(lets) or "    pass\n"
    row = operator_row(op)
    return "\n".join((
        f'"""What is known of {op.name}."""',
        "",
        "import math",
        "from typing import Any, Final",
        "",
        imports((*rows_of(row), "Rules")),
        "",
        "",
        f"class {LETS.text}(Rules):",
        f'    """The lets of {op.name}."""',
        "",
        f"{body}",
        "",
        f"OPERATOR: Final = {written(row)}",
        "",
    ))  # fmt: skip


def facts_module(plan: Plan) -> str:
    """The levels, the data types, the member that is none, the catalogue and the errors."""
    rows = fact_rows(plan.facts)
    types = {"levels": "tuple[Level, ...]", "dtypes": "dict[str, Dtype]", "catalogue": "dict[str, CatalogueEntry]"}
    types["errors"] = "dict[str, ErrorText]"
    tables = [f"{name.upper()}: Final[{type_}] = {written(getattr(rows, name))}" for name, type_ in types.items()]
    none = plan.facts.no_dtype
    if none is not None:
        says = "The member of DML_TENSOR_DATA_TYPE that says no data type: its name and its value."
        tables.append(f"# {says}\nNO_DTYPE: Final[tuple[str, int]] = {written((none.name, none.value))}")
    head = '"""What is true of all operators."""'
    used = sorted({name for name in types for name in rows_of(getattr(rows, name))})
    return "\n\n".join((head, "from typing import Final", imports(used), *tables)) + "\n"


def index_module(plan: Plan) -> str:
    """The answers about all operators at once, so that no other module of theirs is loaded."""
    operators = {
        op.name: (op.python, op.desc, op.operator.family, op.operator.summary, op.state) for op in plan.operators
    }
    in_chunks = tuple(op.name for op in plan.operators if op.takes_chunks)
    enums = tuple(sorted(enum.python for enum in plan.enums))
    return "\n\n".join((
        '"""The names of operators and enums."""',
        "from typing import Final",
        "# By the name of the operator: the names of its function, of its desc and of its family, its summary, state.\n"
        f"OPERATORS: Final[dict[str, tuple[str, str, str, str, str]]] = {written(operators)}",
        f"IN_CHUNKS: Final = {written(in_chunks)}",
        f"ENUMS: Final = {written(enums)}",
        f"STATES: Final = {written(STATES)}",
    )) + "\n"  # fmt: skip


def words_module(plan: Plan) -> str:
    """The other names of operators, and the words whose page says how to do without an operator."""
    also = {op.name: op.operator.also for op in plan.operators if op.operator.also}
    after = {op.name: op.operator.also_after for op in plan.operators if op.operator.also_after}
    pages = {term.name: (term.page, term.doc, *term.also) for term in plan.facts.terms if not term.source}
    return "\n\n".join((
        '"""Names that NumPy, PyTorch and everyday language have for operators."""',
        "from typing import Final",
        f"ALSO: Final[dict[str, tuple[str, ...]]] = {written(also)}",
        f"# By the name of an operator: those that are meant first by a name that they have too.\n"
        f"AFTER: Final[dict[str, tuple[str, ...]]] = {written(after)}",
        f"# By the name of a term that no document of DirectML has: its page, what it means, its other names.\n"
        f"PAGES: Final[dict[str, tuple[str, ...]]] = {written(pages)}",
    )) + "\n"  # fmt: skip


def onnx_module(onnx: Onnx) -> str:
    """ONNX's operators as tuples of the fields of the model, which are cheap until one is asked for."""
    operators = {}
    for one in onnx.operators:
        _, _, *before, versions = plain(one)
        operators[one.domain, one.name] = (*before, one.opsets(), versions)
    return "\n\n".join((
        '"""ONNX\'s operators, and the releases of ONNX Runtime that the tables describe."""',
        "from typing import Any, Final",
        f"RUNTIMES: Final = {written(plain(onnx.runtimes))}",
        f"QUERIES: Final[dict[str, str]] = {written(dict(onnx.queries))}",
        f"OPERATORS: Final[dict[tuple[str, str], tuple[Any, ...]]] = {written(operators)}",
    )) + "\n"  # fmt: skip


def onnx_names_module(onnx: Onnx) -> str:
    """The operators of ONNX by the operators of DirectML."""
    found: dict[str, list[str]] = {}
    for one in sorted(onnx.operators, key=lambda one: (one.domain, one.name)):
        for name in {name for way in one.becomes for name in way}:
            found.setdefault(name, []).append(one.shown)
    return "\n\n".join((
        '"""The operators of ONNX that become each operator of DirectML."""',
        "from typing import Final",
        f"BECOME: Final[dict[str, tuple[str, ...]]] = {written({key: tuple(found[key]) for key in sorted(found)})}",
    )) + "\n"  # fmt: skip


def plain(value: Any) -> Any:
    """Rows as tuples of their fields, and tables as tuples of pairs."""
    if is_dataclass(value):
        return tuple(plain(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return tuple((key, plain(item)) for key, item in value.items())
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def imports(names: Iterable[str]) -> str:
    """The import of rows."""
    return "from dmlcy._facts.rows import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")"


def rows_of(value: Any) -> set[str]:
    """The names of the classes of rows in a value."""
    if isinstance(value, Code):
        return {value.text} & {"MISSING"}
    if is_dataclass(value):
        inside = (rows_of(getattr(value, name)) for name, _ in given(value))
        return {type(value).__name__}.union(*inside)
    if isinstance(value, Mapping):
        return set().union(*map(rows_of, value.values()))
    return set().union(*map(rows_of, value)) if isinstance(value, tuple) else set()


def given(row: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a row that do not have their default value."""
    for field in fields(row):
        value = getattr(row, field.name)
        if not (type(value) is type(field.default) and value == field.default):
            yield field.name, value


def written(value: Any, indent: str = "", before: int = 0) -> str:
    """A value as Python, on several lines where it would be too long after ``before`` characters and the indent."""
    place = (indent, before)
    if isinstance(value, Code):
        return value.text
    if is_dataclass(value):
        return several(f"{type(value).__name__}(", ")", [(f"{name}=", item) for name, item in given(value)], *place)
    if isinstance(value, Mapping):
        return several("{", "}", [(f"{key!r}: ", item) for key, item in value.items()], *place)
    if isinstance(value, frozenset):
        return f"frozenset({{{', '.join(map(repr, sorted(value)))}}})" if value else "frozenset()"
    if isinstance(value, tuple):
        return several("(", ",)" if len(value) == 1 else ")", [("", item) for item in value], *place)
    return repr(value)


def several(begin: str, end: str, items: list[tuple[str, Any]], indent: str, before: int) -> str:
    """Items, each after its label, between brackets."""
    inner = indent + INDENT
    texts = [f"{label}{written(item, inner, len(label))}" for label, item in items]
    line = f"{begin}{', '.join(texts)}{end}"
    if "\n" not in line and len(indent) + before + len(line) < WIDTH:
        return line
    return begin + "".join(f"\n{inner}{text}," for text in texts) + f"\n{indent}{end.removeprefix(',')}"
