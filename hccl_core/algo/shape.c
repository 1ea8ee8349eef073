/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/shape.c - which blocks each operator has on each rank, how large they are, and what goes between a
 * pair. */
#include "algo/build.h"

typedef enum { NO_BLOCK, ONE_BLOCK, BLOCK_PER_RANK } blocks_t;
typedef enum { AT_ALL, AT_ROOT, AT_OTHERS } where_t;

typedef struct {
    blocks_t in;
    where_t in_at;
    blocks_t out;
    where_t out_at;
} layout_t;

static const layout_t layouts[HCORE_OPER_COUNT] = {
    [HCORE_OPER_Broadcast] = {ONE_BLOCK, AT_ROOT, ONE_BLOCK, AT_OTHERS},
    [HCORE_OPER_AllGather] = {ONE_BLOCK, AT_ALL, BLOCK_PER_RANK, AT_ALL},
    [HCORE_OPER_AllGatherV] = {ONE_BLOCK, AT_ALL, BLOCK_PER_RANK, AT_ALL},
    [HCORE_OPER_Reduce] = {ONE_BLOCK, AT_ALL, ONE_BLOCK, AT_ROOT},
    [HCORE_OPER_AllReduce] = {ONE_BLOCK, AT_ALL, ONE_BLOCK, AT_ALL},
    [HCORE_OPER_Scan] = {ONE_BLOCK, AT_ALL, ONE_BLOCK, AT_ALL},
    [HCORE_OPER_Exscan] = {ONE_BLOCK, AT_ALL, ONE_BLOCK, AT_ALL},
    [HCORE_OPER_Scatter] = {BLOCK_PER_RANK, AT_ROOT, ONE_BLOCK, AT_ALL},
    [HCORE_OPER_ScatterV] = {BLOCK_PER_RANK, AT_ROOT, ONE_BLOCK, AT_ALL},
    [HCORE_OPER_Gather] = {ONE_BLOCK, AT_ALL, BLOCK_PER_RANK, AT_ROOT},
    [HCORE_OPER_GatherV] = {ONE_BLOCK, AT_ALL, BLOCK_PER_RANK, AT_ROOT},
    [HCORE_OPER_ReduceScatter] = {BLOCK_PER_RANK, AT_ALL, ONE_BLOCK, AT_ALL},
    [HCORE_OPER_ReduceScatterV] = {BLOCK_PER_RANK, AT_ALL, ONE_BLOCK, AT_ALL},
    [HCORE_OPER_AlltoAll] = {BLOCK_PER_RANK, AT_ALL, BLOCK_PER_RANK, AT_ALL},
    [HCORE_OPER_AlltoAllV] = {BLOCK_PER_RANK, AT_ALL, BLOCK_PER_RANK, AT_ALL},
    [HCORE_OPER_AlltoAllW] = {BLOCK_PER_RANK, AT_ALL, BLOCK_PER_RANK, AT_ALL},
};

static bool exists(blocks_t blocks, where_t at, const hx_shape_t *shape, uint32_t rank)
{
    return blocks != NO_BLOCK && (at == AT_ALL || (at == AT_ROOT) == (rank == shape->root));
}

static bool has_in(const hx_shape_t *shape, uint32_t rank)
{
    return exists(layouts[shape->oper].in, layouts[shape->oper].in_at, shape, rank);
}

static bool has_out(const hx_shape_t *shape, uint32_t rank)
{
    return exists(layouts[shape->oper].out, layouts[shape->oper].out_at, shape, rank);
}

/* The size array of the other side says how large the one block of this side is. */
static uint64_t block_bytes(const hx_shape_t *shape, uint32_t block, const uint64_t *side,
                            const uint64_t *other)
{
    if (side) {
        return side[block];
    }
    return other ? other[shape->rank] : shape->bytes;
}

uint64_t hx_in_bytes(const hx_shape_t *shape, uint32_t block)
{
    return has_in(shape, shape->rank) ? block_bytes(shape, block, shape->in_bytes, shape->out_bytes) : 0;
}

uint64_t hx_out_bytes(const hx_shape_t *shape, uint32_t block)
{
    return has_out(shape, shape->rank) ? block_bytes(shape, block, shape->out_bytes, shape->in_bytes) : 0;
}

bool hx_in_per_peer(const hx_shape_t *shape)
{
    return layouts[shape->oper].in == BLOCK_PER_RANK;
}

uint32_t hx_publish_block(const hx_shape_t *shape, uint32_t peer)
{
    return hx_in_per_peer(shape) ? peer : 0;
}

uint32_t hx_publish_out_block(const hx_shape_t *shape, uint32_t peer)
{
    return layouts[shape->oper].out == BLOCK_PER_RANK ? peer : 0;
}

hx_pair_t hx_pair(const hx_shape_t *shape, uint32_t peer)
{
    hx_pair_t pair = {.in_block = hx_publish_block(shape, peer), .out_block = hx_publish_out_block(shape, peer)};
    pair.to = has_out(shape, peer) ? hx_in_bytes(shape, pair.in_block) : 0;
    pair.from = has_in(shape, peer) ? hx_out_bytes(shape, pair.out_block) : 0;
    return pair;
}

void hx_copy_self(const hx_shape_t *shape, hx_expansion_t *x, uint64_t offset, uint64_t bytes)
{
    hx_pair_t self = hx_pair(shape, shape->rank);
    if (self.to) {
        hx_copy(x, hx_out(self.out_block, offset), hx_in(self.in_block, offset), bytes);
    }
}

void hx_copy_self_all(const hx_shape_t *shape, hx_expansion_t *x)
{
    const hx_pair_t self = hx_pair(shape, shape->rank);
    hx_send(x, hx_out(self.out_block, 0), hx_in(self.in_block, 0), self.to, hx_streams(shape, self.to));
}
