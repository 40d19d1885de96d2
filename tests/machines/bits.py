"""Prints a digest of the results of each operator with loops, of inputs that are the same on every machine.

``python -P tests/machines/bits.py > FILE`` writes them on one machine, ``... bits.py --like FILE`` on another one fails
where a digest is another one. Sizes, layouts, data types, attributes and values are drawn as in
``tests.reliability.random_calls``; the seed chooses them. Processors differ in the bits of a NaN: all are one here.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

TESTS: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "reliability")]

from random_arrays import Array, inputs_of, views_of  # noqa: E402
from random_descs import Walk, walks  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._facts.tables import FAST, LEVELS, OPERATORS  # noqa: E402
from dmlcy._field_types.tensor import dtypes_at  # noqa: E402
from dmlcy._runtime import isa  # noqa: E402
from dmlcy._runtime.four_bits import PLAIN  # noqa: E402
from dmlcy._runtime.threads import compiler  # noqa: E402

DESCS: Final = 6
"""In one walk, each a change of the last one."""
MOST: Final = 100
"""The most walks beyond the wanted ones, until each data type of each input was met."""


def bits(result: Any) -> Iterator[bytes]:
    """The data type, the sizes and the elements of a result, or of each of several."""
    for one in result if isinstance(result, tuple) else (result,):
        values: Array = np.ascontiguousarray(one)
        if values.dtype.kind == "f":
            values[np.isnan(values)] = np.nan
        yield f"{values.dtype}{values.shape}".encode()
        yield values.tobytes()


def digest(name: str, walks: int, seed: int) -> str:
    """A digest of the results of some calls of an operator, of more until each data type of each input was met."""
    found, operator = hashlib.blake2b(digest_size=8), OPERATORS[name]
    inputs = {field.python: field for field in operator.fields if field.kind == "input"}
    # Rules tie the data types of an array of tensors to those of others.
    alone = {} if any(field.type == "tensor_array" for field in operator.fields) else inputs
    left = {(key, dtype) for key, field in alone.items() for dtype in dtypes_at(field, len(LEVELS) - 1)}
    left -= {(key, dtype) for key in alone for dtype in PLAIN}
    for number in range(walks + MOST):
        if number >= walks and not left:
            break
        chance = random.Random(f"{seed} {name} {number}")
        walk = Walk(chance, operator)
        with dml.feature_level(LEVELS[walk.level].name):
            for _ in range(DESCS):
                if left:
                    walk.meet(*min(left))
                walk.step()
                desc = walk.desc()
                given = ((key, getattr(desc, key)) for key in alone)
                left -= {(key, tensor.dtype.name) for key, tensor in given if tensor is not None}
                for part in bits(dml.compile(desc)(*views_of(inputs_of(chance, desc)).values())):
                    found.update(part)
    assert not left, f"no call of {name} with {left}"
    return found.hexdigest()


def names_of(families: Iterable[str]) -> list[str]:
    """The operators with loops, whose descs are walked through, of some families; of all, if none is named."""
    chosen = {*families}
    unknown = chosen - {OPERATORS[name].family for name in FAST}
    if unknown:
        raise SystemExit(f"no operator of these families has loops: {', '.join(sorted(unknown))}")
    walked = [name for name in FAST if walks(OPERATORS[name])]
    return [name for name in walked if not chosen or OPERATORS[name].family in chosen]


def main() -> None:
    """Print the digests, or compare them with those of another machine."""
    parser = argparse.ArgumentParser(description="Digests of the results of the operators with loops.")
    parser.add_argument("--walks", type=int, default=8, help="of each operator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", nargs="*", default=[], help="only operators of these")
    parser.add_argument("--like", type=Path, help="the digests that another machine printed with the same options")
    options = parser.parse_args()
    dml.set_num_threads(2)
    lines = []
    for name in names_of(options.families):
        lines.append(f"{name} {digest(name, options.walks, options.seed)}")
        print(lines[-1], flush=True)
    print(f"{len(lines)} operators, {compiler()}, level {isa.level()}", file=sys.stderr)
    if options.like is not None:
        others = options.like.read_text(encoding="utf-8").splitlines()
        differ = sorted({line.split()[0] for line in {*lines} ^ {*others}})
        if differ:
            raise SystemExit(f"other bits than in {options.like}: {', '.join(differ)}")
        print(f"the same bits as in {options.like}", file=sys.stderr)


if __name__ == "__main__":
    main()
