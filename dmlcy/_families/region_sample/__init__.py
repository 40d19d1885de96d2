"""The family region_sample: its reference."""
