"""Simulated and real devices, and faults of them, against the bound that a correct device has."""
