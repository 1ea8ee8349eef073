/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/pairwise.c - the operators that move data, through the windows. What a pair exchanges depends only on
 * what both ends know (the pair's size, the ranks), so pairs of no bytes exchange nothing at all.
 *
 * Two layouts of a window: `shared` where all readers want the same bytes (Broadcast, (All)Gather), and one
 * area per reader where each wants its own (Scatter, AlltoAll).
 */
#include "algo/exchange.h"
#include "algo/families.h"

/* The bytes that `owner` has for `reader`, chunked as they lie in owner's window. */
typedef struct move_plan move_plan_t;
struct move_plan {
    hx_chunks_t (*chunks)(const hx_exchange_t *e, uint32_t owner, uint32_t reader, uint64_t bytes);
    hx_chunks_t mine;                  /* shared layout: my contribution; otherwise of count 0 */
    uint32_t first_step, steps, lanes; /* AlltoAll: this group of steps */
};

static hx_chunks_t chunks_to(const hx_exchange_t *e, uint32_t peer)
{
    const move_plan_t *plan = e->plan;
    return plan->chunks(e, e->shape->rank, peer, hx_pair(e->shape, peer).to);
}

static hx_chunks_t chunks_from(const hx_exchange_t *e, uint32_t peer)
{
    const move_plan_t *plan = e->plan;
    return plan->chunks(e, peer, e->shape->rank, hx_pair(e->shape, peer).from);
}

static uint64_t move_sends(const hx_exchange_t *e, uint32_t peer)
{
    return chunks_to(e, peer).count;
}

static uint64_t move_recvs(const hx_exchange_t *e, uint32_t peer)
{
    return chunks_from(e, peer).count;
}

static void put(const hx_exchange_t *e, const hx_chunks_t *chunks, uint32_t block, uint64_t j)
{
    hx_copy(e->x, hx_ccl(e->shape->rank, hx_chunk_slot(chunks, j)), hx_in(block, hx_chunk_offset(chunks, j)),
            hx_chunk_bytes(chunks, j));
}

static void shared_fill(const hx_exchange_t *e, uint64_t j)
{
    const move_plan_t *plan = e->plan;
    if (j < plan->mine.count) {
        put(e, &plan->mine, 0, j);
    }
}

/* A rank whose own block goes through its window copies it to its OUT piece by piece, while it is in cache.
 */
static void shared_spare(const hx_exchange_t *e, uint64_t j)
{
    const move_plan_t *plan = e->plan;
    if (j < plan->mine.count) {
        hx_copy_self(e->shape, e->x, hx_chunk_offset(&plan->mine, j), hx_chunk_bytes(&plan->mine, j));
    } else if (!plan->mine.count && j == 0) {
        hx_copy_self_all(e->shape, e->x);
    }
}

static void areas_fill_peer(const hx_exchange_t *e, uint64_t j, uint32_t peer)
{
    hx_chunks_t chunks = chunks_to(e, peer);
    put(e, &chunks, hx_pair(e->shape, peer).in_block, j);
}

static void areas_spare(const hx_exchange_t *e, uint64_t j)
{
    const move_plan_t *plan = e->plan;
    if (j == 0 && plan->first_step == 0) {
        hx_copy_self_all(e->shape, e->x);
    }
}

static void move_drain_peer(const hx_exchange_t *e, uint64_t j, uint32_t peer)
{
    hx_chunks_t chunks = chunks_from(e, peer);
    hx_copy(e->x, hx_out(hx_pair(e->shape, peer).out_block, hx_chunk_offset(&chunks, j)),
            hx_ccl(peer, hx_chunk_slot(&chunks, j)), hx_chunk_bytes(&chunks, j));
}

static void shared_exchange(hx_exchange_t e, move_plan_t *plan)
{
    /* If anyone reads what I have, this one does. */
    uint32_t reader = e.shape->rank == e.shape->root ? hx_after(e.shape, 1) : e.shape->root;
    e.plan = plan;
    plan->mine = chunks_to(&e, reader);
    e.sends = move_sends;
    e.recvs = move_recvs;
    e.fill = shared_fill;
    e.spare = shared_spare;
    e.drain_peer = move_drain_peer;
    hx_exchange(&e);
}

static void areas_exchange(hx_exchange_t e, const move_plan_t *plan)
{
    e.plan = plan;
    e.slots = HX_EXCHANGE_SLOTS;
    e.sends = move_sends;
    e.recvs = move_recvs;
    e.fill_peer = areas_fill_peer;
    e.spare = areas_spare;
    e.drain_peer = move_drain_peer;
    hx_exchange(&e);
}

/* --- AllGather(V), Broadcast, Gather(V), Scatter(V)
 * --------------------------------------------------------- */

static hx_chunks_t whole_chunks(const hx_exchange_t *e, uint32_t owner, uint32_t reader, uint64_t bytes)
{
    (void)owner;
    (void)reader;
    return hx_chunks(bytes, hx_window(e->shape), HX_EXCHANGE_SLOTS, e->shape->elem_bytes);
}

static hx_chunks_t stream_chunks(const hx_exchange_t *e, uint32_t owner, uint32_t reader, uint64_t bytes)
{
    (void)owner;
    (void)reader;
    return hx_stream(bytes, hx_window(e->shape), e->shape->elem_bytes);
}

static hx_chunks_t part_chunks(const hx_exchange_t *e, uint32_t owner, uint32_t reader, uint64_t bytes)
{
    uint32_t others = e->shape->nranks - 1;
    hx_area_t area =
        hx_window_part(e->shape, (hx_distance(e->shape, owner, reader) + others) % (others + 1), others);
    return hx_chunks(bytes, area, HX_EXCHANGE_SLOTS, e->shape->elem_bytes);
}

void hx_mesh_move(const hx_shape_t *shape, hx_expansion_t *x)
{
    bool one_way = shape->oper == HCORE_OPER_Broadcast;
    move_plan_t plan = {.chunks = one_way ? stream_chunks : whole_chunks};
    shared_exchange(
        (hx_exchange_t){.shape = shape, .x = x, .slots = one_way ? HX_STREAM_SLOTS : HX_EXCHANGE_SLOTS},
        &plan);
}

/* Gather(V) and Scatter(V): the root serves all pairs in turn, a chunk each, so that they overlap. */
void hx_pairwise_rooted(const hx_shape_t *shape, hx_expansion_t *x)
{
    if (hx_in_per_peer(shape)) {
        move_plan_t plan = {.chunks = part_chunks};
        areas_exchange((hx_exchange_t){.shape = shape, .x = x}, &plan);
    } else {
        move_plan_t plan = {.chunks = stream_chunks};
        shared_exchange((hx_exchange_t){.shape = shape, .x = x, .slots = HX_STREAM_SLOTS}, &plan);
    }
}

/* --- AlltoAll(V,W)
 * ------------------------------------------------------------------------------------------ */

/*
 * Partners by a round-robin tournament: in each step every rank has one partner (or rests, when the number of
 * ranks is odd), and both directions of a pair are in the same step, so that they share POSTs. An even number
 * of ranks plays as the odd number below it, the last rank taking the partner of the one who would rest.
 */
static uint32_t tournament_steps(uint32_t nranks)
{
    return nranks % 2 ? nranks : nranks - 1;
}

static uint32_t partner_in_step(uint32_t nranks, uint32_t rank, uint32_t step)
{
    uint32_t steps = tournament_steps(nranks), last = nranks - 1;
    if (rank == steps) { /* whose twice is `step`, modulo an odd number */
        return (uint32_t)((uint64_t)step * ((steps + 1) / 2) % steps);
    }
    uint32_t partner = (step + steps - rank) % steps;
    return partner == rank && nranks % 2 == 0 ? last : partner;
}

static uint32_t step_of_pair(uint32_t nranks, uint32_t a, uint32_t b)
{
    uint32_t steps = tournament_steps(nranks);
    if (a == steps || b == steps) {
        return (uint32_t)(2 * (uint64_t)(a == steps ? b : a) % steps);
    }
    return (uint32_t)(((uint64_t)a + b) % steps);
}

static uint32_t group_partner(const hx_exchange_t *e, uint32_t i)
{
    const move_plan_t *plan = e->plan;
    return partner_in_step(e->shape->nranks, e->shape->rank, plan->first_step + i);
}

static hx_chunks_t lane_chunks(const hx_exchange_t *e, uint32_t owner, uint32_t reader, uint64_t bytes)
{
    const move_plan_t *plan = e->plan;
    uint32_t lane = step_of_pair(e->shape->nranks, owner, reader) % plan->lanes;
    return hx_chunks(bytes, hx_window_part(e->shape, lane, plan->lanes), HX_EXCHANGE_SLOTS,
                     e->shape->elem_bytes);
}

/* Groups of steps share the window as lanes; a lane goes to the next group when its readers have
 * acknowledged. */
void hx_pairwise_all_to_all(const hx_shape_t *shape, hx_expansion_t *x)
{
    uint32_t steps = tournament_steps(shape->nranks);
    move_plan_t plan = {.chunks = lane_chunks, .lanes = (uint32_t)hx_min(steps, HX_LANES)};
    for (; plan.first_step < steps; plan.first_step += plan.lanes) {
        uint32_t in_group = (uint32_t)hx_min(plan.lanes, steps - plan.first_step);
        areas_exchange((hx_exchange_t){.shape = shape,
                                       .x = x,
                                       .partners = in_group,
                                       .partner = group_partner,
                                       .wait_readers = plan.first_step + in_group < steps},
                       &plan);
    }
}
