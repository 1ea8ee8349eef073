/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix/limits.c - types and ops per backend, for the built-in profiles. */
#include "matrix/limits.h"

#define TYPE(name)  (UINT64_C(1) << HCORE_TYPE_##name)
#define CLASS(name) (UINT32_C(1) << HCORE_CLASS_##name)
#define REDOP(name) (UINT32_C(1) << HCORE_REDOP_##name)

_Static_assert(HCORE_TYPE_NONE < 64 && HCORE_REDOP_NONE < 32 && HCORE_OPER_COUNT <= 32, "a bit per word");

enum { AIV = 1 << HCORE_BACKEND_AIV, AICPU = 1 << HCORE_BACKEND_AICPU, BOTH = AIV | AICPU };

/* The operators that move data and those that reduce, from the list in hcore/types.h. */
#define MOVES(n, r, b)   | ((uint32_t) !(r) << HCORE_OPER_##n)
#define REDUCES(n, r, b) | ((uint32_t) !!(r) << HCORE_OPER_##n)
#define MOVING           (0 HCORE_OPERATOR_LIST(MOVES))
#define REDUCING         (0 HCORE_OPERATOR_LIST(REDUCES))

/* The vendor's types of at most four bytes, and the longer ones. */
#define SHORT_TYPES                                                                                          \
    (TYPE(INT8) | TYPE(UINT8) | TYPE(INT16) | TYPE(UINT16) | TYPE(INT32) | TYPE(UINT32) | TYPE(FP16) |       \
     TYPE(FP32) | TYPE(BFP16))
#define LONG_TYPES (TYPE(INT64) | TYPE(UINT64) | TYPE(FP64))
/* What the vendor's copy engines and vector kernels reduce on the way. */
#define INLINE_REDUCE_TYPES (TYPE(INT8) | TYPE(INT16) | TYPE(INT32) | TYPE(FP16) | TYPE(FP32) | TYPE(BFP16))
#define INLINE_REDUCE_OPS   (REDOP(SUM) | REDOP(MAX) | REDOP(MIN))

/*
 * Atlas A3. A move of no particular type (NONE) is a move of bytes, which the vendor's 1-byte types carry.
 * AIV moves: the vendor's pages of 2026-08 list the 8-byte types too, the source of the release of the table
 * does not take them; read as the source, AI CPU serves them.
 *
 * AI CPU reductions: the pages of the API also allow int64 and prod, but those are reduced by the host's CPU,
 * not by AI CPU, and without re-execution; so they are not listed.
 */
const hx_limit_t hx_limits_atlas_a3[] = {
    {.backends = BOTH, .opers = MOVING, .types = SHORT_TYPES | TYPE(NONE), .redops = REDOP(NONE)},
    {.backends = AICPU, .opers = MOVING, .types = LONG_TYPES, .redops = REDOP(NONE)},
    {.backends = BOTH, .opers = REDUCING, .types = INLINE_REDUCE_TYPES, .redops = INLINE_REDUCE_OPS},
};
const size_t hx_limits_atlas_a3_count = sizeof hx_limits_atlas_a3 / sizeof *hx_limits_atlas_a3;

#define INTEGERS      (CLASS(SI) | CLASS(UI))
#define ALL_CLASSES   (CLASS(BY) | INTEGERS | CLASS(BO) | CLASS(FP) | CLASS(CX) | CLASS(PR))
#define SPECIAL_TYPES (TYPE(OPAQUE) | TYPE(NONE))

/*
 * The host: everything moves; every reduction that the core has a kernel for, which is what MPI 4.0 section
 * 6.9.2 defines, logical ops on floating point (which MPICH accepts), and REPLACE and NO_OP on any type; the
 * caller's functions reduce anything.
 */
const hx_limit_t hx_limits_host[] = {
    {BOTH, MOVING, SPECIAL_TYPES, ALL_CLASSES, REDOP(NONE)},
    {BOTH, REDUCING, SPECIAL_TYPES, ALL_CLASSES, REDOP(USER)},
    {BOTH, REDUCING, 0, INTEGERS | CLASS(FP), REDOP(MAX) | REDOP(MIN)},
    {BOTH, REDUCING, 0, INTEGERS | CLASS(FP) | CLASS(CX), REDOP(SUM) | REDOP(PROD)},
    {BOTH, REDUCING, 0, INTEGERS | CLASS(BO) | CLASS(FP), REDOP(LAND) | REDOP(LOR) | REDOP(LXOR)},
    {BOTH, REDUCING, 0, INTEGERS | CLASS(BY), REDOP(BAND) | REDOP(BOR) | REDOP(BXOR)},
    {BOTH, REDUCING, 0, ALL_CLASSES, REDOP(REPLACE) | REDOP(NO_OP)},
    {BOTH, REDUCING, 0, CLASS(PR), REDOP(MINLOC) | REDOP(MAXLOC)},
};
const size_t hx_limits_host_count = sizeof hx_limits_host / sizeof *hx_limits_host;

static bool allows_type(const hx_limit_t *limit, hcore_type_t type)
{
    bool by_class = type < HCORE_TYPE_COUNT && limit->classes >> hcore_type_class(type) & 1;
    return by_class || (type <= HCORE_TYPE_NONE && limit->types >> type & 1);
}

hcore_reason_t hx_limits_check(const hx_limit_t *limits, size_t count, hcore_backend_t backend,
                               const hcore_query_t *query)
{
    hcore_reason_t reason = HCORE_REASON_TYPE;
    hcore_redop_t redop = hcore_oper_reduces(query->oper) ? query->redop : HCORE_REDOP_NONE;
    for (size_t i = 0; i < count; i++) {
        if (!(limits[i].backends >> backend & 1) || !(limits[i].opers >> query->oper & 1) ||
            !allows_type(&limits[i], query->type)) {
            continue;
        }
        if (redop <= HCORE_REDOP_NONE && limits[i].redops >> redop & 1) {
            return HCORE_REASON_CHOSEN;
        }
        reason = HCORE_REASON_REDOP;
    }
    return reason;
}
