"""The loops that gather what is under windows; nothing of them is for Python."""
