"""The operators on dask arrays: how their axes are cut, and the graph."""
