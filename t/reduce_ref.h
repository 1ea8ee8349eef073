/* SPDX-License-Identifier: BSD-3-Clause */
/* t/reduce_ref.h - reductions done the slow and plain way, one element and one op at a time, to hold the
 * kernels against. */
#ifndef REDUCE_REF_H
#define REDUCE_REF_H

#include "hcore/types.h"

/* Is the op defined on the type: MPI 4.0 section 6.9.2, REPLACE and NO_OP, and logical ops on floating types.
 */
bool ref_defined(hcore_type_t type, hcore_redop_t op);

/* acc[i] = acc[i] OP with[i] for n elements. */
void ref_step(hcore_type_t type, hcore_redop_t op, void *acc, const void *with, size_t n);

/* A 16-bit floating type (FP16 or BFP16): its value, and the nearest one to a value. */
double ref_half_value(hcore_type_t type, uint16_t bits);
uint16_t ref_half_bits(hcore_type_t type, double value);

#endif
