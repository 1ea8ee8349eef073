/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * complete.c - MPI_Wait and its kin on requests of which some may be ours. The MPI underneath gets the array with MPI_REQUEST_NULL in
 * place of those, which is what it takes them for; ours are looked at beside it. Without any of ours, and with nothing under way, a call is
 * the MPI's own.
 */
#include <stdlib.h>

#include "mpi_shim/shim.h"

/* An array of requests, taken apart. */
typedef struct {
    int n, ours;             /* how many of ours; those may be inactive */
    MPI_Request *all;        /* the program's */
    MPI_Request *rest;       /* the same with nulls for ours */
    shim_request_t **mine;   /* NULL for the others */
    shim_request_t *few_mine[16];
    MPI_Request few_rest[16];
} split_t;

enum { FEW = 16 };

static bool all_underneath(int n, const MPI_Request *requests)
{
    if (atomic_load_explicit(&shim_requests, memory_order_relaxed) == 0) {
        return true;
    }
    for (int i = 0; i < n && requests; i++) {
        if (shim_request_find(requests[i])) {
            return false;
        }
    }
    return true;
}

/* MPI_SUCCESS, or a raised code. */
static int split(split_t *s, int n, MPI_Request *requests)
{
    *s = (split_t){.n = n, .all = requests, .rest = s->few_rest, .mine = s->few_mine};
    if (n > FEW) {
        s->rest = malloc((size_t)n * sizeof(*s->rest));
        s->mine = malloc((size_t)n * sizeof(*s->mine));
    }
    if (!s->rest || !s->mine) {
        free(n > FEW ? s->rest : NULL);
        free(n > FEW ? s->mine : NULL);
        return shim_raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    }
    for (int i = 0; i < n; i++) {
        s->mine[i] = shim_request_find(requests[i]);
        s->ours += s->mine[i] != NULL;
        s->rest[i] = s->mine[i] ? MPI_REQUEST_NULL : requests[i];
    }
    return MPI_SUCCESS;
}

/* What the MPI underneath has made of its requests is the program's now. */
static void join(split_t *s)
{
    for (int i = 0; i < s->n; i++) {
        if (!s->mine[i]) {
            s->all[i] = s->rest[i];
        }
    }
    if (s->n > FEW) {
        free(s->rest);
        free(s->mine);
    }
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static bool ours_done(const split_t *s)
{
    bool all = true;
    for (int i = 0; i < s->n; i++) {
        all = (!s->mine[i] || shim_request_done(s->mine[i])) && all;
    }
    return all;
}

/* An error in one of several requests, as MPI tells it. */
static int complete_one_of_several(shim_request_t *request, MPI_Request *handle, MPI_Status *status)
{
    const int code = shim_request_complete(request, handle, status);
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = code;
    }
    return code == MPI_SUCCESS ? code : MPI_ERR_IN_STATUS;
}

/* Those of ours that are done; `others`: what the MPI underneath says of the rest. */
static int complete_all(split_t *s, MPI_Status *statuses, int others)
{
    int code = others;
    if (others == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE) {
        for (int i = 0; i < s->n; i++) { /* not set where all went well; set if one of ours did not */
            statuses[i].MPI_ERROR = s->mine[i] ? statuses[i].MPI_ERROR : MPI_SUCCESS;
        }
    }
    MPI_Comm comm = MPI_COMM_SELF;
    for (int i = 0; i < s->n; i++) {
        if (s->mine[i] && shim_request_done(s->mine[i])) {
            const MPI_Comm of_it = shim_comm_handle(s->mine[i]->comm);
            const int one = complete_one_of_several(s->mine[i], &s->all[i], status_at(statuses, i));
            if (one != MPI_SUCCESS && code == MPI_SUCCESS) {
                code = one;
                comm = of_it;
            }
        } else if (s->mine[i] && statuses != MPI_STATUSES_IGNORE) {
            statuses[i].MPI_ERROR = MPI_ERR_PENDING;
        }
    }
    join(s);
    return code == MPI_SUCCESS || code == others ? code : shim_raise(comm, code);
}

static int complete_alone(shim_request_t *request, MPI_Request *handle, MPI_Status *status)
{
    const MPI_Comm comm = shim_comm_handle(request->comm);
    const int code = shim_request_complete(request, handle, status);
    return code == MPI_SUCCESS ? code : shim_raise(comm, code);
}

int shim_Wait(MPI_Request *handle, MPI_Status *status)
{
    shim_request_t *request = handle ? shim_request_find(*handle) : NULL;
    if (!request) {
        return shim_must_move() && handle ? shim_wait_underneath(handle, status) : shim_pmpi.Wait(handle, status);
    }
    shim_pause_t pause = {0};
    shim_request_hurry(request);
    while (!shim_request_done(request)) {
        shim_pause(&pause);
    }
    return complete_alone(request, handle, status);
}

int shim_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    shim_request_t *request = handle ? shim_request_find(*handle) : NULL;
    if (!request) {
        shim_progress();
        return shim_pmpi.Test(handle, flag, status);
    }
    *flag = shim_request_done(request);
    if (!*flag) {
        shim_pause(&(shim_pause_t){0});
        return MPI_SUCCESS;
    }
    return complete_alone(request, handle, status);
}

int shim_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    shim_pause_t pause = {0};
    split_t s;
    int flag = 0;
    if (all_underneath(n, requests) && !shim_must_move()) {
        return shim_pmpi.Waitall(n, requests, statuses);
    }
    if (n < 0 || split(&s, n, requests) != MPI_SUCCESS) {
        return n < 0 ? shim_pmpi.Waitall(n, requests, statuses) : MPI_ERR_NO_MEM;
    }
    while (!ours_done(&s)) {
        shim_pause(&pause);
    }
    int code = s.ours < n ? shim_pmpi.Testall(n, s.rest, &flag, statuses) : MPI_SUCCESS;
    while (code == MPI_SUCCESS && !flag && s.ours < n) {
        shim_pause(&pause);
        code = shim_pmpi.Testall(n, s.rest, &flag, statuses);
    }
    return complete_all(&s, statuses, code);
}

int shim_Testall(int n, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    split_t s;
    if (all_underneath(n, requests)) {
        shim_progress();
        return shim_pmpi.Testall(n, requests, flag, statuses);
    }
    if (split(&s, n, requests) != MPI_SUCCESS) {
        return MPI_ERR_NO_MEM;
    }
    *flag = ours_done(&s);
    if (!*flag) {
        shim_pause(&(shim_pause_t){0});
    }
    const int code = *flag && s.ours < n ? shim_pmpi.Testall(n, s.rest, flag, statuses) : MPI_SUCCESS;
    if (!*flag && code == MPI_SUCCESS) {
        join(&s);
        return code;
    }
    return complete_all(&s, statuses, code);
}

/* The first of ours that is active and done; -1: none. *active: how many are active. */
static int find_done(const split_t *s, int *active)
{
    *active = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->mine[i] && s->mine[i]->active) {
            ++*active;
            if (shim_request_done(s->mine[i])) {
                return i;
            }
        }
    }
    return -1;
}

/* One look. *index MPI_UNDEFINED with *flag set: nothing is active. */
static int look_any(split_t *s, int *index, int *flag, MPI_Status *status)
{
    int active;
    const int mine = find_done(s, &active);
    if (mine >= 0) {
        *index = mine;
        *flag = 1;
        return complete_alone(s->mine[mine], &s->all[mine], status);
    }
    const int code = shim_pmpi.Testany(s->n, s->rest, index, flag, status);
    if (code == MPI_SUCCESS && *flag && *index == MPI_UNDEFINED && active > 0) {
        *flag = 0;
    }
    return code;
}

int shim_Testany(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    split_t s;
    if (all_underneath(n, requests)) {
        shim_progress();
        return shim_pmpi.Testany(n, requests, index, flag, status);
    }
    if (split(&s, n, requests) != MPI_SUCCESS) {
        return MPI_ERR_NO_MEM;
    }
    const int code = look_any(&s, index, flag, status);
    if (!*flag) {
        shim_pause(&(shim_pause_t){0});
    }
    join(&s);
    return code;
}

int shim_Waitany(int n, MPI_Request *requests, int *index, MPI_Status *status)
{
    shim_pause_t pause = {0};
    split_t s;
    int flag = 0;
    if (n < 0 || (all_underneath(n, requests) && !shim_must_move())) {
        return shim_pmpi.Waitany(n, requests, index, status);
    }
    if (split(&s, n, requests) != MPI_SUCCESS) {
        return MPI_ERR_NO_MEM;
    }
    int code = look_any(&s, index, &flag, status);
    while (code == MPI_SUCCESS && !flag) {
        shim_pause(&pause);
        code = look_any(&s, index, &flag, status);
    }
    join(&s);
    return code;
}

/* One look; ours behind those of the MPI underneath. */
static int look_some(split_t *s, int *count, int *indices, MPI_Status *statuses)
{
    int active = 0, code = MPI_SUCCESS;
    *count = MPI_UNDEFINED;
    if (s->ours < s->n) {
        code = shim_pmpi.Testsome(s->n, s->rest, count, indices, statuses);
    }
    int found = *count == MPI_UNDEFINED ? 0 : *count;
    if (code == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE) {
        for (int i = 0; i < found; i++) {
            statuses[i].MPI_ERROR = MPI_SUCCESS; /* looked at if one of ours fails */
        }
    }
    MPI_Comm comm = MPI_COMM_SELF;
    int mine = MPI_SUCCESS;
    for (int i = 0; i < s->n; i++) {
        if (!s->mine[i] || !s->mine[i]->active) {
            continue;
        }
        active++;
        if (shim_request_done(s->mine[i])) {
            comm = shim_comm_handle(s->mine[i]->comm);
            indices[found] = i;
            mine = complete_one_of_several(s->mine[i], &s->all[i], status_at(statuses, found)) == MPI_SUCCESS ? mine : MPI_ERR_IN_STATUS;
            s->mine[i] = NULL;
            s->rest[i] = s->all[i];
            found++;
        }
    }
    *count = active == 0 && *count == MPI_UNDEFINED ? MPI_UNDEFINED : found;
    return code != MPI_SUCCESS || mine == MPI_SUCCESS ? code : shim_raise(comm, mine);
}

int shim_Testsome(int n, MPI_Request *requests, int *count, int *indices, MPI_Status *statuses)
{
    split_t s;
    if (all_underneath(n, requests)) {
        shim_progress();
        return shim_pmpi.Testsome(n, requests, count, indices, statuses);
    }
    if (split(&s, n, requests) != MPI_SUCCESS) {
        return MPI_ERR_NO_MEM;
    }
    const int code = look_some(&s, count, indices, statuses);
    if (*count == 0) {
        shim_pause(&(shim_pause_t){0});
    }
    join(&s);
    return code;
}

int shim_Waitsome(int n, MPI_Request *requests, int *count, int *indices, MPI_Status *statuses)
{
    shim_pause_t pause = {0};
    split_t s;
    if (n < 0 || (all_underneath(n, requests) && !shim_must_move())) {
        return shim_pmpi.Waitsome(n, requests, count, indices, statuses);
    }
    if (split(&s, n, requests) != MPI_SUCCESS) {
        return MPI_ERR_NO_MEM;
    }
    int code = look_some(&s, count, indices, statuses);
    while (code == MPI_SUCCESS && *count == 0) {
        shim_pause(&pause);
        code = look_some(&s, count, indices, statuses);
    }
    join(&s);
    return code;
}

int shim_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    shim_request_t *request = shim_request_find(handle);
    if (!request) {
        shim_progress();
        return shim_pmpi.Request_get_status(handle, flag, status);
    }
    *flag = shim_request_done(request);
    if (!*flag) {
        shim_pause(&(shim_pause_t){0});
    } else {
        shim_set_empty(status);
    }
    return MPI_SUCCESS;
}

/* MPI allows it for inactive persistent ones alone. */
int shim_Request_free(MPI_Request *handle)
{
    shim_request_t *request = handle ? shim_request_find(*handle) : NULL;
    if (!request) {
        return shim_pmpi.Request_free(handle);
    }
    if (request->active || !request->ours) {
        return shim_raise(shim_comm_handle(request->comm), MPI_ERR_REQUEST);
    }
    *handle = MPI_REQUEST_NULL;
    shim_request_drop(request);
    return MPI_SUCCESS;
}

/* A collective can't be cancelled. */
int shim_Cancel(MPI_Request *handle)
{
    shim_request_t *request = handle ? shim_request_find(*handle) : NULL;
    return request ? shim_raise(shim_comm_handle(request->comm), MPI_ERR_REQUEST) : shim_pmpi.Cancel(handle);
}

/* Of a persistent one of ours. */
static int start(shim_request_t *request)
{
    if (!request->persistent || request->active) {
        return shim_raise(shim_comm_handle(request->comm), MPI_ERR_REQUEST);
    }
    request->code = MPI_SUCCESS;
    request->status = HCORE_OK;
    request->job.user.error = MPI_SUCCESS;
    request->watch.start_ns = shim_watch_begin().start_ns;
    const int code = shim_job_pack(&request->job);
    if (code == MPI_SUCCESS) {
        shim_request_start(request);
    }
    return code;
}

int shim_Start(MPI_Request *handle)
{
    shim_request_t *request = handle ? shim_request_find(*handle) : NULL;
    return request ? start(request) : shim_pmpi.Start(handle);
}

int shim_Startall(int n, MPI_Request *requests)
{
    int code = MPI_SUCCESS;
    if (all_underneath(n, requests)) {
        return shim_pmpi.Startall(n, requests);
    }
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        code = shim_Start(&requests[i]);
    }
    return code;
}
