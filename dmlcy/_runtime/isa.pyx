"""What the kernels use of the processor."""


def instructions() -> list[str]:
    """The instruction sets beyond the baseline that kernels use; DMLCY_ISA=baseline in the environment forbids them."""
    return ["AVX2", "F16C", "FMA"] if dmlcy_wide() else ["F16C"] if dmlcy_has_f16c() else []
