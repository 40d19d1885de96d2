"""Images as initial values and as files that are written, and images that are not what they should be."""

from __future__ import annotations

import importlib.util
import io
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import execute, model, refused, storage
from hypothesis import given
from hypothesis import strategies as st

needs_pillow = pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="needs Pillow")

PIXELS = np.array([[[255, 0, 51], [0, 102, 255], [1, 2, 3]], [[4, 5, 6], [7, 8, 9], [10, 20, 30]]], np.uint8)
PATH = "$.resources.x.initialValues.sourcePath"


def resource(path: str, dtype: str = "FLOAT32", **more: Any) -> dict[str, Any]:
    return {"initialValuesDataType": dtype, "initialValues": {"sourcePath": path}, **more}


def values(found: Any, dtype: type = np.float32) -> np.ndarray[Any, Any]:
    return np.asarray(found.data[found.start : found.stop].view(dtype))


def save(path: Path, pixels: np.ndarray[Any, Any] = PIXELS, **more: Any) -> None:
    from PIL import Image

    Image.fromarray(pixels).save(path, **more)


def written(path: Path) -> np.ndarray[Any, Any]:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image)


def writing(pixels: list[Any], path: str, dimensions: Any, dtype: str = "FLOAT32") -> dict[str, Any]:
    """A model that writes these values."""
    command = {"type": "writeFile", "resource": "x", "targetPath": path, "dimensions": dimensions}
    buffer = {"initialValuesDataType": dtype, "initialValues": pixels}
    return model(resources={"x": buffer}, dispatchables={}, commands=[command])


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, data: bytes = b"") -> bytes:
    """A PNG file that says it has this size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


@needs_pillow
class TestRead:
    def test_channels_come_first_and_values_are_parts_of_255(self, tmp_path: Path) -> None:
        save(tmp_path / "a.png")
        wanted = [1, 0, 1 / 255, 4 / 255, 7 / 255, 10 / 255, 0, 0.4, 2 / 255, 5 / 255, 8 / 255, 20 / 255]
        wanted += [0.2, 1, 3 / 255, 6 / 255, 9 / 255, 30 / 255]
        sizes: tuple[dict[str, Any], ...] = ({"resampleSize": [1, 3, 2, 3]}, {}, {"resampleSize": []})
        for size in (*sizes, {"resampleMode": "scale"}):
            found = storage(resource("a.png", **size), tmp_path)
            assert np.array_equal(values(found), np.array(wanted, np.float32))
        halves = storage(resource("a.png", "FLOAT16", resampleSize=[1, 3, 2, 3]), tmp_path)
        assert np.array_equal(values(halves, np.float16), np.array(wanted, np.float32).astype(np.float16))

    def test_four_channels(self, tmp_path: Path) -> None:
        save(tmp_path / "a.PNG")
        found = values(storage(resource("a.PNG", resampleSize=[1, 4, 2, 3]), tmp_path))
        assert found.size == 24
        assert found[18:].tolist() == [1] * 6
        save(tmp_path / "b.png", np.full((1, 1, 4), 51, np.uint8))
        assert np.array_equal(values(storage(resource("b.png"), tmp_path)), np.full(3, 0.2, np.float32))

    def test_other_pixels_become_three_channels(self, tmp_path: Path) -> None:
        save(tmp_path / "grey.png", np.array([[0, 255]], np.uint8))
        assert values(storage(resource("grey.png"), tmp_path)).tolist() == [0, 1] * 3
        save(tmp_path / "deep.png", np.array([[0x12FF, 0xFF00]], np.uint16))
        deep = np.array([0x12 / 255, 1] * 3, np.float32)
        assert np.array_equal(values(storage(resource("deep.png"), tmp_path)), deep)

    def test_an_even_image_stays_even_when_it_is_scaled(self, tmp_path: Path) -> None:
        save(tmp_path / "a.jpg", np.full((40, 30, 3), 51, np.uint8))
        for rows, columns in ((16, 8), (80, 60)):
            found = values(storage(resource("a.jpg", resampleSize=[1, 3, rows, columns]), tmp_path))
            assert np.array_equal(found, np.full(3 * rows * columns, 0.2, np.float32))

    def test_scaling_keeps_what_is_left_and_right(self, tmp_path: Path) -> None:
        pixels = np.zeros((32, 64, 3), np.uint8)
        pixels[:, 32:] = 255
        save(tmp_path / "a.png", pixels)
        found = values(storage(resource("a.png", resampleSize=[1, 3, 8, 16]), tmp_path)).reshape(3, 8, 16)
        assert (found[:, :, :6] == 0).all()
        assert (found[:, :, 10:] == 1).all()

    def test_the_buffer_may_be_larger_than_the_image(self, tmp_path: Path) -> None:
        save(tmp_path / "a.png")
        found = storage(resource("a.png", sizeInBytes=100, initialValuesOffsetInBytes=4), tmp_path)
        assert (found.start, found.stop, found.size) == (4, 76, 100)
        short = resource("a.png", sizeInBytes=71)
        refused("DML-MODEL-size", "$.resources.x.sizeInBytes", storage, short, tmp_path)
        short["resampleSize"] = [1, 3, 2, 3]
        refused("DML-MODEL-size", "$.resources.x.sizeInBytes", storage, short, tmp_path)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\x89PNG\r\n\x1a\n",
            b"GIF89a",
            b"\xff\xd8\xff\xe0\0\x10JFIF",
            png(3, 2),
            png(0, 2),
            png(2**31 - 1, 2**31 - 1),
            png(2**14, 2**14),
        ],
    )
    def test_broken_images(self, content: bytes, tmp_path: Path) -> None:
        (tmp_path / "a.png").write_bytes(content)
        refused("DML-MODEL-image-file", PATH, storage, resource("a.png"), tmp_path)

    @pytest.mark.parametrize("name", ["a.png", "a.jpg"])
    def test_an_image_that_ends_too_early(self, name: str, tmp_path: Path) -> None:
        path = tmp_path / name
        save(path, np.arange(64 * 64 * 3, dtype=np.uint8).reshape(64, 64, 3))
        whole = path.read_bytes()
        for part in (8, 3, 2):
            path.write_bytes(whole[: len(whole) // part])
            refused("DML-MODEL-image-file", PATH, storage, resource(name), tmp_path)

    @given(data=st.data())
    def test_damaged_bytes(self, data: st.DataObject) -> None:
        kind = data.draw(st.sampled_from(["PNG", "JPEG"]))
        stream = io.BytesIO()
        from PIL import Image

        Image.fromarray(PIXELS).save(stream, kind)
        raw = bytearray(stream.getvalue())
        for _ in range(data.draw(st.integers(1, 4))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.png").write_bytes(raw)
            try:
                storage(resource("a.png", resampleSize=[1, 3, 2, 2]), Path(folder))
            except ValueError as error:
                assert "DML-MODEL-" in str(error)

    def test_files_that_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "d.png").mkdir()
        for name in ("d.png", "missing.jpg", "a\0b.png"):
            refused("DML-MODEL-source", PATH, storage, resource(name), tmp_path)

    def test_sizes_beyond_the_memory(self, tmp_path: Path) -> None:
        save(tmp_path / "a.png")
        for size in (2**20, 2**32 - 1):
            large = resource("a.png", resampleSize=[1, 3, size, size])
            refused("DML-MODEL-memory", "$.resources.x", storage, large, tmp_path)


def test_what_is_no_size_of_an_image() -> None:
    for sizes in ([1, 3, 4], [2, 3, 4, 4], [1, 1, 4, 4], [1, 3, 4, 4, 1]):
        found = resource("a.png", resampleSize=sizes)
        refused("DML-MODEL-image-sizes", "$.resources.x.resampleSize", storage, found)
    refused("DML-MODEL-range", "$.resources.x.resampleSize[2]", storage, resource("a.png", resampleSize=[1, 3, 0, 4]))
    refused("DML-MODEL-type", "$.resources.x.resampleSize", storage, resource("a.png", resampleSize=4))
    refused("DML-MODEL-choice", "$.resources.x.resampleMode", storage, resource("a.png", resampleMode="crop"))
    refused("DML-MODEL-type", "$.resources.x.resampleMode", storage, resource("a.png", resampleMode=1))
    for dtype in ("UINT8", "FLOAT64"):
        found = resource("a.png", dtype)
        refused("DML-MODEL-image-type", "$.resources.x.initialValuesDataType", storage, found)
    refused("DML-MODEL-missing", "$.resources.x", storage, {"initialValues": {"sourcePath": "a.png"}})


@needs_pillow
class TestWrite:
    def test_values_are_cut_off_and_rounded_down(self, tmp_path: Path) -> None:
        given = [-1, 0.5, 1, 2, "nan", "inf", "-inf", 0.999]
        printed = execute(writing(given, "a/b.png", [1, 1, 2, 4]), output_path=tmp_path)
        assert printed == f"Resource 'x' written to '{tmp_path / 'a/b.png'}'\n"
        assert written(tmp_path / "a" / "b.png").tolist() == [[0, 127, 255, 255], [255, 255, 0, 254]]

    @pytest.mark.parametrize("channels", [3, 4])
    def test_channels_come_last(self, channels: int, tmp_path: Path) -> None:
        given = [shade / 255 + 1e-4 for shade in range(channels * 6)]
        execute(writing(given, "a.PNG", [1, channels, 2, 3], "FLOAT16"), output_path=tmp_path)
        found = written(tmp_path / "a.PNG")
        assert found.shape == (2, 3, channels)
        assert np.array_equal(np.moveaxis(found, 2, 0).reshape(-1), range(channels * 6))

    def test_jpg_has_no_transparency(self, tmp_path: Path) -> None:
        execute(writing([0.2] * 64 * 4, "a.jpg", [1, 4, 8, 8]), output_path=tmp_path)
        assert np.array_equal(written(tmp_path / "a.jpg"), np.full((8, 8, 3), 51))

    def test_there_and_back(self, tmp_path: Path) -> None:
        save(tmp_path / "a.png", np.full((4, 4, 3), 255, np.uint8))
        command = {"type": "writeFile", "resource": "x", "targetPath": "b.png", "dimensions": [1, 3, 4, 4]}
        whole = model(resources={"x": resource("a.png")}, dispatchables={}, commands=[command])
        execute(whole, tmp_path, output_path=tmp_path)
        assert np.array_equal(written(tmp_path / "b.png"), np.full((4, 4, 3), 255))

    def test_what_cannot_be_written(self, tmp_path: Path) -> None:
        wide = writing([1] * 70000, "a.jpg", [1, 1, 1, 70000])
        refused("DML-MODEL-write", "$.commands[0].targetPath", execute, wide, output_path=tmp_path)
        few = writing([1, 2], "a.png", [1, 1, 2, 2])
        refused("DML-MODEL-dimensions", "$.commands[0].dimensions", execute, few, output_path=tmp_path)
        np.save(tmp_path / "a.npy", np.zeros(4))
        untyped = writing([], "a.png", [1, 1, 2, 2])
        untyped["resources"]["x"] = {"initialValues": {"sourcePath": "a.npy"}}
        refused("DML-MODEL-image-type", "$.commands[0]", execute, untyped, tmp_path, output_path=tmp_path)
        untyped["resources"]["x"] = {"initialValues": [{"type": "FLOAT32", "value": 1}]}
        refused("DML-MODEL-untyped", "$.commands[0]", execute, untyped, output_path=tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_what_no_image_can_have(tmp_path: Path) -> None:
    for dimensions in ([1, 2, 1, 1], [2, 1, 1, 1], [1, 1, 2], []):
        whole = writing([1, 2], "a.png", dimensions)
        refused("DML-MODEL-image-sizes", "$.commands[0].dimensions", execute, whole, output_path=tmp_path)
    missing = writing([1], "a.png", [])
    del missing["commands"][0]["dimensions"]
    refused("DML-MODEL-missing", "$.commands[0]", execute, missing, output_path=tmp_path)
    whole = writing([1], "a.png", [1, 1, 1, 1], "INT32")
    refused("DML-MODEL-image-type", "$.commands[0]", execute, whole, output_path=tmp_path)
    whole = writing([1], "a.bmp", [1, 1, 1, 1])
    refused("DML-MODEL-image", "$.commands[0].targetPath", execute, whole, output_path=tmp_path)


def test_without_pillow_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    (tmp_path / "a.png").write_bytes(b"")
    found = refused("DML-MODEL-pillow", PATH, storage, resource("a.png"), tmp_path)
    assert "Pillow" in found.message
    assert found.hint == "Install it: pip install 'dmlcy[images]'."
    commands = [*model()["commands"], writing([], "b.png", [1, 1, 1, 5])["commands"][0] | {"resource": "out"}]
    whole = model(commands=commands)
    refused("DML-MODEL-pillow", "$.commands[2].targetPath", execute, whole, output_path=tmp_path)
    assert execute(model()) == "Resource 'out': 9, 1, 2, 3, 9\n"
