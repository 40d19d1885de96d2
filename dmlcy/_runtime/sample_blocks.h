/* Loops whose steps may be made twice: the last block of elements may overlap the one before, so none are left over. */
#ifndef DMLCY_SAMPLE_BLOCKS_H
#define DMLCY_SAMPLE_BLOCKS_H

#define DMLCY_STEPS 16 /* elements of a block */

/* The statement for i = 0 … n-1, where `i` and `block` are variables. The statement must give the same if it is made
 * again, after the others. */
#define DMLCY_IN_STEPS(statement)                                                                                      \
    if (n < DMLCY_STEPS)                                                                                               \
        for (i = 0; i < n; i++) {                                                                                      \
            statement                                                                                                  \
        }                                                                                                              \
    else                                                                                                               \
        for (block = 0;; block += DMLCY_STEPS) {                                                                       \
            block = block > n - DMLCY_STEPS ? n - DMLCY_STEPS : block;                                                 \
            for (i = block; i < block + DMLCY_STEPS; i++) {                                                            \
                statement                                                                                              \
            }                                                                                                          \
            if (block == n - DMLCY_STEPS)                                                                              \
                break;                                                                                                 \
        }

#endif
