"""Objects that change things during a call, and data that changes under a kernel: anything but a crash."""

from __future__ import annotations

import fractions
import pickle
import subprocess
import sys
import textwrap
import types
from typing import Any

import numpy as np
import pytest
from each import each_of
from uses import RUNNABLE, USES

import dmlcy as dml

X = np.ones((1, 1, 4, 4), np.float32)


class Device:
    """Says that it is on no device."""

    def __dlpack_device__(self) -> Any:
        return ()

    def __dlpack__(self, **_: Any) -> Any:
        raise RuntimeError("never asked")


class Ratio(fractions.Fraction):
    def as_integer_ratio(self) -> Any:
        return ()


def test_sequences_that_are_too_short() -> None:
    with pytest.raises(dml.InvalidDataTypeError):
        dml.unfold(Device(), window_sizes=1)
    with pytest.raises((dml.DmlError, RuntimeError)):
        dml.padding1(X, start_padding=0, end_padding=0, padding_value=Ratio(1, 3))


def test_an_input_resized_during_the_call() -> None:
    y = np.ones((64, 256, 256), np.float32)

    class Shrinks:
        def __index__(self) -> int:
            y.resize((1, 1, 1), refcheck=False)
            return 1

    with pytest.raises(RuntimeError, match="input was changed during the call"):
        dml.padding1(y, start_padding=Shrinks(), end_padding=0)


def test_the_array_behind_an_input_resized_during_the_call() -> None:
    """The bytes of a bool array are a view of it."""
    for dtype, part in ((bool, slice(None)), (np.float32, slice(1, None))):
        y = np.ones((64, 256, 256), dtype)

        class Shrinks:
            def __index__(self, y: Any = y) -> int:
                y.resize((1, 1, 1), refcheck=False)
                return 1

        with pytest.raises(RuntimeError, match="input was changed during the call"):
            dml.padding1(y[part], start_padding=Shrinks(), end_padding=0)


def test_subclasses_are_not_asked_between_check_and_kernel() -> None:
    store = np.ones(4 << 16, np.float32)
    out, target = np.empty((1, 1, 512, 512), np.float32), np.empty((2, 4, 3, 3), np.float32)
    asked = []

    class Shrinks(np.ndarray[Any, Any]):
        def __array_function__(self, *_: Any) -> Any:
            asked.append(self)
            store.resize(1, refcheck=False)
            return False

        def __array_finalize__(self, obj: Any) -> None:
            if self.flags.owndata:
                asked.append(self)
                out.resize(1, refcheck=False)
                target.resize(1, refcheck=False)

    shared = store.reshape(1, 4, 256, 256)
    with pytest.raises(dml.InvalidDescError, match="out shares memory with input"):
        dml.depth_to_space1(shared.view(Shrinks), block_size=2, out=store.reshape(1, 1, 512, 512))

    x = np.ones(shared.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(shared.shape).view(Shrinks)
    assert not x.flags.aligned
    np.testing.assert_array_equal(dml.depth_to_space1(x, block_size=2, out=out), out)
    regions = np.zeros(41, np.uint8)[1:].view(np.float32).reshape(2, 5).view(Shrinks)
    dml.roi_pooling(shared, regions, spatial_scale=1, pooled_size=3, out=target)
    assert not asked and target.shape == (2, 4, 3, 3)


class Asked(np.ndarray[Any, Any]):
    """Has nothing to say."""

    def _raise(self, *_: object, **__: object) -> Any:
        raise ZeroDivisionError

    __array_ufunc__ = __array_function__ = __array_wrap__ = __getitem__ = __len__ = __iter__ = _raise
    reshape = astype = copy = view = item = ravel = transpose = sum = _raise
    dtype = shape = strides = size = ndim = flags = T = property(_raise)


@each_of("name", RUNNABLE)
def test_a_subclass_is_an_array_like_any_other(name: str) -> None:
    use = USES[name]
    for function, given in (
        (getattr(dml, use.operator.python), use.arguments({}, use.attributes, compiled=False)),
        (dml.compile(use.desc), use.arguments({}, {}, compiled=True)),
    ):
        given = given | {"out": None}
        inputs = {key: one.view(Asked) for key, one in given.items() if isinstance(one, np.ndarray)}
        expected, found = function(**given), function(**given | inputs)
        several = expected if isinstance(expected, tuple) else (expected,)
        for one, other in zip(found if isinstance(found, tuple) else (found,), several, strict=True):
            assert type(one) is np.ndarray and one.tobytes() == other.tobytes()


def test_regions_that_out_writes_to_after_the_check() -> None:
    regions = np.zeros((200, 5), np.float32)
    regions[:, 3:] = 7
    target = np.zeros((200, 1, 1, 1), np.float32)

    class Out:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            regions[:, 0] = 1e9
            regions[:, 1] = np.nan
            regions[::2, 4] = -1e30
            return target

    out = Out()
    image = np.ones((1, 1, 8, 8), np.float32)
    assert dml.roi_pooling(image, regions, spatial_scale=1, pooled_size=1, out=out) is out
    assert set(target.ravel().tolist()) <= {0.0, 1.0}


def test_regions_that_another_thread_writes_to() -> None:
    program = """
        import threading, time
        import numpy as np, dmlcy as dml
        regions = np.zeros((20000, 5), np.float32)
        regions[:, 3:] = 7
        image, done = np.ones((1, 1, 8, 8), np.float32), time.monotonic() + 2
        def write():
            while time.monotonic() < done:
                regions[:, 0] = 1e9
                regions[:, 2] = 100
                regions[:, 0] = 0
                regions[:, 2] = 0
        threading.Thread(target=write).start()
        while time.monotonic() < done:
            try:
                dml.roi_pooling(image, regions, spatial_scale=1, pooled_size=3)
            except dml.InvalidDataError:
                pass
            except RuntimeError as error:
                assert "changed in between" in str(error)
    """
    subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(program)], timeout=300, check=True)


def test_a_desc_whose_output_was_changed() -> None:
    desc = dml.desc.Unfold(input=dml.TensorDesc("FLOAT32", (1, 1, 64, 64)), window_sizes=3)
    desc.output.__init__("FLOAT32", (1, 1, 1))  # type: ignore[misc]
    with pytest.raises((dml.DmlError, RuntimeError)):
        dml.compile(desc)


def test_a_compiled_operator_keeps_its_fields_and_pickles() -> None:
    desc = dml.desc.Unfold(input=dml.TensorDesc("FLOAT32", (1, 1, 4, 4)), window_sizes=3)
    operator = dml.compile(desc)
    bad = dml.desc.Unfold(input=dml.TensorDesc("FLOAT32", (1, 1, 4, 4)), window_sizes=9)
    with pytest.raises(dml.InvalidDescError):
        again: Any = operator
        again.__init__(bad, 14)
    expected = dml.unfold(X, window_sizes=3)
    np.testing.assert_array_equal(operator(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(operator))(X), expected)


class Sizes:
    """Has more entries each time it is asked."""

    asked = 0

    def __len__(self) -> int:
        self.asked += 1
        return 4 if self.asked == 1 else 1000

    def __getitem__(self, number: int) -> int:
        return (1, 4, 2, 2)[number % 4]


@pytest.mark.parametrize("dtype", [1, 0, 12, -5, 2**31 - 1])
@pytest.mark.parametrize("sizes", [(1, 4, 2, 2), (1,) * 100, Sizes()])
def test_what_only_looks_like_a_desc(dtype: int, sizes: Any) -> None:
    tensor = types.SimpleNamespace(dtype=dtype, sizes=sizes)
    real = dml.desc.DepthToSpace1(input=dml.TensorDesc("FLOAT32", (1, 4, 2, 2)), block_size=2)
    fields = {"operator": real.operator, "input": tensor, "output": tensor, "block_size": 2}
    fake = types.SimpleNamespace(**fields, order="DEPTH_COLUMN_ROW")
    with pytest.raises(AttributeError, match="_violations"):
        compiled: Any = type(dml.compile(real))
        compiled(fake, 14)


@pytest.mark.parametrize("level", [-1, 15, 1 << 30])
def test_levels_that_do_not_exist(level: int) -> None:
    operator = dml.compile(dml.desc.Unfold(input=dml.TensorDesc("FLOAT32", (1, 1, 4, 4)), window_sizes=3))
    with pytest.raises((IndexError, dml.FeatureLevelError)):
        compiled: Any = type(operator)
        compiled(operator.desc, level)


def test_a_derived_desc_class_replaces_nothing() -> None:
    class Mine(dml.desc.AveragePooling):
        pass

    desc = dml.desc.AveragePooling(input=dml.TensorDesc.from_array(X), window_size=2)
    again = dml.desc.AveragePooling.from_dict(desc.to_dict())
    assert type(again) is dml.desc.AveragePooling and again == desc


def test_many_unknown_members_are_refused_soon() -> None:
    members = {f"k{number}": 1 for number in range(100_000)}
    found = dml.check(dml.desc.Padding1.from_dict({"type": "PADDING1", "desc": members}))
    assert [one.id for one in found].count("DML-PADDING1-operator-unknown") == 10
    assert len({*found}) == len(found)


@pytest.mark.parametrize("value", [3, "x", None, {"type": "PADDING1", "desc": {}}])
def test_what_is_no_desc(value: Any) -> None:
    for function in (dml.check, dml.compile):
        with pytest.raises(TypeError, match=r"dmlcy\.desc"):
            function(value)


def test_calls_inside_calls() -> None:
    """A call takes little of the stack of C, of which Python lets many lie above each other."""
    program = """
        import threading
        import numpy as np, dmlcy as dml
        x = np.ones((1, 1, 2, 2), np.float32)
        class Calls:
            def __init__(self, depth):
                self.depth = depth
            def __index__(self):
                if self.depth:
                    dml.average_pooling(x, window_size=Calls(self.depth - 1))
                return 1
        threading.stack_size(4 << 20)
        thread = threading.Thread(target=lambda: dml.average_pooling(x, window_size=Calls(600)))
        thread.start()
        thread.join()
    """
    subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(program)], timeout=300, check=True)


def test_a_desc_that_nobody_else_holds() -> None:
    """The call itself holds a desc, or an equal one that was seen before, until it is over."""
    image, one = -np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 1, 1), np.float32)

    def convolve(alpha: float, stride: Any = 1) -> Any:
        activation = dml.desc.ActivationLeakyRelu(input=None, alpha=alpha)
        return dml.convolution(image, one, fused_activation=activation, strides=(stride, 1))

    class Others:
        def __index__(self) -> int:
            for number in range(1050):
                activation = dml.desc.ActivationElu(input=None, alpha=number)
                dml.gemm(one[0, 0], one[0, 0], fused_activation=activation)
            convolve(0.5)
            return 1

    expected = convolve(0.75)
    np.testing.assert_array_equal(convolve(0.75, Others()), expected)


class OwnInt(int):
    def __float__(self) -> float:
        raise RuntimeError("no float")


class OwnList(list[int]):
    def __iter__(self) -> Any:
        raise RuntimeError("no entries")


@pytest.mark.parametrize("given", [
    {"alpha": OwnInt(1)},
    {"alpha": np.ma.masked_array([1.0])},
], ids=["int", "masked"])  # fmt: skip
def test_numbers_of_strange_classes(given: Any) -> None:
    """The methods of a class count: what they refuse is no number."""
    with pytest.raises(dml.InvalidDataTypeError):
        dml.activation_elu(X, **given)


def test_lists_of_strange_classes() -> None:
    with pytest.raises(dml.InvalidDataTypeError):
        dml.unfold(X, window_sizes=OwnList([2, 2]))
    with pytest.raises(dml.InvalidDataTypeError):
        dml.resample(X, scales=np.ma.masked_array([1.0]), output_sizes=X.shape, interpolation_mode="LINEAR")
