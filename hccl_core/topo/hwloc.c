/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hwloc.c - the levels above a set of cpus, from hwloc. The library is loaded for the one question and
 * unloaded, and is told to look at packages, caches and NUMA nodes only: a full load takes many times longer.
 */
#if defined(HAVE_CONFIG_H)
#include "config.h"
#endif
#include "topo/sources.h"

#if !defined(HAVE_HWLOC)

bool hx_topo_levels_hwloc(const hx_mask_t *cpus, hcore_place_t *place)
{
    (void)cpus;
    (void)place;
    return false;
}

#else

#include <dlfcn.h>
#include <hwloc.h>
#include <string.h>

#define HWLOC_SONAME "libhwloc.so.15"

#define HWLOC_FUNCTION_LIST(X)                                                                               \
    X(topology_init)                                                                                         \
    X(topology_destroy) X(topology_load) X(topology_is_thissystem) X(topology_set_flags)                     \
        X(topology_set_all_types_filter) X(topology_set_type_filter) X(topology_set_components)              \
            X(get_type_depth) X(get_nbobjs_by_depth) X(get_obj_by_depth) X(bitmap_next)

typedef struct {
    void *handle;
#define X(name) __typeof__(hwloc_##name) *name;
    HWLOC_FUNCTION_LIST(X)
#undef X
} hwloc_t;

static bool load_library(hwloc_t *hwloc)
{
    hwloc->handle = dlopen(HWLOC_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (hwloc->handle == NULL) {
        return false;
    }
    bool complete = true;
#define X(name)                                                                                              \
    *(void **)&hwloc->name = dlsym(hwloc->handle, "hwloc_" #name);                                          \
    complete = complete && hwloc->name != NULL;
    HWLOC_FUNCTION_LIST(X)
#undef X
    if (!complete) {
        dlclose(hwloc->handle);
    }
    return complete;
}

static const hwloc_obj_type_t caches[] = {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
                                          HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE}; /* outermost first */
enum { CACHES = sizeof caches / sizeof caches[0] };

static bool configure(const hwloc_t *hwloc, hwloc_topology_t topology)
{
    /* Cpus that a cpuset forbids count as part of a domain: all ranks must give it the same id. What flags a
     * younger library knows only saves time, so an older one may refuse them. */
    const unsigned long needed = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
    unsigned long quicker = 0;
#if HWLOC_API_VERSION >= 0x00020800
    quicker =
        HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
    if (hwloc->topology_set_flags(topology, needed | quicker) != 0 &&
        hwloc->topology_set_flags(topology, needed) != 0) {
        return false;
    }
    /* This component moves the calling thread from cpu to cpu. */
    hwloc->topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    bool good = hwloc->topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
                hwloc->topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0;
    for (int i = 0; i < CACHES; i++) {
        good = good && hwloc->topology_set_type_filter(topology, caches[i], HWLOC_TYPE_FILTER_KEEP_ALL) == 0;
    }
    return good;
}

static hx_mask_t mask_of(const hwloc_t *hwloc, hwloc_const_cpuset_t set)
{
    hx_mask_t mask = {{0}};
    for (int cpu = hwloc->bitmap_next(set, -1); cpu >= 0 && cpu < HX_TOPO_CPUS;
         cpu = hwloc->bitmap_next(set, cpu)) {
        hx_mask_set(&mask, (unsigned long)cpu);
    }
    return mask;
}

/* The first object at a depth that all the cpus lie under; NULL if there is none. */
static hwloc_obj_t object_over(const hwloc_t *hwloc, hwloc_topology_t topology, int depth,
                               const hx_mask_t *cpus, hx_mask_t *domain)
{
    const unsigned count = hwloc->get_nbobjs_by_depth(topology, depth);
    for (unsigned i = 0; i < count; i++) {
        hwloc_obj_t object = hwloc->get_obj_by_depth(topology, depth, i);
        *domain = mask_of(hwloc, object->cpuset);
        if (hx_mask_within(cpus, domain)) {
            return object;
        }
    }
    return NULL;
}

static void read_levels(const hwloc_t *hwloc, hwloc_topology_t topology, const hx_mask_t *cpus,
                        hcore_place_t *place)
{
    hx_mask_t domain;
    for (int i = 0; i < CACHES; i++) {
        const int depth = hwloc->get_type_depth(topology, caches[i]);
        if (depth >= 0) {
            if (object_over(hwloc, topology, depth, cpus, &domain) != NULL) {
                place->llc = hx_mask_first(&domain);
            }
            break;
        }
    }
    const int package = hwloc->get_type_depth(topology, HWLOC_OBJ_PACKAGE);
    if (package >= 0 && object_over(hwloc, topology, package, cpus, &domain) != NULL) {
        place->package = hx_mask_first(&domain);
    }
    const hwloc_obj_t numa = object_over(hwloc, topology, HWLOC_TYPE_DEPTH_NUMANODE, cpus, &domain);
    if (numa != NULL) {
        place->numa = numa->os_index;
    }
}

bool hx_topo_levels_hwloc(const hx_mask_t *cpus, hcore_place_t *place)
{
    hwloc_t hwloc;
    hwloc_topology_t topology;
    if (!load_library(&hwloc)) {
        return false;
    }
    bool good = hwloc.topology_init(&topology) == 0;
    if (good) {
        /* The user can make hwloc read another machine's description from a file; that is not where ranks
         * run. */
        good = configure(&hwloc, topology) && hwloc.topology_load(topology) == 0 &&
               hwloc.topology_is_thissystem(topology);
        if (good) {
            read_levels(&hwloc, topology, cpus, place);
        }
        hwloc.topology_destroy(topology);
    }
    dlclose(hwloc.handle);
    return good;
}

#endif
