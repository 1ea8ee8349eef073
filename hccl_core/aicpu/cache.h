/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.h - expansions of a communicator, kept so that a repeated call builds nothing. */
#ifndef HCORE_AICPU_CACHE_H
#define HCORE_AICPU_CACHE_H

#include "hcore/expansion.h"

typedef struct {
    const hx_algo_t *algo;
    hx_shape_t shape; /* its arrays, if any, are copies owned by the entry */
    hx_expansion_t expansion;
    uint32_t most_sources; /* of one REDUCE */
    bool used;
} cached_t;

struct expansion_cache;

/* The entry for (algo, shape), built if it is not there; valid until the next call on the cache. Without `keep` it is
 * built anew each time. HCORE_ERR_NO_MEMORY. */
hcore_status_t aicpu_cache_get(struct expansion_cache *cache, const hx_algo_t *algo, const hx_shape_t *shape, bool keep,
                               const cached_t **entry);

#endif
