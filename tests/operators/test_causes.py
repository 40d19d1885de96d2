"""Errors of other libraries' objects, kept as the cause of a refusal or passed through, and masks that they hide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dmlcy as dml

X = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)


class Lazy:
    """An array that cannot be had."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise self.error

    def __index__(self) -> int:
        raise self.error


@pytest.mark.parametrize("error", [OSError(5, "I/O error"), RecursionError("deep"), ValueError("x")], ids=repr)
def test_what_an_array_raises_is_the_cause(error: Exception) -> None:
    with pytest.raises(dml.InvalidDataTypeError) as raised:
        dml.unfold(Lazy(error), window_sizes=1)
    assert raised.value.__cause__ is error
    compiled = dml.compile(dml.desc.Unfold(input=dml.TensorDesc("FLOAT32", X.shape), window_sizes=1))
    with pytest.raises(dml.InvalidDataTypeError) as raised:
        compiled(Lazy(error))
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("sizes", [lambda one: one, lambda one: (1, one)])
def test_what_an_index_raises_is_the_cause(sizes: Any) -> None:
    error = OSError(5, "I/O error")
    with pytest.raises(dml.DmlError) as raised:
        dml.unfold(X, window_sizes=sizes(Lazy(error)))
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt])
def test_what_ends_a_program_passes(kind: type[BaseException]) -> None:
    for arguments in ((Lazy(kind("it")), 1), (X, Lazy(kind("it"))), (X, (1, Lazy(kind("it"))))):
        with pytest.raises(kind, match="it"):
            dml.unfold(arguments[0], window_sizes=arguments[1])


def test_a_wrong_value_has_no_cause() -> None:
    with pytest.raises(dml.DmlError) as raised:
        dml.unfold(X, window_sizes="3")  # type: ignore[arg-type]
    assert raised.value.__cause__ is None


def test_a_mask_behind_a_protocol_is_refused() -> None:
    class Masked:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ma.array(X, mask=X > 3)

    with pytest.raises(dml.InvalidDataTypeError, match="Operators do not take masks"):
        dml.unfold(Masked(), window_sizes=1)
