"""Forms in which programs for DirectML come."""
