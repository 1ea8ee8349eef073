/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.c - operators of the core that the program has started and not completed, and persistent ones.
 *
 * The program holds a generalized request of the MPI underneath. Its functions complete it; one that we complete ourselves is not
 * completed in the MPI at all, but kept for the next operator: a generalized request costs more than a small operator. If the program
 * completes it past us (a tool that calls PMPI_Wait), the MPI asks us by the request's own poll function, where it has such.
 *
 * Requests are found by the value of their handle, in a table of open addressing.
 */
#include <pthread.h>
#include <stdlib.h>

#include "mpi_shim/shim.h"

atomic_uint shim_requests;

enum { FIRST_ROOM = 64 };

typedef struct {
    shim_request_t **slot;
    size_t room, used;
} table_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* table, pool, users */
static table_t table;
static shim_request_t *pool;
static shim_request_t *users; /* requests whose operator is a function of the program */

/* ---- by handle ---- */

static size_t place_of(const table_t *t, MPI_Request handle)
{
    return (size_t)((ABI_WORD(handle) * 0x9e3779b97f4a7c15u) >> 32) & (t->room - 1);
}

static void put(table_t *t, shim_request_t *request)
{
    size_t i = place_of(t, request->handle);
    while (t->slot[i]) {
        i = (i + 1) & (t->room - 1);
    }
    t->slot[i] = request;
    t->used++;
}

/* Half full at most. */
static bool make_room(void)
{
    if (table.room > 0 && (table.used + 1) * 2 <= table.room) {
        return true;
    }
    table_t bigger = {.room = table.room > 0 ? table.room * 2 : FIRST_ROOM};
    bigger.slot = calloc(bigger.room, sizeof(*bigger.slot));
    if (!bigger.slot) {
        return false;
    }
    for (size_t i = 0; i < table.room; i++) {
        if (table.slot[i]) {
            put(&bigger, table.slot[i]);
        }
    }
    free(table.slot);
    table = bigger;
    return true;
}

/* Those that follow without a gap are put again: a search must not end at the hole. */
static void take_out(shim_request_t *request)
{
    size_t i = place_of(&table, request->handle);
    while (table.slot[i] != request) {
        i = (i + 1) & (table.room - 1);
    }
    table.slot[i] = NULL;
    table.used--;
    for (i = (i + 1) & (table.room - 1); table.slot[i]; i = (i + 1) & (table.room - 1)) {
        shim_request_t *moved = table.slot[i];
        table.slot[i] = NULL;
        table.used--;
        put(&table, moved);
    }
}

static shim_request_t *look_up(MPI_Request handle)
{
    for (size_t i = table.room > 0 ? place_of(&table, handle) : 0; table.room > 0 && table.slot[i]; i = (i + 1) & (table.room - 1)) {
        if (table.slot[i]->handle == handle) {
            return table.slot[i];
        }
    }
    return NULL;
}

shim_request_t *shim_request_find(MPI_Request handle)
{
    if (atomic_load_explicit(&shim_requests, memory_order_relaxed) == 0 || handle == MPI_REQUEST_NULL) {
        return NULL;
    }
    const bool taken = hcore_lock(&lock);
    shim_request_t *request = look_up(handle);
    hcore_unlock(&lock, taken);
    return request;
}

/* ---- the request of the MPI underneath ---- */

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    shim_pmpi.Status_set_elements(status, MPI_BYTE, 0);
    shim_pmpi.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return MPI_SUCCESS;
}

/* The MPI underneath lets go of a request that was completed past us. */
static int let_go(void *extra)
{
    shim_request_t *request = extra;
    if (request->ours) {
        const bool taken = hcore_lock(&lock);
        take_out(request);
        hcore_unlock(&lock, taken);
        request->handle = MPI_REQUEST_NULL;
        shim_request_drop(request);
    }
    return MPI_SUCCESS;
}

static int refuse_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS; /* nothing is cancelled */
}

/* Called while the MPI underneath waits for a request of ours. */
static int poll(void *extra, MPI_Status *status)
{
    shim_request_t *request = extra;
    (void)status;
    if (!request->persistent && request->ours && shim_request_done(request)) {
        shim_pmpi.Grequest_complete(request->handle);
    } else {
        shim_progress();
    }
    return MPI_SUCCESS;
}

/* The same when it has nothing else to wait for. */
static int wait_all(int count, void **extra, double timeout, MPI_Status *status)
{
    (void)timeout;
    for (int i = 0; i < count; i++) {
        shim_pause_t pause = {0};
        shim_request_t *request = extra[i];
        while (!shim_request_done(request)) {
            shim_pause(&pause);
        }
        poll(request, status);
    }
    return MPI_SUCCESS;
}

static int make_handle(shim_request_t *request)
{
    return shim_pmpi.Grequest_start_x
               ? shim_pmpi.Grequest_start_x(query, let_go, refuse_cancel, poll, wait_all, request, &request->handle)
               : shim_pmpi.Grequest_start(query, let_go, refuse_cancel, request, &request->handle);
}

/* ---- making and dropping ---- */

static shim_request_t *new_request(void)
{
    shim_request_t *request = calloc(1, sizeof(*request));
    bool good = request && make_handle(request) == MPI_SUCCESS;
    if (good) {
        const bool taken = hcore_lock(&lock);
        good = make_room();
        if (good) {
            put(&table, request);
        }
        hcore_unlock(&lock, taken);
    }
    if (!good) {
        free(request);
        return NULL;
    }
    return request;
}

static shim_request_t *take_from_pool(void)
{
    const bool taken = hcore_lock(&lock);
    shim_request_t *request = pool;
    if (request) {
        pool = request->next;
    }
    hcore_unlock(&lock, taken);
    return request;
}

shim_request_t *shim_request_make(shim_comm_t *comm, const shim_call_t *call)
{
    shim_request_t *request = take_from_pool();
    if (!request) {
        request = new_request();
    }
    if (!request) {
        return NULL;
    }
    if (request->room < comm->size) {
        if (!shim_scratch_make(&request->scratch, comm->size)) {
            request->room = 0;
            shim_request_drop(request);
            return NULL;
        }
        request->room = comm->size;
    }
    request->comm = comm;
    request->call = *call;
    request->status = HCORE_OK;
    request->code = MPI_SUCCESS;
    request->persistent = request->active = request->user_op = request->frees_op = request->line = request->at_once = false;
    request->started_ns = 0;
    request->settled = request->ours = true;
    request->kept = MPI_DATATYPE_NULL;
    shim_comm_hold(comm);
    atomic_fetch_add_explicit(&shim_requests, 1, memory_order_relaxed);
    return request;
}

/* The function of the program is freed when the last operator that needs it has ended. */
static void let_go_of_op(shim_request_t *request)
{
    shim_request_t *heir = NULL;
    const bool taken = hcore_lock(&lock);
    for (shim_request_t **link = &users; *link;) {
        if (*link == request) {
            *link = request->next;
        } else {
            heir = (*link)->call.op == request->call.op ? *link : heir;
            link = &(*link)->next;
        }
    }
    if (heir && request->frees_op) {
        heir->frees_op = true;
    }
    hcore_unlock(&lock, taken);
    if (!heir && request->frees_op) {
        shim_pmpi.Op_free(&request->call.op);
    }
}

void shim_request_drop(shim_request_t *request)
{
    if (request->ours) {
        atomic_fetch_sub_explicit(&shim_requests, 1, memory_order_relaxed);
        if (request->user_op) {
            let_go_of_op(request);
        }
        if (request->kept != MPI_DATATYPE_NULL) {
            shim_pmpi.Type_free(&request->kept);
        }
        shim_comm_drop(request->comm);
        request->comm = NULL;
        request->ours = request->persistent = request->active = false;
    }
    if (request->handle == MPI_REQUEST_NULL) { /* completed past us: the MPI has it no more */
        shim_scratch_drop(&request->scratch);
        free(request);
        return;
    }
    const bool taken = hcore_lock(&lock);
    request->next = pool;
    pool = request;
    hcore_unlock(&lock, taken);
}

void shim_requests_end(void)
{
    while (pool) {
        shim_request_t *request = take_from_pool();
        MPI_Request handle = request->handle;
        shim_pmpi.Grequest_complete(handle);
        shim_pmpi.Request_free(&handle);
        take_out(request);
        shim_scratch_drop(&request->scratch);
        free(request);
    }
}

int shim_Op_free(MPI_Op *op)
{
    shim_request_t *user = NULL;
    const bool taken = hcore_lock(&lock);
    for (shim_request_t *i = users; i && op; i = i->next) {
        user = i->call.op == *op ? i : user;
    }
    if (user) {
        user->frees_op = true;
    }
    hcore_unlock(&lock, taken);
    if (!user) {
        return shim_pmpi.Op_free(op);
    }
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

/* ---- running ---- */

/* From here on the operator may call MPI, or no more. Relaxed: who moves a queue next sees what was set before the last one left it. */
static void set_needs_mpi(shim_comm_t *comm, bool needs)
{
    if (atomic_load_explicit(&comm->needs_mpi, memory_order_relaxed) != needs) {
        atomic_store_explicit(&comm->needs_mpi, needs, memory_order_relaxed);
    }
    if (needs && shim_is_helper()) {
        shim_task_yield();
    }
}

/* The call as the MPI underneath does it, in a task: when the core turned out not to serve the communicator or the operator. */
static void run_underneath(shim_request_t *request)
{
    MPI_Request inner;
    int done = 0;
    set_needs_mpi(request->comm, true);
    request->code = shim_start_underneath(&request->call, &inner);
    while (request->code == MPI_SUCCESS && !done) {
        shim_task_yield();
        request->code = shim_pmpi.Test(&inner, &done, MPI_STATUS_IGNORE);
    }
}

static void run_operator(shim_request_t *request)
{
    shim_job_t *job = &request->job;
    if (!request->comm->core) {
        shim_pass(&request->watch, request->comm->why);
        request->backend = HCORE_BACKEND_MPI;
    } else if (!request->decided) {
        request->backend = shim_job_decide(job, &request->nothing);
    }
    if (request->backend == HCORE_BACKEND_MPI) {
        run_underneath(request);
    } else if (request->line) {
        request->watch.algorithm = hcore_line_name;
        request->status = job->args.oper == HCORE_OPER_AllReduce
                              ? hcore_line_allreduce(request->comm->core, job->args.in.base, job->args.out.base, job->args.bytes, job->args.reducer)
                              : hcore_line_run(request->comm->core, &job->args);
    } else if (!request->nothing) {
        request->status = hcore_run_in_task(request->comm->core, request->backend, &job->args, &request->watch.algorithm);
    }
}

static void run(hcore_task_t *task)
{
    shim_request_t *request = (shim_request_t *)task;
    set_needs_mpi(request->comm, shim_comm_pending(request->comm) || request->user_op);
    if (shim_comm_pending(request->comm)) {
        shim_comm_connect(request->comm);
        set_needs_mpi(request->comm, request->user_op);
    }
    run_operator(request);
}

/*
 * A persistent operator whose completion has been called for right after its start, the last time somebody looked, is left to that call,
 * which runs it without a fiber. Any other call that lets operators move begins it too.
 */
enum { LOOK_EVERY = 32, AT_ONCE_NS = 1000 };

void shim_request_start(shim_request_t *request)
{
    hcore_queue_t *queue = &request->comm->queue;
    request->active = true;
    request->settled = false;
    if (!request->persistent) {
        hcore_queue_add(queue, &request->task);
    } else {
        const bool look = ++request->starts % LOOK_EVERY == 0;
        if (request->at_once) {
            hcore_queue_append(queue, &request->task);
        } else {
            hcore_queue_add(queue, &request->task);
        }
        request->started_ns = look ? hcore_now_ns() : 0;
    }
    /* Without other threads nobody takes it out of the list while we look. */
    if ((hcore_threads || !request->comm->busy) && !hcore_queue_empty(queue)) {
        shim_set_busy(request->comm);
    }
}

/* Called first by who completes it. */
void shim_request_hurry(shim_request_t *request)
{
    if (request->started_ns > 0) {
        request->at_once = hcore_now_ns() - request->started_ns < AT_ONCE_NS;
        request->started_ns = 0;
    }
    if (request->at_once && request->active && !hcore_task_done(&request->task)) {
        hcore_queue_run(&request->comm->queue, &request->task);
    }
}

/* Once, when the task is done: what arrived packed goes where the program wants it. */
static void settle(shim_request_t *request)
{
    shim_job_t *job = &request->job;
    request->settled = true;
    if (request->code == MPI_SUCCESS && request->backend != HCORE_BACKEND_MPI) {
        request->code = request->status != HCORE_OK ? shim_code_of(request->comm, request->status) : job->user.error;
        if (request->code == MPI_SUCCESS) {
            request->code = shim_view_unpack(request->comm, &job->side[SHIM_OUT], job->nblocks[SHIM_OUT], &job->view[SHIM_OUT]);
        }
    }
    shim_watch_end(&request->watch, &request->call);
}

bool shim_request_done(shim_request_t *request)
{
    if (!request->active) {
        return true;
    }
    if (!hcore_task_done(&request->task) && hcore_queue_move(&request->comm->queue) && !hcore_task_done(&request->task)) {
        return false;
    }
    if (!request->settled) {
        settle(request);
    }
    return true;
}

void shim_set_empty(MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE) {
        query(NULL, status);
    }
}

int shim_request_complete(shim_request_t *request, MPI_Request *handle, MPI_Status *status)
{
    if (!request->ours) {
        return MPI_ERR_REQUEST; /* a copy of a handle whose operator was completed */
    }
    const int code = request->active ? request->code : MPI_SUCCESS;
    shim_set_empty(status);
    request->active = false;
    if (!request->persistent) {
        *handle = MPI_REQUEST_NULL;
        shim_request_drop(request);
    }
    return code;
}

/* ---- beginning ---- */

/* The program may free its type and its function while the operator needs them. */
static int keep_objects(shim_request_t *request)
{
    shim_job_t *job = &request->job;
    int code = MPI_SUCCESS;
    if (job->redop == HCORE_REDOP_USER) {
        const bool taken = hcore_lock(&lock);
        request->user_op = true;
        request->next = users;
        users = request;
        hcore_unlock(&lock, taken);
    }
    const shim_side_t *out = &job->side[SHIM_OUT];
    const bool needs_type = job->nblocks[SHIM_OUT] > 0 && !out->types && !job->view[SHIM_OUT].info.predefined;
    if (needs_type && (job->view[SHIM_OUT].packed || job->redop == HCORE_REDOP_USER)) {
        code = shim_pmpi.Type_contiguous(1, out->type, &request->kept);
    }
    return code;
}

static int describe_and_keep(shim_request_t *request, hcore_oper_t oper, int (*describe)(shim_job_t *))
{
    shim_job_t *job = &request->job;
    int code = shim_job_begin(job, request->comm, &request->scratch, &request->call, &request->watch, oper);
    if (code == MPI_SUCCESS) {
        code = shim_job_describe(job, describe);
    }
    if (code == MPI_SUCCESS) {
        code = shim_job_prepare(job);
    }
    return code == MPI_SUCCESS ? keep_objects(request) : code;
}

/* What the core will not do is left to the MPI underneath, if that is known already. A persistent operator is decided here for good. */
static int decide_early(shim_request_t *request)
{
    shim_comm_t *comm = request->comm;
    request->decided = !shim_comm_pending(comm) && comm->core;
    if (!request->decided) {
        return MPI_SUCCESS;
    }
    request->job.mode = request->persistent ? HCORE_MODE_IR : HCORE_MODE_OP;
    request->backend = shim_job_decide(&request->job, &request->nothing);
    return request->backend == HCORE_BACKEND_MPI ? SHIM_PASS : MPI_SUCCESS;
}

static bool fits_line(const shim_request_t *request)
{
    const hcore_args_t *args = &request->job.args;
    return request->watch.backend == HCORE_BACKEND_AIV && request->comm->size > 1 && args->bytes > 0 &&
           args->bytes <= hcore_line_limit(request->comm->core, args->oper);
}

/* From the communicator's own operators. */
static int separate(shim_request_t *request)
{
    shim_comm_t *own = shim_comm_private(request->comm);
    if (!own) {
        return shim_raise(shim_comm_handle(request->comm), MPI_ERR_NO_MEM);
    }
    shim_comm_drop(request->comm);
    request->comm = request->job.comm = own;
    return own->core ? MPI_SUCCESS : shim_pass(&request->watch, own->why);
}

int shim_request_begin(MPI_Request *handle, const shim_call_t *call, shim_watch_t *watch, hcore_oper_t oper,
                       int (*describe)(shim_job_t *), bool persistent)
{
    shim_comm_t *comm = persistent ? shim_comm_get(call->comm) : shim_comm_get_pending(call->comm);
    if (!comm || !handle) {
        return shim_pass(watch, HCORE_REASON_BAD_ARGUMENT);
    }
    shim_request_t *request = shim_request_make(comm, call);
    if (!request) {
        return shim_raise(call->comm, MPI_ERR_NO_MEM);
    }
    request->watch = *watch;
    request->task.run = run;
    request->persistent = persistent;
    int code = describe_and_keep(request, oper, describe);
    if (code == MPI_SUCCESS) {
        code = decide_early(request);
    }
    if (code == MPI_SUCCESS) {
        code = persistent ? separate(request) : shim_job_pack(&request->job);
    }
    if (code != MPI_SUCCESS) {
        *watch = request->watch;
        shim_request_drop(request);
        return code;
    }
    *handle = request->handle;
    if (persistent) {
        request->line = fits_line(request);
    } else {
        shim_request_start(request);
    }
    return MPI_SUCCESS;
}
