"""The speed of dmlcy beside NumPy, PyTorch, ONNX Runtime and a parallel memcpy: ``python -m benchmarks --help``."""
