"""Conformance packs: their list, its reader, and the judgement of what a back end wrote."""
