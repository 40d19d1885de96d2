/* Philox 4x32-10: each counter of 128 bits gives four numbers, whatever the others are. philox_rows.h has the loops. */
#ifndef DMLCY_PHILOX_H
#define DMLCY_PHILOX_H

#include <stdint.h>

#include "isa.h"
#include "named.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

#define DMLCY_PHILOX_ROUNDS 10
#define DMLCY_PHILOX_ONE 0xD2511F53u
#define DMLCY_PHILOX_OTHER 0xCD9E8D57u

typedef struct {
    uint64_t low; /* the halves of the first counter */
    uint64_t high;
    uint32_t keys[DMLCY_PHILOX_ROUNDS][2];
} dmlcy_philox_state;

static void dmlcy_philox_begin(dmlcy_philox_state *state, const uint32_t *words)
{
    int k;
    state->low = words[0] | (uint64_t)words[1] << 32;
    state->high = words[2] | (uint64_t)words[3] << 32;
    for (k = 0; k < DMLCY_PHILOX_ROUNDS; k++) {
        state->keys[k][0] = words[4] + (uint32_t)k * 0x9E3779B9u;
        state->keys[k][1] = words[5] + (uint32_t)k * 0xBB67AE85u;
    }
}

/* The words of the counter `more` behind the first one. */
static void dmlcy_philox_counter(const dmlcy_philox_state *state, uint64_t more, uint32_t *words)
{
    const uint64_t low = state->low + more, high = state->high + (low < more);
    words[0] = (uint32_t)low;
    words[1] = (uint32_t)(low >> 32);
    words[2] = (uint32_t)high;
    words[3] = (uint32_t)(high >> 32);
}

static void dmlcy_philox_one(const dmlcy_philox_state *state, uint64_t more, uint32_t *words)
{
    int k;
    dmlcy_philox_counter(state, more, words);
    for (k = 0; k < DMLCY_PHILOX_ROUNDS; k++) {
        const uint64_t left = (uint64_t)words[0] * DMLCY_PHILOX_ONE, right = (uint64_t)words[2] * DMLCY_PHILOX_OTHER;
        words[0] = (uint32_t)(right >> 32) ^ words[1] ^ state->keys[k][0];
        words[1] = (uint32_t)right;
        words[2] = (uint32_t)(left >> 32) ^ words[3] ^ state->keys[k][1];
        words[3] = (uint32_t)left;
    }
}

#define DMLCY_TEXT "philox_rows.h"
#include "both_levels.h"

#endif
