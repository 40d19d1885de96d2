"""What others computed, against what it must be: expected values of models, dumps of graphs, conformance packs."""
