/* How two accumulators, and two blocks of them, are combined: by DMLCY_COMBINE, of accumulators DMLCY_ACC. */
#ifndef DMLCY_JOINS_H
#define DMLCY_JOINS_H

#include "named.h"
#include "places.h"

#define DMLCY_TWO DMLCY_NAMED(DMLCY_TWO_, DMLCY_COMBINE)
#define DMLCY_TWO_sum(first, second) ((first) + (second))
#define DMLCY_TWO_max(first, second) ((second) > (first) ? (second) : (first))
#define DMLCY_TWO_first_place(first, second) dmlcy_first_place(first, second)

#define DMLCY_JOIN DMLCY_NAMED(DMLCY_JOIN_, DMLCY_COMBINE)
#define DMLCY_JOIN_sum(first, second) ((first) + (second))
#define DMLCY_JOIN_max(first, second) DMLCY_LEVEL(DMLCY_NAMED(dmlcy_max_, DMLCY_ACC))(first, second)
#define DMLCY_JOIN_first_place(first, second) dmlcy_first_place(first, second)

/* A block of accumulators, how many it has, and how one is loaded and stored. */
#define DMLCY_BLOCK_OF DMLCY_NAMED(DMLCY_NAMED(dmlcy_, DMLCY_ACC), _block)
#define DMLCY_SIZE ((int64_t)(sizeof(DMLCY_BLOCK_OF) / sizeof(DMLCY_ACC)))
#define DMLCY_LOADED DMLCY_LEVEL(DMLCY_NAMED(dmlcy_load_, DMLCY_ACC))
#define DMLCY_PUT DMLCY_LEVEL(DMLCY_NAMED(dmlcy_store_, DMLCY_ACC))

#endif
