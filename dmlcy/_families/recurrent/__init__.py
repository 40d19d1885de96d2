"""The family recurrent: its reference."""
