/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/sources.h"

#include <ctype.h>
#include <stdlib.h>

enum { WORD_BITS = 64 };

void hx_mask_set(hx_mask_t *mask, unsigned long cpu)
{
    if (cpu < HX_TOPO_CPUS) {
        mask->word[cpu / WORD_BITS] |= (uint64_t)1 << (cpu % WORD_BITS);
    }
}

/* "N" or "N-M" at *text, which is moved behind it. */
static bool parse_range(const char **text, unsigned long *low, unsigned long *high)
{
    char *end;
    if (!isdigit((unsigned char)**text)) {
        return false;
    }
    *high = *low = strtoul(*text, &end, 10);
    if (*end == '-') {
        if (!isdigit((unsigned char)end[1])) {
            return false;
        }
        *high = strtoul(end + 1, &end, 10);
    }
    *text = end;
    return *low <= *high;
}

bool hx_mask_parse(const char *list, hx_mask_t *mask)
{
    *mask = (hx_mask_t){{0}};
    for (bool more = true; more; list++) {
        unsigned long low, high;
        if (!parse_range(&list, &low, &high)) {
            *mask = (hx_mask_t){{0}};
            return false;
        }
        for (unsigned long cpu = low; cpu <= high && cpu < HX_TOPO_CPUS; cpu++) {
            hx_mask_set(mask, cpu);
        }
        more = *list == ',';
        if (!more && *list != '\0' && *list != '\n') {
            *mask = (hx_mask_t){{0}};
            return false;
        }
    }
    return true;
}

unsigned hx_mask_first(const hx_mask_t *mask)
{
    for (unsigned w = 0; w < HCORE_TOPO_MASK_WORDS; w++) {
        if (mask->word[w] != 0) {
            return w * WORD_BITS + (unsigned)__builtin_ctzll(mask->word[w]);
        }
    }
    return HX_TOPO_CPUS;
}

unsigned hx_mask_count(const hx_mask_t *mask)
{
    unsigned count = 0;
    for (unsigned w = 0; w < HCORE_TOPO_MASK_WORDS; w++) {
        count += (unsigned)__builtin_popcountll(mask->word[w]);
    }
    return count;
}

bool hx_mask_within(const hx_mask_t *inner, const hx_mask_t *outer)
{
    for (unsigned w = 0; w < HCORE_TOPO_MASK_WORDS; w++) {
        if ((inner->word[w] & ~outer->word[w]) != 0) {
            return false;
        }
    }
    return true;
}
