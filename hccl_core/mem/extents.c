/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/extents.h"

enum { WORD_BITS = 64, NEAR_TRIES = 8 /* extents of the wanted size's own class that are looked at */ };

/* Class of a length: exact below 2^FINE_BITS, then FINE_BITS bits after the leading one. Grows with the length. */
static unsigned class_of(uint32_t count)
{
    if (count < 1u << EXTENTS_FINE_BITS) {
        return count;
    }
    unsigned power = 31u - (unsigned)__builtin_clz(count);
    unsigned fine = (count >> (power - EXTENTS_FINE_BITS)) & ((1u << EXTENTS_FINE_BITS) - 1);
    return ((power - EXTENTS_FINE_BITS + 1) << EXTENTS_FINE_BITS) + fine;
}

/* Lowest filled class from `class` on; EXTENTS_CLASSES if none. */
static unsigned filled_from(const extents_t *e, unsigned class)
{
    for (unsigned word = class / WORD_BITS; word < EXTENTS_CLASSES / WORD_BITS; word++) {
        uint64_t bits = e->filled[word];
        if (word == class / WORD_BITS) {
            bits &= ~UINT64_C(0) << (class % WORD_BITS);
        }
        if (bits) {
            return word * WORD_BITS + (unsigned)__builtin_ctzll(bits);
        }
    }
    return EXTENTS_CLASSES;
}

static void set_bounds(extents_t *e, uint32_t first, uint32_t count)
{
    e->page[first].pages = count;
    e->page[first + count - 1].first = first;
}

static void link_free(extents_t *e, uint32_t first, uint32_t count, uint32_t dirty_from, uint32_t dirty_to)
{
    const unsigned class = class_of(count);
    extent_page_t *x = &e->page[first];
    set_bounds(e, first, count);
    x->free = true;
    x->dirty_from = dirty_from;
    x->dirty_to = dirty_to;
    x->prev = EXTENTS_NONE;
    x->next = e->head[class];
    if (x->next != EXTENTS_NONE) {
        e->page[x->next].prev = first;
    }
    e->head[class] = first; /* the last one freed is the first to be used again: its lines may still be cached */
    e->filled[class / WORD_BITS] |= UINT64_C(1) << (class % WORD_BITS);
    e->dirty += dirty_to - dirty_from;
}

static void unlink_free(extents_t *e, uint32_t first)
{
    extent_page_t *x = &e->page[first];
    const unsigned class = class_of(x->pages);
    if (x->prev != EXTENTS_NONE) {
        e->page[x->prev].next = x->next;
    } else {
        e->head[class] = x->next;
    }
    if (x->next != EXTENTS_NONE) {
        e->page[x->next].prev = x->prev;
    }
    if (e->head[class] == EXTENTS_NONE) {
        e->filled[class / WORD_BITS] &= ~(UINT64_C(1) << (class % WORD_BITS));
    }
    x->free = false;
    x->pages = 0; /* until it is linked again or used, no extent begins here */
    e->dirty -= x->dirty_to - x->dirty_from;
}

void extents_init(extents_t *e, extent_page_t *page, uint32_t pages)
{
    *e = (extents_t){.page = page, .pages = pages, .used = 1};
    set_bounds(e, 0, 1);
    link_free(e, 1, pages - 1, 1, 1);
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The piece [first, first + count) of what was a free extent stays free. */
static void keep_free(extents_t *e, const extent_page_t *was, uint32_t first, uint32_t count)
{
    if (count > 0) {
        link_free(e, first, count, clamp(was->dirty_from, first, first + count),
                  clamp(was->dirty_to, first, first + count));
    }
}

static uint32_t align_up(uint32_t page, uint32_t align)
{
    return (page + align - 1) & ~(align - 1);
}

/* Whether the free extent holds `count` pages at a multiple of `align`. */
static bool fits(const extents_t *e, uint32_t first, uint32_t count, uint32_t align)
{
    const uint32_t skipped = align_up(first, align) - first;
    return e->page[first].pages >= count && e->page[first].pages - count >= skipped;
}

static uint32_t find(const extents_t *e, uint32_t count, uint32_t align)
{
    const unsigned class = class_of(count);
    uint32_t first = e->head[class];
    for (int i = 0; i < NEAR_TRIES && first != EXTENTS_NONE; i++, first = e->page[first].next) {
        if (fits(e, first, count, align)) {
            return first;
        }
    }
    /* From the class above what alignment can waste, every extent fits. */
    for (unsigned c = filled_from(e, class + 1); c < EXTENTS_CLASSES; c = filled_from(e, c + 1)) {
        if (fits(e, e->head[c], count, align)) {
            return e->head[c];
        }
    }
    return EXTENTS_NONE;
}

bool extents_take(extents_t *e, uint32_t count, uint32_t align, extents_taken_t *taken)
{
    const uint32_t from = find(e, count, align);
    if (from == EXTENTS_NONE) {
        return false;
    }
    const extent_page_t was = e->page[from];
    const uint32_t first = align_up(from, align), end = from + was.pages;
    unlink_free(e, from);
    keep_free(e, &was, from, first - from);
    keep_free(e, &was, first + count, end - first - count);
    e->page[first].free = false;
    set_bounds(e, first, count);
    e->used += count;
    taken->first = first;
    taken->dirty_from = clamp(was.dirty_from, first, first + count);
    taken->dirty_to = clamp(was.dirty_to, first, first + count);
    return true;
}

/* Takes a free neighbour into the extent that is about to be linked. */
static void join(extents_t *e, uint32_t neighbour, uint32_t *dirty_from, uint32_t *dirty_to)
{
    const extent_page_t was = e->page[neighbour];
    unlink_free(e, neighbour);
    if (was.dirty_from == was.dirty_to) {
        return;
    }
    if (*dirty_from == *dirty_to) {
        *dirty_from = was.dirty_from;
        *dirty_to = was.dirty_to;
    } else {
        *dirty_from = was.dirty_from < *dirty_from ? was.dirty_from : *dirty_from;
        *dirty_to = was.dirty_to > *dirty_to ? was.dirty_to : *dirty_to;
    }
}

/* The used extent becomes free, and one with its free neighbours. */
static void release(extents_t *e, uint32_t first, uint32_t dirty_from, uint32_t dirty_to)
{
    uint32_t begin = first, end = first + e->page[first].pages;
    e->used -= end - begin;
    e->page[first].pages = 0;
    const uint32_t before = e->page[first - 1].first; /* page 0 is used: there is always one before */
    if (e->page[before].free) {
        join(e, before, &dirty_from, &dirty_to);
        begin = before;
    }
    if (end < e->pages && e->page[end].free) {
        const uint32_t after = end;
        end += e->page[after].pages;
        join(e, after, &dirty_from, &dirty_to);
    }
    link_free(e, begin, end - begin, dirty_from, dirty_to);
}

void extents_give(extents_t *e, uint32_t first)
{
    release(e, first, first, first + e->page[first].pages);
}

static void shrink(extents_t *e, uint32_t first, uint32_t count)
{
    const uint32_t rest = first + count, length = e->page[first].pages - count;
    set_bounds(e, first, count);
    e->page[rest].free = false;
    set_bounds(e, rest, length);
    extents_give(e, rest);
}

bool extents_resize(extents_t *e, uint32_t first, uint32_t count)
{
    const uint32_t old = e->page[first].pages, after = first + old;
    if (count < old) {
        shrink(e, first, count);
    }
    if (count <= old) {
        return true;
    }
    const uint32_t more = count - old;
    if (after >= e->pages || !e->page[after].free || e->page[after].pages < more) {
        return false;
    }
    const extent_page_t was = e->page[after];
    unlink_free(e, after);
    keep_free(e, &was, after + more, was.pages - more);
    set_bounds(e, first, count);
    e->used += more;
    return true;
}

uint32_t extents_next_dirty(const extents_t *e)
{
    for (unsigned class = EXTENTS_CLASSES; class-- > 0;) {
        for (uint32_t first = e->head[class]; first != EXTENTS_NONE; first = e->page[first].next) {
            if (e->page[first].dirty_from < e->page[first].dirty_to) {
                return first;
            }
        }
    }
    return EXTENTS_NONE;
}

void extents_claim(extents_t *e, uint32_t first, extents_taken_t *taken)
{
    const extent_page_t was = e->page[first];
    const uint32_t from = was.dirty_from, to = was.dirty_to, end = first + was.pages;
    unlink_free(e, first);
    keep_free(e, &(extent_page_t){.dirty_from = first, .dirty_to = first}, first, from - first);
    keep_free(e, &(extent_page_t){.dirty_from = to, .dirty_to = to}, to, end - to);
    e->page[from].free = false;
    set_bounds(e, from, to - from);
    e->used += to - from;
    *taken = (extents_taken_t){from, from, to};
}

void extents_unclaim(extents_t *e, const extents_taken_t *taken, bool clean)
{
    release(e, taken->first, taken->dirty_from, clean ? taken->dirty_from : taken->dirty_to);
}
