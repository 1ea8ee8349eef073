/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_expansion.h - proving expansions: the lists of all ranks are built in one process and run
 * symbolically.
 *
 * A case fixes everything that the ranks of one operator agree on. A world is a case with the shapes, the
 * lists and the memory layout of all its ranks. What a world should compute is written down here a second
 * time, independent of hccl_core/algo.
 */
#ifndef CHECK_EXPANSION_H
#define CHECK_EXPANSION_H

#include "hcore/expansion.h"

enum { CE_RANKS_MAX = 64, CE_TEXT = 256 };

/* How large the blocks of the V and W operators are. */
typedef enum { CE_UNEVEN, CE_HOLES, CE_ONE_LARGE, CE_PATTERN_COUNT } ce_pattern_t;

typedef struct {
    const hx_algo_t *algo;
    uint32_t nranks, root;
    uint64_t bytes, elem, window;
    ce_pattern_t pattern;
    bool in_place;
    bool load; /* peers' memory is loaded */
} ce_case_t;

/* One rank's user memory: where its blocks lie in it. */
typedef struct {
    uint32_t in_blocks, out_blocks;
    uint64_t in_at[CE_RANKS_MAX], in_bytes[CE_RANKS_MAX];
    uint64_t out_at[CE_RANKS_MAX], out_bytes[CE_RANKS_MAX];
    uint64_t bytes;
} ce_layout_t;

typedef struct {
    ce_case_t c;
    uint64_t unit; /* bytes of a symbolic cell: it divides everything that this case may name */
    hx_shape_t *shape;
    hx_expansion_t *list;
    ce_layout_t *layout;
    uint64_t *bytes_between, *bytes_between_t; /* [from][to] and [to][from] */
} ce_world_t;

/* False, with `why`, if a list cannot be built. The world is to be released in either case. */
bool ce_world_build(ce_world_t *world, const ce_case_t *c, char why[CE_TEXT]);
void ce_world_release(ce_world_t *world);
void ce_case_text(const ce_case_t *c, char text[CE_TEXT]);

bool ce_has_root(hcore_oper_t oper);
bool ce_varies(hcore_oper_t oper);   /* V and W operators: blocks differ */
bool ce_per_rank(hcore_oper_t oper); /* the size is that of a block, of which there are as many as ranks */
bool ce_can_be_in_place(hcore_oper_t oper);

/* What cell `cell` of OUT block `block` of `rank` must be made of: the ranks, and the place in their IN
 * memory. */
uint64_t ce_wanted_ranks(const ce_world_t *world, uint32_t rank, uint32_t block);
uint32_t ce_wanted_block(const ce_world_t *world, uint32_t rank);
/* The IN block of `owner` that `reader` is told of on the direct path. */
uint32_t ce_published_block(const ce_world_t *world, uint32_t reader);
/* The OUT block of `owner` that `writer` is told of. */
uint32_t ce_published_out_block(const ce_world_t *world, uint32_t writer);

/* Runs operators one after the other on the same windows. False, with `why`, at the first violation:
 *   - posts and waits do not balance, or the ranks get stuck
 *   - a task names memory outside of its block, window or scratch, writes what is not its own, or cuts an
 * element
 *   - a byte is used before it was written; an OUT byte is not made of what it should be, in the order the
 * row promises
 *   - accesses to shared memory, one of them a write, are not ordered by POST and WAIT
 *   - a rank leaves a Barrier before all have entered it
 *   - a peer's access to a window, or to published memory, is not over when the list is (for a single world).
 */
bool ce_run(const ce_world_t *worlds, unsigned count, char why[CE_TEXT]);

/* Whether an algorithm takes so many ranks. */
static inline bool ce_ranks_allowed(const hx_algo_t *algo, uint32_t nranks)
{
    return !(algo->flags & HX_NEED_POW2 && nranks & (nranks - 1)) && !(algo->flags & HX_NEED_PAIR && nranks != 2);
}

#endif
