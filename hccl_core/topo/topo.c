/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "hcore/topo.h"
#include "topo/sources.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static bool hwloc_answered; /* atomic */

/* Every cpu, if the system does not tell. The kernel refuses a mask shorter than its own, whose length is
 * unknown. */
static hx_mask_t affinity(void)
{
    enum { LONGEST = 1 << 16 };
    hx_mask_t mask = {{0}};
    for (size_t cpus = HX_TOPO_CPUS; cpus <= LONGEST; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        const size_t bytes = CPU_ALLOC_SIZE(cpus);
        if (set == NULL) {
            break;
        }
        const bool got = sched_getaffinity(0, bytes, set) == 0;
        const bool too_short = !got && errno == EINVAL;
        for (unsigned cpu = 0; got && cpu < HX_TOPO_CPUS; cpu++) {
            if (CPU_ISSET_S(cpu, bytes, set)) {
                hx_mask_set(&mask, cpu);
            }
        }
        CPU_FREE(set);
        if (!too_short) {
            break;
        }
    }
    if (hx_mask_count(&mask) == 0) {
        memset(&mask, 0xff, sizeof mask);
    }
    return mask;
}

void hcore_topo_probe(hcore_place_t *place)
{
    const hx_mask_t cpus = affinity();
    *place = (hcore_place_t){
        .quota = hx_topo_quota(""),
        .llc = HX_TOPO_UNKNOWN,
        .numa = HX_TOPO_UNKNOWN,
        .package = HX_TOPO_UNKNOWN,
    };
    memcpy(place->cpus, cpus.word, sizeof place->cpus);
    const bool by_hwloc = hx_topo_levels_hwloc(&cpus, place);
    if (!by_hwloc) {
        hx_topo_levels_sysfs("", &cpus, place);
    }
    __atomic_store_n(&hwloc_answered, by_hwloc, __ATOMIC_RELAXED);
}

bool hcore_topo_has_hwloc(void)
{
    return __atomic_load_n(&hwloc_answered, __ATOMIC_RELAXED);
}

uint32_t hcore_topo_cpus(const hcore_place_t *places, size_t n)
{
    hx_mask_t all = {{0}};
    uint32_t quota = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        for (unsigned w = 0; w < HCORE_TOPO_MASK_WORDS; w++) {
            all.word[w] |= places[i].cpus[w];
        }
        quota = places[i].quota < quota ? places[i].quota : quota;
    }
    uint32_t cpus = hx_mask_count(&all);
    cpus = cpus < quota ? cpus : quota;
    return cpus > 0 ? cpus : 1;
}

static bool differ(uint32_t a, uint32_t b)
{
    return a != HX_TOPO_UNKNOWN && b != HX_TOPO_UNKNOWN && a != b;
}

static bool shared(uint32_t a, uint32_t b)
{
    return a != HX_TOPO_UNKNOWN && a == b;
}

/* Known to lie under different packages and caches; a shared package joins different caches. */
static bool apart(const hcore_place_t *a, const hcore_place_t *b)
{
    if (shared(a->package, b->package) || shared(a->llc, b->llc)) {
        return false;
    }
    return differ(a->package, b->package) || differ(a->llc, b->llc);
}

hcore_span_t hcore_topo_span(const hcore_place_t *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            if (apart(&places[i], &places[j])) {
                return HCORE_SPAN_SUPERPOD;
            }
        }
    }
    return HCORE_SPAN_NODE;
}
