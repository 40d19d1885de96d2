# What the processor offers beyond the baseline; isa.h says how a function makes use of it.

cdef extern from "isa.h" nogil:
    bint dmlcy_has_f16c() noexcept
    bint dmlcy_wide() noexcept      # DMLCY_WIDE functions may be called
