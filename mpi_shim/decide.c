/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decide.c - the verdict for a call. The core's decision is a step function of size for everything else fixed; the
 * two steps are kept per communicator, so that a call costs one look-up.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

typedef struct {
    bool known;
    hcore_mode_t mode;
    hcore_oper_t oper;
    hcore_type_t type;
    hcore_redop_t redop;
    uint64_t limit;
    hcore_verdict_t small, large;
} steps_t;

enum { PLACES = 64 }; /* by (mode, operator, type, op) */

struct shim_verdicts {
    pthread_mutex_t lock; /* `place`: a thread may begin an operator while another runs one that was begun earlier */
    hcore_size_t aiv_limit[HCORE_OPER_COUNT];
    steps_t place[PLACES];
};

struct shim_verdicts *shim_verdicts_create(void)
{
    struct shim_verdicts *verdicts = calloc(1, sizeof(*verdicts));
    if (verdicts) {
        pthread_mutex_init(&verdicts->lock, NULL);
        memcpy(verdicts->aiv_limit, shim.config.aiv_limit, sizeof(verdicts->aiv_limit));
    }
    return verdicts;
}

void shim_verdicts_destroy(struct shim_verdicts *verdicts)
{
    if (verdicts) {
        pthread_mutex_destroy(&verdicts->lock);
        free(verdicts);
    }
}

static void ask(const shim_comm_t *comm, steps_t *v)
{
    hcore_query_t query = {
        .oper = v->oper,
        .mode = v->mode,
        .span = hcore_comm_span(comm->core),
        .type = v->type,
        .redop = v->redop,
        .nranks = comm->size,
    };
    hcore_query_configure(&query, &shim.config);
    query.aiv_limit = comm->verdict->aiv_limit[v->oper]; /* mpi_shim_set may have changed the configuration's */
    hcore_decide_steps(shim.profile, &query, &v->limit, &v->small, &v->large);
    v->known = true;
}

/* "No backend qualifies" tells a user nothing: what stood in the way of the backend that came closest does. */
static hcore_reason_t why_mpi(const hcore_verdict_t *verdict)
{
    const hcore_reason_t aicpu = verdict->passed[HCORE_BACKEND_AICPU];
    const bool listed = aicpu != HCORE_REASON_NOT_LISTED && aicpu != HCORE_REASON_SWITCHED_OFF;
    return listed ? aicpu : verdict->passed[HCORE_BACKEND_AIV];
}

static unsigned place_of(hcore_mode_t mode, hcore_oper_t oper, hcore_type_t type, hcore_redop_t redop)
{
    return ((unsigned)oper * 7u + (unsigned)type * 3u + (unsigned)redop + (unsigned)mode * 31u) % PLACES;
}

/* The answer's place in the cache, filled if it is not there; under the lock. */
static const steps_t *find_steps(const shim_comm_t *comm, hcore_mode_t mode, hcore_oper_t oper, hcore_type_t type, hcore_redop_t redop)
{
    steps_t *v = &comm->verdict->place[place_of(mode, oper, type, redop)];
    if (!v->known || v->mode != mode || v->oper != oper || v->type != type || v->redop != redop) {
        *v = (steps_t){.mode = mode, .oper = oper, .type = type, .redop = redop};
        ask(comm, v);
    }
    return v;
}

void shim_decide_steps(const shim_comm_t *comm, hcore_oper_t oper, hcore_type_t type, hcore_redop_t redop, shim_memo_t *memo)
{
    const bool taken = hcore_lock(&comm->verdict->lock);
    const steps_t *v = find_steps(comm, HCORE_MODE_OP, oper, type, redop);
    memo->limit = v->limit;
    memo->backend[0] = v->small.backend;
    memo->backend[1] = v->large.backend;
    hcore_unlock(&comm->verdict->lock, taken);
}

hcore_backend_t shim_decide(shim_comm_t *comm, hcore_mode_t mode, hcore_oper_t oper, hcore_type_t type, hcore_redop_t redop,
                            uint64_t bytes, shim_watch_t *watch)
{
    const bool taken = hcore_lock(&comm->verdict->lock);
    const steps_t *v = find_steps(comm, mode, oper, type, redop);
    const hcore_verdict_t *verdict = bytes <= v->limit ? &v->small : &v->large;
    watch->backend = verdict->backend;
    watch->reason = verdict->backend == HCORE_BACKEND_MPI ? why_mpi(verdict) : verdict->reason;
    hcore_unlock(&comm->verdict->lock, taken);
    return watch->backend;
}
