/* SPDX-License-Identifier: BSD-3-Clause */
#include "reduce/fold.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Small enough that this, and the pieces of a loop's other sources, stay in the first-level cache. Aligned to
 * its size, which is that of a page: CPUs take a load for one of a byte just stored when the lower 12 bits of
 * the addresses match, and this keeps stores behind the loads from sources at the start of a page. */
enum { BLOCK_BYTES = 4096 };

static const void *at(const void *base, size_t offset)
{
    return (const uint8_t *)base + offset;
}

/* One block of more than HX_LOOP_SOURCES sources, left to right. Partial results live in `partial`: dst may
 * be a source that has not been read yet, so only the last loop, which has read all the others before, writes
 * it. */
static void fold_block(const hx_fold_t *fold, void *dst, const void *const *src, unsigned nsrc, size_t offset,
                       size_t n)
{
    _Alignas(BLOCK_BYTES) uint8_t partial[BLOCK_BYTES];
    const void *part[HX_LOOP_SOURCES];
    unsigned done = 0;
    unsigned held = 0; /* 1 once part[0] is the partial result */
    while (done < nsrc) {
        unsigned take = HX_LOOP_SOURCES - held;
        if (take > nsrc - done) {
            take = nsrc - done;
        }
        for (unsigned k = 0; k < take; k++) {
            part[held + k] = at(src[done + k], offset);
        }
        done += take;
        fold->loop[held + take](done == nsrc ? dst : partial, part, n);
        part[0] = partial;
        held = 1;
    }
}

void hx_fold(const hx_fold_t *fold, void *dst, const void *const *src, unsigned nsrc, size_t n)
{
    assert(nsrc >= 1);
    if (n == 0) {
        return; /* pointers may be anything */
    }
    if (nsrc == 1) {
        if (dst != src[0]) {
            memcpy(dst, src[0], n * fold->elem_bytes);
        }
        return;
    }
    if (nsrc <= HX_LOOP_SOURCES) {
        fold->loop[nsrc](dst, src, n);
        return;
    }
    const size_t room = BLOCK_BYTES / fold->elem_bytes;
    for (size_t first = 0; first < n; first += room) {
        const size_t offset = first * fold->elem_bytes;
        fold_block(fold, (uint8_t *)dst + offset, src, nsrc, offset, n - first < room ? n - first : room);
    }
}
