/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/expansion.h - what the AI CPU engine runs: one rank's list of tasks for one operator.
 *
 * An expansion is a pure function of (algorithm, operator, rank, number of ranks, sizes, root, window size):
 * no input or output, no state, no addresses. All ranks' expansions can therefore be built in one process
 * and proven against each other (t/ has the checker) or priced.
 *
 * Memory spaces a task can name:
 *   IN, OUT   the caller's blocks: `index` is the block, `offset` the byte in it. Which blocks exist depends
 *             on the operator, see hx_shape_t.
 *   CCL       the shared window of rank `index` (hx_shape_t.window bytes, the same on every rank), `offset`
 *             from its start. Own and peers' windows can be read; a rank writes its own window only.
 *   SCRATCH   private memory of this rank, expansion.scratch bytes
 *   PEER      direct path only: the bytes that rank `index` published for this rank to read (see
 *             hx_publish_block), in that rank's own IN memory. A source of COPY alone. When the COPY goes to
 *             SCRATCH, an executor that can load from the peer may leave it out and let the REDUCE
 *             that follows read the peer's bytes instead: they stay as they are until that REDUCE is
 *             done, and each of its SCRATCH sources is exactly what one COPY wrote (not so where the
 *             algorithm is marked HX_STAGED). hx_expand does so itself for shapes with `load`.
 *   PEER_OUT  shapes with `store` only: where in rank `index`'s OUT memory this rank's data goes (its block
 *             hx_publish_out_block). A destination alone.
 *
 * Synchronisation: POST p adds one to the counter of (me -> p); WAIT p blocks until the counter of (p -> me)
 * has reached this rank's number of waits on p. All memory accesses before a POST are visible after
 * the matching WAIT. Every list is balanced: as many POSTs on (a -> b) as WAITs, so counters of
 * successive operators never mix.
 *
 * Closure: an expansion may leave its last WAITs to the next operator on the communicator (DEFER: it counts
 * like WAIT, but the executor may go on and must have done it before this rank writes its window again).
 * With DEFERs done, every access of a peer to this rank's window lies before the end of the list. On the
 * direct path a rank must WAIT, not DEFER, for the readers of its IN memory, since the caller may
 * change that as soon as the call returns.
 */
#ifndef HCORE_EXPANSION_H
#define HCORE_EXPANSION_H

#include "hcore/types.h"

typedef enum { HX_IN, HX_OUT, HX_CCL, HX_SCRATCH, HX_PEER, HX_PEER_OUT } hx_space_t;

typedef struct {
    uint32_t space;  /* hx_space_t */
    uint32_t index;  /* block (IN, OUT) or rank (CCL, PEER); 0 for SCRATCH */
    uint64_t offset; /* bytes */
} hx_loc_t;

typedef enum {
    HX_STREAM, /* a COPY of data that is not used soon: it need not pass through the caches */
    HX_COPY,   /* dst <- src[0]; they never overlap, or are (in place) the same: then nothing is done */
    HX_REDUCE, /* dst <- src[0] OP src[1] OP ... in this order; dst may equal one source exactly */
    HX_POST,   /* to `peer` */
    HX_WAIT,   /* for `peer` */
    HX_DEFER   /* a WAIT that may be done at the start of the next operator */
} hx_kind_t;

typedef struct {
    uint32_t kind;      /* hx_kind_t */
    uint32_t peer;      /* POST, WAIT, DEFER */
    uint32_t nsrc;      /* COPY: 1; REDUCE: number of sources; else 0 */
    uint32_t first_src; /* index into hx_expansion_t.src */
    hx_loc_t dst;
    uint64_t bytes;
} hx_task_t;

/*
 * Blocks of each operator (n = ranks, r = this rank; every block may have 0 bytes):
 *   Broadcast       IN at the root / OUT at the others: block 0
 *   AllGather(V)    IN block 0 (my contribution); OUT blocks 0..n-1
 *   AllReduce, Scan, Exscan   IN block 0; OUT block 0. Exscan: OUT of rank 0 is not written
 *   Reduce          IN block 0; OUT block 0 at the root only
 *   Gather(V)       IN block 0; OUT blocks 0..n-1 at the root only
 *   Scatter(V)      IN blocks 0..n-1 at the root only; OUT block 0
 *   ReduceScatter(V) IN blocks 0..n-1; OUT block 0
 *   AlltoAll(V,W)   IN blocks 0..n-1 (to rank i); OUT blocks 0..n-1 (from rank i)
 *   Barrier         none
 * A block's size is found through hx_in_bytes / hx_out_bytes; it is 0 where the rank has no such block.
 * In-place calls alias IN and OUT: AllReduce, Reduce, Scan, Exscan: IN block 0 is OUT block 0;
 * (All)Gather(V): IN block 0 is OUT block r; Scatter(V): OUT block 0 is IN block r at the root;
 * ReduceScatter(V): the IN blocks are contiguous and OUT block 0 starts where IN block 0 starts. AlltoAll
 * never aliases (the caller copies first). Every algorithm must be right under this aliasing or be marked
 * HX_NO_INPLACE.
 */
typedef struct {
    hcore_oper_t oper;
    uint32_t rank, nranks, root;
    uint64_t bytes; /* uniform size of a block (BUFFER or BLOCK of the operator); ignored if arrays are set */
    const uint64_t *in_bytes;  /* V and W operators: size of each IN block (or NULL: uniform) */
    const uint64_t *out_bytes; /* V and W operators: size of each OUT block (or NULL: uniform) */
    uint64_t elem_bytes;       /* reductions: no task may cut an element; 1 for data moving operators */
    uint64_t window;           /* bytes of one rank's window; a multiple of 128 */
    bool direct;               /* peers' published memory can be read (CMA or a shared heap) */
    bool load;                 /* and by loads: PEER may be a source of any task (a shared heap) */
    bool store;                /* peers' OUT memory can be written */
} hx_shape_t;

/*
 * Size arrays and what each rank knows: AllGatherV: out_bytes is full on every rank (all blocks),
 * in_bytes NULL (IN block 0 has out_bytes[rank]). ReduceScatterV: in_bytes is full on every rank, OUT block 0
 * has in_bytes[rank]. GatherV: out_bytes full at the root; elsewhere NULL and `bytes` is the rank's own size.
 * ScatterV: in_bytes full at the root; elsewhere NULL and `bytes` is the rank's own. AlltoAllV/W: both full,
 * and out_bytes[i] on rank r equals in_bytes[r] on rank i.
 */
uint64_t hx_in_bytes(const hx_shape_t *shape, uint32_t block);
uint64_t hx_out_bytes(const hx_shape_t *shape, uint32_t block);

/* Direct path: before the first task the executor publishes, for every peer, where in this rank's IN memory
 * that peer's data begins: block `hx_publish_block(shape, peer)`. PEER locations of the reader are relative
 * to it. */
uint32_t hx_publish_block(const hx_shape_t *shape, uint32_t peer);
/* Likewise the OUT block in which that peer's data ends, for PEER_OUT locations of that peer. */
uint32_t hx_publish_out_block(const hx_shape_t *shape, uint32_t peer);

typedef struct {
    hx_task_t *task;
    hx_loc_t *src;
    uint32_t ntask, nsrc;
    uint32_t task_room, src_room;
    uint64_t scratch; /* bytes of SCRATCH needed */
    bool failed;      /* out of memory while building; sticky */
} hx_expansion_t;

/* Restrictions of an algorithm; an algorithm is never run outside them. Without one of the two about order,
 * it reduces in rank order from left to right. */
enum {
    HX_NEED_COMMUTATIVE = 1 << 0, /* reduces in another order than rank order */
    HX_NO_INPLACE = 1 << 1,       /* not right when IN and OUT alias */
    HX_NEED_DIRECT = 1 << 2,      /* only with hx_shape_t.direct */
    HX_NEED_POW2 = 1 << 3,        /* number of ranks is a power of two */
    HX_TREE_ORDER = 1 << 4,       /* reduces in rank order, but as a tree: not the bits of left to right */
    HX_NEED_PAIR = 1 << 5,        /* number of ranks is two */
    HX_NEED_LOAD = 1 << 7,        /* only with hx_shape_t.load */
    HX_NEED_STORE = 1 << 8,       /* only with hx_shape_t.store */
    HX_STAGED = 1 << 6            /* no restriction: what is copied from PEER to SCRATCH must really be copied, as its
                                   * owner may change it before the REDUCE */
};

/* One row of the algorithm table. `expand` appends this rank's tasks; the caller owns the expansion. */
typedef struct {
    const char *name; /* HCCL's: "mesh", "ring", "H-D_R", "NHR", "pairwise" */
    hcore_oper_t oper;
    uint32_t flags;
    void (*expand)(const hx_shape_t *shape, hx_expansion_t *expansion);
} hx_algo_t;

extern const hx_algo_t hx_algo_table[];
extern const unsigned hx_algo_count;

/*
 * The algorithm for an operator: the row `wanted` names if it exists and is allowed, else the first allowed
 * row of the operator in table order (the table is ordered by preference). NULL if the operator has none.
 *   wanted       an algorithm name in any case, or NULL
 *   rank_order   only left to right in rank order will do
 *   in_place     of any rank: must be the same on all, so true unless all ranks know better
 * HX_NEED_COMMUTATIVE and HX_TREE_ORDER rows are taken only when wanted by name and not rank_order (and, the
 * former, commutative).
 */
const hx_algo_t *hx_algo_choose(const hx_shape_t *shape, const char *wanted, bool commutative, bool in_place,
                                bool rank_order);

void hx_expansion_init(hx_expansion_t *expansion);
void hx_expansion_release(hx_expansion_t *expansion);
/* The smallest window that every algorithm can work with. It is the same on all ranks, so that a caller can
 * decide by it. */
uint64_t hx_window_least(uint32_t nranks, uint64_t elem_bytes);
/* Runs the algorithm into an initialised, empty expansion. HCORE_ERR_NO_MEMORY leaves it empty;
 * HCORE_ERR_PARAM for a shape that cannot be; HCORE_ERR_UNSUPPORTED for a window below hx_window_least. */
hcore_status_t hx_expand(const hx_algo_t *algo, const hx_shape_t *shape, hx_expansion_t *expansion);

#endif
