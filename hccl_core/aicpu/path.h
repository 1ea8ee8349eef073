/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.h - whether a large operator loads from peers' shared heaps, reads their private memory (CMA) or goes through the windows.
 *
 * Where all that peers read lies in shared heaps, it is loaded. What a rank's arguments are is known to it alone: so ranks
 * first tell each other, in a round of flags.
 *
 * Of the other two, which is faster depends on the program: direct reading of data that its owner has just written costs as much as the window, and a
 * system call a piece; of data that lies still in the caches, half. So each (operator, size class) of a communicator tries both a few
 * times, and all ranks then agree on the one whose least times, summed over the ranks, are smaller. Both give the same bits:
 * only algorithms that keep rank order are in question.
 *
 * All ranks see the same operators and sizes in the same order, hence count the same calls, try the same path in the same
 * call and agree after the same call.
 */
#ifndef HCORE_AICPU_PATH_H
#define HCORE_AICPU_PATH_H

#include "comm/comm_internal.h"

typedef struct path_choice path_choice_t;

path_choice_t *path_choice_create(void);

typedef struct {
    bool direct, load, store; /* as hx_shape_t has them */
    bool in_place;     /* of some rank, or not known */
    bool truncated;    /* some peer sends more than this rank has room for: the part that fits arrives, and the call fails */
    bool trial;        /* the call is one of the tries and must be timed */
} path_t;

/* The path of this call, the same on all ranks. What this rank has to show is published. */
hcore_status_t path_choose(hcore_comm_t *comm, const hcore_args_t *args, const hx_shape_t *shape, path_t *path);

/* After a try that took `ns`; after the last one, agrees with the other ranks. */
hcore_status_t path_tried(hcore_comm_t *comm, const hcore_args_t *args, bool direct, uint64_t ns);

#endif
