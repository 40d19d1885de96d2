"""Tensors that DirectML must not own, memory that tensors may share, and types of 4 bits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from planned import specs as planned_specs

import dmlcy as dml
from dmlcy import specs, testing
from dmlcy._cli import main
from dmlcy._desc.classes import desc_class
from dmlcy._show.explain.facts import of_operator

FIRST = settings(
    max_examples=1000, phases=[Phase.generate], deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
"""The first desc that is found, without a search for a simpler one: 25 draws of Hypothesis may all lack a flag."""


def align(flags: Any) -> Any:
    return desc_class("ROI_ALIGN_GRAD")(
        input_gradient=dml.TensorDesc("FLOAT32", (2, 1, 3, 3)),
        roi=dml.TensorDesc("FLOAT32", (2, 4), flags="OWNED_BY_DML"),
        batch_indices=dml.TensorDesc("UINT32", (2,), flags=flags),
        output_gradient=dml.TensorDesc("FLOAT32", (1, 1, 9, 9)),
    )


def test_a_tensor_that_must_not_be_owned() -> None:
    assert dml.check(align("NONE")) == []
    (violation,) = dml.check(align("OWNED_BY_DML"))
    assert violation.id == "DML-ROI_ALIGN_GRAD-batch_indices-owned"
    assert (violation.member, violation.fix) == ("flags", "NONE")
    again = dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(align("OWNED_BY_DML").to_dict())))
    assert [one.id for one in dml.check(again)] == [violation.id]


@pytest.mark.parametrize("flags", ["OWNED", "OWNED_BY_DML"])
def test_an_output_has_no_flag(flags: Any) -> None:
    desc = dml.desc.Unfold(
        input=dml.TensorDesc("FLOAT32", (1, 1, 2, 2)),
        window_sizes=(1, 1),
        output=dml.TensorDesc("FLOAT32", (1, 1, 4), flags=flags),
    )
    (violation,) = dml.check(desc)
    assert (violation.id, violation.fix) == ("DML-UNFOLD-output-member", "NONE")


def test_random_and_broken_descs_know_the_flag() -> None:
    @given(testing.broken_descs("ROI_ALIGN_GRAD", id="DML-ROI_ALIGN_GRAD-batch_indices-owned"))
    @settings(max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def look(case: tuple[Any, Any]) -> None:
        assert len(dml.check(case[0])) == 1

    look()
    find(testing.descs("ROI_ALIGN_GRAD"), lambda desc: desc.roi.flags.name == "OWNED_BY_DML", settings=FIRST)


def test_only_the_fields_that_say_so_have_the_id(checkout: Any) -> None:
    ids = {id_ for id_, _ in checkout[1].ids}
    assert "DML-ROI_ALIGN_GRAD-batch_indices-owned" in ids
    owned = [id_ for id_ in ids if id_.endswith("-owned") and not id_.startswith("DML-GRAPH-")]
    assert owned == ["DML-ROI_ALIGN_GRAD-batch_indices-owned"]
    page = " ".join((checkout[0] / "docs/reference/roi_align_grad.md").read_text().split())
    flag = "[OWNED_BY_DML](../bindings.md#the-initializer-and-the-flag-owned_by_dml)"
    assert f"The flag {flag} is not allowed for `batch_indices`." in page


def test_the_memory_that_tensors_may_share(checkout: Any) -> None:
    assert specs.catalogue()["ELEMENT_WISE_ADD"]["in_place"] == ["ATensor", "BTensor"]
    assert specs.catalogue()["GATHER"]["in_place"] == []
    pages = checkout[0] / "docs/reference"
    assert "an output may share the memory of `input`" in (pages / "element_wise_clip_grad.md").read_text()
    assert "no output may share the memory of an input" in (pages / "gather.md").read_text()
    assert "In place" not in (pages / "fill_value_constant.md").read_text()
    assert of_operator("ELEMENT_WISE_CLIP_GRAD")["in_place"] == ["InputTensor"]


def test_76_operators_may_work_in_place() -> None:
    entries = planned_specs().facts.catalogue.values()
    assert sum(bool(entry.in_place) for entry in entries) == 76


def packed(count: int, **more: Any) -> Any:
    x = dml.TensorDesc("FLOAT32", (count,))
    return desc_class("CAST")(input=x, output=dml.TensorDesc("UINT4", (count,), **more))


@pytest.mark.parametrize(("count", "size"), [(1, 4), (7, 4), (8, 4), (9, 8), (17, 12)])
def test_two_elements_in_a_byte(count: int, size: int) -> None:
    desc = packed(count)
    assert dml.check(desc) == [] and desc.output.total_tensor_size_in_bytes == size
    found = dml.check(packed(count, total_tensor_size_in_bytes=size - 4))
    assert [one.id for one in found] == ["DML-CAST-output-total-size"]
    assert [one.id for one in dml.check(desc, "6_2")] == ["DML-CAST-output-level"]


def test_a_model_with_such_a_tensor_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    resources: dict[str, Any] = {
        name: {"initialValuesDataType": kind, "initialValues": {"valueCount": count, "value": 0}}
        for name, kind, count in (("x", "FLOAT32", 9), ("y", "UINT8", 4))
    }
    bindings = {"InputTensor": "x", "OutputTensor": "y"}
    model = {
        "resources": resources,
        "dispatchables": {"cast": packed(9).to_dict()},
        "commands": [{"type": "dispatch", "dispatchable": "cast", "bindings": bindings}],
    }
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    assert main(["lint", str(path)]) == 1
    said = capsys.readouterr().out
    assert "DML-MODEL-buffer-size" in said and "5" in said, said
    resources["y"]["initialValues"]["valueCount"] = 8
    path.write_text(json.dumps(model))
    assert main(["lint", str(path)]) == 0
