"""Folders of expected values as earlier versions of dmlcy wrote them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import dmlcy as dml
from dmlcy._facts.tables import DTYPES
from dmlcy._reference import ulp
from dmlcy._reference.accuracy import bound


def aged(expected: Path, allowed: bool = False) -> None:
    """Turn a folder of expected values into one of version 2: with the bounds of dmlcy in ``tolerance``.

    ``allowed``: as packs had it, with the differences that pass.
    """
    path = expected / "manifest.json"
    found = json.loads(path.read_text(encoding="utf-8")) | {"version": 2}
    member = "allowed" if allowed else "tolerance"
    for output in found["outputs"]:
        for name in ("flushed", "not_judged"):
            output.pop(name, None)
        stated = bound(dml.desc.OperatorDesc.from_dict(output["operator"]), DTYPES[output["dtype"]])
        if stated is None:
            output["accuracy"] = "exact"
            continue
        values, file = np.load(expected / output["file"]), f"{member}/{output['file']}"
        (expected / member).mkdir(exist_ok=True)
        np.save(expected / file, stated.ulp * ulp.unit(values, values.dtype))
        output["accuracy"] = {"ulp": stated.ulp, "formula": stated.formula, "of": stated.of, member: file}
    path.write_text(json.dumps(found), encoding="utf-8")
