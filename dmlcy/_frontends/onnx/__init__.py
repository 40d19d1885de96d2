"""ONNX models: their files, which of their nodes ONNX Runtime gives to DirectML, and the descs of these nodes."""
