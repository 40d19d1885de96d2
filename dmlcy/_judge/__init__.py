"""The judgement of values that others computed: expected values of models, dumps of graphs, conformance packs."""
