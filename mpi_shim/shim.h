/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shim.h - the run time behind the wrappers.
 *
 *   malloc.c   the C library's allocation functions; memory.c: which of them serve large blocks from the shared heap, MPI_Alloc_mem
 *   find.c     which MPI the process has, whether it is ours to serve; fills the slots of the entries
 *   life.c     Init, Finalize, Abort; configuration; start and end of the shim
 *   comm.c     what the shim knows of each communicator, by handle value
 *   type.c     MPI types and ops as the core's, packing of derived types
 *   neighbours.c whom a rank of a virtual topology sends to and receives from
 *   blocks.c   buffer arguments of a call as the core's blocks
 *   decide.c   the verdict for a call
 *   serve.c    one function per operator: check, decide, run; fast.c: the short way of a call like the last
 *   request.c  operators that are started and completed later; complete.c: MPI_Wait and its kin
 *   progress.c what goes on while the program waits; helper.c: while it waits in a call that has no nonblocking form
 *   report.c   what was done and why
 *
 * Only PMPI entries are called, through one table (shim_pmpi). Everything a function needs to know about other ranks comes from
 * arguments that MPI forces to be equal on all of them.
 */
#ifndef SHIM_H
#define SHIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "abi.h"
#include "hcore/clock.h"
#include "hcore/comm.h"
#include "hcore/config.h"
#include "hcore/log.h"
#include "hcore/queue.h"
#include "wrappers/entry.h"
#include "wrappers/table.h"

/* ---- find.c ---- */

typedef struct {
    const char *name; /* "PMPI_Allreduce" */
    size_t offset;    /* in shim_pmpi_t */
    bool optional;
} shim_symbol_t;

extern const shim_symbol_t shim_pmpi_symbol[];
extern const unsigned shim_pmpi_symbol_count;
extern const shim_any_fn_t shim_served_entry[]; /* shim_Allreduce ..., in the order of the slots */
extern const size_t shim_pmpi_of_slot[];        /* offset in shim_pmpi_t, in the order of the slots */

/* The C library's dlsym, past our own. */
void *shim_real_dlsym(void *handle, const char *name);
/* Whether the MPI in which `handle` looks things up has what one of our ABI has, as far as names say. */
bool shim_has_our_names(void *handle);

/* ---- life.c ---- */

typedef struct {
    hcore_config_t config;
    hcore_profile_t *profile;
    int keyval;          /* attribute that drops our state with the communicator */
    bool reporting;
    bool threads;        /* MPI_THREAD_MULTIPLE: counters need a lock */
    bool finalizing;
    /* Found when a communicator is connected, by any thread; relaxed: a hint how to wait. */
    atomic_bool crowded; /* there are more ranks on this host than cpus for them */
    atomic_bool yields;  /* blocking point-to-point calls give up the cpu; follows `crowded` unless the configuration says */
    int world_rank;
    uint32_t host_ranks; /* what the launcher says; 0 unknown */
} shim_t;

extern shim_t shim;

/* Ranks outnumber cpus, it was found. */
void shim_set_crowded(void);
/* Makes sure the shim is started; true if it is. Called at the first use when Init was not seen. */
bool shim_start(void);

/* ---- malloc.c, memory.c ---- */

/* Whether large blocks of the malloc family come from the shared heap. */
void shim_heap_serve(bool on);
/* While on, the calling thread's blocks do not; what it was before. */
bool shim_heap_rest(bool on);
/* As the configuration has it, once it is known whether the MPI of the process is ours to serve. */
void shim_memory_begin(bool ours);

/* ---- comm.c ---- */

typedef struct shim_comm shim_comm_t;
struct shim_verdicts;
typedef struct shim_neighbours shim_neighbours_t;

/* What one call needs while it lasts: sizes and displacements of the blocks of both sides, packed data. */
typedef struct {
    uint32_t room; /* blocks there are places for */
    uint64_t *bytes[2];
    ptrdiff_t *displs[2];
    void *packed[2];
    size_t packed_room[2];
} shim_scratch_t;

/* An operator's last call that the core served with one gapless predefined type (and predefined op): what need not be found out again for
 * the next like it. */
typedef struct {
    bool known;
    bool sized;                 /* all ranks know the size of the call (hcore_oper_bytes) */
    MPI_Datatype type;
    MPI_Op op;
    uint64_t elem;              /* bytes of an element */
    uint64_t limit;             /* bytes up to which backend[0] serves it; backend[1] larger ones */
    hcore_backend_t backend[2];
    uint64_t line;              /* bytes up to which it is served in one line without a look at anything else */
    hcore_reducer_t reducer;
} shim_memo_t;

struct shim_comm {
    MPI_Comm handle;
    hcore_comm_t *core;   /* NULL: MPI serves this communicator, for the reason `why` */
    hcore_reason_t why;
    uint32_t rank, size;
    int highest_tag;      /* MPI_TAG_UB */
    struct shim_verdicts *verdict;
    shim_memo_t memo[HCORE_OPER_COUNT];
    shim_scratch_t scratch; /* of blocking calls */
    shim_neighbours_t *neighbours; /* NULL: not asked for yet */
    hcore_queue_t queue;    /* operators started and not finished */
    atomic_uint holders;    /* the table, the list of busy ones, requests; the last to let go frees the state */
    atomic_bool pending;    /* its core is made by a task of the queue that has not been run; release after `core` and `why` are set,
                             * acquire (shim_comm_pending) by who then looks at them */
    atomic_bool freed;      /* the handle is no more, or is being freed */
    atomic_uint pollers;    /* threads that use the handle while the program may free it; comm.c, keep_handle */
    struct shim_comm *of;   /* shim_comm_private: whose handle it has; held */
    struct shim_comm *next_busy; /* progress.c */
    bool busy;
    unsigned movers;
    atomic_bool needs_mpi;  /* the operator under way calls MPI: only a thread that may do so moves it */
};

/* What the shim knows of a communicator; made at its first collective (collective over it). NULL: no plausible handle. */
shim_comm_t *shim_comm_get(MPI_Comm comm);
/* The same without waiting for anyone: if this is its first collective, `pending` is set, and shim_comm_connect has to be the first task of
 * its queue. */
shim_comm_t *shim_comm_get_pending(MPI_Comm comm);
void shim_comm_connect(shim_comm_t *comm);
static inline bool shim_comm_pending(const shim_comm_t *comm)
{
    return atomic_load_explicit(&comm->pending, memory_order_acquire);
}
/* A state beside that of the communicator, with a core and a queue of its own, held by the caller: ranks may start persistent collectives of
 * one communicator in different orders, each matches its own kind alone. NULL: no memory. */
shim_comm_t *shim_comm_private(shim_comm_t *comm);
/* Makes the network of the MPI underneath move. */
void shim_comm_poll(shim_comm_t *comm);
/* Who keeps a state beyond the call that got it. */
void shim_comm_hold(shim_comm_t *comm);
void shim_comm_drop(shim_comm_t *comm);
/* What the MPI underneath is given in its place, to raise errors on or to pack for: itself as long as it has not been freed. NULL: none. */
MPI_Comm shim_comm_handle(const shim_comm_t *comm);
/* Grows with every communicator that is freed, before its handle can be given out again. */
extern atomic_uint shim_comms_freed;
/* After Finalize: every call is the MPI's own, which says so. */
void shim_comm_end(void);
/* Waits until nothing is under way on a communicator, if it is known. */
void shim_comm_settle(MPI_Comm comm);
/* Comm_free and Comm_disconnect. */
int shim_comm_free_with(MPI_Comm *handle, int (*free_it)(MPI_Comm *));
/* Callbacks of our attribute. */
int shim_comm_copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag);
int shim_comm_delete(MPI_Comm comm, int keyval, void *value, void *extra);

/* ---- type.c ---- */

typedef struct {
    hcore_type_t core;   /* HCORE_TYPE_NONE if no op of the core works on it */
    bool predefined;
    bool contiguous;     /* elements lie one after the other without gaps: no packing */
    uint64_t size;       /* bytes of data in one element */
    MPI_Aint lb, extent;
} shim_type_t;

void shim_type_init(void);
/* False: no plausible handle, or MPI refused it. */
bool shim_type_get(MPI_Datatype handle, shim_type_t *type);
/* HCORE_REDOP_NONE: not a plausible handle; HCORE_REDOP_USER: a function of the program. */
hcore_redop_t shim_op_get(MPI_Op handle);
/* `count` elements between a typed buffer and packed bytes; an MPI error code. */
int shim_pack(const void *buffer, uint64_t count, MPI_Datatype handle, const shim_type_t *type, void *packed, MPI_Comm comm);
int shim_unpack(const void *packed, void *buffer, uint64_t count, MPI_Datatype handle, const shim_type_t *type,
                MPI_Comm comm);

/* Reduction with a function of the program. Lives on the caller's stack for one call. */
typedef struct {
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    shim_type_t info;
    int error; /* first MPI error of a pack, unpack or op call */
} shim_user_op_t;
void shim_user_reduce(const hcore_reducer_t *self, void *dst, const void *const *src, unsigned nsrc, size_t n);

/* ---- calls ---- */

typedef struct shim_call {
    shim_fn_t fn;
    bool large; /* arrays hold MPI_Count and MPI_Aint instead of int */
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    const void *sendcounts, *recvcounts, *sdispls, *rdispls;
    MPI_Datatype sendtype, recvtype;
    const MPI_Datatype *sendtypes, *recvtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
} shim_call_t;

enum { SHIM_PASS = -1 }; /* from shim_serve_X: call PMPI; no MPI error code is negative */

/* What happened to one call, for the report and mpi_shim_last_path. */
typedef struct {
    hcore_backend_t backend;
    hcore_reason_t reason;
    const char *algorithm;
    uint64_t bytes; /* this rank's payload: what it contributes, or receives where it contributes nothing */
    uint64_t start_ns;
} shim_watch_t;

/* The path of the calling thread's last collective. */
typedef struct {
    hcore_backend_t backend;
    const char *algorithm;
    bool any;
} shim_path_t;
extern __thread shim_path_t shim_path __attribute__((tls_model("initial-exec"), visibility("hidden")));

shim_watch_t shim_watch_begin(void);
void shim_watch_end(shim_watch_t *watch, const shim_call_t *call);

#define X(name, reduces, bytes)                                                                                  \
    int shim_serve_##name(const shim_call_t *call, shim_watch_t *watch);                                         \
    int shim_start_##name(const shim_call_t *call, shim_watch_t *watch, MPI_Request *request);                   \
    int shim_init_##name(const shim_call_t *call, shim_watch_t *watch, MPI_Request *request);
HCORE_OPERATOR_LIST(X)
#undef X

/* ---- decide.c ---- */

/* Verdict for a call on a served communicator; fills `watch`. type, redop: NONE for data moving operators. */
hcore_backend_t shim_decide(shim_comm_t *comm, hcore_mode_t mode, hcore_oper_t oper, hcore_type_t type, hcore_redop_t redop,
                            uint64_t bytes, shim_watch_t *watch);
/* The verdict's steps for a call. */
void shim_decide_steps(const shim_comm_t *comm, hcore_oper_t oper, hcore_type_t type, hcore_redop_t redop, shim_memo_t *memo);
/* An empty cache of verdicts, which keeps the sizes that are set now: those of a communicator do not change. */
struct shim_verdicts *shim_verdicts_create(void);
void shim_verdicts_destroy(struct shim_verdicts *verdicts);

/* ---- neighbours.c ---- */

enum { SHIM_IN, SHIM_OUT };

/* Of one side of a neighbourhood operator: the program's blocks that have a neighbour, those of one rank together and in the order in which
 * what passes between the two is matched. */
typedef struct {
    uint32_t count;
    uint32_t *block; /* its number in the program's arguments */
    uint32_t *first; /* per rank: where its blocks begin here; they end where those of the next begin */
} shim_parts_t;

/* Of this rank; IN: whom it sends to, OUT: whom it receives from. */
struct shim_neighbours {
    shim_parts_t side[2];
};

/* Sets comm->neighbours. SHIM_PASS: the communicator has no topology; MPI_ERR_NO_MEM. Local. */
int shim_neighbours_find(shim_comm_t *comm);
void shim_neighbours_free(shim_neighbours_t *neighbours);

/* ---- blocks.c ---- */

/* One buffer argument with its counts, as MPI gives it. counts NULL: `count` elements in each block; displs NULL: blocks
 * one after another. */
typedef struct {
    void *buffer;
    MPI_Count count;
    const void *counts, *displs;
    MPI_Datatype type;
    const MPI_Datatype *types; /* per block; displs are then in bytes */
    bool large;
    bool aints; /* displs hold MPI_Aint whatever `large` says */
    const shim_parts_t *parts; /* neighbourhood operators: what the core's blocks, one for each rank, are put together from */
    bool same;  /* all parts are the buffer from its beginning */
    bool copy; /* the core must not see the buffer itself: it is about to be overwritten */
    bool raw;  /* operands of a predefined op: elements with their gaps, at their extent */
} shim_side_t;

/* The same as the core sees it. */
typedef struct {
    hcore_blocks_t blocks;
    uint64_t bytes;        /* uniform */
    const uint64_t *sizes; /* or per block */
    const ptrdiff_t *places; /* then, if packed: where each piece lies */
    bool packed;           /* blocks lie packed in scratch: pack before, unpack after */
    shim_type_t info;      /* of the uniform type */
} shim_view_t;

/* The pieces that are counted, packed and unpacked: blocks of the core, or parts of them. */
static inline uint32_t shim_pieces(const shim_side_t *side, uint32_t nblocks)
{
    return side->parts ? side->parts->count : nblocks;
}

MPI_Count shim_count(const shim_side_t *side, uint32_t piece);
/* SHIM_PASS if an argument is not plainly valid (negative count, bad type, NULL buffer); an MPI code, raised, if memory is short or the
 * type was not committed. */
int shim_view(shim_comm_t *comm, shim_scratch_t *scratch, const shim_side_t *side, uint32_t nblocks, unsigned which, shim_view_t *view);
int shim_view_pack(shim_comm_t *comm, const shim_side_t *side, uint32_t first, uint32_t nblocks, const shim_view_t *view);
int shim_view_unpack(shim_comm_t *comm, const shim_side_t *side, uint32_t nblocks, const shim_view_t *view);
/* Room for the sizes of `nblocks` blocks on both sides; what there was is dropped. */
bool shim_scratch_make(shim_scratch_t *scratch, uint32_t nblocks);
/* The same if there is less; then, on failure, it stays as it is. */
bool shim_scratch_grow(shim_scratch_t *scratch, uint32_t nblocks);
void shim_scratch_drop(shim_scratch_t *scratch);

/* ---- job.c ---- */

/* One collective call on its way through: described by shim_serve_X, run by shim_job_run. */
typedef struct {
    const shim_call_t *call;
    shim_watch_t *watch;
    shim_comm_t *comm;
    shim_scratch_t *scratch;
    shim_side_t side[2];
    shim_view_t view[2];
    uint32_t nblocks[2]; /* 0: the side has no part on this rank */
    hcore_mode_t mode;
    bool in_place;       /* IN is (part of) OUT, or at the root of Scatter(V) OUT is part of IN */
    hcore_type_t type;
    hcore_redop_t redop;
    hcore_reducer_t reducer;
    shim_user_op_t user;
    hcore_args_t args;
} shim_job_t;

/* Looks at what all operators share (root, counts, types). MPI_SUCCESS: go on; SHIM_PASS or an MPI code: return it. */
int shim_job_begin(shim_job_t *job, shim_comm_t *comm, shim_scratch_t *scratch, const shim_call_t *call, shim_watch_t *watch,
                   hcore_oper_t oper);
/* Reductions: the op and the reducer; all: what the arguments mean on this rank. */
int shim_job_describe(shim_job_t *job, int (*describe)(shim_job_t *job));
int shim_job_reducer(shim_job_t *job);
/* The rest: views, decision, packing, the core, unpacking. Returns what the wrapper returns. */
int shim_job_run(shim_job_t *job);

/* The same up to what only the core has to be asked; the views are made. */
int shim_job_prepare(shim_job_t *job);
int shim_job_pack(shim_job_t *job);
/* Of a prepared job on a connected communicator: MPI, or who runs it. */
hcore_backend_t shim_job_decide(shim_job_t *job, bool *nothing);

int shim_pass(shim_watch_t *watch, hcore_reason_t reason);
/* No fault of the program's: the peers are in the operator, or will be, and must not wait. MPI_ERR_NO_MEM, raised. */
int shim_job_no_memory(shim_job_t *job);
/* Raises an error on the communicator's handler and returns the code. */
int shim_raise(MPI_Comm comm, int code);
/* The MPI code of a core status; MPI_SUCCESS for HCORE_OK. */
int shim_code_of(const shim_comm_t *comm, hcore_status_t status);
/* The same, raised. */
int shim_finish(shim_comm_t *comm, hcore_status_t status);

/* ---- progress.c ---- */

/* Communicators with operators under way. Relaxed: a thread knows of what it has started itself. */
extern atomic_uint shim_busy;
/* A task was added to the queue of `comm`. */
void shim_set_busy(shim_comm_t *comm);
/* Moves all operators under way. False: there are none. */
bool shim_progress(void);
/* Whether a communicator under way is not connected yet. */
bool shim_any_pending(void);
/* While `comm` has operators under way, lets them go on. */
void shim_wait_idle(shim_comm_t *comm);

/* For loops that wait for something while the shim's operators, and where ranks outnumber cpus other ranks, go on. */
typedef struct {
    unsigned rounds;
    uint64_t since_ns; /* when it began to yield */
} shim_pause_t;
void shim_pause(shim_pause_t *pause);

/* Whether blocking calls must let something else go on. */
static inline bool shim_must_move(void)
{
    return atomic_load_explicit(&shim.yields, memory_order_relaxed) || atomic_load_explicit(&shim_busy, memory_order_relaxed) > 0;
}

/* Completes a request of the MPI underneath. */
int shim_wait_underneath(MPI_Request *request, MPI_Status *status);

/* ---- helper.c ---- */

/* Around a call of the MPI underneath that may wait for other ranks: a thread moves what is under way. What shim_hold returned. */
bool shim_hold(void);
void shim_unhold(bool held);
/* MPI_SHIM_ASYNC: something is under way. */
void shim_wake_helper(void);
/* Whether the caller is that thread, which must not call MPI. */
bool shim_is_helper(void);
/* In a task: yields, until a thread that may call MPI goes on with it. Elsewhere returns at once. */
void shim_task_yield(void);
/* Before Finalize, when nothing is under way: the thread sleeps when this returns. */
void shim_rest_helper(void);

/* ---- request.c ---- */

/* An operator of the core under way, or a persistent one. */
typedef struct shim_request {
    hcore_task_t task; /* first */
    MPI_Request handle; /* a generalized request of the MPI underneath */
    shim_comm_t *comm;
    shim_call_t call;
    shim_watch_t watch;
    shim_job_t job;
    shim_scratch_t scratch;
    uint32_t room;      /* blocks for which `scratch` has places */
    hcore_backend_t backend;
    hcore_status_t status; /* of the core */
    int code;           /* of MPI: in the call underneath, of a function of the program */
    bool persistent, active, settled;
    bool decided;       /* `backend` is known before it runs */
    bool nothing;       /* and has nothing to do: no rank has data */
    bool ours;          /* not in the pool */
    bool user_op, frees_op;
    bool line;          /* persistent: always served in one line */
    bool at_once;       /* persistent: is completed right after it is started */
    uint32_t starts;
    uint64_t started_ns; /* of a start that is looked at, else 0 */
    MPI_Datatype kept;  /* keeps the type of what has to be unpacked */
    struct shim_request *next;
} shim_request_t;

/* Requests of ours that the program holds, persistent ones included. Relaxed, as shim_busy. */
extern atomic_uint shim_requests;
/* NULL: not one of ours. */
shim_request_t *shim_request_find(MPI_Request handle);
/* A job that `describe` will fill. NULL: no memory. */
shim_request_t *shim_request_make(shim_comm_t *comm, const shim_call_t *call);
void shim_request_drop(shim_request_t *request);
/* Begins the operator. */
void shim_request_start(shim_request_t *request);
/* The caller will now wait for it, or asks whether it is done. */
void shim_request_hurry(shim_request_t *request);
/* Whether it is done or inactive; then its results are where they belong. */
bool shim_request_done(shim_request_t *request);
/* Completes a request that is done: an MPI code, not yet raised; *handle is set as MPI says. */
int shim_request_complete(shim_request_t *request, MPI_Request *handle, MPI_Status *status);
/* The status of an operator of ours, which received no message. */
void shim_set_empty(MPI_Status *status);
/* The calls that begin it: describe, check, decide, start. */
int shim_request_begin(MPI_Request *handle, const shim_call_t *call, shim_watch_t *watch, hcore_oper_t oper,
                       int (*describe)(shim_job_t *job), bool persistent);
/* Before Finalize. */
void shim_requests_end(void);

/* ---- report.c ---- */

void shim_report_init(void);
void shim_report_write(void);

#endif
