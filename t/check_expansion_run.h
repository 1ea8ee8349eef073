/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_expansion_run.h - the state of a symbolic run, shared by its parts: memory (what cells are made of,
 * who accessed them when) and ranks (how far they are, what they know of each other).
 */
#ifndef CHECK_EXPANSION_RUN_H
#define CHECK_EXPANSION_RUN_H

#include "check_expansion.h"

enum { CE_WORLDS_MAX = 2 };

/* What one cell holds: contributions of `ranks` to the same place. ranks 0: never written. */
typedef struct {
    uint64_t ranks;
    uint32_t place;     /* of ce_place */
    uint8_t last;       /* rank of the last operand */
    bool ascending;     /* operands are in rank order */
    bool left_to_right; /* and were combined one at a time */
} ce_value_t;

/* An access to cells lo .. hi - 1 by a rank, when its own clock was `clock`. */
typedef struct {
    uint64_t lo, hi;
    uint32_t clock;
    uint16_t rank;
    bool write;
} ce_access_t;

typedef struct {
    ce_value_t *cell;
    uint64_t cells;
    ce_access_t *access; /* those that a later one must still be compared with */
    uint32_t accesses, room;
    uint32_t last[CE_RANKS_MAX]; /* clock of each rank's last access */
} ce_memory_t;

/* SCRATCH cells that one COPY from a peer's memory wrote. */
typedef struct {
    uint64_t lo, hi, peer_lo;
    uint32_t peer;
} ce_borrowed_t;

typedef struct {
    uint32_t *moment; /* of each post: index of the sender's snapshot */
    uint32_t count, room;
} ce_counter_t;

typedef struct {
    ce_memory_t window, scratch, user;
    ce_borrowed_t *borrowed;
    uint32_t borrows, borrow_room;
    uint32_t clock[CE_RANKS_MAX];  /* what it knows of every rank; its own is the present */
    uint32_t began[CE_WORLDS_MAX]; /* its own clock then */
    uint32_t waited[CE_RANKS_MAX]; /* per peer: waits and deferred waits so far */
    uint32_t
        deferred[CE_RANKS_MAX]; /* per peer: what `waited` was at the last deferred one not yet made up for */
    uint32_t left[CE_RANKS_MAX]; /* clock at the end of the list, deferred waits not made up for */
    uint32_t (*snapshot)[CE_RANKS_MAX];
    uint32_t snapshots, snapshot_room;
    bool just_posted; /* nothing happened since the last snapshot */
    unsigned world;
    uint32_t next; /* task */
} ce_rank_t;

typedef struct {
    const ce_world_t *worlds;
    unsigned count;
    uint32_t nranks;
    ce_rank_t *rank;
    ce_counter_t *counter; /* [from][to] */
    char *why;             /* CE_TEXT */
    bool failed;
} ce_run_t;

/* Records the first violation. Always false. */
bool ce_fail(ce_run_t *run, const ce_rank_t *rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline uint32_t ce_index(const ce_run_t *run, const ce_rank_t *rank)
{
    return (uint32_t)(rank - run->rank);
}

static inline const ce_world_t *ce_world_of(const ce_run_t *run, const ce_rank_t *rank)
{
    return &run->worlds[rank->world];
}

/* Makes room for one more in an array that doubles. */
bool ce_grow(void **array, uint32_t used, uint32_t *room, size_t size);

/* Gives the rank fresh user memory and scratch for the world it is in. */
bool ce_enter_world(ce_run_t *run, ce_rank_t *rank);
bool ce_make_window(ce_run_t *run, ce_rank_t *rank);
void ce_free_memory(ce_memory_t *memory);

/* Executes a COPY or REDUCE. */
bool ce_move(ce_run_t *run, ce_rank_t *rank, const hx_task_t *task);
/* Is every OUT block of the rank made of what it should be? */
bool ce_check_out(ce_run_t *run, ce_rank_t *rank);

#endif
