"""From operators of ONNX to operators of DirectML."""

from onnx_mapping import elementwise as elementwise
