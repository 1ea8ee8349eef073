/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/topo.h - where this process may run and how ranks lie to each other.
 * hwloc is loaded at run time (dlopen), so a program that never starts collectives never loads it; without
 * it the kernel's files (/sys/devices/system/cpu, /proc) answer.
 */
#ifndef HCORE_TOPO_H
#define HCORE_TOPO_H

#include "hcore/types.h"

enum { HCORE_TOPO_MASK_WORDS = 16 }; /* 1024 cpus; a larger machine counts only the first 1024 */

/* One rank's place; plain data, exchanged between ranks at communicator creation.
 * cpus   bit per logical cpu this process may use (affinity at the time of the probe)
 * quota  cpus worth of run time the cgroup allows, rounded up; UINT32_MAX when unlimited (cgroup v1 and v2, every
 *        level up to the root)
 * llc    an id of the last-level cache domain the affinity lies in; UINT32_MAX if it spans several
 * numa, package  likewise */
typedef struct {
    uint64_t cpus[HCORE_TOPO_MASK_WORDS];
    uint32_t quota, llc, numa, package;
} hcore_place_t;

/* Probes this process. Never fails: what can't be read is left at the widest value. Not cheap; thread safe. */
void hcore_topo_probe(hcore_place_t *place);

/* Cpus that the n ranks together may use: the union of masks, bounded by the smallest quota, at least 1. */
uint32_t hcore_topo_cpus(const hcore_place_t *places, size_t n);

/* NODE when all n ranks lie under one last-level cache or one package, or can't be told apart; else SUPERPOD.
 * The ranks must be on one host. Two ranks are told apart by known packages or caches that differ while the
 * other is not shared. */
hcore_span_t hcore_topo_span(const hcore_place_t *places, size_t n);

/* The same for a synthetic machine, for tests: "package:2,llc:2,cpu:4" -> places of ranks bound one per cpu.
 * Levels are package, numa, llc in any nesting, outer first, then cpu; one that is not named is unknown.
 * ERR_FORMAT: not such a description; ERR_PARAM: more cpus than `room` or 1024. */
hcore_status_t hcore_topo_synthetic(const char *description, hcore_place_t *places, size_t room, size_t *count);

/* True when hwloc answered the last probe; for hccl_info. */
bool hcore_topo_has_hwloc(void);

#endif
