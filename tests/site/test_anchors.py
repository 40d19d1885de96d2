"""The built site: every error id is the id of exactly one element, on the page that explains it."""

import re
from collections import Counter
from pathlib import Path

from dmlcy import specs


def test_every_error_id_is_an_anchor(site: Path) -> None:
    found = {
        page.stem: Counter(re.findall(r'\sid="(DML-[^"]*)"', page.read_text(encoding="utf-8")))
        for page in (site / "reference").glob("*.html")
    }
    pages = {name: specs.operator(name)["operator"]["python"] for name in specs.operators()}
    pages |= {"MODEL": "errors", "GRAPH": "errors", "ONNX": "onnx_errors"}
    ids = [id_ for ids in map(list, found.values()) for id_ in ids if id_ not in ("DML-MODEL", "DML-GRAPH")]
    assert sorted(ids) == sorted({*ids})
    for id_ in ids:
        assert found[pages[id_.split("-")[1]]][id_] == 1
    lock = (Path(__file__).parents[2] / "specs" / "ids.lock").read_text(encoding="utf-8").partition("\nretired:")[0]
    assert {line for line in lock.split("\n") if line.startswith("DML-")} == {*ids}
