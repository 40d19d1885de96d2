"""The conformance pack: cases of operators for a back end without Python, and the judgement of what it wrote."""
