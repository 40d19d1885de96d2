"""From operators of ONNX to operators of DirectML. Importing it enters all conversions."""

from onnx_mapping import contract as contract
from onnx_mapping import elementwise as elementwise
from onnx_mapping import index as index
from onnx_mapping import reasons as reasons
from onnx_mapping import recurrent as recurrent
from onnx_mapping import reduce as reduce
from onnx_mapping import shapes as shapes
