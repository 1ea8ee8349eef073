/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/build.c - appending tasks to an expansion. */
#include "algo/build.h"

#include <stdlib.h>

enum { FIRST_ROOM = 64 };

void hx_expansion_init(hx_expansion_t *expansion)
{
    *expansion = (hx_expansion_t){0};
}

void hx_expansion_release(hx_expansion_t *expansion)
{
    free(expansion->task);
    free(expansion->src);
    hx_expansion_init(expansion);
}

static hx_loc_t location(hx_space_t space, uint32_t index, uint64_t offset)
{
    return (hx_loc_t){.space = space, .index = index, .offset = offset};
}

hx_loc_t hx_in(uint32_t block, uint64_t offset)
{
    return location(HX_IN, block, offset);
}

hx_loc_t hx_out(uint32_t block, uint64_t offset)
{
    return location(HX_OUT, block, offset);
}

hx_loc_t hx_ccl(uint32_t rank, uint64_t offset)
{
    return location(HX_CCL, rank, offset);
}

hx_loc_t hx_scratch(uint64_t offset)
{
    return location(HX_SCRATCH, 0, offset);
}

hx_loc_t hx_peer(uint32_t rank, uint64_t offset)
{
    return location(HX_PEER, rank, offset);
}

hx_loc_t hx_peer_out(uint32_t rank, uint64_t offset)
{
    return location(HX_PEER_OUT, rank, offset);
}

/* Room for one more of `size` bytes; *room doubles. Returns false, with the old array intact, when there is
 * none. */
static bool grow(void **array, uint32_t used, uint32_t *room, size_t size)
{
    if (used < *room) {
        return true;
    }
    if (*room > UINT32_MAX / 2) {
        return false;
    }
    uint32_t wanted = *room ? *room * 2 : FIRST_ROOM;
    void *larger = realloc(*array, wanted * size);
    if (!larger) {
        return false;
    }
    *array = larger;
    *room = wanted;
    return true;
}

static void append_source(hx_expansion_t *x, hx_loc_t src)
{
    void *array = x->src;
    x->failed = x->failed || !grow(&array, x->nsrc, &x->src_room, sizeof(*x->src));
    x->src = array;
    if (!x->failed) {
        x->src[x->nsrc++] = src;
    }
}

static void append_task(hx_expansion_t *x, hx_task_t task)
{
    void *array = x->task;
    x->failed = x->failed || !grow(&array, x->ntask, &x->task_room, sizeof(*x->task));
    x->task = array;
    if (!x->failed) {
        x->task[x->ntask++] = task;
    }
}

static bool goes_on(hx_loc_t before, uint64_t bytes, hx_loc_t after)
{
    return before.space == after.space && before.index == after.index &&
           before.offset + bytes == after.offset;
}

static void append_move(hx_expansion_t *x, hx_kind_t kind, hx_loc_t dst, hx_loc_t src, uint64_t bytes)
{
    if (!bytes || x->failed) {
        return;
    }
    hx_task_t *last = x->ntask ? &x->task[x->ntask - 1] : NULL;
    if (last && last->kind == kind && goes_on(last->dst, last->bytes, dst) &&
        goes_on(x->src[last->first_src], last->bytes, src)) {
        last->bytes += bytes;
        return;
    }
    append_task(x, (hx_task_t){.kind = kind, .nsrc = 1, .first_src = x->nsrc, .dst = dst, .bytes = bytes});
    append_source(x, src);
}

void hx_copy(hx_expansion_t *x, hx_loc_t dst, hx_loc_t src, uint64_t bytes)
{
    append_move(x, HX_COPY, dst, src, bytes);
}

bool hx_streams(const hx_shape_t *shape, uint64_t total)
{
    return total / HX_STREAM_WINDOWS >= shape->window;
}

void hx_send(hx_expansion_t *x, hx_loc_t dst, hx_loc_t src, uint64_t bytes, bool stream)
{
    append_move(x, stream ? HX_STREAM : HX_COPY, dst, src, bytes);
}

void hx_reduce_many(hx_expansion_t *x, hx_loc_t dst, uint64_t bytes, uint32_t count, hx_source_fn_t source,
                    const void *context)
{
    if (count == 1) {
        hx_copy(x, dst, source(context, 0), bytes);
        return;
    }
    if (!bytes) {
        return;
    }
    append_task(
        x, (hx_task_t){.kind = HX_REDUCE, .nsrc = count, .first_src = x->nsrc, .dst = dst, .bytes = bytes});
    for (uint32_t i = 0; i < count; i++) {
        append_source(x, source(context, i));
    }
}

static hx_loc_t one_of(const void *context, uint32_t i)
{
    const hx_loc_t *list = context;
    return list[i];
}

void hx_reduce_two(hx_expansion_t *x, hx_loc_t dst, hx_loc_t first, hx_loc_t second, uint64_t bytes)
{
    const hx_loc_t both[] = {first, second};
    hx_reduce_many(x, dst, bytes, sizeof(both) / sizeof(both[0]), one_of, both);
}

void hx_sync(hx_expansion_t *x, hx_kind_t kind, uint32_t peer)
{
    append_task(x, (hx_task_t){.kind = kind, .peer = peer, .first_src = x->nsrc});
}

void hx_sync_all(const hx_shape_t *shape, hx_expansion_t *x, hx_kind_t kind)
{
    for (uint32_t step = 1; step < shape->nranks; step++) {
        hx_sync(x, kind, hx_after(shape, step));
    }
}

static bool borrows(const hx_expansion_t *x, const hx_task_t *task)
{
    return task->kind == HX_COPY && task->dst.space == HX_SCRATCH && x->src[task->first_src].space == HX_PEER;
}

/* What the last COPY before `task` has put at `loc`, which it wrote whole. */
static void look_through(hx_expansion_t *x, uint32_t task, hx_loc_t *loc)
{
    for (uint32_t i = task; i-- > 0;) {
        if (borrows(x, &x->task[i]) && x->task[i].dst.offset == loc->offset) {
            *loc = x->src[x->task[i].first_src];
            return;
        }
    }
}

void hx_load_scratch(hx_expansion_t *x)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->ntask; i++) {
        for (uint32_t s = 0; x->task[i].kind == HX_REDUCE && s < x->task[i].nsrc; s++) {
            hx_loc_t *loc = &x->src[x->task[i].first_src + s];
            if (loc->space == HX_SCRATCH) {
                look_through(x, i, loc);
            }
        }
    }
    for (uint32_t i = 0; i < x->ntask; i++) {
        if (!borrows(x, &x->task[i])) {
            x->task[kept++] = x->task[i];
        }
    }
    x->ntask = kept;
}
