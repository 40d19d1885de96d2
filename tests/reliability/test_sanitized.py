"""The sanitizers see one byte beyond a tensor, in the kernel of every operator.

``python -m tests.reliability.sanitized -m pytest tests/reliability/test_sanitized.py`` runs this.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import textwrap
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest
from instruction_levels import needs, printed

import dmlcy
from dmlcy._facts.tables import FAST
from dmlcy._runtime import isa

pytestmark = pytest.mark.skipif("libasan" not in os.environ.get("LD_PRELOAD", ""), reason="not under the sanitizers")

PROGRAM = """
    import ctypes, json, os, sys, tempfile
    import numpy as np
    import dmlcy as dml
    from dmlcy._facts.tables import FAST

    def tensor(short, dtype, sizes, data):
        # In a block of its own; `short`: the last byte of the tensor lies behind it.
        values = np.array(data, dtype.lower()).reshape(sizes)
        block = np.empty(values.nbytes - short, np.uint8)
        ctypes.memmove(block.ctypes.data, values.ctypes.data, block.size)
        blocks.append(block)
        whole = (ctypes.c_char * values.nbytes).from_address(block.ctypes.data)
        return np.frombuffer(whole, values.dtype).reshape(sizes)

    def given(tensors, short):
        # Those of an array of tensors are together.
        found = {}
        for name, one in tensors.items():
            field, several, _ = name.partition("[")
            made = tensor(name == short, *one)
            found[field] = (*found.get(field, ()), made) if several else made
        return found

    def call(operator, example, short):
        inputs, outs = given(example.inputs, short), [*given(example.outputs, short).values()]
        optional = {field.python for field in operator.fields if field.kind == "output" and field.optional}
        asked = {name: dtype for name, (dtype, _, _) in example.outputs.items() if name in optional}
        out = tuple(outs) if asked or len(outs) > 1 else outs[0]
        getattr(dml, operator.python)(**inputs, **operator.example_arguments(example), **asked, out=out)

    def is_read(operator, example, name):
        # An example may not read the last element of a tensor, such as one that is no part of a slice.
        if name in example.outputs:
            return True
        dtype, sizes, data = example.inputs[name]
        results = set()
        for last in (0, 1, 2, 100):
            values = np.array(data, dtype.lower()).reshape(-1)
            values[-1] = last
            try:
                made = given({**example.inputs, name: (dtype, sizes, values)}, None)
                result = getattr(dml, operator.python)(**made, **operator.example_arguments(example))
            except dml.DmlError:  # a rule looks at it
                return True
            results.add(b"".join(one.tobytes() for one in (result if isinstance(result, tuple) else (result,))))
        return len(results) > 1

    def has_four_bits(example):
        return any(dtype in ("INT4", "UINT4") for dtype, _, _ in (*example.inputs.values(), *example.outputs.values()))

    blocks, found = [], []
    for operator in FAST.values():
        examples = [one for one in operator.examples if not has_four_bits(one)]
        example = max(examples, key=lambda one: len(one.outputs))
        tensors = {**example.inputs, **example.outputs}
        bytes_of = {name: np.array(data, dtype.lower()).nbytes for name, (dtype, _, data) in tensors.items()}
        # NumPy allocates a byte for an array without elements: one that is read there is not noticed.
        for short in (None, *(name for name in tensors if bytes_of[name] > 1 and is_read(operator, example, name))):
            with tempfile.TemporaryFile() as said:
                child = os.fork()
                if child == 0:
                    os.dup2(said.fileno(), 2)
                    call(operator, example, short)
                    os._exit(0)
                status = os.waitpid(child, 0)[1]
                said.seek(0)
                found.append((operator.name, short, os.waitstatus_to_exitcode(status), said.read().decode()))
    print(json.dumps(found))
"""


@pytest.mark.parametrize("level", isa.LEVELS)
def test_kernels_that_go_one_byte_beyond_are_stopped(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reports name modules, not lines: to find those of hundreds of reports takes twice as long as all else."""
    needs(level)
    monkeypatch.setenv("ASAN_OPTIONS", f"{os.environ['ASAN_OPTIONS']}:symbolize=0")
    found = json.loads(printed(level, "-c", textwrap.dedent(PROGRAM)))
    assert len(found) > 2.9 * len(FAST)
    for name, short, code, said in found:
        if short is None:
            assert (code, said) == (0, ""), name
        else:
            assert code == -signal.SIGABRT, (name, short)
            assert "ERROR: AddressSanitizer" in said and "dmlcy/_generated" in said, said


def test_ints_that_overflow_are_stopped() -> None:
    program = """
        import numpy as np
        import dmlcy as dml
        x = np.zeros(3, np.float32)
        out = np.lib.stride_tricks.as_strided(np.zeros(3, np.float32), strides=(1 << 62,))
        dml.padding1(x, start_padding=0, end_padding=0, out=out)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, timeout=300, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGABRT and "signed integer overflow: 2 * 4611686018427387904" in done.stderr


def test_every_module_is_watched() -> None:
    modules = [path for path in Path(dmlcy.__file__).parent.rglob("*") if path.name.endswith(EXTENSION_SUFFIXES[0])]
    assert len(modules) >= 12
    for path in modules:
        contents = path.read_bytes()
        assert b"__asan_report_" in contents and b"__ubsan_handle_" in contents, path


@pytest.mark.parametrize("size", [1, 7, 100, 1023, 1024, 5000])
def test_arrays_have_blocks_of_their_size(size: int) -> None:
    poisoned = ctypes.CDLL(None).__asan_address_is_poisoned
    poisoned.argtypes = [ctypes.c_void_p]
    for _ in range(20):  # some of them have been arrays before
        blocks = [np.empty(size, np.uint8) for _ in range(9)]
        found = [[poisoned(block.ctypes.data + at) for at in (-1, 0, size - 1, size)] for block in blocks]
        assert found == [[1, 0, 0, 1]] * 9
