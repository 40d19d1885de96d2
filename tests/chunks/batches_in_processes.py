"""A model over 3 GB in blocks, in processes that may have 2 GB each: ``python batches_in_processes.py``.

The processes are those of the scheduler of dask, and each limits its memory. Prints the sum of the blocks, and the one
that is expected.
"""

from __future__ import annotations

import resource
from typing import Any

import dask
import dask.array as da
import numpy as np

import dmlcy as dml
import dmlcy.dask

LIMIT = 2 * 10**9
ITEMS, BLOCK, SIDE = 768, 16, 1024  # an item is 4 MB


def limited(block_info: Any = None) -> Any:
    """A block: the elements of item n are n % 7. The process may map no more than the limit."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    begin, end = block_info[None]["array-location"][0]
    return np.repeat(np.arange(begin, end) % 7, SIDE * SIDE).astype(np.float32).reshape(-1, 1, SIDE, SIDE)


def main() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (8, 1, SIDE, SIDE)), name="x")
    y = g.average_pooling(g.activation_relu(x), window_size=(64, 64), strides=(64, 64))
    graph = g.build(y=y)
    chunks = ((BLOCK,) * (ITEMS // BLOCK), (1,), (SIDE,), (SIDE,))
    images = da.map_blocks(limited, chunks=chunks, dtype=np.float32, meta=np.empty((0,) * 4, np.float32))
    assert images.nbytes > 1.5 * LIMIT
    total = dmlcy.dask.run(graph, {"x": images})["y"].sum(dtype=np.float64)
    with dask.config.set(scheduler="processes", num_workers=2):
        print(float(total.compute()), float(sum(n % 7 for n in range(ITEMS)) * (SIDE // 64) ** 2))


if __name__ == "__main__":
    main()
