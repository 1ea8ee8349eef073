/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm.c - what the shim knows of each communicator.
 *
 * A state is made at the first collective on a communicator, which every member takes part in, so its making may be
 * collective too; whichever constructor made the communicator, and programs that never use one pay nothing. An
 * attribute drops the state when the communicator is freed, because the handle may then be given out again.
 *
 * The table is read without a lock: open addressing over (handle -> state). Slots are filled under the lock, state first,
 * then key (release), and read key first (acquire). A key in the table belongs to a live communicator, and MPI
 * forbids using one while it is being freed, so a reader that found its key may use the state.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

enum { FIRST_ROOM = 64, FULL_NUMERATOR = 1, FULL_DENOMINATOR = 2 };
enum { PROBE_TAGS = 16, LEAST_TAG_UB = 32767 };

static const int64_t key_free = -1, key_gone = -2; /* outside the range of handles as numbers */

typedef struct {
    _Atomic int64_t key;
    shim_comm_t *comm;
} slot_t;

typedef struct table {
    uint32_t room, used; /* used counts keys and gone ones */
    struct table *older; /* kept: a reader may still be in it */
    slot_t slot[];
} table_t;

static _Atomic(table_t *) current; /* release on change, acquire on use */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t key_of(MPI_Comm handle)
{
    return (int64_t)ABI_WORD(handle);
}

static uint32_t place_of(int64_t key, uint32_t room)
{
    return (uint32_t)(((uint64_t)key * 0x9e3779b97f4a7c15u) >> 32) & (room - 1);
}

static slot_t *find_slot(table_t *table, int64_t key)
{
    for (uint32_t i = place_of(key, table->room);; i = (i + 1) & (table->room - 1)) {
        int64_t there = atomic_load_explicit(&table->slot[i].key, memory_order_acquire);
        if (there == key) {
            return &table->slot[i];
        }
        if (there == key_free) {
            return NULL;
        }
    }
}

static shim_comm_t *look_up(MPI_Comm handle)
{
    table_t *table = atomic_load_explicit(&current, memory_order_acquire);
    slot_t *slot = table ? find_slot(table, key_of(handle)) : NULL;
    return slot ? slot->comm : NULL;
}

static void put(table_t *table, int64_t key, shim_comm_t *comm)
{
    uint32_t i = place_of(key, table->room);
    while (atomic_load_explicit(&table->slot[i].key, memory_order_relaxed) != key_free) {
        i = (i + 1) & (table->room - 1);
    }
    table->slot[i].comm = comm;
    table->used++;
    atomic_store_explicit(&table->slot[i].key, key, memory_order_release);
}

static table_t *new_table(uint32_t room, table_t *older)
{
    table_t *table = calloc(1, sizeof(*table) + room * sizeof(slot_t));
    if (table) {
        table->room = room;
        table->older = older;
        for (uint32_t i = 0; i < room; i++) {
            atomic_init(&table->slot[i].key, key_free);
        }
    }
    return table;
}

/* Room for one more key; rebuilds without the gone ones, twice as large if the live ones need it. */
static table_t *make_room(table_t *table)
{
    if (table && table->used * FULL_DENOMINATOR < table->room * FULL_NUMERATOR) {
        return table;
    }
    uint32_t live = 0;
    for (uint32_t i = 0; table && i < table->room; i++) {
        live += atomic_load_explicit(&table->slot[i].key, memory_order_relaxed) >= 0;
    }
    uint32_t room = FIRST_ROOM;
    while (live * 2 * FULL_DENOMINATOR >= room * FULL_NUMERATOR) {
        room *= 2;
    }
    table_t *bigger = new_table(room, table);
    for (uint32_t i = 0; bigger && table && i < table->room; i++) {
        int64_t key = atomic_load_explicit(&table->slot[i].key, memory_order_relaxed);
        if (key >= 0) {
            put(bigger, key, table->slot[i].comm);
        }
    }
    if (bigger && !shim.threads && table) { /* no other reader can exist */
        bigger->older = table->older;
        free(table);
    }
    return bigger;
}

/* From now on found by its handle; the table holds it, as who made it did. */
static bool enter(shim_comm_t *comm)
{
    pthread_mutex_lock(&table_lock);
    table_t *table = make_room(atomic_load_explicit(&current, memory_order_relaxed));
    if (table) {
        put(table, key_of(comm->handle), comm);
        atomic_store_explicit(&current, table, memory_order_release);
    }
    pthread_mutex_unlock(&table_lock);
    return table != NULL;
}

void shim_comm_hold(shim_comm_t *comm)
{
    atomic_fetch_add_explicit(&comm->holders, 1, memory_order_relaxed);
}

/* acq_rel: who frees it comes after all that the others did with it. */
void shim_comm_drop(shim_comm_t *comm)
{
    if (atomic_fetch_sub_explicit(&comm->holders, 1, memory_order_acq_rel) > 1) {
        return;
    }
    hcore_comm_destroy(comm->core);
    shim_scratch_drop(&comm->scratch);
    shim_neighbours_free(comm->neighbours);
    hcore_queue_destroy(&comm->queue);
    shim_verdicts_destroy(comm->verdict);
    if (comm->of) {
        shim_comm_drop(comm->of);
    }
    free(comm);
}

/* The handle this thread is freeing. Delete callbacks of the program may use it for collectives: those go to MPI on all ranks, as the
 * order of attributes, and so of our own, may differ between them. */
static __thread MPI_Comm being_freed __attribute__((tls_model("initial-exec")));
static const MPI_Comm nothing_freed; /* zero is no handle */

atomic_uint shim_comms_freed; /* relaxed: who may use a handle that was given out again has heard of it by other means */

/*
 * A thread that waits for something else lets the MPI underneath move through a communicator that the program may free meanwhile. Who uses
 * the handle counts itself in `pollers` before its look at `freed`; who frees it looks at `pollers` after setting `freed`. All four are
 * sequentially consistent, so one of the two sees the other.
 */
static shim_comm_t *owner_of_handle(shim_comm_t *comm)
{
    return comm->of ? comm->of : comm;
}

static void let_handle_go(shim_comm_t *comm)
{
    atomic_fetch_sub(&owner_of_handle(comm)->pollers, 1);
}

static bool keep_handle(shim_comm_t *comm)
{
    atomic_fetch_add(&owner_of_handle(comm)->pollers, 1);
    if (atomic_load(&owner_of_handle(comm)->freed)) {
        let_handle_go(comm);
        return false;
    }
    return true;
}

/* In a callback of the MPI underneath nobody is waited for: this thread may hold a lock that who polls needs. */
static void retire_handle(shim_comm_t *comm, bool in_callback)
{
    atomic_store(&comm->freed, true);
    while (!in_callback && atomic_load(&comm->pollers) > 0) {
        sched_yield();
    }
}

static shim_comm_t *take_out(MPI_Comm handle)
{
    shim_comm_t *comm = NULL;
    atomic_fetch_add_explicit(&shim_comms_freed, 1, memory_order_relaxed);
    pthread_mutex_lock(&table_lock);
    table_t *table = atomic_load_explicit(&current, memory_order_relaxed);
    slot_t *slot = table ? find_slot(table, key_of(handle)) : NULL;
    if (slot) {
        comm = slot->comm;
        atomic_store_explicit(&slot->key, key_gone, memory_order_release);
    }
    pthread_mutex_unlock(&table_lock);
    return comm;
}

/* The state goes before the handle does: another thread may be given the same handle at once. */
int shim_comm_free_with(MPI_Comm *handle, int (*free_it)(MPI_Comm *))
{
    shim_comm_t *comm = handle ? take_out(*handle) : NULL;
    const MPI_Comm before = being_freed;
    if (comm) {
        retire_handle(comm, before != nothing_freed);
    }
    being_freed = handle ? *handle : nothing_freed;
    const int code = free_it(handle);
    being_freed = before;
    if (comm && code == MPI_SUCCESS) {
        shim_comm_drop(comm);
    } else if (comm) {
        atomic_store(&comm->freed, false);
        if (!enter(comm)) {
            hcore_error("no memory to keep the state of a communicator");
        }
    }
    return code;
}

void shim_comm_settle(MPI_Comm handle)
{
    shim_comm_t *comm = look_up(handle);
    if (comm) {
        shim_wait_idle(comm);
    }
}

/* A duplicate has a state of its own, if it comes to need one. */
int shim_comm_copy(MPI_Comm handle, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)handle, (void)keyval, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

/* Whoever frees a communicator past us (a library that calls PMPI). In Finalize all states stay: callbacks may still use them. */
int shim_comm_delete(MPI_Comm handle, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    shim_comm_t *comm = shim.finalizing ? NULL : take_out(handle);
    if (comm) {
        retire_handle(comm, true);
        shim_comm_drop(comm);
    }
    return MPI_SUCCESS;
}

static bool gone(const shim_comm_t *comm)
{
    return atomic_load(comm->of ? &comm->of->freed : &comm->freed);
}

MPI_Comm shim_comm_handle(const shim_comm_t *comm)
{
    return !comm || gone(comm) ? MPI_COMM_SELF : comm->handle;
}

static int boot_allgather(void *context, const void *mine, void *all, size_t bytes)
{
    const shim_comm_t *comm = context;
    if (!hcore_task_inside()) {
        return shim_pmpi.Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm->handle);
    }
    MPI_Request request;
    int done = 0, code = shim_pmpi.Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm->handle, &request);
    while (code == MPI_SUCCESS && !done) {
        shim_task_yield();
        code = shim_pmpi.Test(&request, &done, MPI_STATUS_IGNORE);
    }
    return code;
}

/*
 * A probe that finds nothing makes the library underneath poll its network. Measured on MPICH 4.0: only a probe on a communicator of
 * several ranks does; one on a copy of COMM_SELF, and a test of nothing, do not. So the program's own communicator is
 * probed for a message from this rank to itself with the highest tag; if there is one, with the next lower.
 */
void shim_comm_poll(shim_comm_t *comm)
{
    int flag = 1;
    if (!keep_handle(comm)) {
        return;
    }
    for (int i = 0; flag && i < PROBE_TAGS; i++) {
        shim_pmpi.Iprobe((int)comm->rank, comm->highest_tag - i, comm->handle, &flag, MPI_STATUS_IGNORE);
    }
    let_handle_go(comm);
}

static bool boot_progress(void *context)
{
    shim_comm_poll(context);
    return shim_progress();
}

static int highest_tag(MPI_Comm handle)
{
    const int *value = NULL;
    int flag = 0;
    shim_pmpi.Comm_get_attr(handle, MPI_TAG_UB, &value, &flag);
    return flag && value ? *value : LEAST_TAG_UB;
}

static bool allocate(shim_comm_t *comm)
{
    comm->verdict = shim_verdicts_create();
    return shim_scratch_make(&comm->scratch, comm->size) && comm->verdict;
}

static void make_core(shim_comm_t *comm)
{
    const hcore_config_t *config = &shim.config;
    const hcore_boot_t boot = {comm, boot_allgather, boot_progress};
    hcore_comm_options_t options = {
        .window = config->buffsize,
        .connect_timeout_s = config->connect_timeout_s,
        .exec_timeout_s = config->exec_timeout_s,
        .host_ranks = shim.host_ranks,
        .cma = config->cma == HCORE_CMA_AUTO,
        .heap = config->heap != HCORE_HEAP_OFF,
        .expansion_cache = config->op_expansion_mode != HCORE_EXPANSION_AI_CPU_CACHE_DISABLE,
        .rank_order = config->deterministic != HCORE_DETERMINISTIC_FALSE,
    };
    for (int i = 0; i < HCORE_OPER_COUNT; i++) {
        options.algo[i] = hcore_config_algo(config, (hcore_oper_t)i);
        options.heap_from[i] = !config->heap_from[i].given ? 0 : config->heap_from[i].bytes > 0 ? config->heap_from[i].bytes : 1;
    }
    if (hcore_comm_create(&boot, &options, comm->rank, comm->size, &comm->core, &comm->why) != HCORE_OK) {
        comm->core = NULL;
        hcore_warn("a communicator of %u ranks is served by MPI: %s", comm->size, hcore_reason_text(comm->why));
    } else if (hcore_comm_oversubscribed(comm->core)) {
        shim_set_crowded(); /* the launcher may not have said */
    }
}

void shim_comm_connect(shim_comm_t *comm)
{
    make_core(comm);
    atomic_store_explicit(&comm->pending, false, memory_order_release);
}

/* Local; what is left to do for one that is pending is collective over the communicator. */
static shim_comm_t *create(MPI_Comm handle)
{
    int inter = 0, rank = 0, size = 0;
    shim_comm_t *comm = calloc(1, sizeof(*comm));
    if (!comm || shim_pmpi.Comm_test_inter(handle, &inter) != MPI_SUCCESS ||
        shim_pmpi.Comm_rank(handle, &rank) != MPI_SUCCESS || shim_pmpi.Comm_size(handle, &size) != MPI_SUCCESS) {
        free(comm);
        return NULL;
    }
    comm->handle = handle;
    comm->holders = 1;
    comm->rank = (uint32_t)rank;
    comm->size = (uint32_t)size;
    comm->highest_tag = highest_tag(handle);
    comm->why = inter ? HCORE_REASON_INTERCOMM : HCORE_REASON_SETUP_FAILED;
    hcore_queue_init(&comm->queue);
    atomic_init(&comm->pending, !inter && allocate(comm));
    if (shim_pmpi.Comm_set_attr(handle, shim.keyval, comm) != MPI_SUCCESS || !enter(comm)) {
        /* Without them a reused handle would find this state. */
        hcore_error("no memory to keep the state of a communicator");
        shim_comm_drop(comm);
        return NULL;
    }
    return comm;
}

/* Collective over the communicator, as the initialisation of a persistent collective is. */
shim_comm_t *shim_comm_private(shim_comm_t *of)
{
    shim_comm_t *comm = calloc(1, sizeof(*comm));
    if (!comm) {
        return NULL;
    }
    comm->handle = of->handle;
    comm->of = of;
    shim_comm_hold(of);
    comm->rank = of->rank;
    comm->size = of->size;
    comm->highest_tag = of->highest_tag;
    comm->why = HCORE_REASON_SETUP_FAILED;
    comm->holders = 1;
    hcore_queue_init(&comm->queue);
    if (allocate(comm)) {
        make_core(comm);
    }
    return comm;
}

static atomic_bool ended; /* relaxed: who still calls has waited for Finalize by other means, or is wrong anyway */

void shim_comm_end(void)
{
    atomic_store_explicit(&ended, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&shim_comms_freed, 1, memory_order_relaxed);
}

shim_comm_t *shim_comm_get_pending(MPI_Comm handle)
{
    if (__builtin_expect(atomic_load_explicit(&ended, memory_order_relaxed), 0)) {
        return NULL;
    }
    shim_comm_t *comm = look_up(handle);
    if (__builtin_expect(comm != NULL, 1)) {
        return comm;
    }
    if (!abi_plausible(handle, ABI_CLASS_COMM) || handle == being_freed || !shim_start()) {
        return NULL;
    }
    return create(handle);
}

shim_comm_t *shim_comm_get(MPI_Comm handle)
{
    shim_comm_t *comm = shim_comm_get_pending(handle);
    if (__builtin_expect(comm && shim_comm_pending(comm), 0)) {
        shim_wait_idle(comm);
        if (shim_comm_pending(comm)) {
            shim_comm_connect(comm);
        }
    }
    return comm;
}
