"""Operators of ONNX that none of DirectML's operators, or no small number of them, is."""

from __future__ import annotations

from onnx_mapping.node import refuse_all

refuse_all("text is no tensor of numbers", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit")
refuse_all("text is no tensor of numbers", "TfIdfVectorizer", "ai.onnx.ml.LabelEncoder")
refuse_all("it runs a graph that it holds", "If", "Loop", "Scan", "SequenceMap", "ai.onnx.preview.FlexAttention")
refuse_all("a sequence or an optional is no tensor", "OptionalGetElement", "OptionalHasElement", "SequenceInsert")
refuse_all("a sequence or an optional is no tensor", "SplitToSequence")
refuse_all("its result is known from the sizes alone, before anything runs", "Shape", "Size")
refuse_all("the number of its results depends on the values", "Compress", "NonMaxSuppression", "Unique")
refuse_all("its results are random", "Bernoulli")
refuse_all("DirectML has no transform to frequencies", "DFT", "STFT", "MelWeightMatrix")
refuse_all("DirectML has no windows of signals", "BlackmanWindow", "HammingWindow", "HannWindow")
refuse_all("DirectML has no such decoder", "ImageDecoder")
refuse_all("DirectML has no such operator", "AffineGrid", "DeformConv", "Det", "GridSample", "TensorScatter")
refuse_all("DirectML has no such operator", "ai.onnx.ml.ArrayFeatureExtractor", "ai.onnx.ml.Binarizer")
refuse_all("DirectML has no such operator", "ai.onnx.ml.TreeEnsemble")
refuse_all("it is a graph of many operators", "Attention", "CausalConvWithState", "Einsum", "LinearAttention")
refuse_all("it is a graph of many operators", "NegativeLogLikelihoodLoss", "RotaryEmbedding", "SwiGLU")
refuse_all("it is a graph of many operators", "SoftmaxCrossEntropyLoss")
refuse_all("it is a graph of many operators", "ai.onnx.preview.training.Adagrad", "ai.onnx.preview.training.Momentum")
refuse_all("its tests are of step 0, at which ADAM_OPTIMIZER divides by 0", "ai.onnx.preview.training.Adam")
