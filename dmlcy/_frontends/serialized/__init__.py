"""Graphs as ONNX Runtime writes them (``Partition_0.bin``): bytes and plain values, no operators."""
