/* SPDX-License-Identifier: BSD-3-Clause */
/* REPLACE takes the last source, NO_OP the first, whatever the type. */
#include "reduce/isa.h"

#include <string.h>

static void copy(void *dst, const void *src, size_t bytes)
{
    if (bytes > 0 && dst != src) {
        memcpy(dst, src, bytes);
    }
}

#define X(type, ctype, class)                                                                                \
    static void type##_replace_kernel(void *dst, const void *const *src, unsigned nsrc, size_t n)            \
    {                                                                                                        \
        copy(dst, src[nsrc - 1], n * sizeof(ctype));                                                         \
    }                                                                                                        \
    static void type##_no_op_kernel(void *dst, const void *const *src, unsigned nsrc, size_t n)              \
    {                                                                                                        \
        (void)nsrc;                                                                                          \
        copy(dst, src[0], n * sizeof(ctype));                                                                \
    }
HCORE_TYPE_LIST(X)
#undef X

const hx_kernel_table_t hx_kernels_copy = {
#define X(type, ctype, class)                                                                                \
    [HCORE_TYPE_##type] = {[HCORE_REDOP_REPLACE] = type##_replace_kernel,                                    \
                           [HCORE_REDOP_NO_OP] = type##_no_op_kernel},
    HCORE_TYPE_LIST(X)
#undef X
};
