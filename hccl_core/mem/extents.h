/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * extents.h - which pages of a region are in use: a two-level segregated fit (TLSF) over whole pages. Everything it knows
 * lies outside the region, so the region's users can't spoil it and a copy of the region is a copy of user data alone.
 *
 * An extent is a run of pages, free or used; extents tile the region, and no two free ones touch. Pages are named by number.
 * Every operation is a few list steps whatever the number of extents, except extents_next_dirty. No locks: the caller has one.
 */
#ifndef HCORE_MEM_EXTENTS_H
#define HCORE_MEM_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EXTENTS_FINE_BITS = 3, /* classes of size in each power of two: 8 */
    EXTENTS_CLASSES = 256,
    EXTENTS_NONE = 0       /* page 0 is never free: the number stands for "no page" */
};

typedef struct {
    uint32_t pages;      /* at the first page of an extent: its length; elsewhere 0 */
    uint32_t first;      /* at its last page: where it begins */
    uint32_t prev, next; /* at the first page of a free one: its neighbours in the list of its class */
    uint32_t dirty_from, dirty_to; /* free: the part that may hold old bytes lies within; equal: none */
    bool free;
} extent_page_t;

typedef struct {
    extent_page_t *page;  /* one for each page; memory of the caller, zeroed */
    uint32_t pages;       /* of the region */
    uint32_t used, dirty; /* pages used, pages in dirty parts of free extents */
    uint32_t head[EXTENTS_CLASSES];
    uint64_t filled[EXTENTS_CLASSES / 64]; /* bit per class that has a free extent */
} extents_t;

/* A free run that starts clean. `page` is an array of `pages` zeroed entries, the caller's; page 0 stays used. */
void extents_init(extents_t *extents, extent_page_t *page, uint32_t pages);

/* What was taken: its old bytes, if any, are in [dirty_from, dirty_to). */
typedef struct {
    uint32_t first, dirty_from, dirty_to;
} extents_taken_t;

/* `count` pages at a multiple of `align` pages (a power of two); false if there is no such run. */
bool extents_take(extents_t *extents, uint32_t count, uint32_t align, extents_taken_t *taken);
/* The used extent that begins at `first` becomes free, all of it dirty. */
void extents_give(extents_t *extents, uint32_t first);
/* Changes the length of a used extent where it is; false, and nothing changed, if what follows is not free or too short. */
bool extents_resize(extents_t *extents, uint32_t first, uint32_t count);

/* A free extent with a dirty part, one of the largest class that has any; EXTENTS_NONE if there is none. */
uint32_t extents_next_dirty(const extents_t *extents);
/* Takes the dirty part of a free extent for cleaning, and brings it back, clean or as it was. The rest stays free for others. */
void extents_claim(extents_t *extents, uint32_t first, extents_taken_t *taken);
void extents_unclaim(extents_t *extents, const extents_taken_t *taken, bool clean);

#endif
