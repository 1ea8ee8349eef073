/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/cut.c - how vectors are cut: chunks in time, slices over ranks. Elements stay whole. */
#include "algo/build.h"

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t hx_unit(uint64_t elem)
{
    return HX_LINE / gcd(HX_LINE, elem) * elem;
}

uint64_t hx_floor(uint64_t bytes, uint64_t elem)
{
    uint64_t unit = hx_unit(elem);
    return bytes - bytes % (bytes >= unit ? unit : elem);
}

uint64_t hx_ceil(uint64_t bytes, uint64_t unit)
{
    uint64_t rest = bytes % unit;
    return rest ? bytes + (unit - rest) : bytes;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* One of `parts` equal pieces of an area: whole lines, unless an element needs more; then whole elements. */
static uint64_t part_bytes(uint64_t bytes, uint32_t parts, uint64_t elem)
{
    uint64_t part = bytes / parts;
    uint64_t aligned = part - part % HX_LINE;
    return aligned >= elem ? aligned : part - part % elem;
}

hx_area_t hx_window(const hx_shape_t *shape)
{
    return (hx_area_t){.base = 0, .bytes = shape->window};
}

hx_area_t hx_window_part(const hx_shape_t *shape, uint32_t index, uint32_t parts)
{
    uint64_t bytes = part_bytes(shape->window, parts, shape->elem_bytes);
    return (hx_area_t){.base = index * bytes, .bytes = bytes};
}

/* Chunks of about `wanted` bytes each, at most a slot. */
static hx_chunks_t chunks_of(uint64_t total, uint64_t wanted, hx_area_t area, uint32_t slots, uint64_t elem)
{
    uint64_t stride = part_bytes(area.bytes, slots, elem);
    uint64_t chunk = hx_min(hx_ceil(wanted, hx_unit(elem)), hx_floor(stride, elem));
    return (hx_chunks_t){.total = total,
                         .chunk = chunk,
                         .count = divide_up(total, chunk),
                         .base = area.base,
                         .stride = stride,
                         .slots = slots};
}

hx_chunks_t hx_chunks(uint64_t total, hx_area_t area, uint32_t slots, uint64_t elem)
{
    if (total <= area.bytes) {
        return (hx_chunks_t){
            .total = total, .chunk = total, .count = total != 0, .base = area.base, .slots = 1};
    }
    uint64_t most = hx_floor(part_bytes(area.bytes, slots, elem), elem);
    return chunks_of(total, divide_up(total, divide_up(total, most)), area, slots, elem);
}

hx_chunks_t hx_stream(uint64_t total, hx_area_t area, uint64_t elem)
{
    return chunks_of(total, hx_max(HX_STREAM_LEAST, divide_up(total, HX_STREAM_SLOTS)), area, HX_STREAM_SLOTS,
                     elem);
}

hx_chunks_t hx_chunks_for(const hx_chunks_t *chunks, uint64_t total)
{
    hx_chunks_t other = *chunks;
    other.total = total;
    other.count = total ? divide_up(total, chunks->chunk) : 0;
    return other;
}

uint64_t hx_chunk_offset(const hx_chunks_t *chunks, uint64_t c)
{
    return c * chunks->chunk;
}

uint64_t hx_chunk_bytes(const hx_chunks_t *chunks, uint64_t c)
{
    return c < chunks->count ? hx_min(chunks->chunk, chunks->total - c * chunks->chunk) : 0;
}

uint64_t hx_chunk_slot(const hx_chunks_t *chunks, uint64_t c)
{
    return chunks->base + c % chunks->slots * chunks->stride;
}

uint64_t hx_cut(uint64_t bytes, uint32_t i, uint32_t parts, uint64_t elem)
{
    uint64_t unit = hx_unit(elem);
    if (bytes / unit < (uint64_t)parts * HX_SLICE_LINES) {
        unit = elem;
    }
    /* quotient and rest apart: units * i may not fit 64 bits */
    uint64_t units = divide_up(bytes, unit), whole = units / parts, rest = units % parts;
    return hx_min((whole * i + rest * i / parts) * unit, bytes);
}
