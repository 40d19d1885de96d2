"""Graphs as files: DML_GRAPH_DESC in JSON, dumps of their values, and models for DxDispatch."""
