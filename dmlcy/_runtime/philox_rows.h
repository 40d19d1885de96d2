/* Random numbers of some counters at once: the text of a loop for each level.
 *
 * A vector has a word of each counter in the lower half of a lane of 64 bits; what is in the upper half does not count. The
 * lanes have the counters in the order in which words of two vectors in turn then follow each other in memory.
 */

#if DMLCY_X86
#if DMLCY_IS_WIDE
#define DMLCY_LANES __m256i
#define DMLCY_DO(name) _mm256_##name
#define DMLCY_WHOLE(name) _mm256_##name##_si256
#define DMLCY_OFFSETS _mm256_set_epi64x(3, 1, 2, 0)
#else
#define DMLCY_LANES __m128i
#define DMLCY_DO(name) _mm_##name
#define DMLCY_WHOLE(name) _mm_##name##_si128
#define DMLCY_OFFSETS _mm_set_epi64x(1, 0)
#endif
#endif

/* The numbers of `count` counters from the number `first` of those behind the state on. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_philox)(
    const dmlcy_philox_state *state, uint64_t first, uint32_t *numbers, int64_t count)
{
    int64_t i = 0;
#if DMLCY_X86
    enum { LANES = sizeof(DMLCY_LANES) / 8 };
    const DMLCY_LANES offsets = DMLCY_OFFSETS, lower = DMLCY_DO(set1_epi64x)(0xffffffff);
    const DMLCY_LANES one = DMLCY_DO(set1_epi64x)(DMLCY_PHILOX_ONE), other = DMLCY_DO(set1_epi64x)(DMLCY_PHILOX_OTHER);
    for (; i + LANES <= count; i += LANES) {
        const uint64_t low = state->low + first + (uint64_t)i, high = state->high + (low < state->low);
        const DMLCY_LANES counters = DMLCY_DO(add_epi64)(DMLCY_DO(set1_epi64x)((int64_t)low), offsets);
        DMLCY_LANES a = counters, b = DMLCY_DO(srli_epi64)(counters, 32);
        DMLCY_LANES c = DMLCY_DO(set1_epi64x)((int64_t)high), d = DMLCY_DO(set1_epi64x)((int64_t)(high >> 32));
        int k;
        if (low > UINT64_MAX - LANES) { /* the upper half of the counter changes among them */
            for (k = 0; k < LANES; k++)
                dmlcy_philox_one(state, first + (uint64_t)(i + k), numbers + 4 * (i + k));
            continue;
        }
        for (k = 0; k < DMLCY_PHILOX_ROUNDS; k++) {
            const DMLCY_LANES left = DMLCY_DO(mul_epu32)(a, one), right = DMLCY_DO(mul_epu32)(c, other);
            const DMLCY_LANES own = DMLCY_DO(set1_epi32)((int)state->keys[k][0]);
            const DMLCY_LANES last = DMLCY_DO(set1_epi32)((int)state->keys[k][1]);
            a = DMLCY_WHOLE(xor)(DMLCY_WHOLE(xor)(DMLCY_DO(srli_epi64)(right, 32), b), own);
            b = right;
            c = DMLCY_WHOLE(xor)(DMLCY_WHOLE(xor)(DMLCY_DO(srli_epi64)(left, 32), d), last);
            d = left;
        }
        a = DMLCY_WHOLE(or)(DMLCY_WHOLE(and)(a, lower), DMLCY_DO(slli_epi64)(b, 32));
        c = DMLCY_WHOLE(or)(DMLCY_WHOLE(and)(c, lower), DMLCY_DO(slli_epi64)(d, 32));
        DMLCY_WHOLE(storeu)((DMLCY_LANES *)(numbers + 4 * i), DMLCY_DO(unpacklo_epi64)(a, c));
        DMLCY_WHOLE(storeu)((DMLCY_LANES *)(numbers + 4 * i + 2 * LANES), DMLCY_DO(unpackhi_epi64)(a, c));
    }
#endif
    for (; i < count; i++)
        dmlcy_philox_one(state, first + (uint64_t)i, numbers + 4 * i);
}

#undef DMLCY_LANES
#undef DMLCY_DO
#undef DMLCY_WHOLE
#undef DMLCY_OFFSETS
