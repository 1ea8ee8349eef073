/* SPDX-License-Identifier: BSD-3-Clause */
/* The host profile promises a reduction exactly when there is a kernel for it. */
#include "hcore/matrix.h"
#include "hcore/reduce.h"
#include "tap.h"

static unsigned check_operator(const hcore_profile_t *profile, hcore_oper_t oper, unsigned *pairs)
{
    unsigned wrong = 0;
    for (unsigned type = 0; type < HCORE_TYPE_COUNT; type++) {
        for (unsigned redop = 0; redop < HCORE_REDOP_COUNT; redop++) {
            hcore_query_t query = {.oper = oper,
                                   .nranks = 2,
                                   .use_aiv = true,
                                   .use_aicpu = true,
                                   .type = (hcore_type_t)type,
                                   .redop = (hcore_redop_t)redop};
            hcore_verdict_t verdict;
            hcore_decide(profile, &query, &verdict);
            bool promised = verdict.backend != HCORE_BACKEND_MPI;
            bool kernel = hcore_reduce_find(query.type, query.redop) != NULL;
            if (promised != kernel) {
                tap_note("%s %s %s: %s, %s", hcore_oper_name(oper), hcore_type_name(query.type),
                         hcore_redop_name(query.redop), promised ? "promised" : "not promised",
                         kernel ? "kernel" : "no kernel");
                wrong++;
            }
            *pairs += promised;
        }
    }
    return wrong;
}

int main(void)
{
    hcore_profile_t *host;
    char error[256];
    if (!tap_ok(hcore_profile_open("host", &host, error, sizeof error) == HCORE_OK,
                "the host profile opens")) {
        return tap_done();
    }
    for (unsigned oper = 0; oper < HCORE_OPER_COUNT; oper++) {
        unsigned pairs = 0;
        if (hcore_oper_reduces((hcore_oper_t)oper)) {
            unsigned wrong = check_operator(host, (hcore_oper_t)oper, &pairs);
            tap_ok(wrong == 0 && pairs > 0, "%s: %u pairs of type and op are promised, each with a kernel",
                   hcore_oper_name((hcore_oper_t)oper), pairs);
        }
    }
    hcore_profile_close(host);
    return tap_done();
}
