# Numbers of a data type, as their bytes.

cdef int take_scalar(object value, int dtype, unsigned char* result) except -1:
    if dtype == FLOAT32 or dtype == FLOAT16 or dtype == FLOAT64:
        return take_real_scalar(value, dtype, result)
    return take_int_scalar(value, dtype, result)


cdef int take_real_scalar(object value, int dtype, unsigned char* result) except -1:
    cdef double number
    cdef float single
    cdef char[2] half
    if not take_real(value, &number):
        return 0
    if dtype == FLOAT32:
        single = <float>number
        if isinf(single) and not isinf(number):
            return 0
        memcpy(result, &single, 4)
    elif dtype == FLOAT16:
        try:
            PyFloat_Pack2(number, half, not PY_BIG_ENDIAN)
        except OverflowError:
            return 0
        memcpy(result, half, 2)
    else:
        number = float(value)
        memcpy(result, &number, 8)
    return 1


cdef int take_int_scalar(object value, int dtype, unsigned char* result) except -1:
    cdef int64_t number, limit
    cdef int8_t n8
    cdef int16_t n16
    cdef int32_t n32
    cdef int item = item_of(dtype)
    if dtype == UINT64:
        if is_bool(value):
            return 0
        try:
            number = <int64_t>PyLong_AsUnsignedLongLong(PyNumber_Index(value))
        except Exception:
            return 0
    elif dtype == INT64:
        if not take_uint(value, -(<int64_t>0x7FFFFFFFFFFFFFFF) - 1, 0x7FFFFFFFFFFFFFFF, &number):
            return 0
    elif dtype == UINT8 or dtype == UINT16 or dtype == UINT32:
        if not take_uint(value, 0, (<int64_t>1 << (8 * item)) - 1, &number):
            return 0
    else:
        limit = <int64_t>1 << (8 * item - 1)
        if not take_uint(value, -limit, limit - 1, &number):
            return 0
    if item == 1:
        n8 = <int8_t>number
        memcpy(result, &n8, 1)
    elif item == 2:
        n16 = <int16_t>number
        memcpy(result, &n16, 2)
    elif item == 4:
        n32 = <int32_t>number
        memcpy(result, &n32, 4)
    else:
        memcpy(result, &number, 8)
    return 1
