/* The table of an operator: what a call of it is, beside its functions. Generated modules write it, call.pyx reads it. */

#ifndef DMLCY_LAYOUT_H
#define DMLCY_LAYOUT_H

#include <stdint.h>

/* How many tensors a call gives for a field. */
enum { DMLCY_ONE, DMLCY_AT_MOST_ONE, DMLCY_SEVERAL /* of one data type */, DMLCY_MIXED /* several, of any data types */ };

/* A tensor, or an array of tensors. The tensors are the first members of the struct of the operator: inputs, then outputs. */
typedef struct {
    const char *name;
    const uint32_t *dtypes; /* by feature level, the data types that it may have (bit n: value n) */
    const uint32_t *ranks;  /* and the ranks */
    int same_as;            /* the tensor whose data type an input has; -1: none */
    int call_rank;          /* a call may leave leading ones out, up to this rank; 0: it may not */
    int desc_rank;          /* a desc may add leading ones, a call has this rank; 0: no such thing */
    int desc_ones;          /* whether a desc may add leading ones */
    int number;             /* of the enum above. Where there is not one tensor, the data type is 0 */
    int in_place;           /* whether an output may be written over it, element by element */
} dmlcy_tensor_layout;

/* An argument that a call has by its name, and where a desc has it. */
typedef struct {
    const char *name;
    const char *tensor; /* NULL: in the field of that name. Else in this tensor: */
    int before;         /* sizes of the tensor before and behind the argument's; -1: its data type */
    int after;
} dmlcy_keyword_layout;

typedef struct {
    const char *name; /* in DirectML */
    const char *python;
    int since;  /* index of a feature level */
    int levels; /* how many there are */
    int inputs;
    int outputs;
    int keywords;
    int open_output; /* the only output, if rules decide which data types it may have that a call does not say; or -1 */
    int open_keyword; /* the keyword that says the data type */
    int data_rules; /* whether values of inputs are checked, where the operator has no function that does */
    const dmlcy_tensor_layout *tensors;
    const dmlcy_keyword_layout *rows; /* of the keywords, in the order of the signature */
} dmlcy_layout;

#endif
