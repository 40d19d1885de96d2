"""What every generated kernel stands on: tensors, attribute arguments, threads and the feature level, in C."""

from dmlcy._runtime import forks as forks
