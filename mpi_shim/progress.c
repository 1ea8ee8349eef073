/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - what goes on while the program waits: operators of the core that are under way, on all communicators; messages of
 * the MPI underneath; and, where ranks outnumber cpus, the other ranks.
 *
 * Communicators with operators under way are in one list. A thread that moves one of them has counted itself in `movers` under the
 * lock; one without movers whose queue is empty is taken out. So a thread may let go of the lock while it moves a queue, and go on
 * from there in the list afterwards. The list holds the states in it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "mpi_shim/shim.h"

atomic_uint shim_busy;

static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
static shim_comm_t *busy_first;

void shim_set_busy(shim_comm_t *comm)
{
    bool added = false;
    const bool taken = hcore_lock(&busy_lock);
    if (!comm->busy && !hcore_queue_empty(&comm->queue)) {
        comm->busy = added = true;
        comm->next_busy = busy_first;
        busy_first = comm;
        shim_comm_hold(comm);
        atomic_fetch_add_explicit(&shim_busy, 1, memory_order_relaxed);
    }
    hcore_unlock(&busy_lock, taken);
    if (added && shim.config.async) {
        shim_wake_helper();
    }
}

/* Under the lock: takes out what has become idle; a list of those, to be dropped without it. */
static shim_comm_t *take_idle(void)
{
    shim_comm_t *idle = NULL;
    for (shim_comm_t **link = &busy_first; *link;) {
        shim_comm_t *comm = *link;
        if (comm->movers == 0 && hcore_queue_empty(&comm->queue)) {
            *link = comm->next_busy;
            comm->busy = false;
            comm->next_busy = idle;
            idle = comm;
            atomic_fetch_sub_explicit(&shim_busy, 1, memory_order_relaxed);
        } else {
            link = &comm->next_busy;
        }
    }
    return idle;
}

static void drop_all(shim_comm_t *comm)
{
    while (comm) {
        shim_comm_t *next = comm->next_busy;
        shim_comm_drop(comm);
        comm = next;
    }
}

/* Threads inside a move of operators: a function of the program, called by one, must not begin another. */
static __thread bool moving __attribute__((tls_model("initial-exec")));

bool shim_progress(void)
{
    bool any_idle = false, left = false;
    if (atomic_load_explicit(&shim_busy, memory_order_relaxed) == 0 || moving) {
        return false;
    }
    moving = true;
    bool taken = hcore_lock(&busy_lock);
    for (shim_comm_t *comm = busy_first; comm; comm = comm->next_busy) {
        if (atomic_load_explicit(&comm->needs_mpi, memory_order_relaxed) && shim_is_helper()) {
            left = true;
            continue;
        }
        comm->movers++;
        hcore_unlock(&busy_lock, taken);
        any_idle |= !hcore_queue_move(&comm->queue);
        taken = hcore_lock(&busy_lock);
        comm->movers--;
        /* one that this thread runs itself, and waits in, needs no more of it */
        left |= !hcore_queue_empty(&comm->queue) && !atomic_load_explicit(&comm->queue.moving, memory_order_relaxed);
    }
    shim_comm_t *idle = any_idle ? take_idle() : NULL;
    hcore_unlock(&busy_lock, taken);
    moving = false;
    drop_all(idle);
    return left;
}

/* Lets the messages of the MPI underneath move: through any communicator of several ranks that is under way. */
static void poll_underneath(void)
{
    const bool taken = hcore_lock(&busy_lock);
    shim_comm_t *comm = busy_first;
    if (comm) {
        shim_comm_hold(comm);
    }
    hcore_unlock(&busy_lock, taken);
    if (comm) {
        shim_comm_poll(comm);
        shim_comm_drop(comm);
    }
}

/* A yield helps only while the scheduler finds that others have run less: a wait of yields that has lasted sleeps a little. */
static void give_way(shim_pause_t *pause)
{
    enum { PATIENCE_NS = 100 * 1000, SLEEP_NS = 20 * 1000 };
    const uint64_t now = hcore_now_ns();
    pause->since_ns = pause->since_ns > 0 ? pause->since_ns : now;
    if (now - pause->since_ns < PATIENCE_NS) {
        sched_yield();
    } else {
        const struct timespec little = {0, SLEEP_NS};
        nanosleep(&little, NULL);
    }
}

void shim_pause(shim_pause_t *pause)
{
    enum { EAGER = 64, POLL_EVERY = 16 };
    const unsigned round = ++pause->rounds;
    shim_progress();
    if (round % POLL_EVERY == 0) {
        poll_underneath();
    }
    if (atomic_load_explicit(&shim.crowded, memory_order_relaxed) || atomic_load_explicit(&shim.yields, memory_order_relaxed)) {
        give_way(pause);
    } else if (round > EAGER) {
        sched_yield();
    }
}

bool shim_any_pending(void)
{
    bool any = false;
    const bool taken = hcore_lock(&busy_lock);
    for (shim_comm_t *comm = busy_first; comm; comm = comm->next_busy) {
        any |= shim_comm_pending(comm);
    }
    hcore_unlock(&busy_lock, taken);
    return any;
}

void shim_wait_idle(shim_comm_t *comm)
{
    shim_pause_t pause = {0};
    while (!hcore_queue_empty(&comm->queue)) {
        if (hcore_queue_move(&comm->queue)) {
            shim_pause(&pause);
        }
    }
}

int shim_wait_underneath(MPI_Request *request, MPI_Status *status)
{
    shim_pause_t pause = {0};
    int done = 0;
    int code = shim_pmpi.Test(request, &done, status);
    while (code == MPI_SUCCESS && !done) {
        shim_pause(&pause);
        code = shim_pmpi.Test(request, &done, status);
    }
    return code;
}

int shim_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    shim_pause_t pause = {0};
    int found = 0;
    if (!shim_must_move()) {
        return shim_pmpi.Probe(source, tag, comm, status);
    }
    int code = shim_pmpi.Iprobe(source, tag, comm, &found, status);
    while (code == MPI_SUCCESS && !found) {
        shim_pause(&pause);
        code = shim_pmpi.Iprobe(source, tag, comm, &found, status);
    }
    return code;
}

int shim_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    shim_pause_t pause = {0};
    int found = 0;
    if (!shim_must_move()) {
        return shim_pmpi.Mprobe(source, tag, comm, message, status);
    }
    int code = shim_pmpi.Improbe(source, tag, comm, &found, message, status);
    while (code == MPI_SUCCESS && !found) {
        shim_pause(&pause);
        code = shim_pmpi.Improbe(source, tag, comm, &found, message, status);
    }
    return code;
}

/* The receive is posted first; its status and its error are the call's. */
static int wait_both(MPI_Request *receive, MPI_Request *send, int send_code, MPI_Status *status)
{
    const int code = shim_wait_underneath(receive, status);
    if (send_code == MPI_SUCCESS) {
        send_code = shim_wait_underneath(send, MPI_STATUS_IGNORE);
    }
    return code != MPI_SUCCESS ? code : send_code;
}

int shim_Sendrecv(const void *in, int in_count, MPI_Datatype in_type, int dest, int send_tag, void *out, int out_count,
                  MPI_Datatype out_type, int source, int receive_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request receive, send = MPI_REQUEST_NULL;
    if (!shim_must_move()) {
        return shim_pmpi.Sendrecv(in, in_count, in_type, dest, send_tag, out, out_count, out_type, source, receive_tag, comm,
                                  status);
    }
    int code = shim_pmpi.Irecv(out, out_count, out_type, source, receive_tag, comm, &receive);
    if (code != MPI_SUCCESS) {
        return code;
    }
    code = shim_pmpi.Isend(in, in_count, in_type, dest, send_tag, comm, &send);
    if (code != MPI_SUCCESS) { /* as if nothing had been begun */
        shim_pmpi.Cancel(&receive);
        shim_pmpi.Wait(&receive, MPI_STATUS_IGNORE);
        return code;
    }
    return wait_both(&receive, &send, code, status);
}

int shim_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int dest, int send_tag, int source, int receive_tag,
                          MPI_Comm comm, MPI_Status *status)
{
    int bytes = 0, used = 0;
    if (!shim_must_move() || shim_pmpi.Pack_size(count, type, comm, &bytes) != MPI_SUCCESS) {
        return shim_pmpi.Sendrecv_replace(buffer, count, type, dest, send_tag, source, receive_tag, comm, status);
    }
    void *copy = malloc(bytes > 0 ? (size_t)bytes : 1);
    int code = copy ? shim_pmpi.Pack(buffer, count, type, copy, bytes, &used, comm) : shim_raise(comm, MPI_ERR_NO_MEM);
    if (code == MPI_SUCCESS) {
        code = shim_Sendrecv(copy, used, MPI_PACKED, dest, send_tag, buffer, count, type, source, receive_tag, comm, status);
    }
    free(copy);
    return code;
}
