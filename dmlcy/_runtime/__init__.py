"""What every generated kernel stands on: tensors, attribute arguments, threads and the feature level, in C."""
