"""The expression language of the specs: Python's syntax with its own meaning.

``parse`` turns text into immutable nodes, ``types`` gives each node its kind and the interval of its values, and one
small module per target renders it: ``cython``, ``python``, ``text`` (formulas and messages).
"""
