/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix/decide.c - which backend serves a call, and why not the others. */
#include "matrix/profile.h"

/* Of several rows that do not qualify, the reason of the one that came furthest is told: reasons stand in the
 * order of the checks. */
_Static_assert(HCORE_REASON_NOT_LISTED < HCORE_REASON_LEVEL &&
                   HCORE_REASON_LEVEL < HCORE_REASON_NO_REEXECUTION &&
                   HCORE_REASON_NO_REEXECUTION < HCORE_REASON_NOT_DETERMINISTIC &&
                   HCORE_REASON_NOT_DETERMINISTIC < HCORE_REASON_NO_ZERO_COPY,
               "reasons in the order of the checks");

/* CHOSEN if the row covers the level and has every feature asked for. Only "yes" does: "na" is no promise. */
static hcore_reason_t check_row(const hcore_matrix_row_t *row, const hcore_query_t *query)
{
    if (query->span >= HCORE_SPAN_COUNT || row->level[query->span] != HCORE_CELL_YES) {
        return HCORE_REASON_LEVEL;
    }
    if (query->reexecution && row->reexecution != HCORE_CELL_YES) {
        return HCORE_REASON_NO_REEXECUTION;
    }
    if (query->deterministic && hcore_oper_reduces(query->oper) && row->deterministic != HCORE_CELL_YES) {
        return HCORE_REASON_NOT_DETERMINISTIC;
    }
    if (query->zero_copy && row->zero_copy != HCORE_CELL_YES) {
        return HCORE_REASON_NO_ZERO_COPY;
    }
    return HCORE_REASON_CHOSEN;
}

/* CHOSEN if the backend can serve the query at some size. */
static hcore_reason_t check_backend(const hcore_profile_t *profile, const hcore_query_t *query,
                                    hcore_backend_t backend)
{
    hcore_reason_t furthest = HCORE_REASON_NOT_LISTED;
    if (!(backend == HCORE_BACKEND_AIV ? query->use_aiv : query->use_aicpu)) {
        return HCORE_REASON_SWITCHED_OFF;
    }
    for (size_t i = 0; i < profile->row_count; i++) {
        const hcore_matrix_row_t *row = &profile->rows[i];
        if (row->backend != backend || row->oper != query->oper || row->mode != query->mode) {
            continue;
        }
        hcore_reason_t reason = check_row(row, query);
        if (reason == HCORE_REASON_CHOSEN) {
            return hx_limits_check(profile->limits, profile->limit_count, backend, query);
        }
        furthest = reason > furthest ? reason : furthest;
    }
    return furthest;
}

static void choose(hcore_verdict_t *verdict, hcore_backend_t backend, hcore_reason_t reason,
                   hcore_reason_t aiv, hcore_reason_t aicpu)
{
    verdict->passed[HCORE_BACKEND_AIV] = aiv;
    verdict->passed[HCORE_BACKEND_AICPU] = aicpu;
    verdict->passed[HCORE_BACKEND_MPI] = HCORE_REASON_CORE_SERVES;
    verdict->passed[backend] = reason;
    verdict->backend = backend;
    verdict->reason = reason;
}

void hcore_decide_steps(const hcore_profile_t *profile, const hcore_query_t *query, uint64_t *limit,
                        hcore_verdict_t *small, hcore_verdict_t *large)
{
    hcore_reason_t aiv = check_backend(profile, query, HCORE_BACKEND_AIV);
    hcore_reason_t aicpu = check_backend(profile, query, HCORE_BACKEND_AICPU);
    bool can_aiv = aiv == HCORE_REASON_CHOSEN, can_aicpu = aicpu == HCORE_REASON_CHOSEN;
    *limit = UINT64_MAX;
    if (can_aiv && can_aicpu) {
        *limit = query->aiv_limit.given ? query->aiv_limit.bytes
                                        : hcore_aiv_limit(profile, query->oper, query->nranks);
        choose(small, HCORE_BACKEND_AIV, HCORE_REASON_CHOSEN, aiv, HCORE_REASON_TOO_SMALL);
        choose(large, HCORE_BACKEND_AICPU, HCORE_REASON_CHOSEN, HCORE_REASON_TOO_LARGE, aicpu);
    } else if (can_aiv) {
        choose(small, HCORE_BACKEND_AIV, query->use_aicpu ? HCORE_REASON_CHOSEN_ONLY : HCORE_REASON_FORCED,
               aiv, aicpu);
    } else if (can_aicpu) {
        choose(small, HCORE_BACKEND_AICPU, query->use_aiv ? HCORE_REASON_CHOSEN_ONLY : HCORE_REASON_FORCED,
               aiv, aicpu);
    } else {
        bool asked_for = !query->use_aiv && !query->use_aicpu;
        choose(small, HCORE_BACKEND_MPI, asked_for ? HCORE_REASON_FORCED : HCORE_REASON_NO_BACKEND, aiv,
               aicpu);
    }
    if (*limit == UINT64_MAX) {
        *large = *small;
    }
}

void hcore_decide(const hcore_profile_t *profile, const hcore_query_t *query, hcore_verdict_t *verdict)
{
    uint64_t limit;
    hcore_verdict_t small, large;
    hcore_decide_steps(profile, query, &limit, &small, &large);
    *verdict = query->bytes <= limit ? small : large;
}

void hcore_query_configure(hcore_query_t *query, const hcore_config_t *config)
{
    bool expansion_rules_out_aiv = config->op_expansion_mode == HCORE_EXPANSION_AI_CPU ||
                                   config->op_expansion_mode == HCORE_EXPANSION_AI_CPU_CACHE_DISABLE;
    query->aiv_limit = config->aiv_limit[query->oper];
    query->deterministic |= config->deterministic != HCORE_DETERMINISTIC_FALSE;
    for (unsigned level = 0; level < HCORE_SPAN_COUNT && level <= (unsigned)query->span; level++) {
        query->reexecution |= config->retry[level];
    }
    switch ((hcore_use_t)config->backend) {
    case HCORE_USE_AUTO:
        query->use_aiv = !expansion_rules_out_aiv;
        query->use_aicpu = true;
        break;
    case HCORE_USE_AIV:
    case HCORE_USE_AICPU:
    case HCORE_USE_MPI:
        query->use_aiv = config->backend == HCORE_USE_AIV;
        query->use_aicpu = config->backend == HCORE_USE_AICPU;
        break;
    }
}
