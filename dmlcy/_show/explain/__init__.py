"""What ``dmlcy explain`` says: words to facts (``find``), facts to text (``text``, on a ``page``)."""
