"""The conformance pack: cases of operators for a back end without Python, drawn and written; and its command."""
