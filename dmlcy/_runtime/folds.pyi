"""The loops of folds; nothing of them is for Python."""
