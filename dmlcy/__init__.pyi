# Generated from specs/ by python -m codegen gen.
"""The public API of dmlcy."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import Buffer

from dmlcy import desc, specs
from dmlcy._errors import (
    DmlError,
    FeatureLevelError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidDescError,
    ModelError,
    Violation,
)
from dmlcy._generated.enums import (
    AxisDirection,
    ConvolutionDirection,
    ConvolutionMode,
    DepthSpaceOrder,
    FeatureLevel,
    InterpolationMode,
    IsInfinityMode,
    MatrixTransform,
    MultiheadAttentionMaskType,
    PaddingMode,
    QuantizationType,
    RandomGeneratorType,
    RecurrentNetworkDirection,
    ReduceFunction,
    RoundingMode,
    TensorDataType,
    TensorFlags,
    TensorType,
)
from dmlcy._minimum import LevelReason, MinimumLevel
from dmlcy._record import Export, RecordedCall, Recording
from dmlcy._support import SupportRow
from dmlcy._tensor_desc import TensorDesc
from dmlcy.desc import OperatorDesc as _OperatorDesc

__all__ = [
    "AxisDirection",
    "ConvolutionDirection",
    "ConvolutionMode",
    "DepthSpaceOrder",
    "DmlError",
    "Export",
    "FeatureLevel",
    "FeatureLevelError",
    "InterpolationMode",
    "InvalidDataError",
    "InvalidDataTypeError",
    "InvalidDescError",
    "IsInfinityMode",
    "LevelReason",
    "MatrixTransform",
    "MinimumLevel",
    "ModelError",
    "MultiheadAttentionMaskType",
    "PaddingMode",
    "QuantizationType",
    "RandomGeneratorType",
    "RecordedCall",
    "Recording",
    "RecurrentNetworkDirection",
    "ReduceFunction",
    "RoundingMode",
    "SupportRow",
    "TensorDataType",
    "TensorDesc",
    "TensorFlags",
    "TensorType",
    "Violation",
    "__version__",
    "average_pooling",
    "check",
    "compile",
    "current_level",
    "depth_to_space1",
    "desc",
    "feature_level",
    "get_num_threads",
    "minimum_feature_level",
    "padding1",
    "record",
    "roi_pooling",
    "set_num_threads",
    "specs",
    "support_table",
    "supports",
    "unfold",
]

__version__: str

class _SupportsArray(Protocol):
    def __array__(self) -> np.ndarray[Any, Any]: ...

class _SupportsDLPack(Protocol):
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

_Array: TypeAlias = Buffer | _SupportsArray | _SupportsDLPack
_Result: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_Out = TypeVar("_Out", bound=_Array)
_Int: TypeAlias = SupportsIndex
_Ints: TypeAlias = Sequence[SupportsIndex] | np.ndarray[Any, np.dtype[np.integer[Any]]]
_Bool: TypeAlias = bool | np.bool_
_Number: TypeAlias = float | SupportsIndex | np.floating[Any] | Fraction | Decimal
_DepthSpaceOrderName: TypeAlias = Literal[
    "DEPTH_COLUMN_ROW",
    "COLUMN_ROW_DEPTH",
]
_DepthSpaceOrder: TypeAlias = (
    DepthSpaceOrder
    | _DepthSpaceOrderName
    | Literal[
        "DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW",
        "DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH",
    ]
)
_FeatureLevelName: TypeAlias = Literal[
    "1_0",
    "2_0",
    "2_1",
    "3_0",
    "3_1",
    "4_0",
    "4_1",
    "5_0",
    "5_1",
    "5_2",
    "6_0",
    "6_1",
    "6_2",
    "6_3",
    "6_4",
]
_FeatureLevel: TypeAlias = (
    FeatureLevel
    | _FeatureLevelName
    | Literal[
        "DML_FEATURE_LEVEL_1_0",
        "DML_FEATURE_LEVEL_2_0",
        "DML_FEATURE_LEVEL_2_1",
        "DML_FEATURE_LEVEL_3_0",
        "DML_FEATURE_LEVEL_3_1",
        "DML_FEATURE_LEVEL_4_0",
        "DML_FEATURE_LEVEL_4_1",
        "DML_FEATURE_LEVEL_5_0",
        "DML_FEATURE_LEVEL_5_1",
        "DML_FEATURE_LEVEL_5_2",
        "DML_FEATURE_LEVEL_6_0",
        "DML_FEATURE_LEVEL_6_1",
        "DML_FEATURE_LEVEL_6_2",
        "DML_FEATURE_LEVEL_6_3",
        "DML_FEATURE_LEVEL_6_4",
    ]
)
_PaddingModeName: TypeAlias = Literal[
    "CONSTANT",
    "EDGE",
    "REFLECTION",
    "SYMMETRIC",
    "WRAP",
]
_PaddingMode: TypeAlias = (
    PaddingMode
    | _PaddingModeName
    | Literal[
        "DML_PADDING_MODE_CONSTANT",
        "DML_PADDING_MODE_EDGE",
        "DML_PADDING_MODE_REFLECTION",
        "DML_PADDING_MODE_SYMMETRIC",
        "DML_PADDING_MODE_WRAP",
    ]
)
_TensorDataTypeName: TypeAlias = Literal[
    "FLOAT32",
    "FLOAT16",
    "UINT32",
    "UINT16",
    "UINT8",
    "INT32",
    "INT16",
    "INT8",
    "FLOAT64",
    "UINT64",
    "INT64",
    "UINT4",
    "INT4",
]
_TensorDataType: TypeAlias = (
    TensorDataType
    | _TensorDataTypeName
    | Literal[
        "DML_TENSOR_DATA_TYPE_FLOAT32",
        "DML_TENSOR_DATA_TYPE_FLOAT16",
        "DML_TENSOR_DATA_TYPE_UINT32",
        "DML_TENSOR_DATA_TYPE_UINT16",
        "DML_TENSOR_DATA_TYPE_UINT8",
        "DML_TENSOR_DATA_TYPE_INT32",
        "DML_TENSOR_DATA_TYPE_INT16",
        "DML_TENSOR_DATA_TYPE_INT8",
        "DML_TENSOR_DATA_TYPE_FLOAT64",
        "DML_TENSOR_DATA_TYPE_UINT64",
        "DML_TENSOR_DATA_TYPE_INT64",
        "DML_TENSOR_DATA_TYPE_UINT4",
        "DML_TENSOR_DATA_TYPE_INT4",
    ]
)

class _Compiled(Protocol):
    @property
    def desc(self) -> _OperatorDesc: ...
    @overload
    def __call__(self, *inputs: _Array, out: None = None) -> _Result: ...
    @overload
    def __call__(self, *inputs: _Array, out: _Out) -> _Out: ...

def check(desc: _OperatorDesc, feature_level: _FeatureLevel | None = None) -> list[Violation]:
    """Every violation of a desc at a feature level, the one in force by default; empty when it is valid."""

def compile(desc: _OperatorDesc, feature_level: _FeatureLevel | None = None) -> _Compiled:
    """Checks a desc once, and returns a callable for tensors of just these sizes and data types."""

def minimum_feature_level(desc: _OperatorDesc) -> MinimumLevel:
    """The lowest feature level at which a desc is valid, with what forces it."""

def supports(
    operator: str,
    *,
    dtype: TensorDataType | str | np.dtype[Any] | type[np.generic] | None = None,
    rank: SupportsIndex | None = None,
    level: _FeatureLevel | None = None,
    tensor: str | None = None,
) -> bool:
    """Whether a feature level has an operator, with a data type and a number of dimensions."""

def support_table() -> tuple[SupportRow, ...]:
    """Every data type and number of dimensions of every tensor of every operator, with its first level."""

def feature_level(level: _FeatureLevel) -> AbstractContextManager[str]:
    """Everything inside the ``with`` block is checked at this feature level."""

def current_level() -> _FeatureLevelName:
    """The feature level in force."""

def record() -> Recording:
    """Everything that the ``with`` block calls is kept, to be exported as a model."""

def set_num_threads(n: SupportsIndex) -> None:
    """Sets how many threads an operator may use."""

def get_num_threads() -> int:
    """How many threads an operator may use."""

@overload
def average_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    include_padding: _Bool = False,
    out: None = None,
) -> _Result:
    """Average the elements of each position of a sliding window.

    Parameters
    ----------
    input : array_like, FLOAT32, FLOAT16; rank 4 to 5
        The tensor to pool, of sizes {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of spatial ints, at least 1
        Size of the window along each spatial axis.
    strides : int or sequence of spatial ints, at least 1, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of spatial ints, default 0
        Padding elements before each spatial axis.
    end_padding : int or sequence of spatial ints, default 0
        Padding elements after each spatial axis.
    include_padding : bool, default False
        Count padding elements in the divisor.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.

    Notes
    -----
    spatial = rank(input) - 2
        Number of spatial axes.
    padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]
        Size of each spatial axis after padding.
    extent[d] = window_size[d]
        Elements that the window spans along each spatial axis.
    pooled[d] = (padded[d] - extent[d]) // strides[d] + 1
        Positions of the window along each spatial axis.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type, rank, range, length), and

        ``DML-AVERAGE_POOLING-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    References
    ----------
    AVERAGE_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_average_pooling_operator_desc
    """

@overload
def average_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    include_padding: _Bool = False,
    out: _Out,
) -> _Out: ...
@overload
def depth_to_space1(
    input: _Array,
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    out: None = None,
) -> _Result:
    """Move channels into blocks of the spatial axes, in the order given.

    Parameters
    ----------
    input : array_like, FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8, FLOAT64, INT64, UINT64; rank 4
        Tensor of sizes {N, C, H, W}.
    block_size : int, at least 1
        Height and width of a block.
    order : DepthSpaceOrder, default 'DEPTH_COLUMN_ROW'
        How a block lies in the channels of the input: with the block first, or with the output channels first.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        Tensor whose blocks of BlockSize by BlockSize elements come from the channels of the input.
        Sizes ``[N, C // block, H * block_size, W * block_size]``.

    Notes
    -----
    N = sizes(input)[0]
        Batch size.
    C = sizes(input)[1]
        Channels of the input.
    H = sizes(input)[2]
        Height of the input.
    W = sizes(input)[3]
        Width of the input.
    block = block_size * block_size
        Elements of a block: input channels that one output channel takes.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type, rank, range, length), and

        ``DML-DEPTH_TO_SPACE1-block_size-divides``
            block_size does not divide the channels. Must hold:
            ``C % block == 0``

    References
    ----------
    DEPTH_TO_SPACE1, feature level 2_1:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_depth_to_space1_operator_desc
    """

@overload
def depth_to_space1(
    input: _Array,
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    out: _Out,
) -> _Out: ...
@overload
def padding1(
    input: _Array,
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
    out: None = None,
) -> _Result:
    """Pad each axis of a tensor with a value of the tensor's own data type, or by continuing the tensor.

    Parameters
    ----------
    input : array_like, FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, UINT8; rank 1 to 8
        The tensor to pad.
    start_padding : int or sequence of axes ints
        Elements added before each axis.
    end_padding : int or sequence of axes ints
        Elements added after each axis.
    padding_mode : PaddingMode, default 'CONSTANT'
        Where the elements outside the input come from.
    padding_value : a number of the data type of the tensors, default 0
        Value of the elements outside the input in mode CONSTANT; ignored in the other modes.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        The padded tensor.
        Sizes ``padded``.

    Notes
    -----
    axes = rank(input)
        Number of axes.
    padded[d] = sizes(input)[d] + start_padding[d] + end_padding[d]
        Size of each axis after padding.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type, rank, range, length).

    References
    ----------
    PADDING1, feature level 5_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_padding1_operator_desc
    """

@overload
def padding1(
    input: _Array,
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
    out: _Out,
) -> _Out: ...
@overload
def roi_pooling(
    input: _Array,
    roi: _Array,
    *,
    spatial_scale: _Number,
    pooled_size: _Int | tuple[_Int, _Int],
    out: None = None,
) -> _Result:
    """Divide each region of interest into a grid of bins and take the maximum of each bin.

    Parameters
    ----------
    input : array_like, FLOAT32, FLOAT16; rank 4
        Feature map of sizes {N, C, H, W}.
    roi : array_like, FLOAT32, FLOAT16; rank 4
        One row per region: batch index, then x1, y1, x2, y2, the corners inclusive, in units of 1 / SpatialScale
        elements.
    spatial_scale : float
        Factor from the coordinates of the regions to elements of the input.
    pooled_size : (height, width), or an int for both, 1 to 2147483647
        Bins along the height and the width of a region.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        The maximum of each bin of each region.
        Sizes ``[regions, C, pooled_size.Height, pooled_size.Width]``.

    Notes
    -----
    N = sizes(input)[0]
        Batch size.
    C = sizes(input)[1]
        Channels.
    regions = sizes(roi)[2]
        Number of regions.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError, InvalidDataError
        With every violation in ``.violations``: those of each field (data type, rank, range, length), and

        ``DML-ROI_POOLING-spatial_scale-positive``
            spatial_scale is not positive. Must hold:
            ``spatial_scale > 0``
        ``DML-ROI_POOLING-roi-finite``
            roi is not finite. Must hold for r in regions:
            ``all(isfinite(roi[0, 0, r, k]) for k in 5)``
        ``DML-ROI_POOLING-roi-batch``
            roi names a batch that does not exist. Must hold for r in regions:
            ``roi[0, 0, r, 0] == floor(roi[0, 0, r, 0]) and 0 <= roi[0, 0, r, 0] and roi[0, 0, r, 0] < N``
        ``DML-ROI_POOLING-roi-ordered``
            roi has its corners in the wrong order. Must hold for r in regions:
            ``roi[0, 0, r, 1] <= roi[0, 0, r, 3] and roi[0, 0, r, 2] <= roi[0, 0, r, 4]``

    References
    ----------
    ROI_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_roi_pooling_operator_desc
    """

@overload
def roi_pooling(
    input: _Array,
    roi: _Array,
    *,
    spatial_scale: _Number,
    pooled_size: _Int | tuple[_Int, _Int],
    out: _Out,
) -> _Out: ...
@overload
def unfold(
    input: _Array,
    *,
    window_sizes: _Int | _Ints,
    strides: _Int | _Ints = 1,
    dilations: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: None = None,
) -> _Result:
    """Copy each position of a sliding window into a column.

    Parameters
    ----------
    input : array_like, FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, UINT8; rank 3 to 8
        The image, of sizes {N, C, S...} with 1 to 6 spatial axes S.
    window_sizes : int or sequence of spatial ints, at least 1
        Size of the window along each spatial axis.
    strides : int or sequence of spatial ints, at least 1, default 1
        Step of the window along each spatial axis.
    dilations : int or sequence of spatial ints, at least 1, default 1
        Distance between the elements of a window along each spatial axis.
    start_padding : int or sequence of spatial ints, default 0
        Zeros before each spatial axis of the image.
    end_padding : int or sequence of spatial ints, default 0
        Zeros after each spatial axis of the image.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        One column per block and one row per channel and window element.
        Sizes ``[N, C * volume, prod(blocks)]``.

    Notes
    -----
    spatial = rank(input) - 2
        Number of spatial axes.
    image[d] = sizes(input)[2 + d]
        Size of the image along each spatial axis.
    padded[d] = image[d] + start_padding[d] + end_padding[d]
        Size of each spatial axis after padding.
    extent[d] = dilations[d] * (window_sizes[d] - 1) + 1
        Elements that the window spans along each spatial axis.
    blocks[d] = (padded[d] - extent[d]) // strides[d] + 1
        Positions of the window along each spatial axis.
    N = sizes(input)[0]
        Batch size.
    C = sizes(input)[1]
        Channels of the image.
    volume = prod(window_sizes)
        Elements of a window.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type, rank, range, length), and

        ``DML-UNFOLD-window_sizes-fits``
            window_sizes does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``
        ``DML-UNFOLD-output-dimensions``
            output has too many dimensions. Must hold:
            ``rank(output) <= rank(input)``

    References
    ----------
    UNFOLD, feature level 6_4:
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_unfold_operator_desc
    """

@overload
def unfold(
    input: _Array,
    *,
    window_sizes: _Int | _Ints,
    strides: _Int | _Ints = 1,
    dilations: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: _Out,
) -> _Out: ...
