/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sources.h - where places come from. File-system roots are parameters ("" on a real machine), so tests can
 * lay out any machine as a tree of files.
 *
 * Ids are the same whichever source answers, since ranks of one host compare them: the lowest cpu under the
 * cache or package, the system's number of the NUMA node.
 */
#ifndef HX_TOPO_SOURCES_H
#define HX_TOPO_SOURCES_H

#include "hcore/topo.h"

enum { HX_TOPO_CPUS = HCORE_TOPO_MASK_WORDS * 64 };
#define HX_TOPO_UNKNOWN UINT32_MAX

typedef struct {
    uint64_t word[HCORE_TOPO_MASK_WORDS];
} hx_mask_t;

/* Cpus from HX_TOPO_CPUS on are left out. */
void hx_mask_set(hx_mask_t *mask, unsigned long cpu);
/* A list as the kernel writes it: "0-3,8". False, with the mask empty, if it is malformed or has no cpu. */
bool hx_mask_parse(const char *list, hx_mask_t *mask);
/* Number of the lowest cpu; HX_TOPO_CPUS if the mask is empty. */
unsigned hx_mask_first(const hx_mask_t *mask);
unsigned hx_mask_count(const hx_mask_t *mask);
bool hx_mask_within(const hx_mask_t *inner, const hx_mask_t *outer);

/* The levels of a place whose cpus are set. False if the source has no answer at all. */
bool hx_topo_levels_hwloc(const hx_mask_t *cpus, hcore_place_t *place);
bool hx_topo_levels_sysfs(const char *root, const hx_mask_t *cpus, hcore_place_t *place);

/* Cpus worth of run time that the cgroup of this process and those above it leave, rounded up; UINT32_MAX: no
 * limit. */
uint32_t hx_topo_quota(const char *root);

#endif
