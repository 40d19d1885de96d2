"""The structs of the specs beside those of the header, as the facts have them: the same members in the same order."""

from __future__ import annotations

import re

from compilers import HEADERS
from planned import planned
from standin import prefix
from structs import enums, structs

from codegen.field_types import type_of
from codegen.model import DTYPE_ENUM

SIZES = {"DML_SCALAR_UNION": 8, "DML_SIZE_2D": 8}
"""Members that are neither numbers of 4 bytes nor pointers."""


def test_every_struct_has_its_members_in_order() -> None:
    known = structs()["operators"]
    catalogue = planned().facts.catalogue
    assert {*known} == {*catalogue}
    for name, entry in catalogue.items():
        offset, found = 0, []
        for field in entry.fields:
            kind = type_of(field)
            size = 8 if kind.pointed or kind.array else SIZES.get(kind.directml, 4)
            align = 4 if kind.directml == "DML_SIZE_2D" else size
            offset = -(-offset // align) * align
            found.append(f"{field.name} {offset}")
            offset += size
        assert " ".join(found) == " ".join(known[name]["members"].split()), name


def test_every_enum_has_its_values() -> None:
    facts, known = planned().facts, enums()
    own = {name: {one.name: one.value for one in enum.members} for name, enum in facts.enums.items()}
    own[DTYPE_ENUM] = {"UNKNOWN": 0, **{dtype.name: dtype.value for dtype in facts.dtypes}}
    own["DML_OPERATOR_TYPE"] = {entry.name: entry.value for entry in facts.catalogue.values()}
    graphs = {"DML_GRAPH_NODE_TYPE", "DML_GRAPH_EDGE_TYPE"}
    assert {*known} - graphs == {*own} - {"DML_FEATURE_LEVEL"}
    for name in {*known} - graphs:
        assert own[name] == known[name], name


def test_the_header_names_every_member_of_an_enum_that_a_desc_has() -> None:
    text = (HEADERS / "dmlcy_dump.h").read_text(encoding="utf-8")
    found = set(re.findall(r'case (\d+): return "(\w+)";', text))
    wanted = {
        (str(value), f"{prefix(enum)}{name}")
        for enum, members in enums().items()
        if not enum.startswith("DML_GRAPH")
        for name, value in members.items()
    }
    assert found == wanted


def test_each_array_has_a_count() -> None:
    """The nearest count in front of it, in all structs of the header."""
    for entry in planned().facts.catalogue.values():
        before = None
        for one in entry.fields:
            assert one.count is None or one.count == before, f"{entry.name}.{one.name}"
            before = one.name if one.name.endswith("Count") else before
