"""The modules that lay out text: notebooks, explanations, reports, the terminal."""
