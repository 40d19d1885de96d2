"""Programs of PyDirectML: its module on the CPU, with the names that it has there."""
