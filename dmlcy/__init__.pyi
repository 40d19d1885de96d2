# Generated from specs/ by python -m codegen gen.
"""The public API of dmlcy."""

from typing import Any, Literal, overload

import numpy as np

from dmlcy import desc, specs
from dmlcy._check.support import SupportRow, support_table, supports
from dmlcy._desc.check import check
from dmlcy._desc.compile import compile
from dmlcy._desc.minimum import LevelReason, MinimumLevel, minimum_feature_level
from dmlcy._errors import (
    DmlError,
    FeatureLevelError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidDescError,
    ModelError,
    Violation,
)
from dmlcy._facts.levels import current_level, feature_level
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._generated.arguments import (
    _Array,
    _Bool,
    _DataType,
    _DepthSpaceOrder,
    _Int,
    _Ints,
    _Number,
    _Out,
    _Outs,
    _PaddingMode,
    _Result,
    _Scalar,
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
from dmlcy._record import Export, RecordedCall, Recording, record
from dmlcy._runtime.compiled import CompiledOperator
from dmlcy._runtime.threads import get_num_threads, set_num_threads

__all__ = [
    "AxisDirection",
    "CompiledOperator",
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
    "average_pooling1",
    "check",
    "compile",
    "current_level",
    "depth_to_space",
    "depth_to_space1",
    "desc",
    "feature_level",
    "fold",
    "get_num_threads",
    "lp_pooling",
    "lp_pooling1",
    "max_pooling",
    "max_pooling1",
    "max_pooling2",
    "minimum_feature_level",
    "padding",
    "padding1",
    "record",
    "roi_pooling",
    "set_num_threads",
    "space_to_depth",
    "space_to_depth1",
    "specs",
    "support_table",
    "supports",
    "unfold",
]

__version__: str

@overload
def average_pooling(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    include_padding: _Bool = False,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Average the elements in each sliding window (average pooling).

    Parameters
    ----------
    input : array
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}. Rank
        4 to 5; data type FLOAT32 or FLOAT16.
    window_size : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis. A sequence
        has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis. A sequence
        has ``spatial`` entries.
    include_padding : bool, default False
        Count padding elements in the divisor.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-AVERAGE_POOLING-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    See Also
    --------
    dmlcy.desc.AveragePooling : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = window_size[d]``
        Elements that the window spans along each spatial axis.
    ``pooled[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.

    References
    ----------
    AVERAGE_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_average_pooling_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
    >>> dml.average_pooling(x, window_size=(2, 2))
    array([[[[3., 4.],
             [6., 7.]]]], dtype=float32)
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
    out: None = None,
) -> _Result: ...
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
def average_pooling1(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    include_padding: _Bool = False,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Average the elements in each sliding window, with dilations (average
    pooling).

    Parameters
    ----------
    input : array
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}. Rank
        4 to 5; data type FLOAT32 or FLOAT16.
    window_size : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis. A sequence
        has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis. A sequence
        has ``spatial`` entries.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis. At
        least 1. A sequence has ``spatial`` entries.
    include_padding : bool, default False
        Count padding elements in the divisor.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-AVERAGE_POOLING1-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    See Also
    --------
    dmlcy.desc.AveragePooling1 : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = dilations[d] * (window_size[d] - 1) + 1``
        Elements that the window spans along each spatial axis.
    ``pooled[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.

    References
    ----------
    AVERAGE_POOLING1, feature level 6_2:
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_average_pooling1_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([[[[ 0,  1,  2,  3,  4],
    ...                 [10, 11, 12, 13, 14],
    ...                 [20, 21, 22, 23, 24]]]], dtype=np.float32)
    >>> dml.average_pooling1(x, window_size=(2, 2), dilations=(2, 2))
    array([[[[11., 12., 13.]]]], dtype=float32)
    """

@overload
def average_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    include_padding: _Bool = False,
    out: None = None,
) -> _Result: ...
@overload
def average_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    include_padding: _Bool = False,
    out: _Out,
) -> _Out: ...
@overload
def depth_to_space(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    block_size: _Int,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Move channels into blocks of height and width (pixel shuffle), the output
    channel varying fastest.

    Parameters
    ----------
    input : array
        The tensor whose channels are moved. Its sizes are {N, C, H, W}. Rank 4;
        data type FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8,
        FLOAT64, INT64 or UINT64.
    block_size : int
        Height and width of a block. At least 1.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The tensor whose blocks of BlockSize by BlockSize elements come from the
        channels of the input.
        Sizes ``[N, C // block, H * block_size, W * block_size]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-DEPTH_TO_SPACE-block_size-divides``
            block_size squared does not divide the channels. Must hold:
            ``C % block == 0``

    See Also
    --------
    dmlcy.desc.DepthToSpace : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels of the input.
    ``H = sizes(input)[2]``
        Height of the input.
    ``W = sizes(input)[3]``
        Width of the input.
    ``block = block_size * block_size``
        Elements of a block: the number of input channels that give one output
        channel.

    References
    ----------
    DEPTH_TO_SPACE, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_depth_to_space_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(1, 9, dtype=np.float32).reshape(1, 8, 1, 1)
    >>> dml.depth_to_space(x, block_size=2)
    array([[[[1., 3.],
             [5., 7.]],
            [[2., 4.],
             [6., 8.]]]], dtype=float32)
    """

@overload
def depth_to_space(
    input: _Array,
    *,
    block_size: _Int,
    out: None = None,
) -> _Result: ...
@overload
def depth_to_space(
    input: _Array,
    *,
    block_size: _Int,
    out: _Out,
) -> _Out: ...
@overload
def depth_to_space1(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Move channels into blocks of height and width (pixel shuffle), in one of two
    orders.

    Parameters
    ----------
    input : array
        The tensor whose channels are moved. Its sizes are {N, C, H, W}. Rank 4;
        data type FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8,
        FLOAT64, INT64 or UINT64.
    block_size : int
        Height and width of a block. At least 1.
    order : DepthSpaceOrder or its name, default 'DEPTH_COLUMN_ROW'
        How the channels of the input are arranged: the block first, or the
        output channels first. One of DEPTH_COLUMN_ROW or COLUMN_ROW_DEPTH.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The tensor whose blocks of BlockSize by BlockSize elements come from the
        channels of the input.
        Sizes ``[N, C // block, H * block_size, W * block_size]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-DEPTH_TO_SPACE1-block_size-divides``
            block_size squared does not divide the channels. Must hold:
            ``C % block == 0``

    See Also
    --------
    dmlcy.desc.DepthToSpace1 : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels of the input.
    ``H = sizes(input)[2]``
        Height of the input.
    ``W = sizes(input)[3]``
        Width of the input.
    ``block = block_size * block_size``
        Elements of a block: the number of input channels that give one output
        channel.

    References
    ----------
    DEPTH_TO_SPACE1, feature level 2_1:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_depth_to_space1_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([[[[ 0,  1,  2],
    ...                 [ 3,  4,  5]],
    ...                [[ 9, 10, 11],
    ...                 [12, 13, 14]],
    ...                [[18, 19, 20],
    ...                 [21, 22, 23]],
    ...                [[27, 28, 29],
    ...                 [30, 31, 32]],
    ...                [[36, 37, 38],
    ...                 [39, 40, 41]],
    ...                [[45, 46, 47],
    ...                 [48, 49, 50]],
    ...                [[54, 55, 56],
    ...                 [57, 58, 59]],
    ...                [[63, 64, 65],
    ...                 [66, 67, 68]]]], dtype=np.uint32)
    >>> dml.depth_to_space1(x, block_size=2, order="DEPTH_COLUMN_ROW")
    array([[[[ 0, 18,  1, 19,  2, 20],
             [36, 54, 37, 55, 38, 56],
             [ 3, 21,  4, 22,  5, 23],
             [39, 57, 40, 58, 41, 59]],
            [[ 9, 27, 10, 28, 11, 29],
             [45, 63, 46, 64, 47, 65],
             [12, 30, 13, 31, 14, 32],
             [48, 66, 49, 67, 50, 68]]]], dtype=uint32)
    """

@overload
def depth_to_space1(
    input: _Array,
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    out: None = None,
) -> _Result: ...
@overload
def depth_to_space1(
    input: _Array,
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    out: _Out,
) -> _Out: ...
@overload
def fold(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    output_sizes: _Int | _Ints,
    window_sizes: _Int | _Ints,
    strides: _Int | _Ints = 1,
    dilations: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Sum overlapping columns back into an image (col2im): the adjoint of UNFOLD.

    Parameters
    ----------
    input : array
        The columns: one column per position of the window (a block), and one
        row per channel and window element, as UNFOLD gives them. Rank 3; data
        type FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64,
        UINT32, UINT16 or UINT8.
    output_sizes : int or sequence of ints
        Sizes of the spatial axes of the image. The input gives only the total
        number of blocks: 4 by 9 blocks and 6 by 6 blocks look the same. At
        least 1. An int is a sequence of one.
    window_sizes : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis. At
        least 1. A sequence has ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of zeros at the start of each spatial axis of the image. A
        sequence has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of zeros at the end of each spatial axis of the image. A sequence
        has ``spatial`` entries.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The image, with a batch, channels and 1 to 6 spatial axes S: each
        element is the sum of the column elements that lie on it. FOLD undoes
        UNFOLD if windows do not overlap; if windows overlap, divide the image
        by the FOLD of ones. Its sizes are {N, C, S...}.
        Sizes ``[N, C, *output_sizes]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-FOLD-window_sizes-fits``
            window_sizes does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

        ``DML-FOLD-input-dimensions``
            input has too many dimensions. Must hold:
            ``rank(input) <= rank(output)``

    See Also
    --------
    dmlcy.desc.Fold : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = len(output_sizes)``
        Number of spatial axes of the image, the output: all but the batch and
        the channels.
    ``image[d] = output_sizes[d]``
        Size of the image along each spatial axis.
    ``padded[d] = image[d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = dilations[d] * (window_sizes[d] - 1) + 1``
        Elements that the window spans along each spatial axis.
    ``blocks[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.
    ``ones = max(rank(input) - 3, 0)``
        Number of ones in front of the sizes of the input.
    ``N = sizes(input)[ones]``
        Batch size.
    ``volume = prod(window_sizes)``
        Elements of a window.
    ``C = max(sizes(input)[ones + 1] // volume, 1)``
        Channels of the image.
    ``over[d] = min(window_sizes[d], blocks[d])``
        Largest number of window positions that cover one element of the image,
        along each spatial axis.

    References
    ----------
    FOLD, feature level 6_4:
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_fold_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(36, dtype=np.float32).reshape(1, 9, 4)
    >>> dml.fold(
    ...     x,
    ...     output_sizes=(4, 4),
    ...     window_sizes=(3, 3),
    ...     strides=(1, 1),
    ...     dilations=(1, 1),
    ...     start_padding=(0, 0),
    ...     end_padding=(0, 0),
    ... )
    array([[[[  0.,   5.,  13.,   9.],
             [ 14.,  38.,  54.,  32.],
             [ 38.,  86., 102.,  56.],
             [ 26.,  57.,  65.,  35.]]]], dtype=float32)
    """

@overload
def fold(
    input: _Array,
    *,
    output_sizes: _Int | _Ints,
    window_sizes: _Int | _Ints,
    strides: _Int | _Ints = 1,
    dilations: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: None = None,
) -> _Result: ...
@overload
def fold(
    input: _Array,
    *,
    output_sizes: _Int | _Ints,
    window_sizes: _Int | _Ints,
    strides: _Int | _Ints = 1,
    dilations: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: _Out,
) -> _Out: ...
@overload
def lp_pooling(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    p: _Int,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Take the Lp norm of the elements in each sliding window (Lp pooling).

    Parameters
    ----------
    input : array
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}. Rank
        4 to 5; data type FLOAT32 or FLOAT16.
    window_size : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    p : int
        The exponent of the norm: 1 for the sum of absolute values, 2 for the
        root of the sum of squares. Powers and sum are float64, so a large P can
        overflow to inf or vanish: two elements of 10 give inf for P = 400, and
        two elements of 0.1 give 0. At least 1.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis. A sequence
        has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis. A sequence
        has ``spatial`` entries.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-LP_POOLING-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    See Also
    --------
    dmlcy.desc.LpPooling : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = window_size[d]``
        Elements that the window spans along each spatial axis.
    ``pooled[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.

    References
    ----------
    LP_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_lp_pooling_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([[[[ 3, -4,  5]]]], dtype=np.float32)
    >>> dml.lp_pooling(x, window_size=(1, 3), p=3)
    array([[[[6.]]]], dtype=float32)
    """

@overload
def lp_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    p: _Int,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: None = None,
) -> _Result: ...
@overload
def lp_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    p: _Int,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: _Out,
) -> _Out: ...
@overload
def lp_pooling1(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    p: _Int,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Take the Lp norm of the elements in each sliding window, with dilations (Lp
    pooling).

    Parameters
    ----------
    input : array
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}. Rank
        4 to 5; data type FLOAT32 or FLOAT16.
    window_size : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    p : int
        The exponent of the norm: 1 for the sum of absolute values, 2 for the
        root of the sum of squares. Powers and sum are float64, so a large P can
        overflow to inf or vanish: two elements of 10 give inf for P = 400, and
        two elements of 0.1 give 0. At least 1.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis. A sequence
        has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis. A sequence
        has ``spatial`` entries.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis. At
        least 1. A sequence has ``spatial`` entries.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-LP_POOLING1-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    See Also
    --------
    dmlcy.desc.LpPooling1 : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = dilations[d] * (window_size[d] - 1) + 1``
        Elements that the window spans along each spatial axis.
    ``pooled[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.

    References
    ----------
    LP_POOLING1, feature level 6_2:
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_lp_pooling1_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([[[[ 1, -2, -3],
    ...                 [ 4,  5,  6],
    ...                 [ 7, -8, -9]]]], dtype=np.float32)
    >>> dml.lp_pooling1(x, window_size=(2, 2), p=1, dilations=(2, 2))
    array([[[[20.]]]], dtype=float32)
    """

@overload
def lp_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    p: _Int,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    out: None = None,
) -> _Result: ...
@overload
def lp_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    p: _Int,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    out: _Out,
) -> _Out: ...
@overload
def max_pooling(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Take the maximum of the elements in each sliding window (max pooling).

    Parameters
    ----------
    input : array
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}. Rank
        4 to 5; data type FLOAT32, FLOAT16, INT8, UINT8, INT64, INT32, INT16,
        UINT64, UINT32 or UINT16.
    window_size : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis. A sequence
        has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis. A sequence
        has ``spatial`` entries.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-MAX_POOLING-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    See Also
    --------
    dmlcy.desc.MaxPooling : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = window_size[d]``
        Elements that the window spans along each spatial axis.
    ``pooled[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.

    References
    ----------
    MAX_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_max_pooling_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([[[[-128,  127,    0],
    ...                 [   5,   -1,    3]]]], dtype=np.int8)
    >>> dml.max_pooling(x, window_size=(2, 2))
    array([[[[127, 127]]]], dtype=int8)
    """

@overload
def max_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: None = None,
) -> _Result: ...
@overload
def max_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: _Out,
) -> _Out: ...
@overload
def max_pooling1(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: Literal[False] | None = False,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Take the maximum in each sliding window and, on request, its index (max
    pooling).

    Parameters
    ----------
    input : array
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}. Rank
        4 to 5; data type FLOAT32, FLOAT16, INT8, UINT8, INT64, INT32, INT16,
        UINT64, UINT32 or UINT16.
    window_size : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis. A sequence
        has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis. A sequence
        has ``spatial`` entries.
    output_indices : bool or data type, default False
        Whether the result has output_indices too: a tuple then. The index of
        each maximum in the input, counted over all axes in row-major order,
        whatever the strides: for a NumPy array x, x.reshape(-1)[indices] are
        the maxima, and numpy.unravel_index(indices, x.shape) are their
        coordinates. The index is 2^32-1 if a window covers padding only. True:
        with data type UINT32. Else one of UINT32 or UINT64.
    out : array, or a tuple of arrays where the result is one, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.
        Data type of ``input``.
        With ``output_indices``, a tuple of this and: The index of each maximum
        in the input, counted over all axes in row-major order, whatever the
        strides: for a NumPy array x, x.reshape(-1)[indices] are the maxima, and
        numpy.unravel_index(indices, x.shape) are their coordinates. The index
        is 2^32-1 if a window covers padding only.
        Sizes ``sizes(output)``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-MAX_POOLING1-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    See Also
    --------
    dmlcy.desc.MaxPooling1 : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = window_size[d]``
        Elements that the window spans along each spatial axis.
    ``pooled[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.

    References
    ----------
    MAX_POOLING1, feature level 2_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_max_pooling1_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([[[[1, 2, 3],
    ...                 [2, 4, 2],
    ...                 [5, 6, 7]]]], dtype=np.float32)
    >>> output, output_indices = dml.max_pooling1(
    ...     x,
    ...     window_size=(2, 2),
    ...     output_indices=True,
    ... )
    >>> output
    array([[[[4., 4.],
             [6., 7.]]]], dtype=float32)
    >>> output_indices
    array([[[[4, 4],
             [7, 8]]]], dtype=uint32)
    """

@overload
def max_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: Literal[False] | None = False,
    out: None = None,
) -> _Result: ...
@overload
def max_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: Literal[False] | None = False,
    out: _Out,
) -> _Out: ...
@overload
def max_pooling1(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: Literal[True],
    out: None = None,
) -> tuple[np.ndarray[Any, np.dtype[_Scalar]], np.ndarray[Any, np.dtype[np.uint32]]]: ...
@overload
def max_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: Literal[True],
    out: None = None,
) -> tuple[_Result, np.ndarray[Any, np.dtype[np.uint32]]]: ...
@overload
def max_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: Literal[True],
    out: _Outs,
) -> _Outs: ...
@overload
def max_pooling1(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: _DataType,
    out: None = None,
) -> tuple[np.ndarray[Any, np.dtype[_Scalar]], _Result]: ...
@overload
def max_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: _DataType,
    out: None = None,
) -> tuple[_Result, _Result]: ...
@overload
def max_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    output_indices: _DataType,
    out: _Outs,
) -> _Outs: ...
@overload
def max_pooling2(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: Literal[False] | None = False,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Take the maximum in each sliding window, with dilations, and, on request,
    its index (max pooling).

    Parameters
    ----------
    input : array
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}. Rank
        4 to 5; data type FLOAT32, FLOAT16, INT8, UINT8, INT64, INT32, INT16,
        UINT64, UINT32 or UINT16.
    window_size : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis. A sequence
        has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis. A sequence
        has ``spatial`` entries.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis. At
        least 1. A sequence has ``spatial`` entries.
    output_indices : bool or data type, default False
        Whether the result has output_indices too: a tuple then. The index of
        each maximum in the input, counted over all axes in row-major order,
        whatever the strides: for a NumPy array x, x.reshape(-1)[indices] are
        the maxima, and numpy.unravel_index(indices, x.shape) are their
        coordinates. The index is 2^32-1 if a window covers padding only. True:
        with data type UINT32. Else one of UINT32 or UINT64.
    out : array, or a tuple of arrays where the result is one, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        One element per position of the window.
        Sizes ``[sizes(input)[0], sizes(input)[1], *pooled]``.
        Data type of ``input``.
        With ``output_indices``, a tuple of this and: The index of each maximum
        in the input, counted over all axes in row-major order, whatever the
        strides: for a NumPy array x, x.reshape(-1)[indices] are the maxima, and
        numpy.unravel_index(indices, x.shape) are their coordinates. The index
        is 2^32-1 if a window covers padding only.
        Sizes ``sizes(output)``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-MAX_POOLING2-window_size-fits``
            window_size does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

    See Also
    --------
    dmlcy.desc.MaxPooling2 : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``padded[d] = sizes(input)[2 + d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = dilations[d] * (window_size[d] - 1) + 1``
        Elements that the window spans along each spatial axis.
    ``pooled[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.

    References
    ----------
    MAX_POOLING2, feature level 2_1:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_max_pooling2_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([[[[9, 1, 8, 2, 7],
    ...                 [1, 1, 1, 1, 1],
    ...                 [3, 6, 4, 6, 5]]]], dtype=np.float32)
    >>> output, output_indices = dml.max_pooling2(
    ...     x,
    ...     window_size=(2, 2),
    ...     dilations=(2, 2),
    ...     output_indices=True,
    ... )
    >>> output
    array([[[[9., 6., 8.]]]], dtype=float32)
    >>> output_indices
    array([[[[ 0, 11,  2]]]], dtype=uint32)
    """

@overload
def max_pooling2(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: Literal[False] | None = False,
    out: None = None,
) -> _Result: ...
@overload
def max_pooling2(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: Literal[False] | None = False,
    out: _Out,
) -> _Out: ...
@overload
def max_pooling2(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: Literal[True],
    out: None = None,
) -> tuple[np.ndarray[Any, np.dtype[_Scalar]], np.ndarray[Any, np.dtype[np.uint32]]]: ...
@overload
def max_pooling2(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: Literal[True],
    out: None = None,
) -> tuple[_Result, np.ndarray[Any, np.dtype[np.uint32]]]: ...
@overload
def max_pooling2(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: Literal[True],
    out: _Outs,
) -> _Outs: ...
@overload
def max_pooling2(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: _DataType,
    out: None = None,
) -> tuple[np.ndarray[Any, np.dtype[_Scalar]], _Result]: ...
@overload
def max_pooling2(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: _DataType,
    out: None = None,
) -> tuple[_Result, _Result]: ...
@overload
def max_pooling2(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    output_indices: _DataType,
    out: _Outs,
) -> _Outs: ...
@overload
def padding(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Pad each axis of a tensor, as np.pad does: with a FLOAT, truncated for
    integers, or by continuing the tensor.

    Parameters
    ----------
    input : array
        The tensor to pad. Rank 1 to 8; data type FLOAT32, FLOAT16, INT32,
        INT16, INT8, UINT32, UINT16, UINT8, FLOAT64, INT64 or UINT64.
    start_padding : int or sequence of ints
        Number of elements added at the start of each axis. A sequence has
        ``axes`` entries.
    end_padding : int or sequence of ints
        Number of elements added at the end of each axis. A sequence has
        ``axes`` entries.
    padding_mode : PaddingMode or its name, default 'CONSTANT'
        Where the elements outside the input come from. One of CONSTANT, EDGE,
        REFLECTION, SYMMETRIC or WRAP.
    padding_value : float, default 0
        Value of the elements outside the input in mode CONSTANT; ignored in the
        other modes. The value is rounded to FLOAT32 first, for FLOAT64 and
        integer tensors too; PADDING1 takes a value of the tensor's own data
        type. Integer tensors get the whole part of the value, which must fit
        their data type: 10.6 gives 10, and UINT8 holds 0 to 255.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The padded tensor.
        Sizes ``padded``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-PADDING-padding_value-no-integer``
            padding_value is infinite or NaN, which the tensor's integer data
            type cannot hold. Must hold:
            ``bits == 0 or isfinite(padding_value)``

        ``DML-PADDING-padding_value-too-large``
            padding_value has a whole part above the largest integer of the
            tensor's data type. Must hold:
            ``bits == 0 or padding_value < pow(2.0, bits)``

        ``DML-PADDING-padding_value-too-small``
            padding_value has a whole part below the least integer of the
            tensor's data type. Must hold:
            ``bits == 0 or -floor(-padding_value) >= -signs * pow(2.0, bits)``

        ``DML-PADDING-padding_value-overflows``
            padding_value is finite, but becomes infinite when it is rounded to
            FLOAT16. Must hold:
            ``padding_mode != 'CONSTANT' or dtype(input) != 'FLOAT16' or not
            isfinite(padding_value) or abs(padding_value) < 65520.0``

    See Also
    --------
    dmlcy.desc.Padding : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``axes = rank(input)``
        Number of axes of the input.
    ``padded[d] = sizes(input)[d] + start_padding[d] + end_padding[d]``
        Size of each axis after padding.
    ``bits``
        ``0 if padding_mode != 'CONSTANT' else 7 if dtype(input) == 'INT8'
        else 8 if dtype(input) == 'UINT8' else 15 if dtype(input) == 'INT16'
        else 16 if dtype(input) == 'UINT16' else 31 if dtype(input) ==
        'INT32' else 32 if dtype(input) == 'UINT32' else 63 if dtype(input)
        == 'INT64' else 64 if dtype(input) == 'UINT64' else 0``

        Bits of each integer of the tensor, without the sign bit; 0 if the
        tensor has floats, or if the mode does not read the padding value.
    ``signs = 1 if dtype(input) in ('INT8', 'INT16', 'INT32', 'INT64') else 0``
        1 if these integers have a sign bit, else 0.

    References
    ----------
    PADDING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_padding_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([1, 2, 3], dtype=np.int32)
    >>> dml.padding(x, start_padding=(1,), end_padding=(2,), padding_value=10.6)
    array([10,  1,  2,  3, 10, 10], dtype=int32)
    """

@overload
def padding(
    input: _Array,
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
    out: None = None,
) -> _Result: ...
@overload
def padding(
    input: _Array,
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
    out: _Out,
) -> _Out: ...
@overload
def padding1(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Pad each axis of a tensor, as np.pad does: with a value of its own data
    type, or by continuing the tensor.

    Parameters
    ----------
    input : array
        The tensor to pad. Rank 1 to 8; data type FLOAT64, FLOAT32, FLOAT16,
        INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16 or UINT8.
    start_padding : int or sequence of ints
        Number of elements added at the start of each axis. A sequence has
        ``axes`` entries.
    end_padding : int or sequence of ints
        Number of elements added at the end of each axis. A sequence has
        ``axes`` entries.
    padding_mode : PaddingMode or its name, default 'CONSTANT'
        Where the elements outside the input come from. One of CONSTANT, EDGE,
        REFLECTION, SYMMETRIC or WRAP.
    padding_value : number, default 0
        Value of the elements outside the input in mode CONSTANT; ignored in the
        other modes. A value of the data type of ``input``.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The padded tensor.
        Sizes ``padded``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length).

    See Also
    --------
    dmlcy.desc.Padding1 : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``axes = rank(input)``
        Number of axes of the input.
    ``padded[d] = sizes(input)[d] + start_padding[d] + end_padding[d]``
        Size of each axis after padding.

    References
    ----------
    PADDING1, feature level 5_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_padding1_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([1, 2, 3], dtype=np.int64)
    >>> dml.padding1(x, start_padding=(2,), end_padding=(2,), padding_mode="WRAP")
    array([2, 3, 1, 2, 3, 1, 2])
    """

@overload
def padding1(
    input: _Array,
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
    out: None = None,
) -> _Result: ...
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
    input: np.ndarray[Any, np.dtype[_Scalar]],
    roi: _Array,
    *,
    spatial_scale: _Number,
    pooled_size: _Int | tuple[_Int, _Int],
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Divide each region of interest into a grid of bins and take the maximum of
    each bin (RoI max pooling).

    Parameters
    ----------
    input : array
        The feature map. Its sizes are {N, C, H, W}. Rank 4; data type FLOAT32
        or FLOAT16.
    roi : array
        One row per region: batch index, then x1, y1, x2, y2, the corners
        inclusive, in units of 1 / SpatialScale elements. Rank 4; data type
        FLOAT32 or FLOAT16.
    spatial_scale : float
        Factor from the coordinates of the regions to elements of the input.
    pooled_size : (height, width), or an int for both
        Bins along the height and the width of a region. From 1 to 2147483647.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The maximum of each bin of each region.
        Sizes ``[regions, C, pooled_size.Height, pooled_size.Width]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError, InvalidDataError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-ROI_POOLING-spatial_scale-positive``
            spatial_scale is not positive. Must hold:
            ``spatial_scale > 0``

        ``DML-ROI_POOLING-roi-finite``
            roi is not finite. Must hold for r in regions:
            ``all(isfinite(roi[0, 0, r, k]) for k in 5)``

        ``DML-ROI_POOLING-roi-batch``
            roi names a batch that does not exist. Must hold for r in regions:
            ``roi[0, 0, r, 0] == floor(roi[0, 0, r, 0]) and 0 <= roi[0, 0, r, 0]
            and roi[0, 0, r, 0] < N``

        ``DML-ROI_POOLING-roi-ordered``
            roi has its corners in the wrong order. Must hold for r in regions:
            ``roi[0, 0, r, 1] <= roi[0, 0, r, 3] and roi[0, 0, r, 2] <= roi[0,
            0, r, 4]``

    See Also
    --------
    dmlcy.desc.RoiPooling : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels.
    ``regions = sizes(roi)[2]``
        Number of regions.

    References
    ----------
    ROI_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_roi_pooling_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
    >>> roi = np.array([[[[0, 0, 0, 3, 3],
    ...                   [0, 2, 4, 7, 7]]]], dtype=np.float32)
    >>> dml.roi_pooling(x, roi, spatial_scale=1.0, pooled_size=(2, 2))
    array([[[[ 9., 11.],
             [25., 27.]]],
           [[[44., 47.],
             [60., 63.]]]], dtype=float32)
    """

@overload
def roi_pooling(
    input: _Array,
    roi: _Array,
    *,
    spatial_scale: _Number,
    pooled_size: _Int | tuple[_Int, _Int],
    out: None = None,
) -> _Result: ...
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
def space_to_depth(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    block_size: _Int,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Move blocks of height and width into channels (pixel unshuffle), the input
    channel varying fastest.

    Parameters
    ----------
    input : array
        The tensor whose blocks are moved. Its sizes are {N, C, H, W}. Rank 4;
        data type FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8,
        FLOAT64, INT64 or UINT64.
    block_size : int
        Height and width of a block. At least 1.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The tensor whose channels are the places of the blocks of BlockSize by
        BlockSize elements of the input.
        Sizes ``[N, C * block, H // block_size, W // block_size]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-SPACE_TO_DEPTH-block_size-divides``
            block_size does not divide the height and the width. Must hold:
            ``H % block_size == 0 and W % block_size == 0``

    See Also
    --------
    dmlcy.desc.SpaceToDepth : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels of the input.
    ``H = sizes(input)[2]``
        Height of the input.
    ``W = sizes(input)[3]``
        Width of the input.
    ``block = block_size * block_size``
        Elements of a block: the number of output channels that one input
        channel gives.

    References
    ----------
    SPACE_TO_DEPTH, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_space_to_depth_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(1, 9, dtype=np.float32).reshape(1, 2, 2, 2)
    >>> dml.space_to_depth(x, block_size=2)
    array([[[[1.]],
            [[5.]],
            [[2.]],
            [[6.]],
            [[3.]],
            [[7.]],
            [[4.]],
            [[8.]]]], dtype=float32)
    """

@overload
def space_to_depth(
    input: _Array,
    *,
    block_size: _Int,
    out: None = None,
) -> _Result: ...
@overload
def space_to_depth(
    input: _Array,
    *,
    block_size: _Int,
    out: _Out,
) -> _Out: ...
@overload
def space_to_depth1(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Move blocks of height and width into channels (pixel unshuffle), in one of
    two orders.

    Parameters
    ----------
    input : array
        The tensor whose blocks are moved. Its sizes are {N, C, H, W}. Rank 4;
        data type FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8,
        FLOAT64, INT64 or UINT64.
    block_size : int
        Height and width of a block. At least 1.
    order : DepthSpaceOrder or its name, default 'DEPTH_COLUMN_ROW'
        How the channels of the output are arranged: the block first, or the
        input channels first. One of DEPTH_COLUMN_ROW or COLUMN_ROW_DEPTH.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The tensor whose channels are the places of the blocks of BlockSize by
        BlockSize elements of the input.
        Sizes ``[N, C * block, H // block_size, W // block_size]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-SPACE_TO_DEPTH1-block_size-divides``
            block_size does not divide the height and the width. Must hold:
            ``H % block_size == 0 and W % block_size == 0``

    See Also
    --------
    dmlcy.desc.SpaceToDepth1 : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels of the input.
    ``H = sizes(input)[2]``
        Height of the input.
    ``W = sizes(input)[3]``
        Width of the input.
    ``block = block_size * block_size``
        Elements of a block: the number of output channels that one input
        channel gives.

    References
    ----------
    SPACE_TO_DEPTH1, feature level 2_1:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_space_to_depth1_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.array([[[[ 0, 18,  1, 19,  2, 20],
    ...                 [36, 54, 37, 55, 38, 56],
    ...                 [ 3, 21,  4, 22,  5, 23],
    ...                 [39, 57, 40, 58, 41, 59]],
    ...                [[ 9, 27, 10, 28, 11, 29],
    ...                 [45, 63, 46, 64, 47, 65],
    ...                 [12, 30, 13, 31, 14, 32],
    ...                 [48, 66, 49, 67, 50, 68]]]], dtype=np.uint32)
    >>> dml.space_to_depth1(x, block_size=2, order="DEPTH_COLUMN_ROW")
    array([[[[ 0,  1,  2],
             [ 3,  4,  5]],
            [[ 9, 10, 11],
             [12, 13, 14]],
            [[18, 19, 20],
             [21, 22, 23]],
            [[27, 28, 29],
             [30, 31, 32]],
            [[36, 37, 38],
             [39, 40, 41]],
            [[45, 46, 47],
             [48, 49, 50]],
            [[54, 55, 56],
             [57, 58, 59]],
            [[63, 64, 65],
             [66, 67, 68]]]], dtype=uint32)
    """

@overload
def space_to_depth1(
    input: _Array,
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    out: None = None,
) -> _Result: ...
@overload
def space_to_depth1(
    input: _Array,
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    out: _Out,
) -> _Out: ...
@overload
def unfold(
    input: np.ndarray[Any, np.dtype[_Scalar]],
    *,
    window_sizes: _Int | _Ints,
    strides: _Int | _Ints = 1,
    dilations: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    out: None = None,
) -> np.ndarray[Any, np.dtype[_Scalar]]:
    """Copy each position of a sliding window into a column (im2col).

    Parameters
    ----------
    input : array
        The image, with a batch, channels and 1 to 6 spatial axes S. Its sizes
        are {N, C, S...}. Rank 3 to 8; data type FLOAT64, FLOAT32, FLOAT16,
        INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16 or UINT8.
    window_sizes : int or sequence of ints
        Size of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis. At least 1. A sequence has
        ``spatial`` entries.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis. At
        least 1. A sequence has ``spatial`` entries.
    start_padding : int or sequence of ints, default 0
        Number of zeros at the start of each spatial axis of the image. A
        sequence has ``spatial`` entries.
    end_padding : int or sequence of ints, default 0
        Number of zeros at the end of each spatial axis of the image. A sequence
        has ``spatial`` entries.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The columns: one column per position of the window (a block), and one
        row per channel and window element. FOLD sums the columns back into an
        image.
        Sizes ``[N, C * volume, prod(blocks)]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-UNFOLD-window_sizes-fits``
            window_sizes does not fit. Must hold for d in spatial:
            ``extent[d] <= padded[d]``

        ``DML-UNFOLD-output-dimensions``
            output has too many dimensions. Must hold:
            ``rank(output) <= rank(input)``

    See Also
    --------
    dmlcy.desc.Unfold : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``spatial = rank(input) - 2``
        Number of spatial axes of the input: all but the batch and the channels.
    ``image[d] = sizes(input)[2 + d]``
        Size of the image along each spatial axis.
    ``padded[d] = image[d] + start_padding[d] + end_padding[d]``
        Size of each spatial axis after padding.
    ``extent[d] = dilations[d] * (window_sizes[d] - 1) + 1``
        Elements that the window spans along each spatial axis.
    ``blocks[d] = (padded[d] - extent[d]) // strides[d] + 1``
        Number of positions of the window along each spatial axis.
    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels of the image.
    ``volume = prod(window_sizes)``
        Elements of a window.

    References
    ----------
    UNFOLD, feature level 6_4:
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_unfold_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
    >>> dml.unfold(
    ...     x,
    ...     window_sizes=(3, 3),
    ...     strides=(1, 1),
    ...     dilations=(1, 1),
    ...     start_padding=(0, 0),
    ...     end_padding=(0, 0),
    ... )
    array([[[ 0.,  1.,  2.,  5.,  6.,  7., 10., 11., 12.],
            [ 1.,  2.,  3.,  6.,  7.,  8., 11., 12., 13.],
            [ 2.,  3.,  4.,  7.,  8.,  9., 12., 13., 14.],
            [ 5.,  6.,  7., 10., 11., 12., 15., 16., 17.],
            [ 6.,  7.,  8., 11., 12., 13., 16., 17., 18.],
            [ 7.,  8.,  9., 12., 13., 14., 17., 18., 19.],
            [10., 11., 12., 15., 16., 17., 20., 21., 22.],
            [11., 12., 13., 16., 17., 18., 21., 22., 23.],
            [12., 13., 14., 17., 18., 19., 22., 23., 24.]]], dtype=float32)
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
    out: None = None,
) -> _Result: ...
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
