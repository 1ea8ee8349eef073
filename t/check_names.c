/* SPDX-License-Identifier: BSD-3-Clause */
/* Every word of hcore/types.h has a name of its own that reads back as itself. */
#include "hcore/matrix.h"
#include "hcore/types.h"
#include "tap.h"

#include <ctype.h>
#include <string.h>

#define CHECK_LIST(list, last)                                                                               \
    do {                                                                                                     \
        unsigned wrong = 0;                                                                                  \
        for (unsigned i = 0; i <= (unsigned)(last); i++) {                                                   \
            hcore_##list##_t value;                                                                          \
            const char *name = hcore_##list##_name((hcore_##list##_t)i);                                     \
            wrong += hcore_##list##_parse(name, &value) != HCORE_OK || (unsigned)value != i;                 \
        }                                                                                                    \
        tap_ok(wrong == 0, #list ": each name reads back as its value");                                     \
        hcore_##list##_t kept = (hcore_##list##_t)1;                                                         \
        tap_ok(hcore_##list##_parse("no such word", &kept) == HCORE_ERR_NOT_FOUND && (int)kept == 1,         \
               #list ": an unknown name is refused and nothing is set");                                     \
        tap_ok(strcmp(hcore_##list##_name((hcore_##list##_t)((last) + 1)), "invalid") == 0,                  \
               #list ": a value outside the list has no name");                                              \
    } while (0)

static bool is_lower(const char *text)
{
    for (; *text; text++) {
        if (isupper((unsigned char)*text)) {
            return false;
        }
    }
    return true;
}

static void check_types(void)
{
    hcore_type_t type;
    unsigned wrong = 0;
    for (unsigned i = 0; i <= HCORE_TYPE_NONE; i++) {
        wrong += !is_lower(hcore_type_name((hcore_type_t)i));
    }
    tap_ok(wrong == 0, "types have lower-case names");
    tap_ok(hcore_type_parse("FP32", &type) == HCORE_OK && type == HCORE_TYPE_FP32, "types read in any case");
    tap_ok(hcore_type_size(HCORE_TYPE_FP64) == 8 && hcore_type_size(HCORE_TYPE_BFP16) == 2 &&
               hcore_type_size(HCORE_TYPE_PAIR_FP64_INT) == sizeof(hcore_pair_di_t),
           "sizes are those of the C types");
    tap_ok(hcore_type_size(HCORE_TYPE_OPAQUE) == 0 && hcore_type_size(HCORE_TYPE_NONE) == 0,
           "no size without a C type");
    tap_ok(hcore_type_class(HCORE_TYPE_UINT16) == HCORE_CLASS_UI &&
               hcore_type_class(HCORE_TYPE_CFPLD) == HCORE_CLASS_CX &&
               hcore_type_class(HCORE_TYPE_LOGICAL64) == HCORE_CLASS_BO,
           "classes follow the list");
}

static void check_operators(void)
{
    hcore_oper_t oper;
    tap_ok(hcore_oper_parse("reducescatterv", &oper) == HCORE_OK && oper == HCORE_OPER_ReduceScatterV,
           "operators read in any case");
    tap_ok(hcore_oper_reduces(HCORE_OPER_Exscan) && !hcore_oper_reduces(HCORE_OPER_AlltoAll), "who reduces");
    tap_ok(hcore_oper_bytes(HCORE_OPER_AllGatherV) == HCORE_BYTES_TOTAL &&
               hcore_oper_bytes(HCORE_OPER_GatherV) == HCORE_BYTES_UNKNOWN &&
               hcore_oper_bytes(HCORE_OPER_Scatter) == HCORE_BYTES_BLOCK,
           "what bytes count");
}

static void check_reasons(void)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < HCORE_REASON_COUNT; i++) {
        const char *name = hcore_reason_name((hcore_reason_t)i);
        wrong += !*name || !is_lower(name) || strlen(hcore_reason_text((hcore_reason_t)i)) < 10;
        for (unsigned k = 0; k < i; k++) {
            wrong += strcmp(name, hcore_reason_name((hcore_reason_t)k)) == 0;
        }
    }
    tap_ok(wrong == 0, "every reason has a lower-case name of its own and a text");
    tap_ok(strcmp(hcore_reason_name(HCORE_REASON_NOT_LISTED), "not_listed") == 0,
           "reason names are the list's");
}

int main(void)
{
    CHECK_LIST(type, HCORE_TYPE_NONE);
    CHECK_LIST(redop, HCORE_REDOP_NONE);
    CHECK_LIST(oper, HCORE_OPER_COUNT - 1);
    CHECK_LIST(backend, HCORE_BACKEND_COUNT - 1);
    CHECK_LIST(mode, HCORE_MODE_COUNT - 1);
    CHECK_LIST(span, HCORE_SPAN_COUNT - 1);
    check_types();
    check_operators();
    check_reasons();
    tap_ok(strcmp(hcore_status_text(HCORE_ERR_PEER_DEAD), "a peer process has ended") == 0 &&
               hcore_status_text((hcore_status_t)-99) != NULL,
           "every status has a text");
    return tap_done();
}
