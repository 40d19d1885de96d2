"""Expected values of a model: their folder, and the comparison with what a device wrote."""
