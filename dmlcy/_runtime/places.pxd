# Elements together with their number in the tensor; places.h says how.

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dmlcy._runtime.blocks cimport (
    dmlcy_int8_t_block, dmlcy_int16_t_block, dmlcy_int32_t_block, dmlcy_int64_t_block, dmlcy_uint8_t_block,
    dmlcy_uint16_t_block, dmlcy_uint32_t_block, dmlcy_uint64_t_block
)

ctypedef void (*PlaceRow)(const void* source, void* target, int64_t size, int64_t number, int64_t step) noexcept nogil

cdef extern from "places.h" nogil:
    ctypedef struct place_t:
        pass
    ctypedef place_t dmlcy_place_t_block

    const place_t dmlcy_no_place

    int64_t dmlcy_placed_float_key(int32_t x, int64_t number) noexcept
    int64_t dmlcy_placed_half_key(int16_t x, int64_t number) noexcept
    int64_t dmlcy_placed_int32_t(int32_t x, int64_t number) noexcept
    int64_t dmlcy_placed_int16_t(int16_t x, int64_t number) noexcept
    int64_t dmlcy_placed_int8_t(int8_t x, int64_t number) noexcept
    int64_t dmlcy_placed_uint32_t(uint32_t x, int64_t number) noexcept
    int64_t dmlcy_placed_uint16_t(uint16_t x, int64_t number) noexcept
    int64_t dmlcy_placed_uint8_t(uint8_t x, int64_t number) noexcept
    place_t dmlcy_placed_int64_t(int64_t x, int64_t number) noexcept
    place_t dmlcy_placed_uint64_t(uint64_t x, int64_t number) noexcept

    # Elements side by side; `step` is what numbers grow by.
    void dmlcy_places_float_key(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_float_key_wide(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_half_key(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_half_key_wide(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_int32_t(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_int32_t_wide(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_int16_t(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_int16_t_wide(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_int8_t(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_int8_t_wide(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_uint32_t(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_uint32_t_wide(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_uint16_t(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_uint16_t_wide(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_uint8_t(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept
    void dmlcy_places_uint8_t_wide(const void* x, void* to, int64_t size, int64_t number, int64_t step) noexcept

    int32_t dmlcy_of_placed_float_key(int64_t place) noexcept
    int16_t dmlcy_of_placed_half_key(int64_t place) noexcept
    int32_t dmlcy_of_placed_int32_t(int64_t place) noexcept
    int16_t dmlcy_of_placed_int16_t(int64_t place) noexcept
    int8_t dmlcy_of_placed_int8_t(int64_t place) noexcept
    uint32_t dmlcy_of_placed_uint32_t(int64_t place) noexcept
    uint16_t dmlcy_of_placed_uint16_t(int64_t place) noexcept
    uint8_t dmlcy_of_placed_uint8_t(int64_t place) noexcept
    int64_t dmlcy_of_placed_int64_t(place_t place) noexcept
    uint64_t dmlcy_of_placed_uint64_t(place_t place) noexcept

    uint32_t dmlcy_index_int64_t(int64_t place) noexcept
    uint32_t dmlcy_index_place_t(place_t place) noexcept

    place_t dmlcy_first_place(place_t first, place_t second) noexcept
    place_t dmlcy_load_place_t(const place_t* source) noexcept
    void dmlcy_store_place_t(place_t* target, place_t place) noexcept

    void dmlcy_take_greater_int8_t(
        dmlcy_int8_t_block* greatest, dmlcy_int8_t_block* mark,
        dmlcy_int8_t_block key, dmlcy_int8_t_block mark_of_key) noexcept
    void dmlcy_take_greater_int16_t(
        dmlcy_int16_t_block* greatest, dmlcy_int16_t_block* mark,
        dmlcy_int16_t_block key, dmlcy_int16_t_block mark_of_key) noexcept
    void dmlcy_take_greater_int32_t(
        dmlcy_int32_t_block* greatest, dmlcy_int32_t_block* mark,
        dmlcy_int32_t_block key, dmlcy_int32_t_block mark_of_key) noexcept
    void dmlcy_take_greater_int64_t(
        dmlcy_int64_t_block* greatest, dmlcy_int64_t_block* mark,
        dmlcy_int64_t_block key, dmlcy_int64_t_block mark_of_key) noexcept
    void dmlcy_take_greater_uint8_t(
        dmlcy_uint8_t_block* greatest, dmlcy_uint8_t_block* mark,
        dmlcy_uint8_t_block key, dmlcy_uint8_t_block mark_of_key) noexcept
    void dmlcy_take_greater_uint16_t(
        dmlcy_uint16_t_block* greatest, dmlcy_uint16_t_block* mark,
        dmlcy_uint16_t_block key, dmlcy_uint16_t_block mark_of_key) noexcept
    void dmlcy_take_greater_uint32_t(
        dmlcy_uint32_t_block* greatest, dmlcy_uint32_t_block* mark,
        dmlcy_uint32_t_block key, dmlcy_uint32_t_block mark_of_key) noexcept
    void dmlcy_take_greater_uint64_t(
        dmlcy_uint64_t_block* greatest, dmlcy_uint64_t_block* mark,
        dmlcy_uint64_t_block key, dmlcy_uint64_t_block mark_of_key) noexcept
