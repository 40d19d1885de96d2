# Generated from specs/ by python -m codegen gen.
"""The operators on dask arrays, as functions like those of ``dmlcy``: ``pip install 'dmlcy[dask]'``."""

from dask.array import Array

from dmlcy._generated.arguments import (
    _Array,
    _Bool,
    _DepthSpaceOrder,
    _Int,
    _Ints,
    _Number,
    _PaddingMode,
)

__all__ = [
    "average_pooling",
    "average_pooling1",
    "depth_to_space",
    "depth_to_space1",
    "fold",
    "lp_pooling",
    "lp_pooling1",
    "max_pooling",
    "max_pooling1",
    "max_pooling2",
    "padding",
    "padding1",
    "roi_pooling",
    "space_to_depth",
    "space_to_depth1",
    "unfold",
]

def average_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    include_padding: _Bool = False,
) -> Array:
    """Average the elements in each sliding window (average pooling).

    ``dmlcy.average_pooling`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of ints
        Size of the window along each spatial axis.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis.
    include_padding : bool, default False
        Count padding elements in the divisor.

    Returns
    -------
    dask array
        One element per position of the window.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each channel by itself.
    - The spatial axes: neighbouring pieces overlap by what a window spans.
    """

def average_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
    include_padding: _Bool = False,
) -> Array:
    """Average the elements in each sliding window, with dilations (average pooling).

    ``dmlcy.average_pooling1`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of ints
        Size of the window along each spatial axis.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis.
    include_padding : bool, default False
        Count padding elements in the divisor.

    Returns
    -------
    dask array
        One element per position of the window.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each channel by itself.
    - The spatial axes: neighbouring pieces overlap by what a window spans.
    """

def depth_to_space(
    input: _Array,
    *,
    block_size: _Int,
) -> Array:
    """Move channels into blocks of height and width (pixel shuffle), the output channel varying fastest.

    ``dmlcy.depth_to_space`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor whose channels are moved. Its sizes are {N, C, H, W}.
    block_size : int
        Height and width of a block.

    Returns
    -------
    dask array
        The tensor whose blocks of BlockSize by BlockSize elements come from the channels of the input.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each row of the input gives block_size rows of the output, and each column gives block_size columns.
    """

def depth_to_space1(
    input: _Array,
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
) -> Array:
    """Move channels into blocks of height and width (pixel shuffle), in one of two orders.

    ``dmlcy.depth_to_space1`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor whose channels are moved. Its sizes are {N, C, H, W}.
    block_size : int
        Height and width of a block.
    order : DepthSpaceOrder or its name, default 'DEPTH_COLUMN_ROW'
        How the channels of the input are arranged: the block first, or the output channels first.

    Returns
    -------
    dask array
        The tensor whose blocks of BlockSize by BlockSize elements come from the channels of the input.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each row of the input gives block_size rows of the output, and each column gives block_size columns.
    - In this order, the channels of a block are adjacent, and give one output channel. Where ``order ==
      'COLUMN_ROW_DEPTH'``.
    """

def fold(
    input: _Array,
    *,
    output_sizes: _Int | _Ints,
    window_sizes: _Int | _Ints,
    strides: _Int | _Ints = 1,
    dilations: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
) -> Array:
    """Sum overlapping columns back into an image (col2im): the adjoint of UNFOLD.

    ``dmlcy.fold`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The columns: one column per position of the window (a block), and one row per channel and window element, as
        UNFOLD gives them.
    output_sizes : int or sequence of ints
        Sizes of the spatial axes of the image. The input gives only the total number of blocks: 4 by 9 blocks and 6
        by 6 blocks look the same.
    window_sizes : int or sequence of ints
        Size of the window along each spatial axis.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of zeros at the start of each spatial axis of the image.
    end_padding : int or sequence of ints, default 0
        Number of zeros at the end of each spatial axis of the image.

    Returns
    -------
    dask array
        The image, with a batch, channels and 1 to 6 spatial axes S: each element is the sum of the column elements
        that lie on it. FOLD undoes UNFOLD if windows do not overlap; if windows overlap, divide the image by the
        FOLD of ones. Its sizes are {N, C, S...}.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - The rows of each channel give that channel.
    """

def lp_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    p: _Int,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
) -> Array:
    """Take the Lp norm of the elements in each sliding window (Lp pooling).

    ``dmlcy.lp_pooling`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of ints
        Size of the window along each spatial axis.
    p : int
        The exponent of the norm: 1 for the sum of absolute values, 2 for the root of the sum of squares. Powers and
        sum are float64, so a large P can overflow to inf or vanish: two elements of 10 give inf for P = 400, and
        two elements of 0.1 give 0.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis.

    Returns
    -------
    dask array
        One element per position of the window.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each channel by itself.
    - The spatial axes: neighbouring pieces overlap by what a window spans.
    """

def lp_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    p: _Int,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
) -> Array:
    """Take the Lp norm of the elements in each sliding window, with dilations (Lp pooling).

    ``dmlcy.lp_pooling1`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of ints
        Size of the window along each spatial axis.
    p : int
        The exponent of the norm: 1 for the sum of absolute values, 2 for the root of the sum of squares. Powers and
        sum are float64, so a large P can overflow to inf or vanish: two elements of 10 give inf for P = 400, and
        two elements of 0.1 give 0.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis.

    Returns
    -------
    dask array
        One element per position of the window.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each channel by itself.
    - The spatial axes: neighbouring pieces overlap by what a window spans.
    """

def max_pooling(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
) -> Array:
    """Take the maximum of the elements in each sliding window (max pooling).

    ``dmlcy.max_pooling`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of ints
        Size of the window along each spatial axis.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis.

    Returns
    -------
    dask array
        One element per position of the window.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each channel by itself.
    - The spatial axes: neighbouring pieces overlap by what a window spans.
    """

def max_pooling1(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
) -> Array:
    """Take the maximum in each sliding window and, on request, its index (max pooling).

    ``dmlcy.max_pooling1`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of ints
        Size of the window along each spatial axis.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis.

    Returns
    -------
    dask array
        One element per position of the window.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each channel by itself.
    - The spatial axes: neighbouring pieces overlap by what a window spans.

    A call here cannot ask for output_indices, which pieces cannot make for themselves.
    """

def max_pooling2(
    input: _Array,
    *,
    window_size: _Int | _Ints,
    strides: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
    dilations: _Int | _Ints = 1,
) -> Array:
    """Take the maximum in each sliding window, with dilations, and, on request, its index (max pooling).

    ``dmlcy.max_pooling2`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pool. Its sizes are {N, C, H, W} or {N, C, D, H, W}.
    window_size : int or sequence of ints
        Size of the window along each spatial axis.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of padding elements at the start of each spatial axis.
    end_padding : int or sequence of ints, default 0
        Number of padding elements at the end of each spatial axis.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis.

    Returns
    -------
    dask array
        One element per position of the window.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each channel by itself.
    - The spatial axes: neighbouring pieces overlap by what a window spans.

    A call here cannot ask for output_indices, which pieces cannot make for themselves.
    """

def padding(
    input: _Array,
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
) -> Array:
    """Pad each axis of a tensor, as np.pad does: with a FLOAT, truncated for integers, or by continuing the tensor.

    ``dmlcy.padding`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pad.
    start_padding : int or sequence of ints
        Number of elements added at the start of each axis.
    end_padding : int or sequence of ints
        Number of elements added at the end of each axis.
    padding_mode : PaddingMode or its name, default 'CONSTANT'
        Where the elements outside the input come from.
    padding_value : float, default 0
        Value of the elements outside the input in mode CONSTANT; ignored in the other modes. The value is rounded
        to FLOAT32 first, for FLOAT64 and integer tensors too; PADDING1 takes a value of the tensor's own data type.
        Integer tensors get the whole part of the value, which must fit their data type: 10.6 gives 10, and UINT8
        holds 0 to 255.

    Returns
    -------
    dask array
        The padded tensor.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - An axis that gets no padding. Where ``start_padding[d] == 0 and end_padding[d] == 0``.
    - A padded axis: its end chunks are padded. If the padding reads too far, all chunks are merged.
    """

def padding1(
    input: _Array,
    *,
    start_padding: _Int | _Ints,
    end_padding: _Int | _Ints,
    padding_mode: _PaddingMode = "CONSTANT",
    padding_value: _Number = 0,
) -> Array:
    """Pad each axis of a tensor, as np.pad does: with a value of its own data type, or by continuing the tensor.

    ``dmlcy.padding1`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor to pad.
    start_padding : int or sequence of ints
        Number of elements added at the start of each axis.
    end_padding : int or sequence of ints
        Number of elements added at the end of each axis.
    padding_mode : PaddingMode or its name, default 'CONSTANT'
        Where the elements outside the input come from.
    padding_value : number, default 0
        Value of the elements outside the input in mode CONSTANT; ignored in the other modes.

    Returns
    -------
    dask array
        The padded tensor.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - An axis that gets no padding. Where ``start_padding[d] == 0 and end_padding[d] == 0``.
    - A padded axis: its end chunks are padded. If the padding reads too far, all chunks are merged.
    """

def roi_pooling(
    input: _Array,
    roi: _Array,
    *,
    spatial_scale: _Number,
    pooled_size: _Int | tuple[_Int, _Int],
) -> Array:
    """Divide each region of interest into a grid of bins and take the maximum of each bin (RoI max pooling).

    ``dmlcy.roi_pooling`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The feature map. Its sizes are {N, C, H, W}.
    roi : dask array, or what dmlcy takes
        One row per region: batch index, then x1, y1, x2, y2, the corners inclusive, in units of 1 / SpatialScale
        elements.
    spatial_scale : float
        Factor from the coordinates of the regions to elements of the input.
    pooled_size : (height, width), or an int for both
        Bins along the height and the width of a region.

    Returns
    -------
    dask array
        The maximum of each bin of each region.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each region by itself; a region may lie in any item of the batch.
    - Each channel by itself.
    """

def space_to_depth(
    input: _Array,
    *,
    block_size: _Int,
) -> Array:
    """Move blocks of height and width into channels (pixel unshuffle), the input channel varying fastest.

    ``dmlcy.space_to_depth`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor whose blocks are moved. Its sizes are {N, C, H, W}.
    block_size : int
        Height and width of a block.

    Returns
    -------
    dask array
        The tensor whose channels are the places of the blocks of BlockSize by BlockSize elements of the input.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each row of blocks gives one row of the output, and each column of blocks gives one column.
    """

def space_to_depth1(
    input: _Array,
    *,
    block_size: _Int,
    order: _DepthSpaceOrder = "DEPTH_COLUMN_ROW",
) -> Array:
    """Move blocks of height and width into channels (pixel unshuffle), in one of two orders.

    ``dmlcy.space_to_depth1`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The tensor whose blocks are moved. Its sizes are {N, C, H, W}.
    block_size : int
        Height and width of a block.
    order : DepthSpaceOrder or its name, default 'DEPTH_COLUMN_ROW'
        How the channels of the output are arranged: the block first, or the input channels first.

    Returns
    -------
    dask array
        The tensor whose channels are the places of the blocks of BlockSize by BlockSize elements of the input.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each row of blocks gives one row of the output, and each column of blocks gives one column.
    - In this order, each channel gives the channels of a block, which are adjacent. Where ``order ==
      'COLUMN_ROW_DEPTH'``.
    """

def unfold(
    input: _Array,
    *,
    window_sizes: _Int | _Ints,
    strides: _Int | _Ints = 1,
    dilations: _Int | _Ints = 1,
    start_padding: _Int | _Ints = 0,
    end_padding: _Int | _Ints = 0,
) -> Array:
    """Copy each position of a sliding window into a column (im2col).

    ``dmlcy.unfold`` on pieces of dask arrays. Nothing is computed; a wrong call is refused at once.

    Parameters
    ----------
    input : dask array, or what dmlcy takes
        The image, with a batch, channels and 1 to 6 spatial axes S. Its sizes are {N, C, S...}.
    window_sizes : int or sequence of ints
        Size of the window along each spatial axis.
    strides : int or sequence of ints, default 1
        Step of the window along each spatial axis.
    dilations : int or sequence of ints, default 1
        Distance between the elements of a window along each spatial axis.
    start_padding : int or sequence of ints, default 0
        Number of zeros at the start of each spatial axis of the image.
    end_padding : int or sequence of ints, default 0
        Number of zeros at the end of each spatial axis of the image.

    Returns
    -------
    dask array
        The columns: one column per position of the window (a block), and one row per channel and window element.
        FOLD sums the columns back into an image.

    Raises
    ------
    ValueError
        An axis that is needed whole has several chunks, or chunks are of unknown size.

    Notes
    -----
    What can be cut into chunks:

    - Each item of the batch by itself.
    - Each channel gives rows of its own.
    - The first spatial axis: pieces overlap by what a window spans. Chunks along the others are merged.
    """
