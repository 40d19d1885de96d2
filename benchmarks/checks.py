"""The time to check a desc, beside numpy.add of two tiny arrays."""

from __future__ import annotations

import numpy as np

import dmlcy as dml
from benchmarks.calls import Call
from benchmarks.run import YARDSTICK
from benchmarks.timing import SHORT, Times, measure


def run_checks(seconds: float) -> dict[str, Times]:
    """Seconds per call, by what is called."""
    image = dml.TensorDesc("FLOAT32", (1, 1, 5, 5))
    names = {
        "add": np.add,
        "x": np.ones((1, 1, 5, 5), np.float32),
        "check": dml.check,
        "minimum": dml.minimum_feature_level,
        "valid": dml.desc.AveragePooling(input=image, window_size=3),
        "wrong": dml.desc.AveragePooling(input=image, window_size=9),
    }
    expressions = {
        YARDSTICK: "add(x, x)",
        "check of a valid desc": "check(valid)",
        "check of a valid desc at level 3_0": "check(valid, '3_0')",
        "check of a desc with two violations": "check(wrong)",
        "minimum_feature_level": "minimum(valid)",
    }
    return measure({name: Call(text, names).block() for name, text in expressions.items()}, seconds, SHORT)
