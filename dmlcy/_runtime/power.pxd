# Powers of whole exponents; power.h says how.

from libc.stdint cimport int64_t

cdef extern from "power.h" nogil:
    double power "dmlcy_power"(double x, int64_t exponent) noexcept
