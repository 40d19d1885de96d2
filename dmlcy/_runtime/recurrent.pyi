"""The loops of recurrent layers; nothing of them is for Python."""
