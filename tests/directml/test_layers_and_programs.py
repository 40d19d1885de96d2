"""Functions with truths of their own, and random programs in both APIs beside the functions of dmlcy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from depth import seeds_of
from each import each_of

import dmlcy
from dmlcy import directml as d

Array = np.ndarray[Any, Any]
F32 = np.float32
KINDS = ("float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def computed(outputs: Any, arrays: dict[d.Expression, Array]) -> list[Array]:
    """The outputs of the graph of these inputs."""
    graph: Any = next(iter(arrays))._builder
    return list(graph.compile(outputs)(arrays))


@each_of("kind", KINDS)
def test_filled(kind: str) -> None:
    graph = d.Graph(d.Device())
    constant = d.fill_value_constant(graph, sizes=[2, 3], value=3, dtype=kind)
    asked = [constant]
    if kind != "float64":
        asked.append(d.fill_value_sequence(graph, sizes=[2, 3], value_start=1, value_delta=2, dtype=kind))
    found = graph.compile(asked)()
    assert all(one.dtype == kind for one in found) and found[0].tolist() == [[3, 3, 3], [3, 3, 3]]
    assert len(found) == 1 or found[1].tolist() == [[1, 3, 5], [7, 9, 11]]


def test_a_gated_layer() -> None:
    """Both outputs and each alone; linear_before_reset as PyTorch has it."""
    random = np.random.default_rng(5)
    x, w, r = (random.standard_normal(sizes).astype(F32) for sizes in ((1, 5, 2, 3), (1, 1, 12, 3), (1, 1, 12, 4)))
    h, steps = np.zeros((2, 4), F32), []
    for step in x[0]:
        of_x, of_h = np.split(step @ w[0, 0].T, 3, 1), np.split(h @ r[0, 0].T, 3, 1)
        z, reset = (1 / (1 + np.exp(-(of_x[k] + of_h[k]))) for k in range(2))
        h = (1 - z) * np.tanh(of_x[2] + reset * of_h[2]) + z * h
        steps.append(h)
    activations = [d.FusedActivation.sigmoid(), d.FusedActivation.tanh()]
    for options in d.GRUOutputOptions:
        graph = d.Graph(d.Device())
        tensors = [graph.input(one.shape) for one in (x, w, r)]
        layer = d.gru(*tensors, activation_descs=activations, output_options=options)
        assert (layer.sequence is None, layer.single is None) == (options.name == "Single", options.name == "Sequence")
        found = computed([one for one in layer if one is not None], dict(zip(tensors, (x, w, r), strict=True)))
        expected = {"Both": [np.stack(steps), h], "Sequence": [np.stack(steps)], "Single": [h]}[options.name]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.reshape(other.shape), other, rtol=1e-5, atol=1e-6)


REGIONS: dict[str, Any] = {
    "reduction_function": d.ReduceFunction.AVERAGE, "interpolation_mode": d.InterpolationMode.LINEAR,
    "spatial_scale_x": 1.0, "spatial_scale_y": 1.0, "input_pixel_offset": 0.5, "output_pixel_offset": -0.5,
    "minimum_samples_per_output": 1, "maximum_samples_per_output": 1, "align_regions_to_corners": False,
}  # fmt: skip


def sampled(x: Array, regions: Array, height: int, width: int) -> Array:
    """One bilinear sample in the middle of each tile."""
    found = np.zeros((len(regions), x.shape[1], height, width))
    for number, (left, top, right, bottom) in enumerate(regions.astype(float)):
        for row in range(height):
            for column in range(width):
                y = top + (row + 0.5) * (bottom - top) / height - 0.5
                z = left + (column + 0.5) * (right - left) / width - 0.5
                y0, z0 = int(y), int(z)
                fy, fz = y - y0, z - z0
                four = x[0, :, y0 : y0 + 2, z0 : z0 + 2]
                weights = np.outer([1 - fy, fy], [1 - fz, fz])
                found[number, :, row, column] = (four * weights).sum((1, 2))
    return found


def test_regions() -> None:
    random = np.random.default_rng(3)
    x, g = random.standard_normal((1, 2, 8, 8)).astype(F32), random.standard_normal((2, 2, 2, 3)).astype(F32)
    roi, batches = np.array([[1, 1, 6.2, 5], [2.1, 1.5, 7, 6]], F32), np.zeros(2, np.uint32)
    graph = d.Graph(d.Device())
    tensors = {graph.input(one.shape, one.dtype): one for one in (x, g, roi, batches)}
    image, gradient, regions, of = tensors
    pooled = d.roi_align(image, regions, of, **REGIONS, out_of_bounds_input_value=0.0, output_height=2, output_width=3)
    size: dict[str, Any] = {"batch_size": 1, "image_height": 8, "image_width": 8}
    back = d.roi_align_grad(gradient, regions, of, **REGIONS, **size)
    both = d.roi_align_grad(gradient, regions, of, image, **REGIONS, **size, compute_output_roi_gradient=True)
    alone = d.roi_align_grad(
        gradient, regions, of, image, **REGIONS, **size, compute_output_gradient=False, compute_output_roi_gradient=True
    )
    assert back.roi_gradient is None and alone.gradient is None
    found, of_image, same, of_regions, again = computed(
        [pooled, back.gradient, both.gradient, both.roi_gradient, alone.roi_gradient], tensors
    )
    np.testing.assert_allclose(found, sampled(x, roi, 2, 3), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose((found * g).sum(), (x * of_image).sum(), rtol=1e-4)  # one is the adjoint of the other
    assert same.tobytes() == of_image.tobytes() and again.tobytes() == of_regions.tobytes()
    step = 1e-3
    for place in np.ndindex(*roi.shape):
        ends = [
            sampled(x, roi + sign * step * np.equal(place, np.indices(roi.shape).T).all(2).T, 2, 3) for sign in (1, -1)
        ]
        np.testing.assert_allclose(
            of_regions[place], ((ends[0] - ends[1]) * g).sum() / (2 * step), rtol=2e-3, atol=2e-3
        )


def test_random_numbers() -> None:
    """tests/operators holds those of dmlcy against the published ones."""
    state = np.arange(1, 7, dtype=np.uint32).reshape(1, 1, 1, 6)
    graph = d.Graph(d.Device())
    given = graph.input(state.shape, np.uint32)
    both, alone = (d.random_generator(given, output_sizes=[2, 5], output_state=one) for one in (True, False))
    assert alone.state is None
    values, after, same = computed([both.values, both.state, alone.values], {given: state})
    expected = dmlcy.random_generator(state, output_sizes=(2, 5), output_state=True)
    assert values.tolist() == expected[0].tolist() == same.tolist() and after.tolist() == expected[1].tolist()


Step = Callable[[Any, Any], Any]


def both(step: Step, of_arrays: Step) -> tuple[Step, Step, Step]:
    """A step that is the same in both APIs."""
    return step, of_arrays, of_arrays


# Steps with two operands: of expressions, and of arrays by the functions of dmlcy, for the older API and for the newer.
STEPS: list[tuple[Step, Step, Step]] = [
    (lambda a, b: a + b, dmlcy.element_wise_add, dmlcy.element_wise_add1),
    (lambda a, b: a - b, dmlcy.element_wise_subtract, dmlcy.element_wise_subtract),
    (lambda a, b: a * b, dmlcy.element_wise_multiply, dmlcy.element_wise_multiply),
    (lambda a, b: a / b, dmlcy.element_wise_divide, dmlcy.element_wise_divide),
    (lambda a, b: a % b, dmlcy.element_wise_modulus_truncate, dmlcy.element_wise_modulus_floor),
    both(lambda a, b: -a, lambda a, b: dmlcy.element_wise_negate(a)),
    both(lambda a, b: 2.5 - a, lambda a, b: dmlcy.element_wise_identity(a, scale_bias=(-1, 2.5))),
    both(lambda a, b: a / 3, lambda a, b: dmlcy.element_wise_identity(a, scale_bias=(1 / 3, 0))),
    (lambda a, b: 2 / a, lambda a, b: dmlcy.element_wise_recip(a, scale_bias=(2, 0)),
     lambda a, b: dmlcy.element_wise_identity(dmlcy.element_wise_recip(a, scale_bias=(1, 0)), scale_bias=(2, 0))),
    both(lambda a, b: d.add(a, b, fused_activation=d.FusedActivation.relu()),
     lambda a, b: dmlcy.element_wise_add1(a, b, fused_activation=dmlcy.desc.ActivationRelu())),
    (d.gemm, dmlcy.gemm, dmlcy.gemm),
    both(lambda a, b: d.activation_softmax(a, axes=[2]), lambda a, b: dmlcy.activation_softmax1(a, axes=(2,))),
    both(lambda a, b: d.reinterpret(d.activation_identity(a), d.TensorDataType.FLOAT32, [1, 1, 4, 4], [16, 16, 1, 4]),
     lambda a, b: a.swapaxes(2, 3)),
    both(lambda a, b: d.max_pooling(a, window_sizes=[1, 1]).values,
     lambda a, b: dmlcy.max_pooling2(a, window_size=1)),
    both(lambda a, b: d.slice(d.join([a, b], axis=3), input_window_offsets=[0, 0, 0, 2],
                              input_window_sizes=[1, 1, 4, 4], input_window_strides=[1, 1, 1, 1]),
         lambda a, b: np.concatenate([a, b], 3)[..., 2:6]),
]  # fmt: skip


def program(random: np.random.Generator, a: Any, b: Any, newer: bool) -> tuple[list[Any], list[Array]]:
    """The values of a random program, as expressions beside ``a`` and as arrays beside ``b``."""
    expressions, arrays = list(a), list(b)
    for _ in range(8):
        step, places = STEPS[random.integers(len(STEPS))], random.integers(len(arrays), size=2)
        expressions.append(step[0](*(expressions[place] for place in places)))
        arrays.append(np.ascontiguousarray(step[1 + newer](*(arrays[place] for place in places))))
    return expressions, arrays


@seeds_of(12)
def test_random_programs_give_the_bits_of_the_operators(seeds: range) -> None:
    """In both APIs, in turn."""
    device = d.Device()
    for seed in seeds:
        random = np.random.default_rng(seed)
        for number in range(12):
            values = [random.uniform(0.5, 2, (1, 1, 4, 4)).astype(F32) for _ in range(2)]
            with np.errstate(all="ignore"):
                found, expected = results(random, device, values, newer=bool(number % 2))
            for one, other in zip(found, expected, strict=True):
                assert np.asarray(one).tobytes() == other.tobytes()


def results(
    random: np.random.Generator, device: d.Device, values: list[Array], newer: bool
) -> tuple[list[Any], list[Array]]:
    """The results of a random program, and the results of the functions of dmlcy."""
    if newer:
        graph = d.Graph(device)
        inputs = [graph.input([1, 1, 4, 4]) for _ in values]
        expressions, arrays = program(random, inputs, values, newer)
        return graph.compile(expressions)(dict(zip(inputs, values, strict=True))), arrays
    builder = d.GraphBuilder(device)
    desc = d.TensorDesc(d.TensorDataType.FLOAT32, [1, 1, 4, 4])
    inputs = [d.input_tensor(builder, place, desc) for place in range(2)]
    expressions, arrays = program(random, inputs, values, newer)
    model = builder.build(d.ExecutionFlags.NONE, expressions)
    found = device.compute(model, [d.Binding(*pair) for pair in zip(inputs, values, strict=True)], expressions)
    return list(found), arrays
