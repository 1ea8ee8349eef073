/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix/limits.h - which data types and reduction ops a backend takes, as data.
 */
#ifndef HX_LIMITS_H
#define HX_LIMITS_H

#include "hcore/matrix.h"

/*
 * One row allows every combination of its sets. Sets are bit masks by enumerator.
 * types    single types, also OPAQUE and NONE
 * classes  whole classes of types (hcore_class_t), OPAQUE and NONE not among them
 * redops   also USER; NONE for operators that do not reduce
 */
typedef struct {
    uint32_t backends;
    uint32_t opers;
    uint64_t types;
    uint32_t classes;
    uint32_t redops;
} hx_limit_t;

extern const hx_limit_t hx_limits_atlas_a3[];
extern const size_t hx_limits_atlas_a3_count;
extern const hx_limit_t hx_limits_host[];
extern const size_t hx_limits_host_count;

/* HCORE_REASON_CHOSEN if a row allows the query's type and op, else TYPE or REDOP. */
hcore_reason_t hx_limits_check(const hx_limit_t *limits, size_t count, hcore_backend_t backend,
                               const hcore_query_t *query);

#endif
