"""Dumps of graphs: every value of a run, and the judgement of each node in the dump of a device."""
