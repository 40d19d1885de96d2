/* Elementary functions over FLOAT32, by subject. functions_base.h says what is true of all. */
#ifndef DMLCY_FUNCTIONS_H
#define DMLCY_FUNCTIONS_H

#include "functions_base.h"
#include "functions_exp.h"
#include "functions_hyperbolic.h"
#include "functions_inverse.h"
#include "functions_log.h"
#include "functions_tan.h"
#include "functions_turns.h"

#endif
