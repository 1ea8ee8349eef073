/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix/thresholds.c - the size up to which AIV is preferred to AI CPU: the only place where sizes choose a
 * backend.
 */
#include "matrix/profile.h"

#define KIB(n) (UINT64_C(1024) * (n))
#define MIB(n) (KIB(1024) * (n))

/* How the number of ranks enters: not at all, a size for each rank's share of the bytes, or no limit. */
typedef enum { EACH, SHARE, ALWAYS } scale_t;

typedef struct {
    uint64_t bytes;
    scale_t scale;
} threshold_t;

/*
 * One row per operator; bytes as hcore_oper_bytes counts them for it. Operators whose bytes no decision may
 * use, or that have no AIV row, have no limit.
 * Atlas A3: one server, single-op mode, not deterministic (the vendor's source of 2026-04). ReduceScatterV
 * has an AIV row in the table but no size in the source: read as ReduceScatter's.
 * Host: by measurement with two ranks (shim_bench --tune), with shared heaps and without. Above these sizes the two differ by less than
 * the noise of a machine, for most operators.
 */
static const threshold_t threshold_table[HCORE_OPER_COUNT][HX_THRESHOLDS_COUNT] = {
    /*                              atlas-a3               host */
    [HCORE_OPER_Broadcast] =      { { 0, ALWAYS },         { KIB(128), EACH } },
    [HCORE_OPER_AllGather] =      { { KIB(512), EACH },    { KIB(256), EACH } },
    [HCORE_OPER_AllGatherV] =     { { 0, ALWAYS },         { KIB(512), EACH } },
    [HCORE_OPER_Reduce] =         { { 0, ALWAYS },         { KIB(256), EACH } },
    [HCORE_OPER_AllReduce] =      { { MIB(1), SHARE },     { KIB(128), EACH } },
    [HCORE_OPER_Scatter] =        { { 0, ALWAYS },         { KIB(256), EACH } },
    [HCORE_OPER_ReduceScatter] =  { { MIB(1), EACH },      { KIB(128), EACH } },
    [HCORE_OPER_ReduceScatterV] = { { MIB(1), SHARE },     { KIB(256), EACH } },
    [HCORE_OPER_AlltoAll] =       { { KIB(512), EACH },    { KIB(256), EACH } },
    [HCORE_OPER_AlltoAllV] =      { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_AlltoAllVC] =     { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_Send] =           { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_Recv] =           { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_BatchSendRecv] =  { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_Barrier] =        { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_Gather] =         { { 0, ALWAYS },         { KIB(256), EACH } },
    [HCORE_OPER_GatherV] =        { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_ScatterV] =       { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_AlltoAllW] =      { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_Scan] =           { { 0, ALWAYS },         { KIB(512), EACH } },
    [HCORE_OPER_Exscan] =         { { 0, ALWAYS },         { KIB(512), EACH } },
    [HCORE_OPER_NeighborAllGather] =  { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_NeighborAllGatherV] = { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_NeighborAlltoAll] =   { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_NeighborAlltoAllV] =  { { 0, ALWAYS },         { 0, ALWAYS } },
    [HCORE_OPER_NeighborAlltoAllW] =  { { 0, ALWAYS },         { 0, ALWAYS } },
};

uint64_t hcore_aiv_limit(const hcore_profile_t *profile, hcore_oper_t oper, uint32_t nranks)
{
    if (oper >= HCORE_OPER_COUNT || hcore_oper_bytes(oper) == HCORE_BYTES_UNKNOWN) {
        return UINT64_MAX;
    }
    const threshold_t *threshold = &threshold_table[oper][profile->thresholds];
    switch (threshold->scale) {
    case ALWAYS:
        return UINT64_MAX;
    case SHARE:
        return threshold->bytes * nranks; /* 1 MiB times 2^32 at most */
    case EACH:
        break;
    }
    return threshold->bytes;
}
