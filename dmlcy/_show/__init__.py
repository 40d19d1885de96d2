"""All that lays out text: notebooks, explanations, reports, the terminal."""
