/* SPDX-License-Identifier: BSD-3-Clause */
/* path.c - trying and choosing between the direct path and the windows; see path.h. */
#include "aicpu/path.h"

#include <stdlib.h>

#include "aiv/aiv.h"

enum {
    CLASSES = 64,   /* of size: powers of two */
    TRIES = 6,      /* of each path; the first of each also pays for building its expansion */
    RETRY_CALLS = 4096 /* after so many calls with one choice both are tried again: programs have phases */
};

typedef struct {
    uint32_t calls;       /* of this round of tries and choice */
    bool direct;          /* the choice, once calls >= 2 * TRIES */
    uint64_t least_ns[2]; /* window, direct */
} choice_t;

struct path_choice {
    choice_t choice[HCORE_OPER_COUNT][CLASSES];
};

/*
 * From which size on the direct path is in question, by measurement: below, its system calls cost more than it can save.
 * Operators whose size is not equal on all ranks are not here: they must take one path whatever the size. Nor are ReduceScatter(V),
 * whose direct form is not right in place, which only some ranks may be.
 */
static const struct {
    hcore_oper_t oper;
    uint64_t from; /* bytes as hcore_oper_bytes has them */
} direct_table[] = {
    {HCORE_OPER_AllReduce, 8 * 1024},  {HCORE_OPER_Reduce, 16 * 1024},     {HCORE_OPER_Broadcast, 16 * 1024},
    {HCORE_OPER_AllGather, 16 * 1024}, {HCORE_OPER_AllGatherV, 32 * 1024}, {HCORE_OPER_Gather, 16 * 1024},
    {HCORE_OPER_Scatter, 16 * 1024},   {HCORE_OPER_AlltoAll, 16 * 1024},
};

path_choice_t *path_choice_create(void)
{
    return calloc(1, sizeof(path_choice_t));
}

static bool in_question(const hcore_comm_t *comm, const hcore_args_t *args)
{
    for (size_t i = 0; comm->direct && i < sizeof(direct_table) / sizeof(direct_table[0]); i++) {
        if (direct_table[i].oper == args->oper) {
            /* An algorithm asked for by name runs on the windows, where all of them are. */
            return args->bytes >= direct_table[i].from && !comm->options.algo[args->oper];
        }
    }
    return false;
}

static choice_t *choice_of(hcore_comm_t *comm, const hcore_args_t *args)
{
    const unsigned class = (unsigned)(63 - __builtin_clzll(args->bytes | 1));
    return &comm->path->choice[args->oper][class];
}

bool path_direct(hcore_comm_t *comm, const hcore_args_t *args, bool *trial)
{
    *trial = false;
    if (!in_question(comm, args)) {
        return false;
    }
    choice_t *choice = choice_of(comm, args);
    if (choice->calls >= RETRY_CALLS) {
        *choice = (choice_t){0};
    }
    const uint32_t call = choice->calls++;
    *trial = call < 2 * TRIES;
    return *trial ? call % 2 != 0 : choice->direct;
}

hcore_status_t path_tried(hcore_comm_t *comm, const hcore_args_t *args, bool direct, uint64_t ns)
{
    choice_t *choice = choice_of(comm, args);
    uint64_t *least = &choice->least_ns[direct], all[2];
    *least = *least == 0 || ns < *least ? ns : *least;
    if (choice->calls < 2 * TRIES) {
        return HCORE_OK;
    }
    hcore_reducer_t sum;
    hcore_status_t status = hcore_reducer_builtin(HCORE_TYPE_UINT64, HCORE_REDOP_SUM, &sum);
    const hcore_args_t agree = {.oper = HCORE_OPER_AllReduce, .bytes = sizeof(all), .in.base = choice->least_ns,
                                .out.base = all, .reducer = &sum};
    if (status == HCORE_OK) {
        status = aiv_line_allreduce(comm, &agree);
    }
    if (status == HCORE_OK) {
        choice->direct = all[true] < all[false];
    }
    return status;
}
