"""The text of ``dmlcy explain``: words to facts (``find``), facts to text (``text``, on a ``page``)."""
