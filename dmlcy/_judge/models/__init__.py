"""Values of ONNX models that others computed, against what each node gives for the inputs that it had there."""
