"""Model files in the JSON format of DxDispatch: read, checked and executed."""
