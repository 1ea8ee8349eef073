/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap.c - operators on data that lies in the shared heaps: no copy on the way. One round, two flags a rank:
 *
 *   flag   (after in[] and out[]) "here my IN and OUT lie, and the call has begun": peers may read the one and write the other
 *   done   "I have read and written all I had to": with those of all peers, IN is free again and OUT complete
 *
 * Results are pushed: a rank writes what it has made, or what is its own, into the peers' OUT. Measured against fetching on two
 * cores without a common level-2 cache: reductions take half the time from 1 KiB on, as nobody reads what has just been written.
 *
 * Whether all data lies in heaps is known to all once they have seen all flags: if not, the round has moved nothing, all
 * ranks go on to another kernel, and spare themselves the question for some calls.
 */
#include "aiv/round.h"

enum {
    PIECE_BYTES = 8 * 1024, /* reduced, then sent while still in the level-1 cache */
    REST_CALLS = 64,
    NOT_NEEDED = 1 /* for in[] and out[]; 0: not in the heap. No block begins at either offset */
};

typedef enum { NO_PART, ONE_BLOCK, BLOCKS } part_t;
typedef enum { ALL, ROOT, OTHERS } who_t;

/* What peers need of a rank's memory, and the kernel. */
typedef struct {
    part_t in, out;
    who_t in_at, out_at;
    bool in_place; /* right in place too */
    bool pair;     /* worth it between two ranks alone: the root does all the work */
    void (*run)(hcore_comm_t *comm, const hcore_args_t *args);
    void (*own)(hcore_comm_t *comm, const hcore_args_t *args); /* what is to be done without peers, while their flags are on their way */
} heap_kernel_t;

/* Sizes of the blocks of V operators, which all ranks know. */
static const uint64_t *sizes_of(const hcore_args_t *args)
{
    return args->in_bytes ? args->in_bytes : args->out_bytes;
}

/* Where block `index` begins in blocks that lie one after another; `index` nranks: their end. */
static uint64_t block_offset(const hcore_args_t *args, uint32_t index)
{
    const uint64_t *size = sizes_of(args);
    uint64_t offset = size ? 0 : index * args->bytes;
    for (uint32_t i = 0; size && i < index; i++) {
        offset += size[i];
    }
    return offset;
}

/* ---- reductions ---- */

static uint64_t slice_begin(const hcore_comm_t *comm, const hcore_args_t *args, uint32_t rank)
{
    return round_slice(args->bytes, args->reducer->elem_bytes, comm->nranks, rank);
}

static void reduce_piece(hcore_comm_t *comm, const hcore_args_t *args, uint8_t *dst, uint64_t at, uint64_t bytes, uint32_t nsrc)
{
    for (uint32_t i = 0; i < nsrc; i++) {
        comm->source[i] = comm->heap_in[i] + at;
    }
    args->reducer->run(args->reducer, dst, comm->source, nsrc, bytes / args->reducer->elem_bytes);
}

static uint64_t piece_bytes(const hcore_args_t *args)
{
    const uint64_t elem = args->reducer->elem_bytes;
    return elem < PIECE_BYTES ? PIECE_BYTES / elem * elem : elem;
}

/* In place too: nobody but its owner reads a slice, and it does so before it writes it anywhere. */
static void run_allreduce(hcore_comm_t *comm, const hcore_args_t *args)
{
    const uint32_t n = comm->nranks, me = comm->rank;
    const uint64_t end = slice_begin(comm, args, me + 1), step = piece_bytes(args);
    for (uint64_t at = slice_begin(comm, args, me); at < end; at += step) {
        const uint64_t bytes = end - at < step ? end - at : step;
        const uint8_t *mine = comm->heap_out[me] + at;
        reduce_piece(comm, args, comm->heap_out[me] + at, at, bytes, n);
        for (uint32_t i = 1; i < n; i++) {
            memcpy(comm->heap_out[round_peer(comm, i)] + at, mine, bytes);
        }
    }
}

static void run_reduce(hcore_comm_t *comm, const hcore_args_t *args)
{
    const uint64_t begin = slice_begin(comm, args, comm->rank), end = slice_begin(comm, args, comm->rank + 1);
    if (end > begin) {
        reduce_piece(comm, args, comm->heap_out[args->root] + begin, begin, end - begin, comm->nranks);
    }
}

static void run_reduce_scatter(hcore_comm_t *comm, const hcore_args_t *args)
{
    const uint64_t bytes = args_in_bytes(args, comm->rank);
    if (bytes > 0) {
        reduce_piece(comm, args, hcore_block_at(&args->out, 0), block_offset(args, comm->rank), bytes, comm->nranks);
    }
}

/* ---- data moving ---- */

static void own_gathered(hcore_comm_t *comm, const hcore_args_t *args)
{
    copy(hcore_block_at(&args->out, comm->rank), hcore_block_at(&args->in, 0), args_out_bytes(args, comm->rank));
}

static void own_gathered_at_root(hcore_comm_t *comm, const hcore_args_t *args)
{
    if (comm->rank == args->root) {
        own_gathered(comm, args);
    }
}

static void own_scattered(hcore_comm_t *comm, const hcore_args_t *args)
{
    if (comm->rank == args->root) {
        copy(hcore_block_at(&args->out, 0), hcore_block_at(&args->in, comm->rank), args->bytes);
    }
}

static void own_exchanged(hcore_comm_t *comm, const hcore_args_t *args)
{
    copy(hcore_block_at(&args->out, comm->rank), hcore_block_at(&args->in, comm->rank), args->bytes);
}

/* My one block to all peers, to its place among theirs. */
static void run_allgather(hcore_comm_t *comm, const hcore_args_t *args)
{
    const uint8_t *in = hcore_block_at(&args->in, 0);
    const uint64_t bytes = args_out_bytes(args, comm->rank), at = block_offset(args, comm->rank);
    for (uint32_t i = 1; i < comm->nranks; i++) {
        copy(comm->heap_out[round_peer(comm, i)] + at, in, bytes);
    }
}

static void run_gather(hcore_comm_t *comm, const hcore_args_t *args)
{
    if (comm->rank != args->root) {
        memcpy(comm->heap_out[args->root] + comm->rank * args->bytes, hcore_block_at(&args->in, 0), args->bytes);
    }
}

static void run_alltoall(hcore_comm_t *comm, const hcore_args_t *args)
{
    const uint32_t me = comm->rank;
    for (uint32_t i = 1; i < comm->nranks; i++) {
        const uint32_t peer = round_peer(comm, i);
        memcpy(comm->heap_out[peer] + me * args->bytes, hcore_block_at(&args->in, peer), args->bytes);
    }
}

static void run_rooted(hcore_comm_t *comm, const hcore_args_t *args)
{
    if (comm->rank != args->root) {
        return;
    }
    for (uint32_t i = 1; i < comm->nranks; i++) {
        const uint32_t peer = round_peer(comm, i);
        memcpy(comm->heap_out[peer], hcore_block_at(&args->in, args->oper == HCORE_OPER_Scatter ? peer : 0), args->bytes);
    }
}

/* ---- the round ---- */

static const heap_kernel_t kernels[HCORE_OPER_COUNT] = {
    [HCORE_OPER_AllReduce] = {ONE_BLOCK, ONE_BLOCK, ALL, ALL, true, false, run_allreduce, NULL},
    [HCORE_OPER_Reduce] = {ONE_BLOCK, ONE_BLOCK, ALL, ROOT, true, false, run_reduce, NULL},
    [HCORE_OPER_ReduceScatter] = {BLOCKS, NO_PART, ALL, ALL, false, false, run_reduce_scatter, NULL},
    [HCORE_OPER_ReduceScatterV] = {BLOCKS, NO_PART, ALL, ALL, false, false, run_reduce_scatter, NULL},
    [HCORE_OPER_AllGatherV] = {NO_PART, BLOCKS, ALL, ALL, true, false, run_allgather, own_gathered},
    [HCORE_OPER_AllGather] = {NO_PART, BLOCKS, ALL, ALL, true, false, run_allgather, own_gathered},
    [HCORE_OPER_Gather] = {NO_PART, BLOCKS, ALL, ROOT, true, false, run_gather, own_gathered_at_root},
    [HCORE_OPER_AlltoAll] = {NO_PART, BLOCKS, ALL, ALL, true, false, run_alltoall, own_exchanged},
    [HCORE_OPER_Broadcast] = {NO_PART, ONE_BLOCK, ALL, OTHERS, true, true, run_rooted, NULL},
    [HCORE_OPER_Scatter] = {NO_PART, ONE_BLOCK, ALL, OTHERS, true, true, run_rooted, own_scattered},
};

/*
 * From which size of a block on data goes straight to where it belongs: a round with two flags and no copies in place of a flag and a
 * copy each way, and for the V operators the wait for a receiver to have begun (cell.c), which takes the place of running ahead of a root.
 * Where ranks outnumber cpus, a flag is a turn of the scheduler. By measurement; 0: never.
 */
static const struct {
    uint64_t from, crowded_from;
} sizes[HCORE_OPER_COUNT] = {
    [HCORE_OPER_AllReduce] = {8192, 8192},           [HCORE_OPER_Reduce] = {128 * 1024, 128 * 1024},
    [HCORE_OPER_ReduceScatter] = {8192, 32 * 1024},  [HCORE_OPER_ReduceScatterV] = {16 * 1024, 64 * 1024},
    [HCORE_OPER_AllGather] = {1024, 4096},           [HCORE_OPER_AllGatherV] = {2048, 16 * 1024},
    [HCORE_OPER_Gather] = {4096, 16 * 1024},         [HCORE_OPER_AlltoAll] = {1024, 8192},
    [HCORE_OPER_Broadcast] = {4096, 32 * 1024},      [HCORE_OPER_Scatter] = {4096, 32 * 1024},
    [HCORE_OPER_GatherV] = {4096, 8192},             [HCORE_OPER_ScatterV] = {4096, 8192},
    [HCORE_OPER_AlltoAllV] = {512, 4096},            [HCORE_OPER_AlltoAllW] = {512, 4096}};

void aiv_heap_sizes(hcore_comm_t *comm)
{
    for (unsigned oper = 0; oper < HCORE_OPER_COUNT; oper++) {
        const uint64_t wanted = comm->options.heap_from[oper], own = wanted ? wanted : sizes[oper].from;
        const uint64_t from = comm->oversubscribed ? sizes[oper].crowded_from : own;
        comm->heap_least[oper] = comm->heaps && from > 0 ? from : UINT64_MAX;
    }
}

static bool takes_part(const hcore_comm_t *comm, const hcore_args_t *args, who_t who)
{
    return who == ALL || (who == ROOT) == (comm->rank == args->root);
}

/* Offset in the heap of one block, or of blocks that lie there one after another. */
static uint64_t place_of(const hcore_comm_t *comm, const hcore_args_t *args, const hcore_blocks_t *blocks, part_t part)
{
    const uint8_t *first = hcore_block_at(blocks, 0);
    uint64_t end = args->bytes;
    if (part == BLOCKS) {
        const uint64_t *size = sizes_of(args);
        end = 0;
        for (uint32_t i = 0; i < comm->nranks; i++) {
            const uint64_t bytes = size ? size[i] : args->bytes;
            if (bytes > 0 && hcore_block_at(blocks, i) != first + end) {
                return 0;
            }
            end += bytes;
        }
    }
    return hcore_heap_owns(first) && hcore_heap_owns(first + end - 1) ? hcore_heap_offset(first) : 0;
}

static uint64_t part_place(const hcore_comm_t *comm, const hcore_args_t *args, const hcore_blocks_t *blocks, part_t part, who_t who)
{
    return part == NO_PART || !takes_part(comm, args, who) ? NOT_NEEDED : place_of(comm, args, blocks, part);
}

/* After the flags: whether all have given what is needed, and where it lies here. The same on every rank; and so is the error if the
 * ranks have called with different sizes. */
static hcore_status_t take_places(hcore_comm_t *comm, uint64_t ask, bool *all)
{
    bool same = true;
    *all = true;
    for (uint32_t i = 0; i < comm->nranks; i++) {
        const uint64_t in = comm->ctl[i].in[ask % ASK_DEPTH], out = comm->ctl[i].out[ask % ASK_DEPTH];
        *all = *all && in && out;
        same = same && ask_agrees(comm, i, ask);
        comm->heap_in[i] = heap_at(comm, i, in);
        comm->heap_out[i] = heap_at(comm, i, out);
    }
    if (!same) {
        hcore_error("rank %u: operators or sizes differ between the ranks", comm->rank);
    }
    return same ? HCORE_OK : HCORE_ERR_TRUNCATE;
}

static bool worth_asking(hcore_comm_t *comm, const hcore_args_t *args, const heap_kernel_t *kernel)
{
    if (args->bytes < comm->heap_least[args->oper] || !kernel->run || (kernel->pair && comm->nranks > 2)) {
        return false;
    }
    if (comm->heap_rest[args->oper] > 0) {
        comm->heap_rest[args->oper]--;
        return false;
    }
    return true;
}

static hcore_status_t move(hcore_comm_t *comm, const hcore_args_t *args, const heap_kernel_t *kernel, uint64_t round)
{
    hcore_status_t status = push_begin(comm);
    if (status == HCORE_OK) {
        kernel->run(comm, args);
        round_done(comm, round);
        status = round_wait_done(comm, round);
    }
    push_end(comm);
    return status;
}

/* Asks, and moves if all can. */
static hcore_status_t run_round(hcore_comm_t *comm, const hcore_args_t *args, const heap_kernel_t *kernel, bool *done)
{
    const uint64_t round = round_next(comm), ask = ++comm->asks;
    lane_ctl_t *mine = &comm->ctl[comm->rank];
    hcore_status_t status = round_may_write(comm, round, LANE_DEPTH);
    if (status != HCORE_OK) {
        return status;
    }
    const bool able = kernel->in_place || !args->in_place;
    mine->in[ask % ASK_DEPTH] = able ? part_place(comm, args, &args->in, kernel->in, kernel->in_at) : 0;
    mine->call[ask % ASK_DEPTH] = ask_call(HCORE_BACKEND_AIV, args->oper, args->bytes);
    atomic_store_explicit(&mine->ask, ask, memory_order_relaxed);
    mine->out[ask % ASK_DEPTH] = part_place(comm, args, &args->out, kernel->out, kernel->out_at);
    round_arrive(comm, round, PHASE_DATA);
    if (kernel->own) {
        kernel->own(comm, args);
    }
    status = round_await_all(comm, round, PHASE_DATA);
    if (status != HCORE_OK) {
        return status;
    }
    status = take_places(comm, ask, done);
    if (status == HCORE_OK && *done) {
        return move(comm, args, kernel, round);
    }
    comm->heap_rest[args->oper] = REST_CALLS;
    round_done(comm, round);
    return status;
}

hcore_status_t aiv_heap_try(hcore_comm_t *comm, const hcore_args_t *args, bool *done)
{
    const heap_kernel_t *kernel = &kernels[args->oper];
    *done = false;
    if (!worth_asking(comm, args, kernel)) {
        return HCORE_OK;
    }
    return run_round(comm, args, kernel, done);
}
