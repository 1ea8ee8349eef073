/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/direct.c - the direct path: peers' published IN memory is read in one copy.
 *
 * A rank's first POST to a peer makes its publication visible; what peers read of IN is waited for before the
 * list ends, never deferred, since the caller may change IN then.
 *
 * PEER memory is a source of COPY alone, as not every transport can load from it. Where it is copied to
 * SCRATCH to be reduced, the bytes at their source stay as they are until the REDUCE is done, so an executor
 * that can load from the peer may skip the copy and reduce from there.
 */
#include "algo/families.h"
#include "algo/sliced.h"

/* --- operators that move data
 * -------------------------------------------------------------------------------- */

static uint64_t has_for(const hx_exchange_t *e, uint32_t peer)
{
    return hx_pair(e->shape, peer).to != 0;
}

static uint64_t gets_from(const hx_exchange_t *e, uint32_t peer)
{
    return hx_pair(e->shape, peer).from != 0;
}

static void move_spare(const hx_exchange_t *e, uint64_t j)
{
    if (j == 0) {
        hx_copy_self_all(e->shape, e->x);
    }
}

static void move_drain_peer(const hx_exchange_t *e, uint64_t j, uint32_t peer)
{
    (void)j; /* one round moves everything */
    hx_pair_t pair = hx_pair(e->shape, peer);
    hx_send(e->x, hx_out(pair.out_block, 0), hx_peer(peer, 0), pair.from, e->shape->load && hx_streams(e->shape, pair.from));
}

void hx_direct_move(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_exchange(&(hx_exchange_t){.shape = shape,
                                 .x = x,
                                 .slots = 1,
                                 .wait_readers = true,
                                 .sends = has_for,
                                 .recvs = gets_from,
                                 .spare = move_spare,
                                 .drain_peer = move_drain_peer});
}

/* --- reducing from SCRATCH
 * ----------------------------------------------------------------------------------- */

/* Pieces of the peers' bytes side by side in SCRATCH, in rank order without this rank, each `piece` long at
 * most. */
typedef struct {
    uint32_t rank;
    uint64_t piece;
    hx_loc_t own;
} gathered_t;

static hx_loc_t gathered(const void *context, uint32_t i)
{
    const gathered_t *all = context;
    return i == all->rank ? all->own : hx_scratch((i - (i > all->rank)) * all->piece);
}

/* As much as stays in cache beside the windows: a quarter of one. */
static uint64_t piece_bytes(const hx_shape_t *shape)
{
    return hx_floor(shape->window / HX_LEAST_ELEMS / (shape->nranks - 1), shape->elem_bytes);
}

static hx_loc_t moved(hx_loc_t loc, uint64_t bytes)
{
    loc.offset += bytes;
    return loc;
}

/* dst <- the bytes at `at` of what every rank published for this one, `own` in this rank's place. */
static void reduce_published(const hx_exchange_t *e, hx_loc_t dst, hx_loc_t own, uint64_t at, uint64_t bytes)
{
    uint64_t piece = piece_bytes(e->shape);
    for (uint64_t done = 0; done < bytes && !e->x->failed; done += piece) {
        uint64_t now = hx_min(piece, bytes - done);
        gathered_t all = {.rank = e->shape->rank, .piece = now, .own = moved(own, done)};
        for (uint32_t step = 1; step < e->shape->nranks; step++) {
            uint32_t peer = hx_after(e->shape, step);
            hx_copy(e->x, gathered(&all, peer), hx_peer(peer, at + done), now);
        }
        hx_reduce_many(e->x, moved(dst, done), now, e->shape->nranks, gathered, &all);
        e->x->scratch = hx_max(e->x->scratch, now * (e->shape->nranks - 1));
    }
}

/* --- AllReduce, Reduce
 * ------------------------------------------------------------------------------------------ */

/*
 * Round 0 publishes. Round j >= 1 reduces this rank's slice of chunk j-1 into its window and, after the
 * POSTs, copies the others' results out. In place this is safe: a rank overwrites the slice of a peer only
 * with that peer's result, by when the peer has read it.
 */
static void reduce_fill(const hx_exchange_t *e, uint64_t j)
{
    const hx_sliced_t *plan = e->plan;
    uint32_t me = e->shape->rank;
    if (j >= 1) {
        uint64_t at = hx_chunk_offset(&plan->chunks, j - 1) + hx_slice_at(plan, j - 1, me);
        reduce_published(e, hx_sliced_result(plan, j - 1), hx_in(0, at), at, hx_slice_bytes(plan, j - 1, me));
    }
}

/* Chunks of as many slots' bytes as there are ranks. */
static hx_chunks_t published_chunks(const hx_shape_t *shape)
{
    uint64_t share = shape->bytes / shape->nranks + (shape->bytes % shape->nranks != 0);
    hx_chunks_t chunks = hx_chunks(hx_ceil(share, hx_unit(shape->elem_bytes)), hx_window(shape),
                                   HX_EXCHANGE_SLOTS, shape->elem_bytes);
    chunks.chunk *= shape->nranks;
    return hx_chunks_for(&chunks, shape->bytes);
}

/* Peers read IN in the rounds up to the last chunk's. AllReduce has one more round, in which they say so. */
void hx_direct_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_sliced_t plan = {.shape = shape, .chunks = published_chunks(shape)};
    hx_sliced_exchange(&plan, &(hx_exchange_t){.x = x,
                                               .slots = HX_EXCHANGE_SLOTS,
                                               .wait_readers = shape->oper == HCORE_OPER_Reduce,
                                               .fill = reduce_fill});
}

/* --- AllReduce of two ranks
 * --------------------------------------------------------------------------------------- */

/*
 * Each of the two reads the other's whole vector, piece by piece, and reduces all of it itself. That is no more reading than
 * slices and results would be, in half as many steps, and nothing is read that the peer has just
 * written but what the program wrote.
 *
 * A piece is read one ahead of the one being reduced. POST says first "my IN is published", then "I have read
 * piece 0, 1, .. of yours"; OUT of a piece, which may be IN, is written after the peer has read it.
 */
static void reduce_piece(const hx_shape_t *shape, hx_expansion_t *x, const hx_chunks_t *pieces, uint64_t c)
{
    hx_loc_t own = hx_in(0, hx_chunk_offset(pieces, c)), other = hx_scratch(hx_chunk_slot(pieces, c));
    bool first = shape->rank == 0;
    hx_reduce_two(x, hx_out(0, hx_chunk_offset(pieces, c)), first ? own : other, first ? other : own,
                  hx_chunk_bytes(pieces, c));
}

void hx_direct_reduce_pair(const hx_shape_t *shape, hx_expansion_t *x)
{
    uint64_t most = hx_min(HX_EXCHANGE_SLOTS * HX_PAIR_PIECE, shape->window); /* a window holds an element for sure */
    hx_chunks_t pieces = hx_chunks(shape->bytes, (hx_area_t){.bytes = most}, HX_EXCHANGE_SLOTS, shape->elem_bytes);
    uint32_t peer = hx_after(shape, 1);
    x->scratch = hx_max(pieces.chunk, pieces.stride) * pieces.slots;
    hx_sync(x, HX_POST, peer);
    hx_sync(x, HX_WAIT, peer);
    for (uint64_t c = 0; c <= pieces.count && !x->failed; c++) {
        if (c < pieces.count) {
            hx_copy(x, hx_scratch(hx_chunk_slot(&pieces, c)), hx_peer(peer, hx_chunk_offset(&pieces, c)),
                    hx_chunk_bytes(&pieces, c));
            hx_sync(x, HX_POST, peer);
        }
        if (c > 0) {
            hx_sync(x, HX_WAIT, peer);
            reduce_piece(shape, x, &pieces, c - 1);
        }
    }
}

/* --- ReduceScatter(V)
 * --------------------------------------------------------------------------------------------- */

static uint64_t block_for(const hx_exchange_t *e, uint32_t peer)
{
    return hx_in_bytes(e->shape, peer) != 0;
}

static uint64_t block_from(const hx_exchange_t *e, uint32_t peer)
{
    (void)peer;
    return block_for(e, e->shape->rank);
}

static void scatter_drain(const hx_exchange_t *e, uint64_t j)
{
    if (j == 0) {
        reduce_published(e, hx_out(0, 0), hx_in(e->shape->rank, 0), 0, hx_in_bytes(e->shape, e->shape->rank));
    }
}

void hx_direct_reduce_scatter(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_exchange(&(hx_exchange_t){.shape = shape,
                                 .x = x,
                                 .slots = 1,
                                 .wait_readers = true,
                                 .sends = block_for,
                                 .recvs = block_from,
                                 .drain = scatter_drain});
}
