"""The functions that make DirectML's nodes of a node of ONNX: a file for each file of ``specs/onnx``."""
