"""Lets the tests of this folder import the mapping, and what compares models with those of the onnx package."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "onnx_files")]
