/* SPDX-License-Identifier: BSD-3-Clause */
/* t/check_expansion_memory.c - symbolic memory: what cells are made of, and whether accesses are ordered. */
#include "check_expansion_run.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_SHIFT = 24, WORLD_SHIFT = 31 }; /* of a place: cell in the block, block, world */

static uint32_t place_of(const ce_rank_t *rank, uint32_t block, uint64_t cell)
{
    return (uint32_t)rank->world << WORLD_SHIFT | block << BLOCK_SHIFT | (uint32_t)cell;
}

static uint64_t cell_in_block(const ce_value_t *value)
{
    return value->place & ((UINT32_C(1) << BLOCK_SHIFT) - 1);
}

bool ce_grow(void **array, uint32_t used, uint32_t *room, size_t size)
{
    enum { FIRST = 16 };
    if (used < *room) {
        return true;
    }
    uint32_t wanted = *room ? *room * 2 : FIRST;
    void *larger = realloc(*array, wanted * size);
    if (larger) {
        *array = larger;
        *room = wanted;
    }
    return larger != NULL;
}

void ce_free_memory(ce_memory_t *memory)
{
    free(memory->cell);
    free(memory->access);
    *memory = (ce_memory_t){0};
}

static bool make_memory(ce_run_t *run, ce_rank_t *rank, ce_memory_t *memory, uint64_t bytes)
{
    ce_free_memory(memory);
    memory->cells = bytes / ce_world_of(run, rank)->unit;
    memory->cell = calloc(memory->cells + 1, sizeof(*memory->cell));
    return memory->cell || ce_fail(run, rank, "out of memory");
}

bool ce_make_window(ce_run_t *run, ce_rank_t *rank)
{
    return make_memory(run, rank, &rank->window, ce_world_of(run, rank)->c.window);
}

bool ce_enter_world(ce_run_t *run, ce_rank_t *rank)
{
    const ce_world_t *world = ce_world_of(run, rank);
    uint32_t me = ce_index(run, rank);
    const ce_layout_t *l = &world->layout[me];
    if (!make_memory(run, rank, &rank->user, l->bytes) ||
        !make_memory(run, rank, &rank->scratch, world->list[me].scratch)) {
        return false;
    }
    rank->borrows = 0;
    rank->just_posted = false; /* what is published now is not in the last snapshot */
    rank->began[rank->world] = rank->clock[me];
    for (uint32_t block = 0; block < l->in_blocks; block++) {
        for (uint64_t cell = 0; cell < l->in_bytes[block] / world->unit; cell++) {
            rank->user.cell[l->in_at[block] / world->unit + cell] =
                (ce_value_t){UINT64_C(1) << me, place_of(rank, block, cell), (uint8_t)me, true, true};
        }
    }
    return true;
}

/* --- who accessed what when
 * --------------------------------------------------------------------------------------- */

/*
 * An access must come after every overlapping one by another rank, if one of the two is a write. What a write
 * covers need not be remembered: who comes after the write comes after that too. Likewise a rank's own
 * earlier reads.
 */
static bool record(ce_run_t *run, ce_rank_t *rank, ce_memory_t *memory, uint64_t lo, uint64_t hi, bool write)
{
    uint32_t me = ce_index(run, rank), kept = 0;
    for (uint32_t i = 0; i < memory->accesses; i++) {
        ce_access_t old = memory->access[i];
        bool overlaps = old.lo < hi && lo < old.hi, covered = lo <= old.lo && old.hi <= hi;
        if (overlaps && (write || old.write) && old.rank != me && rank->clock[old.rank] < old.clock) {
            return ce_fail(run, rank, "%s of cells %llu..%llu is not ordered with a %s by rank %u",
                           write ? "write" : "read", (unsigned long long)lo, (unsigned long long)hi,
                           old.write ? "write" : "read", old.rank);
        }
        if (!covered || !(write || (old.rank == me && !old.write))) {
            memory->access[kept++] = old;
        }
    }
    memory->accesses = kept;
    void *array = memory->access;
    if (!ce_grow(&array, kept, &memory->room, sizeof(*memory->access))) {
        return ce_fail(run, rank, "out of memory");
    }
    memory->access = array;
    memory->access[memory->accesses++] = (ce_access_t){lo, hi, rank->clock[me], (uint16_t)me, write};
    memory->last[me] = rank->clock[me];
    rank->just_posted = false;
    return true;
}

/* --- where a location is
 * ------------------------------------------------------------------------------------------ */

typedef struct {
    ce_memory_t *memory;
    uint64_t lo, hi;
    bool shared; /* other ranks may access it too */
} range_t;

static bool in_block(ce_run_t *run, ce_rank_t *rank, hx_loc_t loc, uint64_t bytes, uint32_t blocks,
                     const uint64_t *block_bytes)
{
    if (loc.index >= blocks || bytes > block_bytes[loc.index] ||
        loc.offset > block_bytes[loc.index] - bytes) {
        return ce_fail(run, rank, "space %u block %u: %llu bytes at %llu are outside", loc.space, loc.index,
                       (unsigned long long)bytes, (unsigned long long)loc.offset);
    }
    return true;
}

static bool in_bounds(ce_run_t *run, ce_rank_t *rank, hx_loc_t loc, uint64_t bytes, uint64_t limit)
{
    return (bytes <= limit && loc.offset <= limit - bytes) ||
           ce_fail(run, rank, "space %u of %u: %llu bytes at %llu are outside", loc.space, loc.index,
                   (unsigned long long)bytes, (unsigned long long)loc.offset);
}

/* A peer's published memory: only on the direct path, in the world this rank is in, and after the peer has
 * said so. */
static bool find_published(ce_run_t *run, ce_rank_t *rank, hx_loc_t loc, uint64_t bytes, range_t *range,
                           uint64_t *at)
{
    const ce_world_t *world = ce_world_of(run, rank);
    uint32_t me = ce_index(run, rank);
    const bool out = loc.space == HX_PEER_OUT;
    if (!(out ? world->shape[me].store : world->shape[me].direct) || loc.index >= run->nranks || loc.index == me) {
        return ce_fail(run, rank, "PEER memory of %u does not exist", loc.index);
    }
    ce_rank_t *peer = &run->rank[loc.index];
    if (peer->world != rank->world || rank->clock[loc.index] < peer->began[rank->world]) {
        return ce_fail(run, rank, "uses memory of %u that it does not know to be published", loc.index);
    }
    const ce_layout_t *l = &world->layout[loc.index];
    range->memory = &peer->user;
    if (out) {
        loc.index = ce_published_out_block(world, me);
        *at = loc.index < l->out_blocks ? l->out_at[loc.index] : 0;
        return in_block(run, rank, loc, bytes, l->out_blocks, l->out_bytes);
    }
    loc.index = ce_published_block(world, me);
    if (!in_block(run, rank, loc, bytes, l->in_blocks, l->in_bytes)) {
        return false;
    }
    *at = l->in_at[loc.index];
    return true;
}

static bool find_memory(ce_run_t *run, ce_rank_t *rank, hx_loc_t loc, uint64_t bytes, range_t *range,
                        uint64_t *at)
{
    const ce_world_t *world = ce_world_of(run, rank);
    uint32_t me = ce_index(run, rank);
    const ce_layout_t *l = &world->layout[me];
    *range = (range_t){.memory = &rank->user, .shared = world->shape[me].direct || world->shape[me].store};
    switch (loc.space) {
    case HX_IN:
        *at = loc.index < l->in_blocks ? l->in_at[loc.index] : 0;
        return in_block(run, rank, loc, bytes, l->in_blocks, l->in_bytes);
    case HX_OUT:
        *at = loc.index < l->out_blocks ? l->out_at[loc.index] : 0;
        return in_block(run, rank, loc, bytes, l->out_blocks, l->out_bytes);
    case HX_CCL:
        if (loc.index >= run->nranks) {
            return ce_fail(run, rank, "there is no window of %u", loc.index);
        }
        *range = (range_t){.memory = &run->rank[loc.index].window, .shared = true};
        return in_bounds(run, rank, loc, bytes, world->c.window);
    case HX_SCRATCH:
        range->memory = &rank->scratch;
        range->shared = false;
        return in_bounds(run, rank, loc, bytes, world->list[me].scratch);
    case HX_PEER:
    case HX_PEER_OUT:
        return find_published(run, rank, loc, bytes, range, at);
    }
    return ce_fail(run, rank, "there is no space %u", loc.space);
}

static bool find(ce_run_t *run, ce_rank_t *rank, hx_loc_t loc, uint64_t bytes, range_t *range)
{
    uint64_t at = 0, unit = ce_world_of(run, rank)->unit;
    if (!find_memory(run, rank, loc, bytes, range, &at)) {
        return false;
    }
    if (loc.offset % unit || bytes % unit) {
        return ce_fail(run, rank, "%llu bytes at %llu cut an element", (unsigned long long)bytes,
                       (unsigned long long)loc.offset);
    }
    range->lo = (at + loc.offset) / unit;
    range->hi = range->lo + bytes / unit;
    return true;
}

/* --- SCRATCH that stands for a peer's memory
 * ---------------------------------------------------------------------- */

static bool same_cells(const ce_value_t *a, const ce_value_t *b, uint64_t cells)
{
    for (uint64_t i = 0; i < cells; i++) {
        if (a[i].ranks != b[i].ranks || a[i].place != b[i].place) {
            return false;
        }
    }
    return true;
}

static void forget_borrowed(ce_rank_t *rank, uint64_t lo, uint64_t hi)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rank->borrows; i++) {
        if (rank->borrowed[i].hi <= lo || hi <= rank->borrowed[i].lo) {
            rank->borrowed[kept++] = rank->borrowed[i];
        }
    }
    rank->borrows = kept;
}

static bool borrow(ce_run_t *run, ce_rank_t *rank, const range_t *dst, const range_t *src, uint32_t peer)
{
    void *array = rank->borrowed;
    if (!ce_grow(&array, rank->borrows, &rank->borrow_room, sizeof(*rank->borrowed))) {
        return ce_fail(run, rank, "out of memory");
    }
    rank->borrowed = array;
    rank->borrowed[rank->borrows++] = (ce_borrowed_t){dst->lo, dst->hi, src->lo, peer};
    return true;
}

/* A REDUCE reads SCRATCH: it must be free to read the peer's memory instead. */
static bool read_borrowed(ce_run_t *run, ce_rank_t *rank, const range_t *src)
{
    for (uint32_t i = 0; i < rank->borrows; i++) {
        ce_borrowed_t *b = &rank->borrowed[i];
        if (b->hi <= src->lo || src->hi <= b->lo) {
            continue;
        }
        ce_memory_t *theirs = &run->rank[b->peer].user;
        if (b->lo != src->lo || b->hi != src->hi) {
            return ce_fail(run, rank, "REDUCE takes a part of what a COPY from %u left in SCRATCH", b->peer);
        }
        if (!record(run, rank, theirs, b->peer_lo, b->peer_lo + (b->hi - b->lo), false)) {
            return false;
        }
        if (!same_cells(&theirs->cell[b->peer_lo], &rank->scratch.cell[b->lo], b->hi - b->lo)) {
            return ce_fail(run, rank, "memory of %u changed before the REDUCE", b->peer);
        }
    }
    return true;
}

/* --- COPY and REDUCE
 * ---------------------------------------------------------------------------------------------- */

static bool check_source(ce_run_t *run, ce_rank_t *rank, const range_t *dst, const range_t *src, bool reduce)
{
    uint64_t elem = ce_world_of(run, rank)->c.elem / ce_world_of(run, rank)->unit;
    if (src->memory == dst->memory && src->lo < dst->hi && dst->lo < src->hi && src->lo != dst->lo) {
        return ce_fail(run, rank, "source and destination overlap");
    }
    for (uint64_t cell = src->lo; cell < src->hi; cell++) {
        if (!src->memory->cell[cell].ranks) {
            return ce_fail(run, rank, "cell %llu is used before it is written", (unsigned long long)cell);
        }
    }
    if (reduce && (cell_in_block(&src->memory->cell[src->lo]) % elem || (src->hi - src->lo) % elem)) {
        return ce_fail(run, rank, "REDUCE cuts an element");
    }
    return !src->shared || record(run, rank, src->memory, src->lo, src->hi, false);
}

static bool combine(ce_run_t *run, ce_rank_t *rank, ce_value_t *a, const ce_value_t *b)
{
    if (a->place != b->place || (a->ranks & b->ranks)) {
        return ce_fail(run, rank, "combines what does not belong together, or twice");
    }
    a->left_to_right = a->left_to_right && (b->ranks & (b->ranks - 1)) == 0;
    a->ascending = a->ascending && b->ascending && a->last < __builtin_ctzll(b->ranks);
    a->ranks |= b->ranks;
    a->last = b->last;
    return true;
}

static bool find_destination(ce_run_t *run, ce_rank_t *rank, const hx_task_t *task, range_t *dst)
{
    if (task->dst.space == HX_IN || task->dst.space == HX_PEER ||
        (task->dst.space == HX_CCL && task->dst.index != ce_index(run, rank))) {
        return ce_fail(run, rank, "writes space %u of %u, which is not its own", task->dst.space,
                       task->dst.index);
    }
    return find(run, rank, task->dst, task->bytes, dst);
}

/* Reads the i-th source into `result`, or combines it with what is there. */
static bool take_source(ce_run_t *run, ce_rank_t *rank, const hx_task_t *task, uint32_t i, const range_t *dst,
                        ce_value_t *result)
{
    hx_loc_t loc = ce_world_of(run, rank)->list[ce_index(run, rank)].src[task->first_src + i];
    bool reduce = task->kind == HX_REDUCE;
    range_t src;
    if (loc.space == HX_PEER_OUT) {
        return ce_fail(run, rank, "reads OUT of %u", loc.index);
    }
    if (reduce && loc.space == HX_PEER && !ce_world_of(run, rank)->shape[ce_index(run, rank)].load) {
        return ce_fail(run, rank, "REDUCE reads PEER memory");
    }
    if (!find(run, rank, loc, task->bytes, &src) || !check_source(run, rank, dst, &src, reduce) ||
        (reduce && loc.space == HX_SCRATCH && !read_borrowed(run, rank, &src))) {
        return false;
    }
    for (uint64_t cell = 0; cell < src.hi - src.lo; cell++) {
        const ce_value_t *value = &src.memory->cell[src.lo + cell];
        if (i == 0) {
            result[cell] = *value;
        } else if (!combine(run, rank, &result[cell], value)) {
            return false;
        }
    }
    if (task->dst.space == HX_SCRATCH && loc.space == HX_PEER &&
        !(ce_world_of(run, rank)->c.algo->flags & HX_STAGED)) {
        return borrow(run, rank, dst, &src, loc.index);
    }
    return true;
}

/* In place, a COPY of a block onto itself: the executor leaves it out. */
static bool copies_onto_itself(ce_run_t *run, ce_rank_t *rank, const hx_task_t *task, const range_t *dst)
{
    hx_loc_t loc = ce_world_of(run, rank)->list[ce_index(run, rank)].src[task->first_src];
    range_t src;
    return task->kind != HX_REDUCE && ce_world_of(run, rank)->c.in_place && loc.space == HX_IN &&
           find(run, rank, loc, task->bytes, &src) && src.memory == dst->memory && src.lo == dst->lo;
}

bool ce_move(ce_run_t *run, ce_rank_t *rank, const hx_task_t *task)
{
    range_t dst;
    if (!task->bytes || !task->nsrc || (task->kind != HX_REDUCE && task->nsrc != 1)) {
        return ce_fail(run, rank, "empty task");
    }
    if (!find_destination(run, rank, task, &dst)) {
        return false;
    }
    if (copies_onto_itself(run, rank, task, &dst)) {
        return true;
    }
    if (dst.memory == &rank->scratch) {
        forget_borrowed(rank, dst.lo, dst.hi);
    }
    ce_value_t *result = malloc((dst.hi - dst.lo) * sizeof(*result));
    bool good = result || ce_fail(run, rank, "out of memory");
    for (uint32_t i = 0; good && i < task->nsrc; i++) {
        good = take_source(run, rank, task, i, &dst, result);
    }
    good = good && (!dst.shared || record(run, rank, dst.memory, dst.lo, dst.hi, true));
    if (good) {
        memcpy(&dst.memory->cell[dst.lo], result, (dst.hi - dst.lo) * sizeof(*result));
    }
    free(result);
    return good;
}

bool ce_check_out(ce_run_t *run, ce_rank_t *rank)
{
    const ce_world_t *world = ce_world_of(run, rank);
    uint32_t me = ce_index(run, rank), flags = world->c.algo->flags, place = ce_wanted_block(world, me);
    const ce_layout_t *l = &world->layout[me];
    bool any_order = flags & HX_NEED_COMMUTATIVE, tree = flags & HX_TREE_ORDER;
    for (uint32_t block = 0; block < l->out_blocks; block++) {
        uint64_t wanted = ce_wanted_ranks(world, me, block);
        const ce_value_t *value = &rank->user.cell[l->out_at[block] / world->unit];
        for (uint64_t cell = 0; cell < l->out_bytes[block] / world->unit; cell++, value++) {
            if (value->ranks != wanted || value->place != place_of(rank, place, cell)) {
                return ce_fail(run, rank, "OUT block %u cell %llu is made of ranks %llx at %x", block,
                               (unsigned long long)cell, (unsigned long long)value->ranks, value->place);
            }
            if (!any_order && !(value->ascending && (tree || value->left_to_right))) {
                return ce_fail(run, rank, "OUT block %u cell %llu: wrong order", block,
                               (unsigned long long)cell);
            }
        }
    }
    return true;
}
