"""A model over blocks on two processes, of which one is killed: ``python batches_on_a_cluster.py FOLDER``.

Prints what the workers have compiled, the new one too. A wrong bit is a failure.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dask.array as da
import distributed
import numpy as np

import dmlcy as dml
import dmlcy.dask
import dmlcy.onnx

DIGITS = Path(__file__).parents[2] / "examples" / "onnx" / "digits.onnx"
SIZES = (9,) * 11 + (4,)


def made(block_info: Any = None) -> Any:
    """The images of a block, after a while."""
    begin, end = block_info[None]["array-location"][0]
    time.sleep(0.05)
    return images(begin, end)


def images(begin: int, end: int) -> Any:
    return np.concatenate([np.random.default_rng(n).random((1, 1, 8, 8), np.float32) for n in range(begin, end)])


def compiled() -> dict[str, list[int]]:
    """How many items the models of a process were compiled for."""
    from dmlcy._dask.source import loaded

    models: Mapping[str, Any] = loaded()
    return {key: sorted(dict(sizes)["image"][0] for sizes in one.made) for key, one in models.items()}


def main(folder: Path) -> None:
    x = da.map_blocks(made, chunks=(SIZES, (1,), (8,), (8,)), dtype=np.float32, meta=np.empty((0,) * 4, np.float32))
    model = dml.onnx.load(DIGITS)
    ends = [0, *np.cumsum(SIZES)]
    want = np.concatenate([model(images(*span)) for span in itertools.pairwise(ends)])
    fixed = dml.onnx.load(DIGITS, shapes={"batch": 3}).graph()
    assert fixed is not None
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        first = [*client.run(os.getpid).values()]
        future = client.compute(dmlcy.dask.run(DIGITS, {"image": x}, send=True)["shares"])
        while not any(client.run(compiled).values()):
            time.sleep(0.02)
        os.kill(first[0], signal.SIGKILL)
        found = future.result()
        assert found.tobytes() == want.tobytes()
        # The scheduler counts the killed process until it hears that its connection is closed.
        while len(now := {*client.run(os.getpid, on_error="ignore").values()}) < 2 or first[0] in now:
            time.sleep(0.02)
        result = dmlcy.dask.run(DIGITS, {"image": x})["shares"]
        assert result.compute().tobytes() == want.tobytes()
        # A process has the sizes of blocks that it was given. On a busy machine, the scheduler may know one process.
        each = [*client.run(compiled).values()]
        assert all(sizes in ([4], [9], [4, 9]) for one in each for sizes in one.values()), each
        print("compiled for", *sorted({size for one in each for sizes in one.values() for size in sizes}))
        blocks = dmlcy.dask.run(fixed, {"image": x}, axis={"shares": 2})["shares"]
        np.testing.assert_allclose(blocks.compute().reshape(want.shape), want, rtol=1e-5)
        file = folder / "gone.onnx"
        file.write_bytes(DIGITS.read_bytes())
        gone = dmlcy.dask.run(file, {"image": x[:9]})["shares"]
        file.write_bytes(DIGITS.read_bytes() + b"\x00")
        try:
            gone.compute()
        except dml.ModelError as error:
            print(error.id)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
