/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/build.h - what the expansions are written with: locations, tasks, and how a vector is cut into chunks
 * (in time, bounded by the window) and slices (over ranks). Private to this room.
 */
#ifndef ALGO_BUILD_H
#define ALGO_BUILD_H

#include "hcore/expansion.h"

/* The numbers the expansions are tuned by; all in one place. */
enum {
    HX_LINE = 128,         /* cuts fall on these boundaries where an element allows it: two cache lines */
    HX_SLICE_LINES = 4,    /* below this many lines a slice, balance counts more than line boundaries */
    HX_EXCHANGE_SLOTS = 2, /* chunk c+1 is filled while peers read chunk c */
    HX_REDUCE_SLOTS = 3,   /* filled, being reduced, being copied out */
    HX_STREAM_SLOTS = 4,   /* one-way streams: how far a producer may run ahead */
    HX_STREAM_LEAST = 64 << 10, /* and the size below which a chunk is not worth cutting further */
    HX_PAIR = 2,                /* ranks */
    HX_PUSH_PIECE = 16 << 10,   /* reduced, then sent while still in a level-1 cache */
    HX_STREAM_WINDOWS = 2,      /* windows' worth of data from which on it goes past the caches: level 2 can't hold it */
    HX_PAIR_PIECE = 128 << 10,  /* read from the peer at a time: two pieces stay in a level-2 cache */
    HX_LANES = 8,               /* pairs that AlltoAll keeps in flight */
    HX_LEAST_ELEMS = 4          /* elements a rank that every window must have room for */
};

hx_loc_t hx_in(uint32_t block, uint64_t offset);
hx_loc_t hx_out(uint32_t block, uint64_t offset);
hx_loc_t hx_ccl(uint32_t rank, uint64_t offset);
hx_loc_t hx_scratch(uint64_t offset);
hx_loc_t hx_peer(uint32_t rank, uint64_t offset);
hx_loc_t hx_peer_out(uint32_t rank, uint64_t offset);

/*
 * Appending. Tasks of zero bytes are not emitted; a COPY that goes on where the last one ended is merged into
 * it. Out of memory sets `failed`, after which nothing more is appended.
 */
void hx_copy(hx_expansion_t *x, hx_loc_t dst, hx_loc_t src, uint64_t bytes);
/* COPY, or STREAM where the `total` bytes it is a part of would not stay in a cache anyway. */
bool hx_streams(const hx_shape_t *shape, uint64_t total);
void hx_send(hx_expansion_t *x, hx_loc_t dst, hx_loc_t src, uint64_t bytes, bool stream);
void hx_reduce_two(hx_expansion_t *x, hx_loc_t dst, hx_loc_t first, hx_loc_t second, uint64_t bytes);
/* dst <- source(0) OP .. OP source(count - 1); count 1 is a COPY. */
typedef hx_loc_t (*hx_source_fn_t)(const void *context, uint32_t i);
void hx_reduce_many(hx_expansion_t *x, hx_loc_t dst, uint64_t bytes, uint32_t count, hx_source_fn_t source,
                    const void *context);
void hx_sync(hx_expansion_t *x, hx_kind_t kind, uint32_t peer);
/* The same for all other ranks, the next one first. */
void hx_sync_all(const hx_shape_t *shape, hx_expansion_t *x, hx_kind_t kind);
/* Lets each REDUCE read the peer's bytes that a COPY has put into SCRATCH for it, and drops those COPYs. */
void hx_load_scratch(hx_expansion_t *x);

/* A part of a window, and a vector that goes through it chunk by chunk: chunk c lies in slot c % slots. */
typedef struct {
    uint64_t base, bytes;
} hx_area_t;

typedef struct {
    uint64_t total, chunk, count; /* bytes of the vector, of a full chunk; number of chunks */
    uint64_t base, stride;        /* slot s starts at base + s * stride */
    uint32_t slots;
} hx_chunks_t;

/* One chunk if the vector fits the area, else chunks of at most one slot, nearly equal. */
hx_chunks_t hx_chunks(uint64_t total, hx_area_t area, uint32_t slots, uint64_t elem);
/* For one-way streams: also what would fit is cut, so that producer and consumers overlap. */
hx_chunks_t hx_stream(uint64_t total, hx_area_t area, uint64_t elem);
uint64_t hx_chunk_offset(const hx_chunks_t *chunks, uint64_t c); /* in the vector */
uint64_t hx_chunk_bytes(const hx_chunks_t *chunks, uint64_t c);  /* 0 past the end */
uint64_t hx_chunk_slot(const hx_chunks_t *chunks, uint64_t c);   /* in the window */
/* The same cut applied to a vector of another length. */
hx_chunks_t hx_chunks_for(const hx_chunks_t *chunks, uint64_t total);

/* The whole window; or share `index` of `parts` equal ones. */
hx_area_t hx_window(const hx_shape_t *shape);
hx_area_t hx_window_part(const hx_shape_t *shape, uint32_t index, uint32_t parts);

/* Where part i of `parts` begins in `bytes` bytes; hx_cut(.., parts, parts, ..) is `bytes`. Never cuts an
 * element. No part exceeds bytes / parts rounded up to hx_unit(elem) (or to elem when bytes is small). */
uint64_t hx_cut(uint64_t bytes, uint32_t i, uint32_t parts, uint64_t elem);
/* Least common multiple of the element and HX_LINE. */
uint64_t hx_unit(uint64_t elem);
/* `bytes` rounded down to whole units, or to whole elements where no unit fits. */
uint64_t hx_floor(uint64_t bytes, uint64_t elem);
uint64_t hx_ceil(uint64_t bytes, uint64_t unit);

static inline uint64_t hx_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t hx_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Rank at distance `step` after this one, around the ring. */
static inline uint32_t hx_after(const hx_shape_t *shape, uint64_t step)
{
    return (uint32_t)((shape->rank + step) % shape->nranks);
}

/* How far `rank` is after `from`, around the ring. */
static inline uint32_t hx_distance(const hx_shape_t *shape, uint32_t from, uint32_t rank)
{
    return (rank + shape->nranks - from) % shape->nranks;
}

/* What a data-moving operator moves between this rank and `peer`. */
typedef struct {
    uint64_t to, from;            /* bytes of mine that the peer gets; bytes of the peer's that I get */
    uint32_t in_block, out_block; /* the IN block they lie in, the OUT block they go to */
} hx_pair_t;
hx_pair_t hx_pair(const hx_shape_t *shape, uint32_t peer);

/* COPY of `bytes` at `offset` of what this rank gives itself; nothing where it gives itself nothing. A no-op
 * for the executor when the call is in place. */
void hx_copy_self(const hx_shape_t *shape, hx_expansion_t *x, uint64_t offset, uint64_t bytes);
/* All of it. */
void hx_copy_self_all(const hx_shape_t *shape, hx_expansion_t *x);

/* True where the operator reads different IN blocks for different peers. */
bool hx_in_per_peer(const hx_shape_t *shape);

#endif
