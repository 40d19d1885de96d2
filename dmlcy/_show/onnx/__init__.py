"""The report on an ONNX model, as text, as JSON and as findings."""
