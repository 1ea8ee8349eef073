/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_extents.c - the page allocator of the shared heap against a model that knows each page by itself:
 * long random sequences on small regions, all short sequences on a tiny one, and the sizes of a region as
 * large as there can be.
 */
#include "mem/extents.h"
#include "tap.h"

#include <string.h>
#include <sys/mman.h>

enum { MOST_PAGES = 400, FREE_PAGE = 0 };

/* The allocator, and what must be true of it. */
typedef struct {
    extents_t e;
    extent_page_t page[MOST_PAGES];
    uint16_t owner[MOST_PAGES]; /* first page of the block that has the page; FREE_PAGE; page 0 has none */
    bool old[MOST_PAGES];       /* free, and may hold old bytes */
} world_t;

static const char *fault; /* the first thing found wrong */

static bool wrong(bool is_wrong, const char *what)
{
    if (is_wrong && !fault) {
        fault = what;
    }
    return is_wrong;
}

/* ---- the model ---- */

/* The smallest length that shares a class with `count`: its four leading bits. */
static uint32_t class_floor(uint32_t count)
{
    unsigned shift = 0;
    while (count >> shift >= 16) {
        shift++;
    }
    return count >> shift << shift;
}

/* Classes are numbered without gaps from 1 page on. */
static unsigned class_index(uint32_t count)
{
    static unsigned known[MOST_PAGES + 1];
    for (uint32_t n = 1; !known[MOST_PAGES] && n <= MOST_PAGES; n++) {
        known[n] = known[n - 1] + (class_floor(n) != class_floor(n - 1));
    }
    return known[count];
}

static uint32_t run_length(const world_t *w, uint32_t first)
{
    uint32_t end = first;
    while (end < w->e.pages && w->owner[end] == FREE_PAGE) {
        end++;
    }
    return end - first;
}

/* A free run of this class is found whatever the alignment. */
static bool must_be_there(const world_t *w, uint32_t count, uint32_t align)
{
    for (uint32_t p = 1; p < w->e.pages; p++) {
        const uint32_t length = run_length(w, p);
        if (length > 0 && w->owner[p - 1] != FREE_PAGE && class_floor(length) >= count + align - 1) {
            return true;
        }
    }
    return false;
}

static uint32_t block_pages(const world_t *w, uint32_t first)
{
    uint32_t end = first;
    while (end < w->e.pages && w->owner[end] == first) {
        end++;
    }
    return end - first;
}

static void own(world_t *w, uint32_t first, uint32_t count, uint32_t owner)
{
    for (uint32_t p = first; p < first + count; p++) {
        w->old[p] = owner == FREE_PAGE; /* who had it may have written it */
        w->owner[p] = (uint16_t)owner;
    }
}

/* ---- what must hold between operations ---- */

static void check_free(const world_t *w, uint32_t first, uint32_t count)
{
    const extent_page_t *x = &w->page[first];
    wrong(run_length(w, first) != count, "a free extent is not the whole free run");
    wrong(x->dirty_from > x->dirty_to, "a dirty part has negative length");
    wrong(x->dirty_from < x->dirty_to && (x->dirty_from < first || x->dirty_to > first + count),
          "a dirty part lies outside its extent");
    for (uint32_t p = first; p < first + count; p++) {
        wrong(w->old[p] && (p < x->dirty_from || p >= x->dirty_to),
              "a page with old bytes is taken for clean");
    }
}

/* Extents tile the region and are what the model says; returns how many are free. */
static uint32_t check_tiles(const world_t *w)
{
    uint32_t nfree = 0, used = 0, dirty = 0, count;
    for (uint32_t p = 0; p < w->e.pages; p += count) {
        count = w->page[p].pages;
        if (wrong(count == 0 || count > w->e.pages - p, "extents do not tile the region")) {
            return 0;
        }
        wrong(w->page[p + count - 1].first != p, "an extent's last page does not know its first");
        for (uint32_t i = p + 1; i < p + count; i++) {
            wrong(w->page[i].pages != 0, "a page within an extent looks like the first of one");
        }
        if (w->page[p].free) {
            nfree++;
            dirty += w->page[p].dirty_to - w->page[p].dirty_from;
            check_free(w, p, count);
        } else {
            used += count;
            wrong(p == 0 ? count != 1 : w->owner[p] != p || block_pages(w, p) != count,
                  "a used extent is no block");
        }
    }
    wrong(w->e.used != used, "the number of used pages is wrong");
    wrong(w->e.dirty != dirty, "the number of dirty pages is wrong");
    return nfree;
}

static void check_lists(const world_t *w, uint32_t nfree)
{
    uint32_t listed = 0;
    for (unsigned c = 0; c < EXTENTS_CLASSES; c++) {
        uint32_t before = EXTENTS_NONE;
        const bool filled = w->e.filled[c / 64] >> (c % 64) & 1;
        wrong(filled != (w->e.head[c] != EXTENTS_NONE), "a bit says wrongly whether its class is empty");
        for (uint32_t p = w->e.head[c]; p != EXTENTS_NONE && !fault; before = p, p = w->page[p].next) {
            wrong(!w->page[p].free, "a list holds a used extent");
            wrong(w->page[p].prev != before, "a list's links disagree");
            wrong(class_index(w->page[p].pages) != c, "an extent is in the list of another class");
            wrong(++listed > nfree, "the lists hold more extents than there are free ones");
        }
    }
    wrong(listed != nfree, "the lists do not hold all free extents");
}

/* What the next cleaning would take: something dirty if there is any, and of the largest class. */
static void check_next_dirty(const world_t *w)
{
    const uint32_t next = extents_next_dirty(&w->e);
    if (next == EXTENTS_NONE || wrong(!w->page[next].free, "a used extent is to be cleaned")) {
        wrong(next == EXTENTS_NONE && w->e.dirty > 0, "dirty pages are not found");
        return;
    }
    for (uint32_t p = 0; p < w->e.pages; p += w->page[p].pages) {
        wrong(w->page[p].free && w->page[p].dirty_from < w->page[p].dirty_to &&
                  class_index(w->page[p].pages) > class_index(w->page[next].pages),
              "a larger dirty extent is passed over");
    }
    wrong(w->page[next].dirty_from >= w->page[next].dirty_to, "a clean extent is to be cleaned");
}

static bool check_all(const world_t *w)
{
    const uint32_t nfree = check_tiles(w);
    if (!fault) {
        check_lists(w, nfree);
        check_next_dirty(w);
    }
    return !fault;
}

/* ---- operations ---- */

static void start(world_t *w, uint32_t pages)
{
    memset(w, 0, sizeof *w);
    w->owner[0] = UINT16_MAX;
    extents_init(&w->e, w->page, pages);
}

static void do_take(world_t *w, uint32_t count, uint32_t align)
{
    extents_taken_t taken;
    if (!extents_take(&w->e, count, align, &taken)) {
        wrong(must_be_there(w, count, align), "pages that are there are not found");
        return;
    }
    const uint32_t end = taken.first + count;
    if (wrong(taken.first == 0 || taken.first % align != 0 || end > w->e.pages ||
                  run_length(w, taken.first) < count,
              "what is taken is not free, aligned and in the region")) {
        return;
    }
    for (uint32_t p = taken.first; p < end; p++) {
        wrong(w->old[p] && (p < taken.dirty_from || p >= taken.dirty_to),
              "a page with old bytes is given out as clean");
    }
    wrong(taken.dirty_from < taken.dirty_to && (taken.dirty_from < taken.first || taken.dirty_to > end),
          "others' pages are given out as dirty");
    own(w, taken.first, count, taken.first);
}

static void do_give(world_t *w, uint32_t first)
{
    const uint32_t count = block_pages(w, first);
    extents_give(&w->e, first);
    own(w, first, count, FREE_PAGE);
}

static void do_resize(world_t *w, uint32_t first, uint32_t count)
{
    const uint32_t old = block_pages(w, first), room = old + run_length(w, first + old);
    const bool good = extents_resize(&w->e, first, count);
    wrong(good != (count <= room), "a block grows or not, against what follows it");
    if (good && count > old) {
        own(w, first + old, count - old, first);
    } else if (good) {
        own(w, first + count, old - count, FREE_PAGE);
    }
}

static void do_clean(world_t *w)
{
    const uint32_t first = extents_next_dirty(&w->e);
    if (first == EXTENTS_NONE) {
        return;
    }
    extents_taken_t taken;
    extents_claim(&w->e, first, &taken);
    for (uint32_t p = taken.dirty_from; p < taken.dirty_to; p++) {
        w->old[p] = false;
    }
    extents_unclaim(&w->e, &taken, true);
}

/* ---- random sequences ---- */

static uint64_t below(uint64_t *state, uint64_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % n;
}

/* First page of a random block; 0 if there is none. */
static uint32_t any_block(const world_t *w, uint64_t *state)
{
    uint32_t p = (uint32_t)below(state, w->e.pages);
    for (uint32_t i = 0; i < w->e.pages; i++, p = (p + 1) % w->e.pages) {
        if (p > 0 && w->owner[p] == p) {
            return p;
        }
    }
    return 0;
}

static void random_step(world_t *w, uint64_t *state, uint32_t most)
{
    const uint32_t block = any_block(w, state), count = 1 + (uint32_t)below(state, most);
    switch (below(state, 8)) {
    case 0:
    case 1:
    case 2:
        do_take(w, count, 1);
        break;
    case 3:
        do_take(w, count, 1u << below(state, 7));
        break;
    case 4:
        if (block) {
            do_resize(w, block, count);
        }
        break;
    case 5:
        do_clean(w);
        break;
    default:
        if (block) {
            do_give(w, block);
        }
    }
}

static void check_random(uint32_t pages, unsigned rounds, unsigned steps)
{
    static world_t w;
    uint64_t state = pages;
    unsigned round = 0, step = 0;
    fault = NULL;
    for (round = 0; round < rounds && !fault; round++) {
        const uint32_t most = 1 + (uint32_t)below(&state, pages < 64 ? pages : pages / 8);
        start(&w, pages);
        for (step = 0; step < steps && check_all(&w); step++) {
            random_step(&w, &state, most);
        }
    }
    if (!tap_ok(!fault, "random sequences on %u pages", pages)) {
        tap_note("%s (round %u, step %u)", fault, round, step);
    }
}

/* ---- all short sequences ---- */

enum { TINY = 7, TINY_COUNT = 3, KINDS = 4 };

static unsigned long sequences;

/* Operation number `number` on the world; false when there is no such operation now. */
static bool tiny_step(world_t *w, unsigned number)
{
    static const uint32_t aligns[] = {1, 2, 4};
    const unsigned kind = number % KINDS, which = number / KINDS;
    const uint32_t page = 1 + which / TINY_COUNT, count = 1 + which % TINY_COUNT;
    if (kind == 0 && which < TINY_COUNT * 3) {
        do_take(w, count, aligns[which / TINY_COUNT]);
    } else if (kind == 1 && which < TINY && which > 0 && w->owner[which] == which) {
        do_give(w, which);
    } else if (kind == 2 && page < TINY && w->owner[page] == page) {
        do_resize(w, page, count);
    } else if (kind == 3 && which == 0) {
        do_clean(w);
    } else {
        return false;
    }
    return true;
}

static void search(const world_t *w, unsigned depth)
{
    for (unsigned number = 0; depth > 0 && number < KINDS * TINY * TINY_COUNT && !fault; number++) {
        world_t next; /* only the first pages are in use */
        next.e = w->e;
        next.e.page = next.page;
        memcpy(next.page, w->page, TINY * sizeof *w->page);
        memcpy(next.owner, w->owner, TINY * sizeof *w->owner);
        memcpy(next.old, w->old, TINY * sizeof *w->old);
        if (tiny_step(&next, number)) {
            sequences++;
            if (check_all(&next)) {
                search(&next, depth - 1);
            }
        }
    }
}

static void check_tiny(unsigned depth)
{
    static world_t w;
    fault = NULL;
    start(&w, TINY);
    search(&w, depth);
    if (!tap_ok(!fault, "all sequences of %u operations on %u pages: %lu", depth, TINY - 1, sequences)) {
        tap_note("%s", fault);
    }
}

/* ---- sizes ---- */

/* Counts near the ends of what 32 bits hold. The table is address space; only the ends of extents are
 * touched. */
static void check_vast(void)
{
    static const uint32_t pages = UINT32_MAX / 2;
    const size_t bytes = pages * sizeof(extent_page_t);
    extent_page_t *page =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (page == MAP_FAILED) {
        tap_skip("a region of 2^31 pages", "no address space");
        return;
    }
    extents_t e;
    extents_taken_t a, b, c;
    extents_init(&e, page, pages);
    tap_ok(!extents_take(&e, UINT32_MAX, 1, &a) && !extents_take(&e, pages, 1, &a) &&
               !extents_take(&e, UINT32_MAX, 1u << 18, &a),
           "more pages than there are are refused");
    bool good = extents_take(&e, 1u << 30, 1u << 18, &a) && a.first % (1u << 18) == 0 && a.first > 0;
    good = good && extents_take(&e, 1u << 29, 1, &b) && extents_take(&e, 1, 1, &c) &&
           !extents_take(&e, 1u << 30, 1, &c);
    tap_ok(good && !extents_resize(&e, a.first, UINT32_MAX), "2^30 pages, aligned, and 2^29 more");
    if (good) {
        extents_give(&e, a.first);
        extents_give(&e, b.first);
    }
    tap_ok(good && e.used == 2 && extents_take(&e, 1u << 30, 1, &a), "and again when they are given back");
    munmap(page, bytes);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {2, 3, 5, 8, 17, 40, 63, 64, 65, 129, 257, MOST_PAGES};
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_random(sizes[i], rounds, 1000);
    }
    check_tiny(5);
    check_vast();
    return tap_done();
}
