"""Properties of region_sample: loops over the pseudocode, ONNX Runtime and autograd give the same; memory."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from checks import assert_defined

import dmlcy as dml
from dmlcy import testing
from dmlcy._families.region_sample import gradients

Array = np.ndarray[Any, Any]
single = np.float32


def place_of(sample: int, total: int, first: float, last: float, use: dict[str, Any]) -> float:
    """Where a sample is, as the pseudocode of ROI_ALIGN1 says."""
    length = single(last) - single(first)
    if use["align_regions_to_corners"]:
        way = sample / (total - 1) if total > 1 else 0.5
    else:
        way = (sample - use["output_pixel_offset"]) / total
    return float(length * way + first - use["input_pixel_offset"])


def interpolated(image: Array, y: float, x: float, mode: str) -> float | None:
    """A sample of an image; None outside it."""
    sizes = image.shape
    if not all(-1 <= p <= n for p, n in zip((y, x), sizes, strict=True)):
        return None
    places = [min(max(p, 0.0), n - 1) for p, n in zip((y, x), sizes, strict=True)]
    if mode == "NEAREST_NEIGHBOR":
        return float(image[*(math.ceil(p - 0.5) for p in places)])
    total = 0.0
    for row, column in itertools.product(*((math.floor(p), math.ceil(p)) for p in places)):
        height = 1 - abs(places[0] - row) if math.floor(places[0]) != math.ceil(places[0]) else 0.5
        width = 1 - abs(places[1] - column) if math.floor(places[1]) != math.ceil(places[1]) else 0.5
        total += height * width * float(image[row, column])
    return total


def samples_of(x: Array, roi: Array, item: int, cells: tuple[int, int], use: dict[str, Any]) -> Any:
    """For each cell of a region and each channel the samples, row by row, None outside the input."""
    (x1, y1, x2, y2), scales = roi.tolist(), (use["spatial_scale_x"], use["spatial_scale_y"])
    ends = [(y1 * scales[1], y2 * scales[1]), (x1 * scales[0], x2 * scales[0])]
    low, high = use["minimum_samples_per_output"], use["maximum_samples_per_output"]
    each = [min(max(math.ceil((b - a) / n), low), high) for (a, b), n in zip(ends, cells, strict=True)]
    for channel, oy, ox in np.ndindex(x.shape[1], *cells):
        found = []
        for j, i in np.ndindex(*each):
            y, column = (
                place_of(o * n + k, n * count, *one, use)
                for o, n, k, count, one in zip((oy, ox), each, (j, i), cells, ends, strict=True)
            )
            found.append(((y, column), interpolated(x[item, channel], y, column, use["interpolation_mode"])))
        yield (channel, oy, ox), found


def by_loops(x: Array, roi: Array, items: Array, cells: tuple[int, int], use: dict[str, Any]) -> Array:
    outside = use["out_of_bounds_input_value"]
    result = np.empty((len(roi), x.shape[1], *cells))
    for r in range(len(roi)):
        for at, found in samples_of(x, roi[r], int(items[r]), cells, use):
            values = [outside if value is None else value for _, value in found]
            result[r, *at] = max(values) if use["reduction_function"] == "MAX" else sum(values) / len(values)
    return result


def random_use(random: np.random.Generator) -> dict[str, Any]:
    low = int(random.integers(1, 4))
    return {
        "reduction_function": random.choice(["MAX", "AVERAGE"]).item(),
        "interpolation_mode": random.choice(["NEAREST_NEIGHBOR", "LINEAR"]).item(),
        "spatial_scale_x": random.choice([0.5, 1.0, 2.0]).item(),
        "spatial_scale_y": random.choice([0.25, 1.0]).item(),
        "input_pixel_offset": random.choice([0.0, 0.5, 0.25]).item(),
        "output_pixel_offset": random.choice([0.0, -0.5]).item(),
        "minimum_samples_per_output": low,
        "maximum_samples_per_output": low + int(random.integers(0, 4)),
        "align_regions_to_corners": bool(random.integers(2)),
    }


def random_regions(random: np.random.Generator, count: int, step: float) -> Array:
    """Corners in any order, inside an image of some elements and beyond it."""
    return (random.integers(-6, 24, (count, 4)) * step).astype(np.float32)


def test_loops_over_the_pseudocode_give_the_same() -> None:
    random = np.random.default_rng(1)
    outside = older = 0
    for number in range(60):
        x = random.standard_normal(random.integers(1, 7, 4)).astype(np.float32)
        roi = random_regions(random, 3, 0.375)
        items = random.integers(0, len(x), 3).astype(("u4", "u8")[number % 2])
        cells = int(random.integers(1, 4)), int(random.integers(1, 4))
        use: dict[str, Any] = random_use(random) | {"interpolation_mode": "LINEAR"}
        use["out_of_bounds_input_value"] = float(random.integers(-2, 3))
        expected = by_loops(x, roi, items, cells, use)
        found = dml.roi_align1(x, roi, items, output_sizes=cells, **use)
        outside += int((expected == use["out_of_bounds_input_value"]).sum())
        np.testing.assert_allclose(found, expected, atol=2e-5, err_msg=str(use))
        plain = {"input_pixel_offset": 0.5, "output_pixel_offset": -0.5, "align_regions_to_corners": False}
        if plain.items() <= use.items():
            older += 1
            rest = {name: value for name, value in use.items() if name not in plain}
            np.testing.assert_array_equal(dml.roi_align(x, roi, items, output_sizes=cells, **rest), found)
    assert older
    assert outside > 20


def test_nearest_elements_of_places_that_are_exact() -> None:
    """Cells of powers of two, so that each place is a number of FLOAT32; many are in the middle between elements."""
    random = np.random.default_rng(2)
    for _ in range(60):
        x = random.standard_normal((2, 2, 6, 5)).astype(np.float32)
        cells = int(random.choice([1, 2, 4])), int(random.choice([1, 2, 4]))
        roi = random_regions(random, 3, 0.5)
        use = random_use(random) | {"interpolation_mode": "NEAREST_NEIGHBOR", "out_of_bounds_input_value": 0.5}
        use |= {"minimum_samples_per_output": 2, "maximum_samples_per_output": 2, "align_regions_to_corners": False}
        items = random.integers(0, 2, 3).astype(np.uint32)
        found = dml.roi_align1(x, roi, items, output_sizes=cells, **use)
        np.testing.assert_allclose(found, by_loops(x, roi, items, cells, use), atol=1e-6)


def test_onnx_runtime_gives_the_same() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    random = np.random.default_rng(3)
    kinds = {"x": (1, 4), "roi": (1, 2), "items": (7, 1)}
    inputs = [helper.make_tensor_value_info(name, kind, [None] * rank) for name, (kind, rank) in kinds.items()]
    for number in range(12):
        samples, scale = (0, 2, 3)[number % 3], (1.0, 0.5)[number % 2]
        attributes = {"output_height": 3, "output_width": 2, "sampling_ratio": samples, "spatial_scale": scale}
        node = helper.make_node(
            "RoiAlign", ["x", "roi", "items"], ["y"], coordinate_transformation_mode="half_pixel", **attributes
        )
        graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", 1, [None] * 4)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        x = random.standard_normal((2, 3, 9, 8)).astype(np.float32)
        roi = np.sort(random.uniform(-3, 22, (5, 2, 2)), axis=1).reshape(5, 4).astype(np.float32)
        items = random.integers(0, 2, 5)
        (expected,) = session.run(None, {"x": x, "roi": roi, "items": items})
        found = dml.roi_align1(
            x, roi, items.astype(np.uint32), output_sizes=(3, 2), reduction_function="AVERAGE",
            interpolation_mode="LINEAR", spatial_scale_x=scale, spatial_scale_y=scale,
            minimum_samples_per_output=samples or 1, maximum_samples_per_output=samples or 2**32 - 1,
        )  # fmt: skip
        np.testing.assert_allclose(found, expected, atol=2e-5)


def test_empty_and_inverted_regions() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    item = np.zeros(1, np.uint32)
    use: dict[str, Any] = {
        "reduction_function": "AVERAGE",
        "interpolation_mode": "LINEAR",
        "maximum_samples_per_output": 1,
    }
    regions = [np.array([corners], np.float32) for corners in ((1, 1, 3, 3), (3, 1, 1, 3), (3, 3, 1, 1), (2, 2, 2, 2))]
    plain, mirrored, turned, empty = (dml.roi_align1(x, roi, item, output_sizes=(2, 2), **use)[0, 0] for roi in regions)
    np.testing.assert_array_equal(mirrored, plain[:, ::-1])
    np.testing.assert_array_equal(turned, plain[::-1, ::-1])
    assert (empty == 7.5).all()


def test_regions_far_outside_take_no_time() -> None:
    """All samples are outside the input: of any number of them, and where coordinates are infinite or NaN."""
    x = np.ones((1, 1, 3, 3), np.float32)
    item = np.zeros(1, np.uint32)
    corners: Any
    for corners in ((5, 5, 1e30, 1e30), (-3e38, 0, 3e38, 3), (np.nan, 0, 1, 1), (-np.inf, 0, np.inf, 1)):
        modes: list[Any] = ["LINEAR", "NEAREST_NEIGHBOR"]
        functions: list[Any] = ["AVERAGE", "MAX"]
        for reduction, mode in itertools.product(functions, modes):
            found = dml.roi_align(
                x, np.array([corners], np.float32), item, output_sizes=(2, 2), reduction_function=reduction,
                interpolation_mode=mode, maximum_samples_per_output=2**32 - 1, out_of_bounds_input_value=-7.0,
            )  # fmt: skip
            assert (found == -7).all(), (corners, reduction, mode)
    wide = np.array([[-1e6, 0, 1e6, 3]], np.float32)
    found = dml.roi_align(
        x, wide, item, output_sizes=(1, 1), reduction_function="MAX", interpolation_mode="LINEAR",
        maximum_samples_per_output=2**32 - 1,
    )  # fmt: skip
    assert found.item() == 1


def test_special_values() -> None:
    """NaN loses to numbers in a maximum; what has no weight does not count; a sample outside has the value outside."""
    x = np.array([[[[1, np.nan, np.inf, -2]]]], np.float32)
    item = np.zeros(1, np.uint32)

    def of(corners: Any, cells: int, reduction: Any, samples: int = 1) -> list[float]:
        roi = np.array([[corners[0], 0, corners[1], 1]], np.float32)
        found: list[float] = dml.roi_align(
            x, roi, item, output_sizes=(1, cells), reduction_function=reduction, interpolation_mode="LINEAR",
            minimum_samples_per_output=samples, maximum_samples_per_output=samples, out_of_bounds_input_value=np.inf,
        )[0, 0, 0].tolist()  # fmt: skip
        return found

    np.testing.assert_equal(of((0, 4), 4, "AVERAGE"), [1, np.nan, np.inf, -2])
    np.testing.assert_equal(of((0, 4), 2, "MAX", 2), [1, np.inf])
    assert math.isnan(of((0.5, 1.5), 1, "MAX")[0])
    assert of((10, 12), 1, "MAX") == of((10, 12), 1, "AVERAGE") == [np.inf]


def test_an_item_that_does_not_exist_is_refused() -> None:
    x, roi = np.ones((2, 1, 3, 3), np.float32), np.zeros((3, 4), np.float32)
    out = np.full((3, 1, 1, 1), 7, np.float32)
    use: Any = {"reduction_function": "MAX", "interpolation_mode": "LINEAR", "maximum_samples_per_output": 1}
    with pytest.raises(dml.InvalidDataError, match=r"batch_indices\[2\].*DML-ROI_ALIGN-batch_indices-inside"):
        dml.roi_align(x, roi, np.array([0, 1, 2], np.uint32), out=out, output_sizes=(1, 1), **use)
    assert (out == 7).all()
    backwards: Any = {**use, "reduction_function": "AVERAGE", "output_gradient": True, "output_gradient_sizes": x.shape}
    with pytest.raises(dml.InvalidDataError, match=r"batch_indices\[1\].*DML-ROI_ALIGN_GRAD-batch_indices-inside"):
        dml.roi_align_grad(None, out, roi, np.array([0, 9, 1], np.uint32), **backwards)


def test_a_compiled_gradient_refuses_an_item_that_does_not_exist() -> None:
    """The batch size is that of an output, whether the call gives an array for it or not; nothing is written."""
    gradient, roi = np.ones((3, 1, 1, 1), np.float32), np.zeros((3, 4), np.float32)
    compiled: Any = dml.compile(
        dml.desc.RoiAlignGrad(
            input=None, input_gradient=dml.TensorDesc("FLOAT32", [3, 1, 1, 1]),
            roi=dml.TensorDesc("FLOAT32", [3, 4]), batch_indices=dml.TensorDesc("UINT32", [3]),
            output_gradient=dml.TensorDesc("FLOAT32", [2, 1, 3, 3]), reduction_function="AVERAGE",
            interpolation_mode="LINEAR", maximum_samples_per_output=1,
        )
    )  # fmt: skip
    for out in (None, np.full((2, 1, 3, 3), 7, np.float32)):
        with pytest.raises(dml.InvalidDataError, match=r"batch_indices\[2\] = 2 must be < N = 2"):
            compiled(None, gradient, roi, np.array([0, 1, 2], np.uint32), out=out)
        assert out is None or (out == 7).all()


def test_large_inputs_take_little_memory() -> None:
    x = np.ones((1, 16, 512, 512), np.float32)
    roi = np.array([[0, 0, 512, 512], [100, 50, 400, 500]], np.float32)
    for reduction in ("AVERAGE", "MAX"):
        tracemalloc.start()
        try:
            found = dml.roi_align(
                x, roi, np.zeros(2, np.uint32), output_sizes=(7, 7), reduction_function=reduction,
                interpolation_mode="LINEAR", maximum_samples_per_output=2**32 - 1,
            )  # fmt: skip
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        np.testing.assert_allclose(found, 1, rtol=1e-6)
        assert peak < 32 << 20, f"{peak / 2**20:.0f} MB"


def differentiable(torch: Any, x: Any, roi: Any, items: Array, cells: tuple[int, int], use: dict[str, Any]) -> Any:
    """ROI_ALIGN1 with LINEAR as operations of PyTorch; samples outside are 0."""
    results = []
    scales = use["spatial_scale_x"], use["spatial_scale_y"]
    for r, item in enumerate(items.tolist()):
        axes = []
        for axis, (count, size) in enumerate(zip(cells, x.shape[2:], strict=True)):
            first, last = (roi[r, 1 - axis + k] * scales[1 - axis] for k in (0, 2))
            each = math.ceil(((last - first) / count).item())
            each = min(max(each, use["minimum_samples_per_output"]), use["maximum_samples_per_output"])
            number, total = torch.arange(count * each, dtype=torch.float64), count * each
            way = (number - use["output_pixel_offset"]) / total
            if use["align_regions_to_corners"]:
                way = number / (total - 1) if total > 1 else number + 0.5
            place = way * (last - first) + first - use["input_pixel_offset"]
            inside = (place >= -1) & (place <= size)
            place = place.clamp(0, size - 1)
            low = place.detach().floor().long()
            axes.append((each, inside, low, (low + 1).clamp(max=size - 1), place - low))
        (rows, in_rows, above, below, down), (columns, in_columns, before, behind, right) = axes
        image = x[item]
        lines = image[:, above] * (1 - down)[:, None] + image[:, below] * down[:, None]
        values = lines[:, :, before] * (1 - right) + lines[:, :, behind] * right
        values = torch.where(in_rows[:, None] & in_columns, values, torch.zeros((), dtype=values.dtype))
        values = values.reshape(-1, cells[0], rows, cells[1], columns)
        is_mean = use["reduction_function"] == "AVERAGE"
        results.append(values.mean((2, 4)) if is_mean else values.amax((2, 4)))
    return torch.stack(results)


def test_gradients_are_those_of_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the input and of the regions, of means and maxima, in parts of any size; and they are within the accuracy."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(5)
    moved = 0
    for number in range(36):
        monkeypatch.setattr(gradients, "RESULTS", (1 << 18, 1)[number % 2])
        x = random.standard_normal(random.integers(1, 7, 4)).astype(np.float32)
        roi = random.uniform(-2, 8, (3, 4)).astype(np.float32)
        items = random.integers(0, len(x), 3).astype(np.uint32)
        cells = int(random.integers(1, 4)), int(random.integers(1, 4))
        use: dict[str, Any] = random_use(random) | {"interpolation_mode": "LINEAR"}
        wide, corners = (torch.from_numpy(one.astype(np.float64)).requires_grad_() for one in (x, roi))
        forward = differentiable(torch, wide, corners, items, cells, use)
        np.testing.assert_allclose(
            dml.roi_align1(x, roi, items, output_sizes=cells, **use), forward.detach().numpy(), atol=2e-5
        )
        gradient = random.standard_normal(forward.shape).astype(np.float32)
        forward.backward(torch.from_numpy(gradient.astype(np.float64)))
        found, regions = dml.roi_align_grad(
            x,
            gradient,
            roi,
            items,
            output_gradient=True,
            output_gradient_sizes=x.shape,
            output_roi_gradient=True,
            **use,
        )
        np.testing.assert_allclose(found, wide.grad.numpy(), atol=2e-5)
        np.testing.assert_allclose(regions, corners.grad.numpy(), atol=1e-4)
        moved += bool(np.abs(regions).max() > 0.1)
        if number in (4, 19):
            arrays = {"input": x, "input_gradient": gradient, "roi": roi, "batch_indices": items}
            tensors: dict[str, Any] = {name: dml.TensorDesc.from_array(array) for name, array in arrays.items()}
            desc = dml.desc.RoiAlignGrad(
                **tensors,
                output_gradient=dml.TensorDesc("FLOAT32", x.shape),
                output_roi_gradient=dml.TensorDesc("FLOAT32", roi.shape),
                **use,
            )  # fmt: skip
            testing.assert_result(desc, arrays, (found, regions), bound="own")
    assert moved > 18


def test_gradients_of_nearest_elements() -> None:
    """The gradient is the transpose of the operator: of each element of the input, found by inputs with a single 1."""
    random = np.random.default_rng(6)
    for number in range(12):
        roi = random_regions(random, 3, 0.375)
        items = random.integers(0, 2, 3).astype(np.uint32)
        use = random_use(random) | {"interpolation_mode": "NEAREST_NEIGHBOR", "reduction_function": "AVERAGE"}
        gradient = random.standard_normal((3, 1, 2, 3)).astype(np.float32)
        found = dml.roi_align_grad(
            None, gradient, roi, items, output_gradient=True, output_gradient_sizes=(2, 1, 3, 4), **use
        )
        for at in np.ndindex(2, 1, 3, 4):
            x = np.zeros((2, 1, 3, 4), np.float32)
            x[at] = 1
            forward = dml.roi_align1(x, roi, items, output_sizes=(2, 3), **use)
            np.testing.assert_allclose(found[at], (forward * gradient).sum(), atol=1e-5, err_msg=str(number))
        regions = dml.roi_align_grad(
            np.ones((2, 1, 3, 4), np.float32),
            gradient,
            roi,
            items,
            output_gradient=False,
            output_roi_gradient=True,
            **use,
        )
        assert not regions.any()


def test_gradients_of_equal_samples_and_of_samples_outside() -> None:
    """The first of equal samples counts; where the 0 outside is the greatest, there is no gradient; NaN loses."""
    item, gradient = np.zeros(1, np.uint32), np.full((1, 1, 1, 1), 8, np.float32)
    use: Any = {"reduction_function": "MAX", "interpolation_mode": "LINEAR", "minimum_samples_per_output": 2,
                "maximum_samples_per_output": 2}  # fmt: skip

    def of(row: list[float], start: float, end: float) -> list[float]:
        x = np.array([[[row]]], np.float32)
        roi = np.array([[start, 0, end, 1]], np.float32)
        found: list[float] = dml.roi_align_grad(
            x, gradient, roi, item, output_gradient=True, output_gradient_sizes=x.shape, **use
        )[0, 0, 0].tolist()
        return found

    assert of([3, 3], 0, 2) == [8, 0]
    assert of([3, 5], 0, 2) == [0, 8]
    assert of([np.nan, -5], 0, 2) == [0, 8]
    assert of([np.nan, np.nan], 0, 2) == [8, 0]
    assert of([-1, -2], 0, 20) == [0, 0]
    assert of([-1, 2], 0.5, 30.5) == [0, 0]
    assert of([4, 4], -20, 2) == [0, 0]
    assert of([4, 6], -4, 4) == [0, 8]


def test_gradients_of_large_inputs_take_little_memory() -> None:
    x = np.ones((1, 16, 512, 512), np.float32)
    roi = np.array([[0, 0, 512, 512], [100, 50, 400, 500]], np.float32)
    gradient = np.ones((2, 16, 7, 7), np.float32)
    for reduction in ("AVERAGE", "MAX"):
        tracemalloc.start()
        try:
            found = dml.roi_align_grad(
                x, gradient, roi, np.zeros(2, np.uint32), output_gradient=True, output_gradient_sizes=x.shape,
                interpolation_mode="LINEAR", maximum_samples_per_output=4,
                reduction_function=reduction,
            )  # fmt: skip
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        np.testing.assert_allclose(found.sum(), gradient.sum(), rtol=1e-5)
        assert peak < found.nbytes + (64 << 20), f"{peak / 2**20:.0f} MB"


@pytest.mark.parametrize("reduction", ["AVERAGE", "MAX"])
def test_regions_get_nothing_from_the_nearest_elements(reduction: Any) -> None:
    """Not from infinite gradients either, by the loops, the reference, and the definition that tests compare with."""
    x, roi, items = np.ones((1, 1, 2, 2), np.float32), np.array([[0, 0, 2, 2]], np.float32), np.zeros(1, np.uint32)
    gradient = np.array([[[[np.inf, np.nan], [1, -np.inf]]]], np.float32)
    desc = dml.desc.RoiAlignGrad(
        **{
            name: dml.TensorDesc.from_array(one)
            for name, one in {"input": x, "input_gradient": gradient, "roi": roi, "batch_indices": items}.items()
        },
        output_roi_gradient=dml.TensorDesc.from_array(roi), reduction_function=reduction,
        interpolation_mode="NEAREST_NEIGHBOR", maximum_samples_per_output=1, minimum_samples_per_output=1,
        spatial_scale_x=1.0, spatial_scale_y=1.0, input_pixel_offset=0.5, output_pixel_offset=-0.5,
        align_regions_to_corners=False,
    )  # fmt: skip
    for path in (None, "reference"):
        found = dml.compile(desc, path=path)(x, gradient, roi, items)
        assert found.tobytes() == np.zeros_like(roi).tobytes()
        assert_defined(found, desc, {"input": x, "input_gradient": gradient, "roi": roi, "batch_indices": items})
