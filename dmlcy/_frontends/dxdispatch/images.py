"""Images as DxDispatch reads and writes them: sizes (1, C, H, W), values from 0 to 1 in steps of 1/255.

Pillow does the work. Nothing else needs Pillow, which is imported where an image is read or written.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import IO, BinaryIO, Final

import numpy as np

from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.rows import Dtype
from dmlcy._frontends.dxdispatch.json import Node
from dmlcy._frontends.dxdispatch.reader import UINT32, Reader
from dmlcy._types import Array

READABLE: Final = frozenset({".png", ".jpg"})
"""The files that are read and written as images."""
OTHERS: Final = frozenset({".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"})
"""Images that DxDispatch takes for raw bytes: refused."""
DTYPES: Final = frozenset({"FLOAT32", "FLOAT16"})
"""Data types of the values of an image."""

_MODES: Final = {1: "L", 3: "RGB", 4: "RGBA"}
_MOST: Final = 2**27  # pixels of a file, which may say that it has any number of them
_INSTALL: Final = "Install it: pip install 'dmlcy[images]'."


class ImageError(ValueError):
    """The file is damaged, truncated, too large, or of another format."""


def suffix(path: str) -> str:
    """The end of a name that tells what a file is, in lower case."""
    return PurePosixPath(path).suffix.lower()


def is_image(path: str) -> bool:
    """Whether a file is read or written as an image."""
    return suffix(path) in READABLE


def refused(reader: Reader, node: Node) -> bool:
    """Whether a path names an image of another format; a problem where it does."""
    if suffix(node.value) not in OTHERS:
        return False
    reader.report("DML-MODEL-image", node, path=node.value)
    return True


def sizes(reader: Reader, node: Node | None, channels: Iterable[int]) -> tuple[int, ...] | None:
    """The sizes (1, C, H, W) in a list; None, with a problem, where they are not those of an image."""
    if node is None or not reader.expect(node, "array"):
        return None
    found = [reader.integer(item, 1, UINT32) for item in node.value]
    given = tuple(size for size in found if size is not None)
    if len(given) < len(found):
        return None
    if len(given) == 4 and given[0] == 1 and given[1] in channels:
        return given
    named = [str(channel) for channel in channels]
    reader.report("DML-MODEL-image-sizes", node, sizes=list(given), channels=" or ".join(named))
    return None


def has_type(reader: Reader, node: Node, dtype: Dtype) -> bool:
    """Whether the values of an image can have a data type; a problem where they cannot."""
    if dtype.name not in DTYPES:
        reader.report("DML-MODEL-image-type", node, dtype=dtype.name)
    return dtype.name in DTYPES


def installed(reader: Reader, node: Node) -> bool:
    """Whether Pillow is; a problem at the path of the image where it is not."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        reader.report("DML-MODEL-pillow", node, path=node.value, hint=_INSTALL)
        return False
    return True


def read(stream: BinaryIO, wanted: tuple[int, ...] | None, dtype: Dtype, require: Callable[[int], None]) -> Array:
    """The values of an image, scaled to the wanted sizes, or in its own size with three channels.

    ImageError for what cannot be decoded. ``require`` raises MemoryError for more bytes than there can be.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings(action="ignore"), Image.open(stream, formats=("PNG", "JPEG")) as image:
            width, height = image.size
            if width * height > _MOST:
                raise ImageError(f"it has more than {_MOST} pixels")
            _, channels, rows, columns = wanted or (1, 3, height, width)
            require(width * height * 8 + rows * columns * channels * (1 + numpy_dtype(dtype).itemsize))
            if image.mode.startswith("I"):  # 16 bits, of which the upper 8 count
                pixels = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert(_MODES[channels])
            else:
                pixels = image.convert(_MODES[channels])
            if pixels.size != (columns, rows):
                pixels = pixels.resize((columns, rows), Image.Resampling.BICUBIC)
            values = np.asarray(pixels)
    except (MemoryError, ImageError):
        raise
    except Exception as error:  # decoders raise anything for damaged files
        raise ImageError(_first_line(error)) from None
    shades = (np.arange(256, dtype=np.float32) / np.float32(255)).astype(numpy_dtype(dtype))
    found: Array = shades[np.moveaxis(values.reshape(rows, columns, channels), 2, 0)]
    return found


def writer(values: Array, name: str) -> Callable[[IO[bytes]], None]:
    """Writes values of sizes (1, C, H, W) as an image: from 0 to 1, those beyond cut off, NaN as 1, rounded towards 0.

    A ``.jpg`` has no transparency: the fourth channel is left out.
    """
    from PIL import Image

    array = values[0].astype(np.float32)
    with np.errstate(invalid="ignore"):
        kept = np.where(array < 1, np.maximum(array, np.float32(0)), np.float32(1)) * np.float32(255)
    pixels = np.moveaxis(kept.astype(np.uint8), 0, 2)
    jpeg = suffix(name) == ".jpg"
    if pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    elif jpeg:
        pixels = pixels[:, :, :3]
    image = Image.fromarray(np.ascontiguousarray(pixels))

    def write(stream: IO[bytes]) -> None:
        try:
            image.save(stream, "JPEG" if jpeg else "PNG", **({"quality": 90} if jpeg else {}))
        except (ValueError, OverflowError, SystemError) as error:  # an image that the format cannot hold
            raise OSError(_first_line(error)) from None

    return write


def _first_line(error: Exception) -> str:
    """The message of a decoder, without the address of the stream, of which nobody knows."""
    if type(error).__name__ == "UnidentifiedImageError":
        return "it is neither PNG nor JPEG"
    text = str(error).strip().splitlines()
    return text[0].rstrip(".") if text else type(error).__name__
