/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aicpu.h - the task engine: an expansion (algo/, cached here) of copies, reductions, posts and waits, run by one executor
 * over the shared window and, where peers' memory can be read, over CMA.
 */
#ifndef HCORE_AICPU_H
#define HCORE_AICPU_H

#include "comm/comm_internal.h"

hcore_status_t aicpu_run(hcore_comm_t *comm, const hcore_args_t *args, const char **algorithm);

struct expansion_cache *aicpu_cache_create(void);
void aicpu_cache_destroy(struct expansion_cache *cache);

#endif
