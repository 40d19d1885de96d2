"""Properties of resample: PyTorch and ONNX give the same, in blocks of any size; weights of 0 do not count."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits

import dmlcy as dml
from dmlcy import testing
from dmlcy._families.resample import family
from families.common import peak

Array = np.ndarray[Any, Any]


def enlarged(x: Array, factors: Any, mode: Any) -> Array:
    found: Array = dml.upsample_2d(x, scale_size=factors, interpolation_mode=mode)
    return found


def test_upsample_2d_against_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    interpolate = torch.nn.functional.interpolate
    random = np.random.default_rng(1)
    for number in range(40):
        monkeypatch.setattr(family, "RESULTS", (1 << 18, 20, 200)[number % 3])
        height, width = map(int, random.integers(1, 5, 2))
        x = random.standard_normal(random.integers(1, 4, 4)).astype(("f4", "f2")[number % 2])
        found = enlarged(x, (height, width), "LINEAR")
        wide = torch.from_numpy(x.astype(np.float64))
        expected = interpolate(wide, scale_factor=(height, width), mode="bilinear").numpy()
        unit = np.spacing(np.abs(x).max())
        assert np.abs(found - expected).max() <= unit, (x.shape, height, width)
        nearest = interpolate(torch.from_numpy(x), scale_factor=(height, width), mode="nearest").numpy()
        assert_same_bits(enlarged(x, (height, width), "NEAREST_NEIGHBOR"), nearest)
        volume = x[:, :, None].repeat(3, 2)
        assert_same_bits(enlarged(volume, (height, width), "LINEAR")[:, :, 1], found)


def test_what_has_no_weight_does_not_count() -> None:
    x = np.array([[[[1, np.inf, np.nan, -1, -0.0, -0.0]]]], np.float32)
    assert_same_bits(enlarged(x, (3, 1), "LINEAR"), x.repeat(3, 2))
    found = enlarged(x, (1, 3), "LINEAR")[0, 0, 0]
    assert found[[0, 1, 4]].tolist() == [1, 1, np.inf]
    assert np.isnan(found[6:9]).all() and found[10] == -1
    assert np.signbit(found[13:]).all() and not found[13:].any()


def test_large_images_take_little_memory() -> None:
    x = np.ones((1, 1, 1024, 2048), np.float32)
    tracemalloc.start()
    try:
        found = enlarged(x, (2, 2), "LINEAR")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found == 1).all()
    assert peak < found.nbytes + (24 << 20), f"{peak / 2**20:.0f} MB"


@pytest.mark.parametrize("mode", ["LINEAR", "NEAREST_NEIGHBOR"])
def test_long_rows_take_little_memory(mode: str) -> None:
    x = (np.arange(1 << 21) % 1009).astype(np.float16).reshape(1, 1, 1, -1)
    assert peak(lambda: enlarged(x, (1, 2), mode)) < x.nbytes * 2 + (24 << 20)
    found, middle = enlarged(x, (1, 2), mode), enlarged(x[..., 131000:131200], (1, 2), mode)
    assert_same_bits(found[..., 262002:262398].copy(), middle[..., 2:-2].copy())


HALVES = {"input_pixel_offsets": 0.5, "output_pixel_offsets": -0.5}
CORNERS: dict[str, Any] = {"input_pixel_offsets": 0.0, "output_pixel_offsets": 0.0}


def random_image(random: np.random.Generator, spatial: int) -> tuple[Array, tuple[int, ...]]:
    """An image of float64 numbers that FLOAT32 has, and the sizes of another one."""
    sizes = tuple(map(int, random.integers(1, 9, spatial + 2)))
    x = random.standard_normal(sizes).astype(np.float32)
    return x, (*sizes[:2], *map(int, random.integers(1, 12, spatial)))


def test_pytorch_gives_the_same_sizes_and_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between any sizes, with centres and with corners aligned; forwards and backwards."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(2)
    for number in range(60):
        monkeypatch.setattr(family, "RESULTS", (1 << 18, 20, 200)[number % 3])
        x, sizes = random_image(random, 1 + number % 2)
        aligned = number % 3 == 0
        mode = ("linear", "bilinear")[number % 2]
        pairs = [*zip(x.shape, sizes, strict=True)]
        if aligned and any(1 in pair and pair != (1, 1) for pair in pairs):
            continue
        scales = [(m - 1) / (n - 1) if aligned and n > 1 else m / n for n, m in pairs]
        offsets: Any = CORNERS if aligned else HALVES
        use: Any = {"interpolation_mode": "LINEAR", "scales": scales, **offsets}
        wide = torch.from_numpy(x.astype(np.float64)).requires_grad_()
        expected = torch.nn.functional.interpolate(wide, sizes[2:], mode=mode, align_corners=aligned)
        results = [dml.resample1(x, output_sizes=sizes, **use), dml.resample3(x, output_sizes=sizes, **use)]
        results.append(dml.resample2(x, output_sizes=sizes, rounding_direction="DECREASING", **use))
        for found in results:
            np.testing.assert_allclose(found, expected.detach().numpy(), atol=2e-5)
        gradient = random.standard_normal(sizes).astype(np.float32)
        expected.backward(torch.from_numpy(gradient.astype(np.float64)))
        for backward in (dml.resample_grad, dml.resample_grad1):
            np.testing.assert_allclose(backward(gradient, output_sizes=x.shape, **use), wide.grad.numpy(), atol=2e-5)
        if not aligned:
            assert_same_bits(
                dml.resample(x, output_sizes=sizes, interpolation_mode="LINEAR", scales=scales), results[0]
            )


def test_pytorch_gives_the_same_nearest_elements() -> None:
    """``nearest-exact`` has the middles of elements, and halves go up; ``nearest`` has floors of corners."""
    torch = pytest.importorskip("torch")
    interpolate = torch.nn.functional.interpolate
    random = np.random.default_rng(3)
    for number in range(60):
        size, count = map(int, random.integers(1, 17, 2))
        x = random.standard_normal((1, 2, size)).astype(("f4", "f2")[number % 2])
        scales, sizes = [1, 1, count / size], (1, 2, count)
        wide = torch.from_numpy(x)
        floors = dml.resample2(
            x, output_sizes=sizes, interpolation_mode="NEAREST_NEIGHBOR", rounding_direction="DECREASING",
            scales=[1, 1, np.float32(count / size).item()], **CORNERS,
        )  # fmt: skip
        exact = np.array([i * size // count for i in range(count)])
        near = np.isclose(np.arange(count) * size / count, np.rint(np.arange(count) * size / count))
        assert_same_bits(floors[..., ~near], x[..., exact[~near]])
        if count & (count - 1):  # places that FLOAT32 does not have, so that middles are rounded
            continue
        nearest = interpolate(wide, count, mode="nearest-exact").numpy()
        if size & (size - 1) == 0:
            use: Any = {"output_sizes": sizes, "interpolation_mode": "NEAREST_NEIGHBOR", "scales": scales}
            assert_same_bits(dml.resample(x, **use), nearest)
            assert_same_bits(dml.resample1(x, **use), nearest)
            up = dml.resample2(x, rounding_direction="DECREASING", **use, input_pixel_offsets=0.0)
            assert_same_bits(up, nearest)


def test_onnx_runtime_gives_the_same_nearest_elements() -> None:
    """With the offsets of its DirectML provider, which adds half an element for floor."""
    runtime = pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    kinds = {"x": (1, None), "sizes": (7, 1), "y": (1, None)}
    ends = [helper.make_tensor_value_info(name, kind, [size]) for name, (kind, size) in kinds.items()]
    for nearest, places, before, after in (
        ("round_prefer_ceil", "half_pixel", 0.5, -0.5),
        ("round_prefer_ceil", "asymmetric", 0.0, 0.0),
        ("floor", "half_pixel", 1.0, -0.5),
        ("floor", "asymmetric", 0.5, 0.0),
    ):
        node = helper.make_node(
            "Resize", ["x", "", "", "sizes"], ["y"], nearest_mode=nearest, coordinate_transformation_mode=places
        )
        graph = helper.make_graph([node], "g", ends[:2], ends[2:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for size, count in itertools.product((1, 2, 4, 8, 16), repeat=2):
            x = np.arange(size, dtype=np.float32)
            (expected,) = session.run(None, {"x": x, "sizes": np.array([count])})
            use: Any = {"output_sizes": count, "interpolation_mode": "NEAREST_NEIGHBOR", "scales": count / size}
            found = dml.resample1(x, **use, input_pixel_offsets=before, output_pixel_offsets=after)
            assert_same_bits(found, expected)


def test_gradients_of_nearest_elements_take_the_lower_index() -> None:
    """So each gradient beside a middle goes to another element than the one that RESAMPLE1 took."""
    use: Any = {"interpolation_mode": "NEAREST_NEIGHBOR", "scales": 0.5}
    assert dml.resample1(np.arange(8, dtype=np.float32), output_sizes=4, **use).tolist() == [1, 3, 5, 7]
    found = dml.resample_grad(np.ones(4, np.float32), output_sizes=8, **use)
    assert found.tolist() == [1, 0, 1, 0, 1, 0, 1, 0]


def test_the_other_of_two_nearest_elements_fails() -> None:
    x = np.arange(8, dtype=np.float32)
    tensors: Any = {"input": dml.TensorDesc("FLOAT32", (8,)), "output": dml.TensorDesc("FLOAT32", (4,))}
    for new in (dml.desc.Resample, dml.desc.Resample1):
        desc = new(**tensors, interpolation_mode="NEAREST_NEIGHBOR", scales=0.5)
        testing.assert_result(desc, {"input": x}, x[1::2], bound="own")
        with pytest.raises(AssertionError, match="output"):
            testing.assert_result(desc, {"input": x}, x[::2], bound="own")


def test_rounding_directions() -> None:
    x = np.arange(4, dtype=np.float32)
    use: Any = {"output_sizes": 8, "interpolation_mode": "NEAREST_NEIGHBOR", "scales": 2.0}
    down = dml.resample2(x, rounding_direction="DECREASING", **use, **CORNERS)
    up = dml.resample2(x, rounding_direction="INCREASING", **use, **CORNERS)
    assert down.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert up.tolist() == [0, 1, 1, 2, 2, 3, 3, 3]
    gradient = np.ones(8, np.float32)
    backwards: Any = {"output_sizes": 4, "interpolation_mode": "NEAREST_NEIGHBOR", "scales": 2.0, **CORNERS}
    assert dml.resample_grad1(gradient, rounding_direction="INCREASING", **backwards).tolist() == [1, 2, 2, 3]


def test_antialiasing_is_that_of_onnx() -> None:
    """ONNX widens the filter of each scale below 1, RESAMPLE3 of those below a half."""
    resize = pytest.importorskip("onnx.reference.ops.op_resize")
    random = np.random.default_rng(4)
    for _ in range(40):
        size = int(random.integers(3, 40))
        count = int(random.integers(1, (size + 1) // 2))
        scale = np.float32(count / size).item()
        x = random.standard_normal((2, size)).astype(np.float32)
        expected = resize._interpolate_nd(
            x.astype(np.float64), lambda ratio, scale: resize._linear_coeffs_antialias(ratio, scale),
            scale_factors=[1.0, scale], output_size=[2, count], exclude_outside=False,
        )  # fmt: skip
        use: Any = {"output_sizes": (2, count), "interpolation_mode": "LINEAR", "scales": (1.0, scale)}
        found = dml.resample3(x, antialiased=True, **use)
        np.testing.assert_allclose(found, expected, atol=5e-5, err_msg=f"{size} {count}")
        assert_same_bits(dml.resample3(x, antialiased=False, **use), dml.resample1(x, **use))
    x = random.standard_normal(30).astype(np.float32)
    for mode, scale in (("LINEAR", 0.5), ("LINEAR", 0.75), ("NEAREST_NEIGHBOR", 0.25)):
        use = {"output_sizes": 9, "interpolation_mode": mode, "scales": scale}
        assert_same_bits(dml.resample3(x, antialiased=True, **use), dml.resample3(x, antialiased=False, **use))


def test_antialiasing_of_tiny_scales_is_a_mean_of_the_ends() -> None:
    """The ends are repeated without end, so they have nearly all the weight; the time is not that of their number."""
    x = np.array([1, 50, 50, 50, 3], np.float32)
    use: Any = {"interpolation_mode": "LINEAR", "antialiased": True}
    found = dml.resample3(x, output_sizes=1, scales=1e-30, input_pixel_offsets=0, output_pixel_offsets=0, **use)
    np.testing.assert_allclose(found, [2], rtol=1e-6)
    far = dml.resample3(x, output_sizes=3, scales=1e-38, output_pixel_offsets=-100.0, **use)
    assert np.isfinite(far).all()


@pytest.mark.parametrize("scale", [1.4e-45, 2.0**-100, 3e-30, 2.0**-53, 2.0**-25])
def test_antialiasing_ends_where_the_weight_is_0(scale: float) -> None:
    """The NaN and the infinity do not count where their weight is 0, and do however small it is."""
    x = np.array([1, np.nan, np.inf, -5, 3], np.float32)
    use: Any = {"interpolation_mode": "LINEAR", "antialiased": True, "rounding_direction": "DECREASING"}
    for before in (0.0, 1e16, -(2.0**25), 3e38):
        for after in (0.0, -1.0, 1.0, 1.5):
            places: Any = {"input_pixel_offsets": before, "output_pixel_offsets": after, "scales": scale}
            found = dml.resample3(x, output_sizes=4, **use, **places)
            tensors = dml.TensorDesc.from_array(x), dml.TensorDesc.from_array(found)
            desc = dml.desc.Resample3(input=tensors[0], output=tensors[1], **use, **places)
            testing.assert_result(desc, {"input": x}, found, bound="own")


def test_integers_lose_their_fractions() -> None:
    x = np.array([-1, 0, 1, 127, 127], np.int8)
    use: Any = {"output_sizes": 10, "interpolation_mode": "LINEAR", "scales": 2.0}
    for function in (dml.resample, dml.resample1, dml.resample2, dml.resample3):
        assert function(x, **use).tolist() == [-1, 0, 0, 0, 0, 32, 95, 127, 127, 127]
    constant = np.full((5, 7), 201, np.uint8)
    use = {"output_sizes": (11, 23), "interpolation_mode": "LINEAR", "scales": (2.3, 3.1)}
    assert (dml.resample(constant, **use) == 201).all()


def test_gradients_take_special_values() -> None:
    """An element that nothing is made of gets 0; NaN goes where it has weight; a sum of -0 is 0."""
    gradient = np.array([-0.0, np.nan, 1, np.inf, -np.inf], np.float32)
    found = dml.resample_grad(gradient, output_sizes=5, interpolation_mode="LINEAR", scales=1.0)
    np.testing.assert_array_equal(found, gradient)
    spread = dml.resample_grad(gradient, output_sizes=9, interpolation_mode="NEAREST_NEIGHBOR", scales=0.5,
                               input_pixel_offsets=0, output_pixel_offsets=0)  # fmt: skip
    np.testing.assert_array_equal(spread, [0, 0, np.nan, 0, 1, 0, np.inf, 0, -np.inf])
    assert not np.signbit(spread[:2]).any()


def test_gradients_and_filters_take_little_memory() -> None:
    x = np.ones((4, 1024, 1024), np.float32)
    calls: list[Any] = [
        lambda: dml.resample_grad(x, output_sizes=(4, 512, 512), interpolation_mode="LINEAR", scales=(1, 2, 2)),
        lambda: dml.resample3(
            x, output_sizes=(4, 64, 64), interpolation_mode="LINEAR", scales=(1, 1 / 16, 1 / 16), antialiased=True
        ),
    ]
    for number, call in enumerate(calls):
        tracemalloc.start()
        try:
            found = call()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        np.testing.assert_allclose(found.mean(), (4, 1)[number], rtol=1e-5)
        assert peak < found.nbytes + (32 << 20), f"{peak / 2**20:.0f} MB"


def test_one_number_does_not_scale_all_axes() -> None:
    """As the scale factor of other libraries, it is meant for some axes only."""
    x, mode = np.ones((1, 3, 2, 2), np.float32), dml.InterpolationMode.NEAREST_NEIGHBOR
    operators: list[Any] = [dml.resample, dml.resample1, dml.resample2, dml.resample3]
    for function in operators:
        name = f"DML-{function.__name__.upper()}-scales-length"
        for number in (2, 2.5, np.float32(2), np.array(2.0)):
            with pytest.raises(dml.InvalidDescError, match=r"scales .* and needs 4, one for each axis") as refused:
                function(x, output_sizes=(1, 3, 4, 4), interpolation_mode=mode, scales=number)
            assert refused.value.id == name
        with pytest.raises(dml.InvalidDescError, match=r"scales is one number .*\(1, 1, 2, 2\) doubles the last two"):
            function(x, output_sizes=(1, 3, 4, 4), interpolation_mode=mode, scales=2)
        assert function(x, output_sizes=(1, 3, 4, 4), interpolation_mode=mode, scales=(1, 1, 2, 2)).all()
    line = dml.resample2(np.ones(3, np.float32), output_sizes=(6,), interpolation_mode="LINEAR", scales=2)
    assert line.shape == (6,)
    tensors = dml.TensorDesc("FLOAT32", (1, 3, 2, 2)), dml.TensorDesc("FLOAT32", (1, 3, 4, 4))
    desc = dml.desc.Resample2(
        input=tensors[0], output=tensors[1], interpolation_mode=mode, rounding_direction="DECREASING", scales=2
    )
    assert [one.id for one in dml.check(desc)] == ["DML-RESAMPLE2-scales-length"]
