/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_internal.h - the shared window of a communicator ("lane") and the state a rank keeps beside it.
 *
 * Layout of the lane, one memfd, all offsets fixed at creation and equal on all ranks:
 *
 *   header | ctl[n] | ack[n][n] | notify[n][n] | publish[n][n] | publish_out[n][n] | offer[n][n] |
 *   slot[n][DEPTH] | small[n][DEPTH] | cell[n][n][DEPTH] | window[n]
 *
 * Every word has one writer. What each part is for and which load pairs with which store:
 *
 *   ctl[r].line[d]   AIV, small data: payload and round number in one cache line; written by r. The store of
 *                    `seq` (release) pairs with the readers' load of `seq` (acquire).
 *   ctl[r].flag      AIV slots: 2*round + phase, written by r (release), read by all (acquire): "my slot holds
 *                    the data of this round / my slice of the result".
 *   ctl[r].busy      r may be writing in peers' heaps. Set before a fence and a look at header.broken, cleared (release) when it
 *                    has left the operator. A rank that leaves an operator with an error, after which its caller may do with
 *                    the buffers what it likes, sets header.broken before a fence and then waits for every peer's busy to be
 *                    clear (acquire): either the peer sees broken, or it is waited for (wait.h, push_begin; wait.c, hcore_quit).
 *   ctl[r].in[d], out[d], call[d], ask   rounds that ask for shared heaps, by parity of their number: where r's IN and OUT lie
 *                    (aiv/heap.c, aicpu/path.c say in which terms), what it calls, and the number itself. Plain data, written by r before its flag. Nobody leaves such a round before
 *                    everyone has arrived, so who writes those of ask k knows that all have read those of ask k - 2.
 *   ctl[r].done      round that r has finished reading, and with it all before; written by r (release), not in every round; read
 *                    (acquire) by a rank that is about to write its line or slot again.
 *   ack[i][j]        AIV cells: number of chunks of the pair i->j that j has copied out; written by j (release), read
 *                    by i (acquire) before it writes a cell again.
 *   offer[i][j]      AIV cells: where j may write in i's heap in exchange `epoch`, which is written last by i (release) and read first by
 *                    j (acquire).
 *   notify[i][j]     AI CPU: number of POSTs of i to j; written by i (release), read by j (acquire).
 *   publish[i][j]    AI CPU direct path: address and bytes in i's memory that j may read; written by i before its POST to j, or
 *                    before its flag of the round in which all ranks tell what they have in their heaps (aicpu/path.c); by parity of
 *                    asks, as a peer without data for anyone may be at the next already.
 *   publish_out[i][j]   the same for where in i's OUT j's data goes.
 *   slot, small, cell, window   plain data, ordered by the flags above. Data of a round that fits goes to a small slot.
 *
 * The rule that makes lines and slots safe: all ranks count rounds alike; a rank writes the line or slot of
 * round n only when every peer has done round n - DEPTH, of its kind. A peer tells of rounds done at least with every DONE_EVERY-th, which is fewer than
 * DEPTH: so the word that lets round n go on comes with a round before n, and all of those end without it. After a round in which everyone waited for everyone's
 * arrival in n, all peers are known to have done n - 1 (arriving in n comes after doing n - 1), so the next
 * rounds need no look at `done` at all. (t/models has the proof by exhaustion for small cases.)
 */
#ifndef HCORE_COMM_INTERNAL_H
#define HCORE_COMM_INTERNAL_H

#include <stdatomic.h>
#include <sys/types.h>

#include "hcore/clock.h"
#include "hcore/comm.h"
#include "hcore/heap.h"
#include "hcore/log.h"
#include "hcore/queue.h"
#include "hcore/topo.h"

enum {
    LANE_ALIGN = 128,      /* adjacent-line prefetch pulls pairs of 64-byte lines */
    LANE_DEPTH = 8,        /* slots in flight per writer: how far a root may run ahead */
    LINE_DEPTH = 64,       /* the same of lines */
    SMALL_DEPTH = 64,      /* and of small slots: where ranks outnumber cpus, a turn of the scheduler is shared by so many operators */
    CELL_DEPTH = 32,       /* cells in flight per pair */
    DONE_EVERY = 4,        /* `done` of rounds in which nobody waits for this rank is told once in so many: a store saved */
    ASK_DEPTH = 2,
    LINE_BYTES = 64,
    LINE_PAYLOAD = HCORE_LINE_BYTES,
    SLOT_BYTES = 64 * 1024,
    SMALL_BYTES = 1024,
    CELL_HEADER = 16,
    CELL_BUDGET = 512 * 1024, /* bytes of cells of one rank that are aimed at */
    CELL_MIN = 1024,
    CELL_MAX = 32 * 1024
};

typedef struct {
    _Alignas(LANE_ALIGN) _Atomic uint64_t seq;
    uint8_t payload[LINE_PAYLOAD];
} lane_line_t;

typedef struct {
    lane_line_t line[LINE_DEPTH];
    _Alignas(LANE_ALIGN) _Atomic uint64_t flag;
    uint64_t in[ASK_DEPTH], out[ASK_DEPTH], call[ASK_DEPTH]; /* in the line of `flag`: who sees it has these too */
    _Atomic uint64_t ask; /* relaxed: ordered by `flag`, but its writer may be one ahead of who looks */
    _Alignas(LANE_ALIGN) _Atomic uint64_t done;
    _Alignas(LANE_ALIGN) _Atomic uint32_t busy;
    _Alignas(LANE_ALIGN) _Atomic uint32_t cpu; /* 1 + where r ran when it last waited long; 0 unknown (comm/spread.c) */
    uint64_t probe; /* read by a peer through CMA when the communicator is made */
} lane_ctl_t;

typedef struct {
    _Alignas(LANE_ALIGN) _Atomic uint64_t value;
} lane_counter_t;

/* Memory that a rank shows to a peer, by its address there. */
typedef struct {
    uint64_t place, bytes;
} lane_place_t;

/* The same, by its offset in that rank's heap, 0 for none. Aligned so that it lies in one cache line. */
typedef struct {
    _Alignas(32) _Atomic uint64_t epoch;
    uint64_t place, bytes;
} lane_offer_t;

/* One cell of a pair. `chunk` (release) is written last and pairs with the receiver's load (acquire). */
typedef struct {
    _Alignas(LANE_ALIGN) _Atomic uint64_t chunk; /* number of the chunk the cell holds, from 1 */
    uint32_t bytes;                              /* of payload */
    uint32_t more;                               /* bytes of the same message that follow in later chunks, capped */
    uint8_t payload[];
} lane_cell_t;

typedef struct {
    uint64_t magic, bytes;
    _Alignas(LANE_ALIGN) _Atomic uint32_t sleepers; /* ranks in, or about to enter, a futex wait on `bell` */
    _Alignas(LANE_ALIGN) _Atomic uint32_t bell;
    _Alignas(LANE_ALIGN) _Atomic uint32_t broken;   /* 0, or 1 + status negated: some rank gave up */
    _Atomic uint32_t dead;                          /* 1 + rank found dead */
} lane_header_t;

typedef struct {
    uint64_t ctl, ack, notify, publish, publish_out, offer, slot, small, cell, window; /* offsets */
    uint64_t cell_bytes, window_bytes, total;
    uint64_t control; /* everything before the slots: backed by real pages from the start */
} lane_layout_t;

typedef struct {
    uint64_t base, bytes;
} heap_span_t;

struct expansion_cache;
struct path_choice;

struct hcore_comm {
    uint32_t rank, nranks;
    /* the lane, seen from here */
    lane_header_t *header;
    uint8_t *base;
    lane_layout_t layout;
    lane_ctl_t *ctl;
    lane_counter_t *ack, *notify;
    /* AIV: rounds */
    uint64_t round;  /* of the last line or slot round begun; the same on all ranks between operators */
    uint64_t safe;   /* every peer is known to have done this round */
    uint64_t asks;   /* rounds that asked for shared heaps */
    uint64_t epoch; /* of the last exchange of cells begun */
    /* AIV: cells, per peer */
    uint64_t *sent, *received, *acked;
    uint64_t *left; /* 3 * nranks: scratch of one exchange */
    /* AI CPU: counters per peer, and waits put off from the last operator */
    uint64_t *posted, *awaited;
    bool deferred, truncated;
    struct expansion_cache *cache;
    struct path_choice *path;
    uint8_t *scratch;
    size_t scratch_bytes;
    /* waiting */
    bool oversubscribed;
    uint32_t spin;
    uint32_t calls;         /* operators run, for the poll that fast ones owe the caller's library */
    uint64_t spread_ns;     /* when a wait last looked where the others run */
    uint64_t progressed_ns; /* when a wait last polled it */
    bool restless;          /* the caller had more to move then */
    hcore_boot_t boot;
    hcore_comm_options_t options;
    hcore_status_t broken;
    int dead_rank;
    pid_t *pid;  /* of each rank; 0 where it can't be known (other pid namespace) */
    uint64_t *start; /* when each process began, in the kernel's ticks; 0 unknown */
    hcore_span_t span;
    bool direct;
    const void **source; /* nranks pointers, scratch of the reductions */
    /* shared heaps: where each rank's region begins here (NULL: it has none); `heaps`: all ranks can read all of them */
    uint8_t **heap_base;
    uint8_t **heap_in, **heap_out; /* each rank's IN and OUT in the current round of aiv/heap.c */
    uint64_t heap_least[HCORE_OPER_COUNT]; /* bytes of a block from which on AIV uses them; UINT64_MAX: never */
    uint32_t heap_rest[HCORE_OPER_COUNT]; /* calls of the operator that do not try that, after one that could not */
    heap_span_t *heap_range;        /* where it begins there, and its bytes */
    struct heap_peer **heap_peer;
    bool heaps;
};

static inline uint8_t *lane_slot(const hcore_comm_t *comm, uint32_t rank, uint64_t round)
{
    uint64_t index = (uint64_t)rank * LANE_DEPTH + round % LANE_DEPTH;
    return comm->base + comm->layout.slot + index * SLOT_BYTES;
}

static inline uint8_t *lane_small(const hcore_comm_t *comm, uint32_t rank, uint64_t round)
{
    uint64_t index = (uint64_t)rank * SMALL_DEPTH + round % SMALL_DEPTH;
    return comm->base + comm->layout.small + index * SMALL_BYTES;
}

static inline lane_cell_t *lane_cell(const hcore_comm_t *comm, uint32_t from, uint32_t to, uint64_t chunk)
{
    uint64_t index = ((uint64_t)from * comm->nranks + to) * CELL_DEPTH + chunk % CELL_DEPTH;
    return (lane_cell_t *)(comm->base + comm->layout.cell + index * comm->layout.cell_bytes);
}

static inline _Atomic uint64_t *lane_ack(const hcore_comm_t *comm, uint32_t from, uint32_t to)
{
    return &comm->ack[(uint64_t)from * comm->nranks + to].value;
}

static inline _Atomic uint64_t *lane_notify(const hcore_comm_t *comm, uint32_t from, uint32_t to)
{
    return &comm->notify[(uint64_t)from * comm->nranks + to].value;
}

static inline lane_place_t *lane_publish(const hcore_comm_t *comm, uint32_t from, uint32_t to)
{
    const uint64_t parity = comm->asks % ASK_DEPTH, pairs = (uint64_t)comm->nranks * comm->nranks;
    return (lane_place_t *)(comm->base + comm->layout.publish) + parity * pairs + (uint64_t)from * comm->nranks + to;
}

static inline lane_place_t *lane_publish_out(const hcore_comm_t *comm, uint32_t from, uint32_t to)
{
    const uint64_t parity = comm->asks % ASK_DEPTH, pairs = (uint64_t)comm->nranks * comm->nranks;
    return (lane_place_t *)(comm->base + comm->layout.publish_out) + parity * pairs + (uint64_t)from * comm->nranks + to;
}

static inline lane_offer_t *lane_offer(const hcore_comm_t *comm, uint32_t from, uint32_t to)
{
    return (lane_offer_t *)(comm->base + comm->layout.offer) + (uint64_t)from * comm->nranks + to;
}

static inline uint8_t *lane_window(const hcore_comm_t *comm, uint32_t rank)
{
    return comm->base + comm->layout.window + (uint64_t)rank * comm->layout.window_bytes;
}

static inline void hcore_progress(hcore_comm_t *comm)
{
    if (comm->boot.progress && !hcore_task_inside()) {
        comm->restless = comm->boot.progress(comm->boot.context);
    }
}

/* comm/process.c: false if there is no such process or its state can't be read (errno says which). */
bool process_state(pid_t pid, char *state, uint64_t *start);

/* mem/lane.c */
void lane_layout(lane_layout_t *layout, uint32_t nranks, uint64_t window);
void lane_attach(hcore_comm_t *comm, void *base);

/* comm/bootstrap.c: shares one memfd among all ranks; every rank gets the same status and reason. */
hcore_status_t lane_bootstrap(hcore_comm_t *comm, hcore_reason_t *why);

/* The address in this process of what lies at offset `place` of a rank's heap. */
static inline uint8_t *heap_at(const hcore_comm_t *comm, uint32_t rank, uint64_t place)
{
    return (uint8_t *)((uintptr_t)comm->heap_base[rank] + place);
}

/* What a rank calls `address` and `bytes` of, if it lies in its heap; else NULL. */
static inline uint8_t *heap_find(const hcore_comm_t *comm, uint32_t rank, uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - comm->heap_range[rank].base, room = comm->heap_range[rank].bytes;
    return comm->heaps && offset < room && bytes <= room - offset ? heap_at(comm, rank, offset) : NULL;
}

/*
 * What a rank calls, for the round that asks for heaps: a program in which ranks call different operators or sizes must get an
 * error, not another rank's memory written. A peer may be one ask ahead of who looks.
 */
static inline uint64_t ask_call(hcore_backend_t engine, hcore_oper_t oper, uint64_t bytes)
{
    return bytes ^ ((uint64_t)oper << 48) ^ ((uint64_t)engine << 60);
}

static inline bool ask_agrees(const hcore_comm_t *comm, uint32_t peer, uint64_t ask)
{
    const lane_ctl_t *mine = &comm->ctl[comm->rank], *theirs = &comm->ctl[peer];
    return atomic_load_explicit(&theirs->ask, memory_order_relaxed) - ask <= 1 &&
           theirs->call[ask % ASK_DEPTH] == mine->call[ask % ASK_DEPTH];
}

/* transport/cma.c: whether this rank can read `peer`'s memory, by reading its probe word; and the read itself. */
bool cma_probe(hcore_comm_t *comm, uint32_t peer);
hcore_status_t cma_read(hcore_comm_t *comm, uint32_t peer, void *dst, uint64_t address, uint64_t bytes);

#endif
