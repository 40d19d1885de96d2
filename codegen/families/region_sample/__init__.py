"""The family region_sample: what its specs say."""
