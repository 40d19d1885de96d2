"""A real cluster of two processes: the results of NumPy arrays, and arrays that no memory holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs distributed: pip install '.[parallel]'")

LARGE = str(Path(__file__).with_name("larger_than_memory.py"))

DIGITS = Path(__file__).parents[2] / "examples" / "onnx" / "digits.onnx"
PROGRAM = (
    f"DIGITS = {str(DIGITS)!r}"
    + """
import dask.array as da, distributed, numpy as np
import dmlcy as dml, dmlcy.dask, dmlcy.onnx
from dmlcy._facts.tables import FAST

rng = np.random.default_rng(1)
image = rng.integers(-9, 9, (4, 8, 20, 30)).astype(np.float32)
rois = np.array([[n % 4, n, n, n + 5, n + 9] for n in range(10)], np.float32)
calls = {
    "unfold": ([image], [(2, 3, 7, 8)], {"window_sizes": 3, "start_padding": 1, "end_padding": 1, "dilations": 2}),
    "fold": ([image.reshape(4, 8, 600)], [(2, 4, -1)], {"output_sizes": (21, 31), "window_sizes": 2}),
    "average_pooling": ([image], [(2, 3, 7, 8)], {"window_size": 3, "strides": 2, "start_padding": 1}),
    "average_pooling1": ([image], [(2, 3, 7, 8)], {"window_size": 3, "dilations": (2, 3), "end_padding": 1}),
    "max_pooling": ([image], [(2, 3, 7, 8)], {"window_size": 3, "strides": 2, "start_padding": 1}),
    "max_pooling1": ([image], [(2, 3, 7, 8)], {"window_size": 3, "strides": 2, "start_padding": 1}),
    "max_pooling2": ([image], [(2, 3, 7, 8)], {"window_size": 3, "strides": 2, "dilations": 2}),
    "padding": ([image], [(2, 3, 7, 8)], {"start_padding": 1, "end_padding": 2, "padding_value": 0.5}),
    "lp_pooling": ([image], [(2, 3, 7, 8)], {"window_size": 3, "strides": 2, "p": 2}),
    "lp_pooling1": ([image], [(2, 3, 7, 8)], {"window_size": 3, "dilations": 2, "p": 1}),
    "padding1": ([image], [(2, 3, 7, 8)], {"start_padding": 3, "end_padding": 2, "padding_mode": "SYMMETRIC"}),
    "depth_to_space": ([image], [(2, 8, 7, 8)], {"block_size": 2}),
    "space_to_depth": ([image], [(2, 8, 6, 10)], {"block_size": 2}),
    "space_to_depth1": ([image], [(2, 4, 6, 10)], {"block_size": 2, "order": "COLUMN_ROW_DEPTH"}),
    "depth_to_space1": ([image], [(2, 4, 7, 8)], {"block_size": 2, "order": "COLUMN_ROW_DEPTH"}),
    "roi_pooling": ([image, rois], [(-1, 3, -1, -1), (4, -1)], {"spatial_scale": 1.0, "pooled_size": (2, 3)}),
    "element_wise_add": ([image, -image], [(2, 3, 7, 8), (1, 8, 20, 7)], {}),
}

if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, dashboard_address=None, host="127.0.0.1"
    ) as cluster, distributed.Client(cluster) as client:
        for name, (arrays, chunks, attributes) in calls.items():
            given = [da.from_array(x, chunks=sizes) for x, sizes in zip(arrays, chunks)]
            result = getattr(dmlcy.dask, name)(*given, **attributes)
            np.testing.assert_array_equal(result.compute(), getattr(dml, name)(*arrays, **attributes))
        model, x = dml.onnx.load(DIGITS), rng.random((7, 1, 8, 8), np.float32)
        shares = dmlcy.dask.run(DIGITS, {"image": da.from_array(x, chunks=(3, 1, 8, 8))})["shares"].compute()
        assert shares.tobytes() == b"".join(model(part).tobytes() for part in (x[:3], x[3:6], x[6:]))
        bad = da.from_array(np.where(rois == 5, np.nan, rois).astype(np.float32), chunks=(4, -1))
        try:
            dmlcy.dask.roi_pooling(da.from_array(image), bad, spatial_scale=1.0, pooled_size=1).compute()
        except dml.InvalidDataError as error:
            print(error.id, len(client.scheduler_info()["workers"]), "workers")
"""
)


def run(*command: str) -> str:
    """The output of a program that uses the installed package."""
    done = subprocess.run(
        [sys.executable, "-P", *command], capture_output=True, text=True, timeout=3000, check=False,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert run(str(program)) == "DML-ROI_POOLING-roi-finite 2 workers\n"


def test_more_than_a_cluster_holds_is_summed_piece_by_piece() -> None:
    assert "the sums are right" in run(LARGE, "--gigabytes", "0.5")


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_eight_gigabytes_within_two(workers: str) -> None:
    assert "the sums are right" in run(LARGE, "--workers", workers, "--gigabytes", "8", "--limit", "2")


@pytest.mark.deep
def test_a_worker_is_killed_and_each_process_compiles_once(tmp_path: Path) -> None:
    program = str(Path(__file__).with_name("batches_on_a_cluster.py"))
    assert run(program, str(tmp_path)) == "2 compiled for 4 9\nDML-GRAPH-batch-file\n"


@pytest.mark.deep
def test_processes_hold_less_than_the_array() -> None:
    found, expected = run(str(Path(__file__).with_name("batches_in_processes.py"))).split()
    assert found == expected
