/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix/reason.c - names and texts of the reason codes. */
#include "hcore/matrix.h"
#include "util/text.h"

#include <pthread.h>

enum { REASON_WORD_SIZE = 24 };

static char reason_name[HCORE_REASON_COUNT][REASON_WORD_SIZE] = {
#define X(n, t) #n,
    HCORE_REASON_LIST(X)
#undef X
};
static pthread_once_t reason_once = PTHREAD_ONCE_INIT;

static void lower_reason_names(void)
{
    for (size_t i = 0; i < HCORE_REASON_COUNT; i++) {
        hx_lower(reason_name[i]);
    }
}

const char *hcore_reason_name(hcore_reason_t reason)
{
    pthread_once(&reason_once, lower_reason_names);
    return reason < HCORE_REASON_COUNT ? reason_name[reason] : "invalid";
}

const char *hcore_reason_text(hcore_reason_t reason)
{
    static const char *const text[HCORE_REASON_COUNT] = {
#define X(n, t) t,
        HCORE_REASON_LIST(X)
#undef X
    };
    return reason < HCORE_REASON_COUNT ? text[reason] : "unknown reason";
}
