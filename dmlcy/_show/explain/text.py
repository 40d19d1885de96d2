"""Facts as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from dmlcy._facts.tables import LEVELS
from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.page import INDENT, Page
from dmlcy._words.values import dimensions, show

UINT_MAX: Final = 2**32 - 1
TYPES: Final = {
    "uint": "UINT", "int": "INT", "float": "FLOAT", "bool": "BOOL", "size_2d": "DML_SIZE_2D",
    "scalar_union": "DML_SCALAR_UNION", "scale_bias": "DML_SCALE_BIAS", "operator_desc": "operator desc",
    "operator_desc_array": "array of operator descs", "uint_array": "array of UINT", "int_array": "array of INT",
    "float_array": "array of FLOAT",
}  # fmt: skip
ACCURACY_OF: Final = {
    "result": "the result",
    "magnitudes": "the result for the absolute values of the inputs",
}


def lay_out(found: Sequence[Facts], width: int, head: Callable[[str], str] = str) -> str:
    """Everything that was found, each under its title."""
    page = Page(width)
    for facts in found:
        LAYOUTS[facts["kind"]](page, facts)
        page.gap()
    return page.shown(head).rstrip()


# Errors


def _rule(page: Page, rule: Facts) -> None:
    page.title(rule["id"])
    refused = "data" if rule["data"] else "a desc"
    page.text(f"A rule of {rule['operator']}. It refuses {refused} whose {rule['about']} {rule['says']}.")
    page.section("Rule")
    page.code(rule["formula"])
    if rule["for"]:
        page.text(_loop(rule["for"]), 2 * INDENT)
    _where(page, rule["definitions"])
    page.section("Refusal")
    checked = "the values, when the operator runs" if rule["data"] else "the desc, and before anything runs"
    rows = [
        ("Raises", f"{rule['error']}, which is a {rule['also']}"),
        ("Checked", f"on {checked}"),
        ("Levels", _between(rule["since"], rule["until"])),
        ("Provenance", f"{rule['provenance']}: {rule['meaning']}"),
    ]
    if rule["hint"]:
        rows.append(("Hint", rule["hint"]))
    if rule["fix"]:
        index = f"[{rule['for'].partition(' in ')[0]}]" if rule["for"] else ""
        rows.append(("Nearest valid value", f"{rule['about']}{index} = {rule['fix']}"))
    page.rows(rows)
    example = rule["example"]
    if example is not None:
        page.section("For example")
        changes = " and ".join(_change(name, change) for name, change in example["changes"].items())
        page.text(f'The example "{example["title"]}" with {changes} gives:')
        page.text(f"{example['message']} [{rule['id']}]", 2 * INDENT)
    _see(page, rule)


def _where(page: Page, definitions: Sequence[Facts]) -> None:
    """What the names in a formula mean."""
    page.section("Where")
    for one in definitions:
        if one["is"] == "quantity":
            page.code(f"{_let_name(one)} = {one['formula']}", INDENT)
            page.text(one["doc"], 3 * INDENT)
    for one in definitions:
        if one["is"] == "field":
            field = one["field"]
            page.code(f"{one['name']}: {field['name']}, {_field_words(field, support=True)}", INDENT)
            page.text(field["doc"], 3 * INDENT)
    page.rows([(one["written"], one["doc"]) for one in definitions if one["is"] == "function"])


def _implicit(page: Page, error: Facts) -> None:
    page.title(error["id"])
    field = error["field"]
    what = f"the operator {error['operator']} itself" if field is None else f"{error['subject']} of {error['operator']}"
    page.text(f"An error of {what}. {error['when']}")
    if error["definitions"] and field is not None:
        page.section("Formula")
        page.code(f"{_left(error)} = {field[error['formula']]}", INDENT)
        _where(page, error["definitions"])
    page.section("Refusal")
    example = error["example"]
    rows = [
        ("Raises", f"{error['error']}, which is a {error['also']}"),
        ("Levels", _between(error["since"], None)),
        ("Provenance", f"{error['provenance']}: {error['meaning']}"),
    ]
    if example is None:
        rows.insert(0, ("Message", _template(error["message"], field["python"] if field else error["operator"])))
    page.rows(rows)
    if field is not None and error["slug"] == "required" and "default" in field:
        page.text(
            f"The default {show(field['default'])} is that of Python. JSON and DirectML's struct have no default."
        )
    if example is not None:
        page.section("For example")
        level = "" if example["level"] == LEVELS[-1].name else f" at feature level {example['level']}"
        page.text(f'The example "{example["title"]}"{_changed(example)}{level} gives:')
        page.text(f"{example['message']} [{error['id']}]", 2 * INDENT)
    page.section(f"{error['operator']}, since {error['since']}" if field is None else "The field")
    if field is None:
        page.rows([("Fields", ", ".join(error["fields"]))])
    else:
        _field_body(page, field)
    _see(page, error)


def _left(error: Facts) -> str:
    """What the formula of a field is of: its length, its sizes, or the field itself."""
    function = {"length": "len", "sizes": "sizes"}.get(error["formula"])
    return f"{function}({error['subject']})" if function else str(error["subject"])


def _model_error(page: Page, error: Facts) -> None:
    page.title(error["id"])
    page.text(error["when"])
    page.section("Refusal")
    raises = f"{error['error']}, which is a {error['also']}"
    page.rows([("Message", _template(error["message"])), ("Raises", raises)])
    if error["breaks"]:
        page.section("For example")
        for path, value in error["breaks"].items():
            page.text("A valid model gives it with:" if path else "This text gives it:")
            page.code(f"{path} = {json.dumps(value)}" if path else value)
    page.section("See")
    page.code("dmlcy lint --help", INDENT)


def _retired(page: Page, facts: Facts) -> None:
    page.title(facts["id"])
    page.text(f"A retired id: no error has it any more. {facts['reason']}")


# Operators and fields


def _operator(page: Page, operator: Facts) -> None:
    page.title(operator["name"])
    page.text(
        operator.get("summary", "Not yet built: it is in DirectML's catalogue, and dmlcy has no specification of it.")
    )
    page.gap()
    rows = [
        ("Since", f"{operator['since']} (DirectML {operator['directml']})"),
        ("Operator type", f"{operator['type']} = {operator['value']}"),
        ("Struct", operator["struct"]),
    ]
    if any(field["role"] == "input" for field in operator["fields"]):
        shares = "may" if operator["in_place"] else "may not"
        rows.append(("In place", f"the output {shares} share the memory of an input in DirectML"))
    if operator["built"]:
        rows.append(("Family", operator["family"]))
        rows.append(("In Python", f"dmlcy.{operator['python']}, and dmlcy.desc.{operator['desc']} for its desc"))
    page.rows(rows)
    if not operator["built"]:
        page.section("Fields")
        page.rows([(field["name"], _type_text(field) + _optional(field)) for field in operator["fields"]])
        _see(page, operator)
        return
    page.section("Call")
    page.code(f"dmlcy.{operator['python']}({_parameters(operator['signature'])})")
    page.section("Fields")
    fields = [(one["python"], f"{one['name']}, {_field_words(one)} {one['doc']}") for one in operator["fields"]]
    page.rows([*fields, *((one["python"], f"{_field_words(one)} {one['doc']}") for one in operator["chosen"])])
    _formulas(page, operator)
    page.section("Data types and dimensions")
    _supports(page, operator)
    page.section("Rules")
    for rule in operator["rules"]:
        page.text(rule["id"])
        says = f"{rule['about']} {rule['says']} unless {rule['formula']}"
        loop = f", {_loop(rule['for'])}" if rule["for"] else ""
        levels = (
            ""
            if (rule["since"], rule["until"]) == (operator["since"], None)
            else f", {_between(rule['since'], rule['until'])}"
        )
        page.text(f"{says}{loop} ({rule['provenance']}{levels}).", 3 * INDENT)
    if not operator["rules"]:
        page.text("None beside those that follow from the fields.")
    if operator["interpretations"]:
        page.section("Where the documentation is silent or contradicts itself")
        for one in operator["interpretations"]:
            page.text(one["question"])
            page.text(one["choice"], 3 * INDENT)
            page.text(f"Evidence: {one['evidence']}", 3 * INDENT)
    page.section("Accuracy")
    page.rows(
        [
            (dtype, f"at most {one['ulp']} ULP of {ACCURACY_OF[one['of']]}")
            for dtype, one in operator["accuracy"].items()
        ]
    )
    if not operator["accuracy"]:
        page.text("Exact, bit for bit.")
    elif operator["exact"]:
        page.text(f"Exact, bit for bit: {', '.join(operator['exact'])}.")
    page.section("Levels")
    page.rows([(level["level"], f"{_brought(level)} (DirectML {level['directml']})") for level in operator["levels"]])
    page.section("Examples")
    page.rows([(f"{number}", title) for number, title in enumerate(operator["examples"], 1)])
    page.text(f"dmlcy example {operator['name']} --number N prints one as a model that runs.")
    _see(page, operator)


def _formulas(page: Page, operator: Facts) -> None:
    sizes = [field for field in operator["fields"] if "sizes" in field]
    if sizes or operator["quantities"]:
        page.section("Sizes and quantities")
    for field in sizes:
        page.code(f"sizes({field['python']}) = {field['sizes']}", INDENT)
    for one in operator["quantities"]:
        page.code(f"{_let_name(one)} = {one['formula']}", INDENT)
        page.text(one["doc"], 3 * INDENT)
    loops = dict.fromkeys(one["for"] for one in operator["quantities"] if one["for"])
    for loop in loops:
        page.text(_loop(loop))


def _supports(page: Page, operator: Facts) -> None:
    """The tables of the tensors; those that are alike share one."""
    groups: dict[str, tuple[list[str], list[Facts]]] = {}
    for field in operator["fields"]:
        if "support" in field:
            groups.setdefault(repr(field["support"]), ([], field["support"]))[0].append(field["python"])
    for names, steps in groups.values():
        page.text(f"{_and(names)}:")
        page.rows(_steps(steps), 2 * INDENT)
    for field in operator["fields"]:
        _support_notes(page, field, INDENT)


def _steps(steps: Iterable[Facts]) -> Iterator[tuple[str, str, str]]:
    for number, step in enumerate(steps):
        types = ("also " if number else "") + ", ".join(step["data_types"])
        yield step["since"], f"{dimensions(step['dimensions'])} dimensions", types if step["data_types"] else ""


def _support_notes(page: Page, field: Facts, indent: int) -> None:
    if field.get("same_dtype_as"):
        page.text(f"{field['python']} has the data type of {field['same_dtype_as']}.", indent)
    if field.get("leading_ones") == "call":
        page.text(f"A call may leave leading dimensions of size 1 of {field['python']} out.", indent)
    elif field.get("leading_ones") == "desc":
        page.text(f"In a desc, {field['python']} may have further dimensions of size 1 in front.", indent)


def _fields(page: Page, facts: Facts) -> None:
    names = list(dict.fromkeys([*facts["names"], *(field["python"] for field in facts["operators"])]))
    page.title(f"{_and(names)}, a field")
    for field in facts["operators"]:
        page.section(f"{field['operator']}.{field['python']}")
        _field_body(page, field)
        page.rows([("See", field["source"])])
    if facts["unbuilt"]:
        page.section(f"{'Also in' if facts['operators'] else 'In'} operators that are not yet built")
        by_type: dict[str, list[str]] = {}
        for field in facts["unbuilt"]:
            by_type.setdefault(f"{_type_text(field)}{_optional(field)}", []).append(field["operator"])
        for words, names_of in by_type.items():
            page.text(f"{words[0].upper()}{words[1:]}: {', '.join(names_of)}.")
        if not facts["operators"] and len(facts["unbuilt"]) == 1:
            _see(page, facts["unbuilt"][0])


def _field_body(page: Page, field: Facts) -> None:
    page.text(f"{field['name']}, {_field_words(field)} {field['doc']}")
    if "sizes" in field:
        page.code(f"sizes({field['python']}) = {field['sizes']}")
    if "support" in field:
        page.rows(_steps(field["support"]), 2 * INDENT)
        _support_notes(page, field, 2 * INDENT)
    rows = []
    if "members" in field:
        late = [f" since {one['since']}" if one["since"] != field["since"] else "" for one in field["members"]]
        names = [one["name"] + since for one, since in zip(field["members"], late, strict=True)]
        rows.append(("Members", ", ".join(names)))
    if field["rules"]:
        rows.append(("Rules", ", ".join(field["rules"])))
    begin = f"DML-{field['operator']}-{field['python']}-"
    rows.append(("Errors", f"{begin}… {', '.join(name.removeprefix(begin) for name in field['ids'])}"))
    page.rows(rows)


def _field_words(field: Facts, support: bool = False) -> str:
    """What a field is, as a sentence that goes on from its name; of a tensor with what it can be, on demand."""
    parts = [_type_text(field)]
    if support and "support" in field:
        parts.append(_tensor_text(field["support"]))
    if "range" in field:
        parts.append(_range(field["range"]))
    if field["optional"]:
        parts.append("optional")
    if "part_of" in field:
        parts.append(f"which a call is given, and a desc has among the sizes of {field['part_of']}")
    if "value" in field:
        parts.append(f"follows: {field['value']}")
    elif "default" in field:
        parts.append(f"default {show(field['default'])}")
    elif field["required"]:
        parts.append("required in a desc" if field["role"] == "output" else "required")
    elif field["optional"] and field["role"] == "output":
        asked = f"in a call by {field['python']}=True or a data type, in a desc by a tensor desc"
        parts.append(f"left out unless it is asked for, {asked}")
    elif "sizes" in field:
        parts.append("follows from the other fields")
    return f"{', '.join(parts)}."


def _tensor_text(steps: Sequence[Facts]) -> str:
    types = [name for step in steps for name in step["data_types"]]
    return f"{dimensions(steps[-1]['dimensions'])} dimensions, {' '.join(types)}"


def _type_text(field: Facts) -> str:
    kind: str = field["type"]
    if kind.startswith("enum:"):
        return kind.removeprefix("enum:")
    if kind in ("tensor", "tensor_array"):
        return f"{field['role']} tensor" if kind == "tensor" else f"array of {field['role']} tensors"
    if "length" in field:
        return f"{TYPES[kind.removesuffix('_array')]}[{field['length']}]"
    return TYPES[kind]


def _optional(field: Facts) -> str:
    return ", optional" if field["optional"] else ""


def _range(limits: Facts) -> str:
    high = "2^32 - 1" if limits["max"] == UINT_MAX else "2^31 - 1" if limits["max"] == 2**31 - 1 else limits["max"]
    note = "" if limits["from"] == "documented" else f" ({limits['from']})"
    return f"{limits['min']} to {high}{note}"


def _parameters(signature: Sequence[Facts]) -> str:
    words: list[str] = []
    for one in signature:
        if not one["positional"] and "*" not in words:
            words.append("*")
        words.append(f"{one['name']}={show(one['default'])}" if "default" in one else one["name"])
    return ", ".join(words)


def _brought(level: Facts) -> str:
    return "; ".join(_change_text(change) for change in level["brought"])


def _change_text(change: Facts) -> str:
    if "operator" in change and "fields" not in change:
        return "the operator"
    if "rule" in change:
        return f"{change['rule']} holds"
    if "ends" in change:
        return f"{change['ends']} holds no longer"
    fields = _and(change["fields"])
    if "members" in change:
        return f"{fields}: {', '.join(change['members'])}"
    ranks = f"{dimensions(change['dimensions'])} dimensions" if change["dimensions"] else ""
    return f"{fields}: {', '.join(filter(None, [*change['data_types'], ranks]))}"


# Enums, levels, data types


def _enum(page: Page, enum: Facts) -> None:
    page.title(f"{enum['name']}, an enum")
    if enum["note"]:
        page.text(enum["note"])
    page.section("Members")
    page.rows([(one["name"], str(one["value"]), f"since {one['since']}", one["doc"]) for one in enum["members"]])
    page.text(f"In full {enum['prefix']}{enum['members'][0]['name']}, and so on.")
    page.section("Facts")
    rows = [("In Python", f"dmlcy.{enum['python']}"), ("Since", enum["since"]), *_users(enum)]
    page.rows(rows)
    _see(page, enum)


def _member(page: Page, member: Facts) -> None:
    page.title(f"{member['full']}, a member of {member['enum']}")
    if member["doc"]:
        page.text(member["doc"])
    page.gap()
    rows = [
        ("Value", str(member["value"])),
        ("In Python", f"dmlcy.{member['python']}, or {show(member['name'])}"),
        ("Since", f"{member['since']} (DirectML {member['directml']})"),
        *_users(member),
    ]
    if member["also"]:
        rows.append(("Elsewhere", ", ".join(member["also"])))
    if member["note"]:
        rows.append(("Note", member["note"]))
    page.rows(rows)
    _see(page, member)


def _level(page: Page, level: Facts) -> None:
    page.title(f"{level['name']}, a feature level")
    page.text(f"DirectML {level['directml']} brought it" + (f", in {level['windows']}." if level["windows"] else "."))
    if level["note"]:
        page.text(level["note"])
    page.gap()
    page.rows([
        ("Value", f"DML_FEATURE_LEVEL_{level['name']} = {level['value']} (0x{level['value']:x})"),
        ("Dimensions", f"at most {level['max_rank']}"),
        ("DxDispatch", "knows what it brought" if level["dxdispatch"] else "does not know what it brought"),
    ])  # fmt: skip
    page.section("Operators")
    built = [one["name"] for one in level["operators"] if one["built"]]
    others = [one["name"] for one in level["operators"] if not one["built"]]
    page.rows([(word, ", ".join(names)) for word, names in (("Built", built), ("Not yet built", others)) if names])
    if not level["operators"]:
        page.text("None.")
    rows = [("Data types", ", ".join(level["data_types"]))] if level["data_types"] else []
    rows += [(f"Members of {name}", ", ".join(names)) for name, names in level["members"].items()]
    rows += [(one["operator"], _change_text(one)) for one in level["widened"]]
    if rows:
        page.section("Also new")
        page.rows(rows, most=50)
    _see(page, level)


def _dtype(page: Page, dtype: Facts) -> None:
    page.title(f"{dtype['name']}, a data type")
    page.rows([
        ("In DirectML", f"{dtype['full']} = {dtype['value']}"),
        ("Bits", str(dtype["bits"])),
        ("In NumPy", f"numpy.{dtype['numpy']}" if dtype["numpy"] else "no such type"),
        ("Since", f"{dtype['since']} (DirectML {dtype['directml']})"),
    ])  # fmt: skip
    page.section("Tensors of built operators that can have it")
    groups: dict[tuple[str, str], list[str]] = {}
    for use in dtype["fields"]:
        groups.setdefault((use["operator"], use["since"]), []).append(use["field"])
    page.rows([(name, f"since {since}", ", ".join(fields)) for (name, since), fields in groups.items()])
    if not groups:
        page.text("None.")
    _see(page, dtype)


# Words


def _term(page: Page, term: Facts) -> None:
    page.title(f"{term['name']}, {term['is']}")
    page.text(term["doc"])
    if term["also"]:
        page.rows([("Also", ", ".join(term["also"]))])
    if term["errors"]:
        page.section("What can be wrong with it")
        page.rows([(one["slug"], one["when"]) for one in term["errors"]])
    _see(page, term)


def _quantity(page: Page, quantity: Facts) -> None:
    page.title(f"{quantity['name']}, a quantity in formulas")
    for meaning in quantity["meanings"]:
        page.section(", ".join(meaning["operators"]))
        page.code(f"{_let_name(meaning)} = {meaning['formula']}", INDENT)
        if meaning["for"]:
            page.text(_loop(meaning["for"]), 2 * INDENT)
        page.text(meaning["doc"], 2 * INDENT)


def _slug(page: Page, slug: Facts) -> None:
    page.title(f"{slug['slug']}, the end of ids of errors")
    page.text(slug["when"])
    page.section("Refusal")
    page.rows([("Message", _template(slug["message"])), ("Raises", slug["error"])])
    page.section("Ids")
    for one in slug["operators"]:
        page.rows([(f"DML-{one['operator']}-…-{slug['slug']}", ", ".join(one["fields"]))], most=50)


def _family(page: Page, family: Facts) -> None:
    page.title(f"{family['name']}, a family of operators")
    page.text("Operators that share kernels.")
    page.section("Operators")
    page.rows([(one["operator"], one["summary"]) for one in family["operators"]])
    page.section("See")
    page.code("docs/families.md", INDENT)


def _users(facts: Facts) -> Iterator[tuple[str, str]]:
    fields = [f"{use['operator']}.{use['field']}" for use in facts["fields"]]
    if fields:
        yield "Fields", ", ".join(fields)
    if facts["unbuilt"]:
        yield "Not yet built", ", ".join(facts["unbuilt"])


def _see(page: Page, facts: Facts) -> None:
    if facts["source"]:
        page.section("See")
        page.code(facts["source"], INDENT)


# Words


def _loop(loop: str) -> str:
    """``d in spatial`` in words."""
    index, _, count = loop.partition(" in ")
    last = str(int(count) - 1) if count.isdigit() else f"({count}) - 1" if " if " in count else f"{count} - 1"
    return f"for each {index} from 0 to {last}"


def _let_name(let: Facts) -> str:
    return f"{let['name']}[{let['for'].partition(' in ')[0]}]" if let["for"] else str(let["name"])


def _between(since: str, until: str | None) -> str:
    return f"{since} and later" if until is None else f"from {since} on, before {until}"


def _change(name: str, change: Any) -> str:
    if isinstance(change, Mapping):
        parts = [
            f"{name}[{key}] = {_plain(value)}" if key[0].isdigit() else f"{key} of {name} {_plain(value)}"
            for key, value in change.items()
        ]
        return " and ".join(parts)
    return f"{name} = {_plain(change)}"


def _changed(example: Facts) -> str:
    """What was done to the example of an error of a field, in words."""
    if example["call"]:
        return f", {example['call']},"
    parts = [
        f"without {path}" if value is None else f"with {path} = {_short(value)}"
        for path, value in example["changes"].items()
    ]
    return f" {' and '.join(parts)}" if parts else ""


def _short(value: Any) -> str:
    return json.dumps(value) if not isinstance(value, int) else show(value)


def _template(message: str, field: str = "…") -> str:
    """The message with its field, and with … where the other values are put in."""
    return re.sub(r"\{\w+\}", "…", message.replace("{field}", field).replace("{where}", ""))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else show(value)


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


LAYOUTS: Final[dict[str, Callable[[Page, Facts], None]]] = {
    "rule": _rule,
    "field error": _implicit,
    "model error": _model_error,
    "retired id": _retired,
    "operator": _operator,
    "field": _fields,
    "enum": _enum,
    "member": _member,
    "level": _level,
    "data type": _dtype,
    "quantity": _quantity,
    "term": _term,
    "slug": _slug,
    "family": _family,
}
