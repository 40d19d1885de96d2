"""Correct devices pass at ordinary sizes: simulated ones, and the libraries that compute the same.

``DMLCY_SEED`` is the seed of the draws; ``python -m tests.devices`` prints the whole tables.
"""

from __future__ import annotations

from typing import Any

import pytest
from depth import deep
from each import each, each_of

from devices import torch_peers
from devices.arithmetic import FLUSHING, SERIAL, SHORT, TRUNCATING, can_truncate
from devices.cases import Case, devices_of, drawn
from devices.torch_peers import NotExpressible
from devices.uses import DENORMAL, EQUAL, KINDS, OTHER, SEED, USES, Use, one_each, rounds, uses
from dmlcy._facts.tables import RUNNABLE

HARDER = KINDS[-1]
"""The draws of a default run."""


def refused(case: Case) -> list[str]:
    """Lines about the simulated devices that do not pass. A device that truncates may be suspect."""
    found = []
    for name, device in devices_of(case.use).items():
        if device.truncates and not can_truncate():
            continue
        for output, one in case.judged(device.run(case.use.desc, case.arrays)).items():
            if one.failed or (one.verdict != "passed" and not device.truncates):
                found.append(f"{case}, {name}, {output}: {one}")
    return found


def test_every_operator_that_rounds_has_a_use() -> None:
    assert {name for name, operator in RUNNABLE.items() if rounds(operator)} <= {use.operator.name for use in USES}


@each_of("use", one_each())
def test_simulated_devices_pass(use: Use) -> None:
    assert not refused(drawn(use, HARDER, SEED))


@each_of("use", [use for use in uses() if use.dtype == "FLOAT32"])
def test_equal_addends_do_not_fail(use: Use) -> None:
    case = Case(use, EQUAL, SEED)
    for device in (SERIAL, TRUNCATING) if can_truncate() else (SERIAL,):
        found = case.judged(device.run(use.desc, case.arrays))
        assert not [f"{case}, {name}: {one}" for name, one in found.items() if one.failed]


@each_of("use", [use for use in uses() if use.dtype == "FLOAT32"])
def test_denormal_numbers_may_be_kept_or_flushed(use: Use) -> None:
    case = Case(use, DENORMAL, SEED)
    for device in (SERIAL, FLUSHING):
        found = case.judged(device.run(use.desc, case.arrays))
        assert not [f"{case}, {name}: {one}" for name, one in found.items() if one.verdict in ("suspect", "failed")]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=deep)])
def test_sums_of_halves_do_not_fail_where_they_are_said(every: bool) -> None:
    each([use for use in uses(deep=every) if use.dtype == "FLOAT16"], sum_of_halves_does_not_fail)


def sum_of_halves_does_not_fail(use: Use) -> None:
    case = drawn(use, HARDER, SEED)
    found = case.judged(SHORT.run(use.desc, case.arrays), short=True)
    assert not [f"{case}, {name}: {one}" for name, one in found.items() if one.failed]


def by_library(library: str) -> Any:
    """The functions of a library; the test is skipped without it."""
    if library == "PyTorch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
        return torch_peers.run
    for module in ("onnx", "onnxruntime"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    from devices import onnx_peers

    return onnx_peers.run


def compared(library: str, case: Case) -> bool:
    """Whether a library computes a use; what it gives must pass."""
    try:
        results = by_library(library)(case.use, case.arrays)
    except NotExpressible:
        return False
    found = case.judged(results, library == "PyTorch" and torch_peers.adds_short(case.use))
    bad = [f"{case}, {library}, {name}: {one}" for name, one in found.items() if one.verdict != "passed"]
    assert not bad
    return True


@pytest.mark.parametrize(("library", "least"), [("PyTorch", 90), ("ONNX Runtime", 55)])
def test_libraries_pass(library: str, least: int) -> None:
    names: set[str] = set()

    @each_of("use", uses())
    def test(use: Use) -> None:
        if compared(library, drawn(use, HARDER, SEED)):
            names.add(use.operator.name)

    test()
    assert len(names) >= least


@deep
@each_of("use", uses(deep=True))
def test_other_draws_pass(use: Use) -> None:
    assert not [line for kind in KINDS for line in refused(drawn(use, kind, OTHER))]


@deep
@pytest.mark.parametrize("library", ["PyTorch", "ONNX Runtime"])
@each_of("use", uses(deep=True))
def test_libraries_pass_with_other_draws(library: str, use: Use) -> None:
    for kind in KINDS:
        compared(library, drawn(use, kind, OTHER))
