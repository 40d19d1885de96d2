"""The family scan: what its specs say."""
