"""The conversions of the node tests have the names of ONNX, too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "onnx_nodes"))
