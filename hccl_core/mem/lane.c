/* SPDX-License-Identifier: BSD-3-Clause */
/* lane.c - where each part of a communicator's shared window lies. */
#include "comm/comm_internal.h"

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t take(uint64_t *end, uint64_t bytes, uint64_t align)
{
    uint64_t offset = round_up(*end, align);
    *end = offset + bytes;
    return offset;
}

/* Largest power of two between the bounds that keeps one rank's cells within CELL_BUDGET. */
static uint64_t cell_size(uint32_t nranks)
{
    uint64_t size = CELL_MAX;
    while (size > CELL_MIN && size * CELL_DEPTH * nranks > CELL_BUDGET) {
        size /= 2;
    }
    return size;
}

enum { PAGE = 4096, WINDOW_ALIGN = 64 * 1024 };

void lane_layout(lane_layout_t *layout, uint32_t nranks, uint64_t window)
{
    const uint64_t n = nranks, pairs = n * n;
    uint64_t end = sizeof(lane_header_t);
    layout->ctl = take(&end, n * sizeof(lane_ctl_t), LANE_ALIGN);
    layout->ack = take(&end, pairs * sizeof(lane_counter_t), LANE_ALIGN);
    layout->notify = take(&end, pairs * sizeof(lane_counter_t), LANE_ALIGN);
    layout->publish = take(&end, ASK_DEPTH * pairs * sizeof(lane_place_t), LANE_ALIGN);
    layout->publish_out = take(&end, ASK_DEPTH * pairs * sizeof(lane_place_t), LANE_ALIGN);
    layout->offer = take(&end, pairs * sizeof(lane_offer_t), LANE_ALIGN);
    layout->control = end;
    layout->slot = take(&end, n * LANE_DEPTH * SLOT_BYTES, PAGE);
    layout->small = take(&end, n * SMALL_DEPTH * SMALL_BYTES, PAGE);
    layout->cell_bytes = cell_size(nranks);
    layout->cell = take(&end, pairs * CELL_DEPTH * layout->cell_bytes, PAGE);
    layout->window_bytes = round_up(window, WINDOW_ALIGN);
    layout->window = take(&end, n * layout->window_bytes, WINDOW_ALIGN);
    layout->total = round_up(end, PAGE);
}

void lane_attach(hcore_comm_t *comm, void *base)
{
    comm->base = base;
    comm->header = base;
    comm->ctl = (lane_ctl_t *)(comm->base + comm->layout.ctl);
    comm->ack = (lane_counter_t *)(comm->base + comm->layout.ack);
    comm->notify = (lane_counter_t *)(comm->base + comm->layout.notify);
}
