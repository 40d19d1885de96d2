"""Words for messages. This room imports nothing of the package."""
