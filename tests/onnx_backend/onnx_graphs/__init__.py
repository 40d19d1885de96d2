"""From descs of DirectML to graphs of ONNX. Importing it enters all conversions."""

from onnx_graphs import elementwise as elementwise
from onnx_graphs import others as others
from onnx_graphs import windows as windows
