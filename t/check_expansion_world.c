/* SPDX-License-Identifier: BSD-3-Clause */
/* t/check_expansion_world.c - what each operator has in memory and should compute; building all ranks' lists.
 */
#include "check_expansion.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum { NONE, ONE, EACH } blocks_t;                           /* how many blocks */
typedef enum { ALL, ROOT, NOT_ROOT, NOT_FIRST } where_t;             /* which ranks have them */
typedef enum { SAME, BY_RANK, BY_PAIR } variation_t;                 /* block sizes */
typedef enum { NEVER, OUT_IS_IN, IN_IS_OUT_R, OUT_IS_IN_R } alias_t; /* in place: which block is which */
typedef enum {
    FROM_ROOT,
    FROM_BLOCK,
    FROM_ALL,
    UP_TO,
    BELOW
} made_t; /* an OUT block is made of these ranks */

typedef struct {
    blocks_t in;
    where_t in_at;
    blocks_t out;
    where_t out_at;
    variation_t variation;
    alias_t alias;
    made_t made;
} facts_t;

static const facts_t facts[HCORE_OPER_COUNT] = {
    [HCORE_OPER_Broadcast] = {ONE, ROOT, ONE, NOT_ROOT, SAME, NEVER, FROM_ROOT},
    [HCORE_OPER_AllGather] = {ONE, ALL, EACH, ALL, SAME, IN_IS_OUT_R, FROM_BLOCK},
    [HCORE_OPER_AllGatherV] = {ONE, ALL, EACH, ALL, BY_RANK, IN_IS_OUT_R, FROM_BLOCK},
    [HCORE_OPER_Reduce] = {ONE, ALL, ONE, ROOT, SAME, OUT_IS_IN, FROM_ALL},
    [HCORE_OPER_AllReduce] = {ONE, ALL, ONE, ALL, SAME, OUT_IS_IN, FROM_ALL},
    [HCORE_OPER_Scan] = {ONE, ALL, ONE, ALL, SAME, OUT_IS_IN, UP_TO},
    [HCORE_OPER_Exscan] = {ONE, ALL, ONE, NOT_FIRST, SAME, OUT_IS_IN, BELOW},
    [HCORE_OPER_Scatter] = {EACH, ROOT, ONE, ALL, SAME, OUT_IS_IN_R, FROM_ROOT},
    [HCORE_OPER_ScatterV] = {EACH, ROOT, ONE, ALL, BY_RANK, OUT_IS_IN_R, FROM_ROOT},
    [HCORE_OPER_Gather] = {ONE, ALL, EACH, ROOT, SAME, IN_IS_OUT_R, FROM_BLOCK},
    [HCORE_OPER_GatherV] = {ONE, ALL, EACH, ROOT, BY_RANK, IN_IS_OUT_R, FROM_BLOCK},
    [HCORE_OPER_ReduceScatter] = {EACH, ALL, ONE, ALL, SAME, OUT_IS_IN, FROM_ALL},
    [HCORE_OPER_ReduceScatterV] = {EACH, ALL, ONE, ALL, BY_RANK, OUT_IS_IN, FROM_ALL},
    [HCORE_OPER_AlltoAll] = {EACH, ALL, EACH, ALL, SAME, NEVER, FROM_BLOCK},
    [HCORE_OPER_AlltoAllV] = {EACH, ALL, EACH, ALL, BY_PAIR, NEVER, FROM_BLOCK},
    [HCORE_OPER_AlltoAllW] = {EACH, ALL, EACH, ALL, BY_PAIR, NEVER, FROM_BLOCK},
};

bool ce_has_root(hcore_oper_t oper)
{
    return facts[oper].in_at == ROOT || facts[oper].out_at == ROOT;
}

bool ce_varies(hcore_oper_t oper)
{
    return facts[oper].variation != SAME;
}

bool ce_per_rank(hcore_oper_t oper)
{
    return facts[oper].in == EACH || facts[oper].out == EACH;
}

bool ce_can_be_in_place(hcore_oper_t oper)
{
    return facts[oper].alias != NEVER;
}

static uint64_t up_to(uint32_t rank)
{
    return (UINT64_C(2) << rank) - 1; /* rank 63: all, by wrapping around */
}

uint64_t ce_wanted_ranks(const ce_world_t *world, uint32_t rank, uint32_t block)
{
    switch (facts[world->c.algo->oper].made) {
    case FROM_ROOT:
        return UINT64_C(1) << world->c.root;
    case FROM_BLOCK:
        return UINT64_C(1) << block;
    case FROM_ALL:
        return up_to(world->c.nranks - 1);
    case UP_TO:
        return up_to(rank);
    case BELOW:
        return up_to(rank) >> 1;
    }
    return 0;
}

uint32_t ce_wanted_block(const ce_world_t *world, uint32_t rank)
{
    return facts[world->c.algo->oper].in == EACH ? rank : 0;
}

uint32_t ce_published_out_block(const ce_world_t *world, uint32_t writer)
{
    return facts[world->c.algo->oper].out == EACH ? writer : 0;
}

uint32_t ce_published_block(const ce_world_t *world, uint32_t reader)
{
    return ce_wanted_block(world, reader);
}

static bool present(where_t where, uint32_t rank, uint32_t root)
{
    switch (where) {
    case ALL:
        return true;
    case ROOT:
        return rank == root;
    case NOT_ROOT:
        return rank != root;
    case NOT_FIRST:
        return rank != 0;
    }
    return false;
}

static uint32_t block_count(blocks_t blocks, where_t where, uint32_t rank, const ce_case_t *c)
{
    if (blocks == NONE || !present(where, rank, c->root)) {
        return 0;
    }
    return blocks == ONE ? 1 : c->nranks;
}

/* Sizes that have nothing to do with each other, in whole elements: from nothing to about twice the case's.
 */
static uint64_t varied_bytes(const ce_case_t *c, uint64_t i, uint64_t last)
{
    uint64_t elems = c->bytes / c->elem;
    switch (c->pattern) {
    case CE_UNEVEN:
        return (i * 5 + 3) % 7 * elems / 3 * c->elem;
    case CE_HOLES:
        return i % 3 == 1 ? elems * c->elem : 0;
    case CE_ONE_LARGE:
        return i == last ? 2 * elems * c->elem : i % 2 * c->elem;
    case CE_PATTERN_COUNT:
        break;
    }
    return 0;
}

static uint64_t bytes_between(const ce_case_t *c, uint32_t from, uint32_t to)
{
    const facts_t *f = &facts[c->algo->oper];
    uint64_t n = c->nranks;
    switch (f->variation) {
    case SAME:
        return c->bytes;
    case BY_RANK:
        return varied_bytes(c, f->in == EACH ? to : from, n - 1);
    case BY_PAIR:
        return varied_bytes(c, from * n + to, n * n - 2);
    }
    return 0;
}

static uint64_t place(uint32_t count, const uint64_t *bytes, uint64_t *at, uint64_t begin)
{
    for (uint32_t i = 0; i < count; i++) {
        at[i] = begin;
        begin += bytes[i];
    }
    return begin;
}

static void lay_out(const ce_world_t *world, uint32_t rank)
{
    const ce_case_t *c = &world->c;
    const facts_t *f = &facts[c->algo->oper];
    ce_layout_t *l = &world->layout[rank];
    l->in_blocks = block_count(f->in, f->in_at, rank, c);
    l->out_blocks = block_count(f->out, f->out_at, rank, c);
    for (uint32_t i = 0; i < l->in_blocks; i++) {
        l->in_bytes[i] = bytes_between(c, rank, i);
    }
    for (uint32_t i = 0; i < l->out_blocks; i++) {
        l->out_bytes[i] = bytes_between(c, f->out == EACH ? i : rank, rank);
    }
    l->bytes = place(l->out_blocks, l->out_bytes, l->out_at, place(l->in_blocks, l->in_bytes, l->in_at, 0));
    if (!c->in_place || !l->in_blocks || !l->out_blocks) {
        return;
    }
    if (f->alias == IN_IS_OUT_R) {
        l->in_at[0] = l->out_at[rank];
    } else {
        l->out_at[0] = l->in_at[f->alias == OUT_IS_IN_R ? rank : 0];
    }
}

/* Who is told of which sizes: see hcore/expansion.h. */
static void shape_rank(ce_world_t *world, uint32_t rank)
{
    const ce_case_t *c = &world->c;
    const facts_t *f = &facts[c->algo->oper];
    hx_shape_t *shape = &world->shape[rank];
    *shape = (hx_shape_t){.oper = c->algo->oper,
                          .rank = rank,
                          .nranks = c->nranks,
                          .root = c->root,
                          .elem_bytes = hcore_oper_reduces(c->algo->oper) ? c->elem : 1,
                          .window = c->window,
                          .direct = (c->algo->flags & HX_NEED_DIRECT) != 0,
                          .load = c->load || c->algo->flags & HX_NEED_LOAD,
                          .store = (c->algo->flags & HX_NEED_STORE) != 0,
                          .bytes = c->bytes};
    if (f->variation == SAME) {
        return;
    }
    if (f->in == EACH && present(f->in_at, rank, c->root)) {
        shape->in_bytes = world->bytes_between + (size_t)rank * c->nranks;
    }
    if (f->out == EACH && present(f->out_at, rank, c->root)) {
        shape->out_bytes = world->bytes_between_t + (size_t)rank * c->nranks;
    }
    if (!shape->in_bytes && !shape->out_bytes) {
        shape->bytes = bytes_between(c, rank, rank);
    }
}

static bool allocate(ce_world_t *world)
{
    size_t n = world->c.nranks;
    world->shape = calloc(n, sizeof(*world->shape));
    world->list = calloc(n, sizeof(*world->list));
    world->layout = calloc(n, sizeof(*world->layout));
    world->bytes_between = calloc(n * n, sizeof(*world->bytes_between));
    world->bytes_between_t = calloc(n * n, sizeof(*world->bytes_between_t));
    return world->shape && world->list && world->layout && world->bytes_between && world->bytes_between_t;
}

bool ce_world_build(ce_world_t *world, const ce_case_t *c, char why[CE_TEXT])
{
    enum { WORD = 4 };
    uint32_t n = c->nranks;
    *world = (ce_world_t){.c = *c, .unit = c->elem % WORD ? 1 : WORD};
    if (!allocate(world)) {
        snprintf(why, CE_TEXT, "out of memory");
        return false;
    }
    for (uint32_t from = 0; from < n; from++) {
        for (uint32_t to = 0; to < n; to++) {
            world->bytes_between[from * n + to] = world->bytes_between_t[to * n + from] =
                bytes_between(c, from, to);
        }
    }
    for (uint32_t rank = 0; rank < n; rank++) {
        lay_out(world, rank);
        shape_rank(world, rank);
        hx_expansion_init(&world->list[rank]);
        hcore_status_t status = hx_expand(c->algo, &world->shape[rank], &world->list[rank]);
        if (status != HCORE_OK) {
            snprintf(why, CE_TEXT, "rank %u: hx_expand: %s", rank, hcore_status_text(status));
            return false;
        }
    }
    return true;
}

void ce_world_release(ce_world_t *world)
{
    for (uint32_t rank = 0; world->list && rank < world->c.nranks; rank++) {
        hx_expansion_release(&world->list[rank]);
    }
    free(world->shape);
    free(world->list);
    free(world->layout);
    free(world->bytes_between);
    free(world->bytes_between_t);
    *world = (ce_world_t){0};
}

void ce_case_text(const ce_case_t *c, char text[CE_TEXT])
{
    snprintf(text, CE_TEXT, "%s %s%s%s, %u ranks, root %u, %llu bytes, element %llu, window %llu, sizes %d%s",
             hcore_oper_name(c->algo->oper), c->algo->name,
             c->algo->flags & HX_NEED_DIRECT ? " (direct)" : c->algo->flags & HX_NEED_STORE ? " (store)" : "",
             c->load ? " (load)" : "", c->nranks, c->root,
             (unsigned long long)c->bytes, (unsigned long long)c->elem, (unsigned long long)c->window,
             (int)c->pattern, c->in_place ? ", in place" : "");
}
