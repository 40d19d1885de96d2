"""The base of every generated kernel: tensors, attribute arguments, threads and the feature level, in C."""
