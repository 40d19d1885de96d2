"""What ``dmlcy.testing`` is made of: strategies of descs and arrays, and the comparison of results."""
