/* SPDX-License-Identifier: BSD-3-Clause */
/* t/check_isa.c - the choice of an instruction set. */
#include "hcore/reduce.h"
#include "tap.h"

#include <string.h>

static bool same_kernels(unsigned isa)
{
    for (int type = 0; type < HCORE_TYPE_COUNT; type++) {
        for (int op = 0; op < HCORE_REDOP_COUNT; op++) {
            if (hcore_reduce_find((hcore_type_t)type, (hcore_redop_t)op) !=
                hcore_reduce_find_isa(isa, (hcore_type_t)type, (hcore_redop_t)op)) {
                return false;
            }
        }
    }
    return true;
}

int main(void)
{
    const unsigned count = hcore_reduce_isa_count(), chosen = hcore_reduce_isa_chosen();
    tap_ok(count >= 1 && strcmp(hcore_reduce_isa_name(0), "portable") == 0, "portable is the first set");
    tap_ok(hcore_reduce_isa_runs(0), "portable runs anywhere");
    tap_ok(chosen < count && hcore_reduce_isa_runs(chosen), "the chosen set runs here");
    bool wider = false;
    for (unsigned isa = chosen + 1; isa < count; isa++) {
        wider = wider || hcore_reduce_isa_runs(isa);
    }
    tap_ok(!wider, "no wider set than %s runs here", hcore_reduce_isa_name(chosen));
    tap_ok(same_kernels(chosen), "lookups without a set are lookups in the chosen one");
    tap_ok(hcore_reduce_find_isa(count, HCORE_TYPE_FP32, HCORE_REDOP_SUM) == NULL,
           "no kernels in a set that is not there");
    return tap_done();
}
