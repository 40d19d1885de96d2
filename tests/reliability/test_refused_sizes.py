"""Tensors that are too large are refused by name, before there is memory for anything."""

from __future__ import annotations

import textwrap

from limits import needs_limits, run

import dmlcy as dml

UINT = 2**32 - 1

CALLS = f"""
def of(dtype, *sizes):
    return np.broadcast_to(np.ones((), dtype), sizes)

def pool(dtype, sizes, **attributes):
    return dml.average_pooling(of(dtype, *sizes), **attributes)

def regions(sizes, count, bins):
    return dml.roi_pooling(of("f2", *sizes), of("f2", count, 5), spatial_scale=1, pooled_size=bins)

UINT = {UINT}
CALLS = [
    # The input has more elements than a UINT holds.
    ("PADDING1-input-elements", lambda: dml.padding1(of("u1", 2**16, 2**16), start_padding=0, end_padding=0)),
    ("PADDING1-input-elements", lambda: dml.padding1(of("u8", *[2**7] * 8), start_padding=0, end_padding=0)),
    ("PADDING1-input-range", lambda: dml.padding1(of("u1", 2**32), start_padding=0, end_padding=0)),
    ("DEPTH_TO_SPACE1-input-elements", lambda: dml.depth_to_space1(of("u1", 1, 4, 2**15, 2**15), block_size=2)),
    ("UNFOLD-input-elements", lambda: dml.unfold(of("u1", 1, 1, 2**16, 2**16), window_sizes=1)),
    ("AVERAGE_POOLING-input-elements", lambda: pool("f2", (1, 1, 2**16, 2**16), window_size=1)),
    ("ROI_POOLING-input-elements", lambda: regions((1, 1, 2**16, 2**16), 1, 1)),
    ("ROI_POOLING-roi-elements", lambda: regions((1, 1, 4, 4), 2**30, 1)),
    # The output has: by a few, by more than 2^32 times, by more than 64 bits hold.
    ("PADDING1-output-elements", lambda: dml.padding1(of("u1", 2**16, UINT // 2**16), start_padding=1, end_padding=0)),
    ("PADDING1-output-elements", lambda: dml.padding1(of("f8", *[1] * 8), start_padding=2**8 - 1, end_padding=0)),
    ("PADDING1-output-elements", lambda: dml.padding1(of("f8", *[1] * 8), start_padding=2**31, end_padding=2**30)),
    ("PADDING1-output-range", lambda: dml.padding1(of("u1", 1), start_padding=UINT, end_padding=0)),
    ("PADDING1-output-range", lambda: dml.padding1(of("u1", *[1] * 8), start_padding=UINT, end_padding=UINT)),
    ("UNFOLD-output-elements", lambda: dml.unfold(of("u1", 1, 1, 2**14, 2**14), window_sizes=5)),
    ("UNFOLD-output-range", lambda: dml.unfold(of("u1", 1, 1, 1, 1), window_sizes=2**31, start_padding=2**31 - 1)),
    ("UNFOLD-output-range", lambda: dml.unfold(of("u1", *[1] * 8), window_sizes=2**16, start_padding=UINT)),
    ("AVERAGE_POOLING-output-elements",
     lambda: pool("f4", (1, 1, 2**15, 2**15), window_size=1, start_padding=2**15, end_padding=2**15)),
    ("AVERAGE_POOLING-output-range", lambda: pool("f4", (1, 1, 1, 1), window_size=1, start_padding=UINT)),
    ("ROI_POOLING-output-elements", lambda: regions((1, 2, 4, 4), 1, (2**16, 2**15))),
    ("ROI_POOLING-output-elements", lambda: regions((1, 1, 4, 4), 1, 2**31 - 1)),
    ("ROI_POOLING-output-elements", lambda: regions((1, 2**13, 1, 1), 2**29, 2**31 - 1)),
    ("ROI_POOLING-pooled_size-range", lambda: regions((1, 1, 4, 4), 1, (2**31, 1))),
]
"""


@needs_limits
def test_calls_are_refused_before_memory_is_asked_for() -> None:
    program = """
        tracemalloc.start()
        for expected, call in CALLS:        # what is imported for the first message stays
            try:
                call()
            except dml.DmlError as error:
                assert error.violations[0].id == "DML-" + expected, (expected, error)
            else:
                raise AssertionError(expected)
        most, peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0
        for expected, call in CALLS:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                call()
            except dml.DmlError as error:
                assert error.violations[0].id == "DML-" + expected
            peak = max(peak, tracemalloc.get_traced_memory()[1] - before)
        print(peak < 2**17, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 4096)
    """
    assert run(CALLS + textwrap.dedent(program)) == "True True\n"


def ids(input_desc: dml.TensorDesc, output: dml.TensorDesc | None = None) -> list[str]:
    rank = input_desc.rank
    desc = dml.desc.Padding1(input=input_desc, output=output, start_padding=(0,) * rank, end_padding=(0,) * rank)
    return [violation.id for violation in dml.check(desc)]


def test_descs_whose_numbers_leave_64_bits() -> None:
    """The desc of a tensor of any layout; the last element lies at 2^64 bytes and more."""
    most = dml.TensorDesc("UINT8", (UINT,), (UINT,))
    assert most.total_tensor_size_in_bytes == -(-((UINT - 1) * UINT + 1) // 4) * 4 < 2**64
    assert ids(most) == []
    wide = dml.TensorDesc("UINT16", (UINT,), (UINT,))
    assert ids(wide) == ["DML-PADDING1-input-range"]
    assert ids(dml.TensorDesc("UINT16", (UINT,)), wide) == ["DML-PADDING1-output-range"]
    assert ids(dml.TensorDesc("FLOAT64", (UINT,) * 8)) == ["DML-PADDING1-input-elements"]
    assert ids(dml.TensorDesc("FLOAT64", (15,) * 8, (UINT,) * 8)) == []
    assert ids(dml.TensorDesc("UINT8", (1,), (2**32,))) == ["DML-PADDING1-input-strides"]
    total = dml.TensorDesc("UINT8", (1,), total_tensor_size_in_bytes=2**64)
    assert ids(total) == ["DML-PADDING1-input-range"]
    assert ids(dml.TensorDesc("UINT8", (1,), total_tensor_size_in_bytes=2**64 - 1)) == []
