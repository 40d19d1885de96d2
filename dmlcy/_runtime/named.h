/* Names made of others, which may be macros. */
#ifndef DMLCY_NAMED_H
#define DMLCY_NAMED_H

#define DMLCY_PASTE(first, second) first##second
#define DMLCY_NAMED(first, second) DMLCY_PASTE(first, second)

#endif
