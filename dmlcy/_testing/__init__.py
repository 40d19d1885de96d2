"""The parts of ``dmlcy.testing``: strategies of descs and arrays, and the comparison of results."""
