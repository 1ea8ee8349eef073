/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of kernels: by what this CPU can run, then by type and op. */
#include "hcore/reduce.h"
#include "hcore/log.h"
#include "reduce/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static bool portable_runs(void)
{
    return true;
}

#if defined(__x86_64__)
/* What Makefile.inc compiles the sets with. __builtin_cpu_supports also asks whether the system saves the
 * vector registers; Clang 14 does not know "f16c", so that bit is read here. */
static bool avx2_runs(void)
{
    unsigned eax, ebx, ecx, edx;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

static bool avx512_runs(void)
{
    return avx2_runs() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

static const struct {
    const char *name;
    bool (*runs)(void);
    const hx_kernel_table_t *table;
} isa_table[] = {
#define X(isa) {#isa, isa##_runs, &hx_kernels_##isa},
    HX_ISA_LIST(X)
#undef X
};

unsigned hcore_reduce_isa_count(void)
{
    return sizeof isa_table / sizeof isa_table[0];
}

const char *hcore_reduce_isa_name(unsigned isa)
{
    return isa_table[isa].name;
}

bool hcore_reduce_isa_runs(unsigned isa)
{
    return isa_table[isa].runs();
}

unsigned hcore_reduce_isa_chosen(void)
{
    static unsigned chosen_plus_1; /* 0: not asked yet; threads that race store the same value */
    unsigned isa = __atomic_load_n(&chosen_plus_1, __ATOMIC_RELAXED);
    if (isa == 0) {
        isa = hcore_reduce_isa_count();
        while (!hcore_reduce_isa_runs(isa - 1)) {
            isa--;
        }
        __atomic_store_n(&chosen_plus_1, isa, __ATOMIC_RELAXED);
    }
    return isa - 1;
}

hcore_reduce_fn_t hcore_reduce_find_isa(unsigned isa, hcore_type_t type, hcore_redop_t op)
{
    if (isa >= hcore_reduce_isa_count() || (unsigned)type >= HCORE_TYPE_COUNT ||
        (unsigned)op >= HCORE_REDOP_COUNT) {
        return NULL;
    }
    /* At most one of the tables has the kernel. */
    const hx_kernel_table_t *const tables[] = {isa_table[isa].table, &hx_kernels_scalar, &hx_kernels_copy};
    hcore_reduce_fn_t kernel = NULL;
    for (size_t t = 0; kernel == NULL && t < sizeof tables / sizeof tables[0]; t++) {
        kernel = (*tables[t])[type][op];
    }
    return kernel;
}

hcore_reduce_fn_t hcore_reduce_find(hcore_type_t type, hcore_redop_t op)
{
    return hcore_reduce_find_isa(hcore_reduce_isa_chosen(), type, op);
}

static void run_builtin(const hcore_reducer_t *self, void *dst, const void *const *src, unsigned nsrc,
                        size_t n)
{
    self->kernel(dst, src, nsrc, n);
}

hcore_status_t hcore_reducer_builtin(hcore_type_t type, hcore_redop_t op, hcore_reducer_t *reducer)
{
    const hcore_reduce_fn_t kernel = hcore_reduce_find(type, op);
    if (kernel == NULL) {
        hcore_debug("no kernel for %s on %s", hcore_redop_name(op), hcore_type_name(type));
        return HCORE_ERR_UNSUPPORTED;
    }
    *reducer = (hcore_reducer_t){
        .run = run_builtin,
        .kernel = kernel,
        .elem_bytes = hcore_type_size(type),
        /* REPLACE and NO_OP are the two that pick an operand by its place. */
        .commutative = op != HCORE_REDOP_REPLACE && op != HCORE_REDOP_NO_OP,
    };
    return HCORE_OK;
}
