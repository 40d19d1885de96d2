"""The family scan: its reference."""
