# Generated from specs/ by python -m codegen gen.
"""One class per operator: the desc that DirectML's DML_*_OPERATOR_DESC struct is."""

from typing import ClassVar

from dmlcy import DepthSpaceOrder, PaddingMode, TensorDataType, TensorDesc
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Operator
from dmlcy._field_types.size_2d import Size2D
from dmlcy._generated.arguments import (
    _Bool,
    _DepthSpaceOrder,
    _Int,
    _Ints,
    _Number,
    _PaddingMode,
    _TensorDataType,
)

__all__ = [
    "AveragePooling",
    "AveragePooling1",
    "DepthToSpace",
    "DepthToSpace1",
    "Fold",
    "LpPooling",
    "LpPooling1",
    "MaxPooling",
    "MaxPooling1",
    "MaxPooling2",
    "OperatorDesc",
    "Padding",
    "Padding1",
    "RoiPooling",
    "Size2D",
    "SpaceToDepth",
    "SpaceToDepth1",
    "Unfold",
]

class AveragePooling(OperatorDesc):
    """DML_AVERAGE_POOLING_OPERATOR_DESC: Average the elements in each sliding
    window (average pooling).

    Parameters
    ----------
    input
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    output
        One element per position of the window.
    dimension_count
        Number of spatial axes: 2 or 3.
    strides
        Step of the window along each spatial axis.
    window_size
        Size of the window along each spatial axis.
    start_padding
        Number of padding elements at the start of each spatial axis.
    end_padding
        Number of padding elements at the end of each spatial axis.
    include_padding
        Count padding elements in the divisor.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    dimension_count: int
    strides: tuple[int, ...]
    window_size: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    include_padding: bool
    def __init__(
        self,
        *,
        input: TensorDesc,
        window_size: _Int | _Ints,
        output: TensorDesc | None = None,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
        include_padding: _Bool = False,
    ) -> None: ...

class AveragePooling1(OperatorDesc):
    """DML_AVERAGE_POOLING1_OPERATOR_DESC: Average the elements in each sliding
    window, with dilations (average pooling).

    Parameters
    ----------
    input
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    output
        One element per position of the window.
    dimension_count
        Number of spatial axes: 2 or 3.
    strides
        Step of the window along each spatial axis.
    window_size
        Size of the window along each spatial axis.
    start_padding
        Number of padding elements at the start of each spatial axis.
    end_padding
        Number of padding elements at the end of each spatial axis.
    dilations
        Distance between the elements of a window along each spatial axis.
    include_padding
        Count padding elements in the divisor.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    dimension_count: int
    strides: tuple[int, ...]
    window_size: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    dilations: tuple[int, ...]
    include_padding: bool
    def __init__(
        self,
        *,
        input: TensorDesc,
        window_size: _Int | _Ints,
        output: TensorDesc | None = None,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
        dilations: _Int | _Ints = 1,
        include_padding: _Bool = False,
    ) -> None: ...

class DepthToSpace(OperatorDesc):
    """DML_DEPTH_TO_SPACE_OPERATOR_DESC: Move channels into blocks of height and
    width (pixel shuffle), the output channel varying fastest.

    Parameters
    ----------
    input
        The tensor whose channels are moved. Its sizes are {N, C, H, W}.
    output
        The tensor whose blocks of BlockSize by BlockSize elements come from the
        channels of the input.
    block_size
        Height and width of a block.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    block_size: int
    def __init__(
        self,
        *,
        input: TensorDesc,
        block_size: _Int,
        output: TensorDesc | None = None,
    ) -> None: ...

class DepthToSpace1(OperatorDesc):
    """DML_DEPTH_TO_SPACE1_OPERATOR_DESC: Move channels into blocks of height and
    width (pixel shuffle), in one of two orders.

    Parameters
    ----------
    input
        The tensor whose channels are moved. Its sizes are {N, C, H, W}.
    output
        The tensor whose blocks of BlockSize by BlockSize elements come from the
        channels of the input.
    block_size
        Height and width of a block.
    order
        How the channels of the input are arranged: the block first, or the
        output channels first.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    block_size: int
    order: DepthSpaceOrder
    def __init__(
        self,
        *,
        input: TensorDesc,
        block_size: _Int,
        output: TensorDesc | None = None,
        order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    ) -> None: ...

class Fold(OperatorDesc):
    """DML_FOLD_OPERATOR_DESC: Sum overlapping columns back into an image (col2im):
    the adjoint of UNFOLD.

    Parameters
    ----------
    input
        The columns: one column per position of the window (a block), and one
        row per channel and window element, as UNFOLD gives them.
    output
        The image, with a batch, channels and 1 to 6 spatial axes S: each
        element is the sum of the column elements that lie on it. FOLD undoes
        UNFOLD if windows do not overlap; if windows overlap, divide the image
        by the FOLD of ones. Its sizes are {N, C, S...}.
    dimension_count
        Number of spatial axes: 1 to 6.
    window_sizes
        Size of the window along each spatial axis.
    strides
        Step of the window along each spatial axis.
    dilations
        Distance between the elements of a window along each spatial axis.
    start_padding
        Number of zeros at the start of each spatial axis of the image.
    end_padding
        Number of zeros at the end of each spatial axis of the image.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    dimension_count: int
    window_sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    def __init__(
        self,
        *,
        input: TensorDesc,
        output: TensorDesc,
        window_sizes: _Int | _Ints,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        dilations: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
    ) -> None: ...

class LpPooling(OperatorDesc):
    """DML_LP_POOLING_OPERATOR_DESC: Take the Lp norm of the elements in each
    sliding window (Lp pooling).

    Parameters
    ----------
    input
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    output
        One element per position of the window.
    dimension_count
        Number of spatial axes: 2 or 3.
    strides
        Step of the window along each spatial axis.
    window_size
        Size of the window along each spatial axis.
    start_padding
        Number of padding elements at the start of each spatial axis.
    end_padding
        Number of padding elements at the end of each spatial axis.
    p
        The exponent of the norm: 1 for the sum of absolute values, 2 for the
        root of the sum of squares. Powers and sum are float64, so a large P can
        overflow to inf or vanish: two elements of 10 give inf for P = 400, and
        two elements of 0.1 give 0.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    dimension_count: int
    strides: tuple[int, ...]
    window_size: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    p: int
    def __init__(
        self,
        *,
        input: TensorDesc,
        window_size: _Int | _Ints,
        p: _Int,
        output: TensorDesc | None = None,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
    ) -> None: ...

class LpPooling1(OperatorDesc):
    """DML_LP_POOLING1_OPERATOR_DESC: Take the Lp norm of the elements in each
    sliding window, with dilations (Lp pooling).

    Parameters
    ----------
    input
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    output
        One element per position of the window.
    dimension_count
        Number of spatial axes: 2 or 3.
    strides
        Step of the window along each spatial axis.
    window_size
        Size of the window along each spatial axis.
    start_padding
        Number of padding elements at the start of each spatial axis.
    end_padding
        Number of padding elements at the end of each spatial axis.
    dilations
        Distance between the elements of a window along each spatial axis.
    p
        The exponent of the norm: 1 for the sum of absolute values, 2 for the
        root of the sum of squares. Powers and sum are float64, so a large P can
        overflow to inf or vanish: two elements of 10 give inf for P = 400, and
        two elements of 0.1 give 0.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    dimension_count: int
    strides: tuple[int, ...]
    window_size: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    dilations: tuple[int, ...]
    p: int
    def __init__(
        self,
        *,
        input: TensorDesc,
        window_size: _Int | _Ints,
        p: _Int,
        output: TensorDesc | None = None,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
        dilations: _Int | _Ints = 1,
    ) -> None: ...

class MaxPooling(OperatorDesc):
    """DML_MAX_POOLING_OPERATOR_DESC: Take the maximum of the elements in each
    sliding window (max pooling).

    Parameters
    ----------
    input
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    output
        One element per position of the window.
    dimension_count
        Number of spatial axes: 2 or 3.
    strides
        Step of the window along each spatial axis.
    window_size
        Size of the window along each spatial axis.
    start_padding
        Number of padding elements at the start of each spatial axis.
    end_padding
        Number of padding elements at the end of each spatial axis.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    dimension_count: int
    strides: tuple[int, ...]
    window_size: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    def __init__(
        self,
        *,
        input: TensorDesc,
        window_size: _Int | _Ints,
        output: TensorDesc | None = None,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
    ) -> None: ...

class MaxPooling1(OperatorDesc):
    """DML_MAX_POOLING1_OPERATOR_DESC: Take the maximum in each sliding window and,
    on request, its index (max pooling).

    Parameters
    ----------
    input
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    output
        One element per position of the window.
    output_indices
        The index of each maximum in the input, counted over all axes in row-
        major order, whatever the strides: for a NumPy array x,
        x.reshape(-1)[indices] are the maxima, and numpy.unravel_index(indices,
        x.shape) are their coordinates. The index is 2^32-1 if a window covers
        padding only.
    dimension_count
        Number of spatial axes: 2 or 3.
    strides
        Step of the window along each spatial axis.
    window_size
        Size of the window along each spatial axis.
    start_padding
        Number of padding elements at the start of each spatial axis.
    end_padding
        Number of padding elements at the end of each spatial axis.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    output_indices: TensorDesc | None
    dimension_count: int
    strides: tuple[int, ...]
    window_size: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    def __init__(
        self,
        *,
        input: TensorDesc,
        window_size: _Int | _Ints,
        output: TensorDesc | None = None,
        output_indices: TensorDesc | None = None,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
    ) -> None: ...

class MaxPooling2(OperatorDesc):
    """DML_MAX_POOLING2_OPERATOR_DESC: Take the maximum in each sliding window,
    with dilations, and, on request, its index (max pooling).

    Parameters
    ----------
    input
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    output
        One element per position of the window.
    output_indices
        The index of each maximum in the input, counted over all axes in row-
        major order, whatever the strides: for a NumPy array x,
        x.reshape(-1)[indices] are the maxima, and numpy.unravel_index(indices,
        x.shape) are their coordinates. The index is 2^32-1 if a window covers
        padding only.
    dimension_count
        Number of spatial axes: 2 or 3.
    strides
        Step of the window along each spatial axis.
    window_size
        Size of the window along each spatial axis.
    start_padding
        Number of padding elements at the start of each spatial axis.
    end_padding
        Number of padding elements at the end of each spatial axis.
    dilations
        Distance between the elements of a window along each spatial axis.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    output_indices: TensorDesc | None
    dimension_count: int
    strides: tuple[int, ...]
    window_size: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    dilations: tuple[int, ...]
    def __init__(
        self,
        *,
        input: TensorDesc,
        window_size: _Int | _Ints,
        output: TensorDesc | None = None,
        output_indices: TensorDesc | None = None,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
        dilations: _Int | _Ints = 1,
    ) -> None: ...

class Padding(OperatorDesc):
    """DML_PADDING_OPERATOR_DESC: Pad each axis of a tensor, as np.pad does: with a
    FLOAT, truncated for integers, or by continuing the tensor.

    Parameters
    ----------
    input
        The tensor to pad.
    output
        The padded tensor.
    padding_mode
        Where the elements outside the input come from.
    padding_value
        Value of the elements outside the input in mode CONSTANT; ignored in the
        other modes. The value is rounded to FLOAT32 first, for FLOAT64 and
        integer tensors too; PADDING1 takes a value of the tensor's own data
        type. Integer tensors get the whole part of the value, which must fit
        their data type: 10.6 gives 10, and UINT8 holds 0 to 255.
    dimension_count
        Number of entries of StartPadding and of EndPadding: the number of axes
        of both tensors.
    start_padding
        Number of elements added at the start of each axis.
    end_padding
        Number of elements added at the end of each axis.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    padding_mode: PaddingMode
    padding_value: float
    dimension_count: int
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    def __init__(
        self,
        *,
        input: TensorDesc,
        start_padding: _Int | _Ints,
        end_padding: _Int | _Ints,
        output: TensorDesc | None = None,
        padding_mode: _PaddingMode = "CONSTANT",
        padding_value: _Number = 0,
        dimension_count: _Int | None = None,
    ) -> None: ...

class Padding1(OperatorDesc):
    """DML_PADDING1_OPERATOR_DESC: Pad each axis of a tensor, as np.pad does: with
    a value of its own data type, or by continuing the tensor.

    Parameters
    ----------
    input
        The tensor to pad.
    output
        The padded tensor.
    padding_mode
        Where the elements outside the input come from.
    padding_value_data_type
        Data type in which PaddingValue is stored: that of both tensors.
    padding_value
        Value of the elements outside the input in mode CONSTANT; ignored in the
        other modes.
    dimension_count
        Number of entries of StartPadding and of EndPadding: the number of axes
        of both tensors.
    start_padding
        Number of elements added at the start of each axis.
    end_padding
        Number of elements added at the end of each axis.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    padding_mode: PaddingMode
    padding_value_data_type: TensorDataType
    padding_value: int | float
    dimension_count: int
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    def __init__(
        self,
        *,
        input: TensorDesc,
        start_padding: _Int | _Ints,
        end_padding: _Int | _Ints,
        output: TensorDesc | None = None,
        padding_mode: _PaddingMode = "CONSTANT",
        padding_value_data_type: _TensorDataType | None = None,
        padding_value: _Number = 0,
        dimension_count: _Int | None = None,
    ) -> None: ...

class RoiPooling(OperatorDesc):
    """DML_ROI_POOLING_OPERATOR_DESC: Divide each region of interest into a grid of
    bins and take the maximum of each bin (RoI max pooling).

    Parameters
    ----------
    input
        The feature map. Its sizes are {N, C, H, W}.
    roi
        One row per region: batch index, then x1, y1, x2, y2, the corners
        inclusive, in units of 1 / SpatialScale elements.
    output
        The maximum of each bin of each region.
    spatial_scale
        Factor from the coordinates of the regions to elements of the input.
    pooled_size
        Bins along the height and the width of a region.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    roi: TensorDesc
    output: TensorDesc
    spatial_scale: float
    pooled_size: Size2D
    def __init__(
        self,
        *,
        input: TensorDesc,
        roi: TensorDesc,
        spatial_scale: _Number,
        pooled_size: _Int | tuple[_Int, _Int],
        output: TensorDesc | None = None,
    ) -> None: ...

class SpaceToDepth(OperatorDesc):
    """DML_SPACE_TO_DEPTH_OPERATOR_DESC: Move blocks of height and width into
    channels (pixel unshuffle), the input channel varying fastest.

    Parameters
    ----------
    input
        The tensor whose blocks are moved. Its sizes are {N, C, H, W}.
    output
        The tensor whose channels are the places of the blocks of BlockSize by
        BlockSize elements of the input.
    block_size
        Height and width of a block.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    block_size: int
    def __init__(
        self,
        *,
        input: TensorDesc,
        block_size: _Int,
        output: TensorDesc | None = None,
    ) -> None: ...

class SpaceToDepth1(OperatorDesc):
    """DML_SPACE_TO_DEPTH1_OPERATOR_DESC: Move blocks of height and width into
    channels (pixel unshuffle), in one of two orders.

    Parameters
    ----------
    input
        The tensor whose blocks are moved. Its sizes are {N, C, H, W}.
    output
        The tensor whose channels are the places of the blocks of BlockSize by
        BlockSize elements of the input.
    block_size
        Height and width of a block.
    order
        How the channels of the output are arranged: the block first, or the
        input channels first.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    block_size: int
    order: DepthSpaceOrder
    def __init__(
        self,
        *,
        input: TensorDesc,
        block_size: _Int,
        output: TensorDesc | None = None,
        order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
    ) -> None: ...

class Unfold(OperatorDesc):
    """DML_UNFOLD_OPERATOR_DESC: Copy each position of a sliding window into a
    column (im2col).

    Parameters
    ----------
    input
        The image, with a batch, channels and 1 to 6 spatial axes S. Its sizes
        are {N, C, S...}.
    output
        The columns: one column per position of the window (a block), and one
        row per channel and window element. FOLD sums the columns back into an
        image.
    dimension_count
        Number of spatial axes: 1 to 6.
    window_sizes
        Size of the window along each spatial axis.
    strides
        Step of the window along each spatial axis.
    dilations
        Distance between the elements of a window along each spatial axis.
    start_padding
        Number of zeros at the start of each spatial axis of the image.
    end_padding
        Number of zeros at the end of each spatial axis of the image.
    """

    operator: ClassVar[Operator]
    input: TensorDesc
    output: TensorDesc
    dimension_count: int
    window_sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    start_padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    def __init__(
        self,
        *,
        input: TensorDesc,
        window_sizes: _Int | _Ints,
        output: TensorDesc | None = None,
        dimension_count: _Int | None = None,
        strides: _Int | _Ints = 1,
        dilations: _Int | _Ints = 1,
        start_padding: _Int | _Ints = 0,
        end_padding: _Int | _Ints = 0,
    ) -> None: ...
