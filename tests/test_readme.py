"""The README says what happens."""

import re
from pathlib import Path

import numpy as np
import pytest

import dmlcy as dml

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_screen_of_usage_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    for line in block.splitlines():
        shape = re.fullmatch(r"(\w+) .*# (\([\d, ]+\))", line)
        if shape:
            assert str(np.shape(names[shape[1]])) == shape[2]


def test_the_first_error_is_the_one_shown() -> None:
    call, shown = re.findall(r">>> (.*)\ndmlcy\.InvalidDescError: (.*?)\n```", README, re.DOTALL)[0]
    with pytest.raises(dml.InvalidDescError) as caught:
        eval(call, {"dml": dml, "np": np})
    assert str(caught.value).split() == shown.split()
