# Transposed, woven and split rows; moves.h says how.

from libc.stdint cimport int64_t

cdef extern from "moves.h" nogil:
    enum:
        DMLCY_TURNS

    void dmlcy_ask(const char* source, int64_t n) noexcept
    void dmlcy_ask_rows(const char* source, int64_t pitch, int64_t rows, int64_t n) noexcept
    void dmlcy_touch(const char* source, int64_t n) noexcept
    void dmlcy_turn_1(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                      int64_t pitch) noexcept
    void dmlcy_turn_tiles_1(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                            const int64_t* places, int64_t step) noexcept
    void dmlcy_turn_2(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                      int64_t pitch) noexcept
    void dmlcy_turn_tiles_2(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                            const int64_t* places, int64_t step) noexcept
    void dmlcy_turn_4(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                      int64_t pitch) noexcept
    void dmlcy_turn_tiles_4(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                            const int64_t* places, int64_t step) noexcept
    void dmlcy_turn_8(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                      int64_t pitch) noexcept
    void dmlcy_turn_tiles_8(const char* source, const int64_t* rows, int64_t height, int64_t cols, char* target,
                            const int64_t* places, int64_t step) noexcept
    int64_t dmlcy_weave_3_1(const char* planes, int64_t pitch, int64_t count, char* target) noexcept
    int64_t dmlcy_weave_3_2(const char* planes, int64_t pitch, int64_t count, char* target) noexcept
    int64_t dmlcy_split_3_1(const char* source, int64_t count, char* target, int64_t pitch) noexcept
    int64_t dmlcy_split_3_2(const char* source, int64_t count, char* target, int64_t pitch) noexcept
    int64_t dmlcy_split_3_4(const char* source, int64_t count, char* target, int64_t pitch) noexcept
