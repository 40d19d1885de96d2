/* Powers of whole exponents. Not inline: compilers vectorise a loop that calls a function for some exponents, but not one
 * that has another loop inside.
 */
#ifndef DMLCY_POWER_H
#define DMLCY_POWER_H

#include <stdint.h>

#include "compiler.h"

/* `x` multiplied by itself: the same bits with any C library. `exponent` is positive. */
DMLCY_APART double dmlcy_power(double x, int64_t exponent)
{
    double result = 1;
    for (;;) {
        if (exponent & 1)
            result *= x;
        exponent >>= 1;
        if (exponent == 0)
            return result;
        x *= x;
    }
}

#endif
