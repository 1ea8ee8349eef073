/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_reduce.c - every kernel of every instruction set this CPU runs against the plain reference: each
 * number of sources, size, alignment and aliasing; the same bits, nothing else touched.
 *
 *     check_reduce kernels | pieces | undefined
 */
#include "hcore/reduce.h"
#include "reduce_ref.h"
#include "tap.h"

#include <string.h>

enum { SOURCES = 9, ELEMENTS = 1000, ELEM_MAX = 32, GUARD = 64, SKEW = 3 };
enum { BUFFER = GUARD + SKEW * SOURCES + ELEMENTS * ELEM_MAX + GUARD, GUARD_BYTE = 0xa5 };
enum { LINE = 64, STRIDE = (BUFFER + LINE - 1) / LINE * LINE };

static const size_t sizes[] = {0, 1, 3, 7, 8, 63, ELEMENTS};

/* Source k of an alignment variant starts `skew(k)` bytes behind a 64-byte boundary. */
static size_t skew_none(unsigned k)
{
    (void)k;
    return 0;
}
static size_t skew_one(unsigned k)
{
    (void)k;
    return 1;
}
static size_t skew_each(unsigned k)
{
    return (size_t)SKEW * k;
}
static size_t (*const skews[])(unsigned k) = {skew_none, skew_one, skew_each};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint8_t data[SOURCES][ELEMENTS * ELEM_MAX];     /* the sources' contents */
static uint8_t want[SOURCES + 1][ELEMENTS * ELEM_MAX]; /* want[k]: the first k sources reduced */
static _Alignas(LINE) uint8_t room[SOURCES + 1][STRIDE]; /* where kernels work; the last is dst's */

static uint64_t random_state = 0x9e3779b97f4a7c15;
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Values where ops go wrong: zeros of both signs, infinities, NaNs, the ends of the range; else small
 * integers (ties) and numbers of any size. */
static double random_real(void)
{
    static const double special[] = {0.0,     -0.0,     1.0,      -1.0,   65504.0,
                                     0x1p-24, 0x1p-133, 0x1p-149, 3.4e38, -3.4e38};
    const uint64_t r = random_bits();
    const unsigned kind = r % 100;
    if (kind == 0) {
        return __builtin_nan("");
    }
    if (kind == 1) {
        return r & 1024 ? __builtin_inf() : -__builtin_inf();
    }
    if (kind < 20) {
        return special[(r >> 20) % COUNT(special)];
    }
    if (kind < 50) {
        return (double)((int)((r >> 20) % 9) - 4);
    }
    const double mantissa = 1.0 + (double)(r >> 12) * 0x1p-52;
    return (r & 2048 ? mantissa : -mantissa) * (kind < 75 ? 1.0 : kind < 85 ? 0x1p-14 : 0x1p14);
}

static uint64_t random_integer(void)
{
    const uint64_t r = random_bits();
    return r % 4 == 0 ? 0 : r % 4 == 1 ? (r >> 8) % 7 : random_bits();
}

static void put_element(hcore_type_t type, void *p)
{
    const double v = random_real(), w = random_real();
    const int index = (int)(random_bits() % 5) - 1;
    switch (type) {
#define SCALAR(name, ctype, value)                                                                           \
    case HCORE_TYPE_##name: {                                                                                \
        ctype c = (ctype)(value);                                                                            \
        memcpy(p, &c, sizeof c);                                                                             \
        break;                                                                                               \
    }
        SCALAR(FP32, float, v)
        SCALAR(FP64, double, v)
        SCALAR(FPLD, long double, v)
        SCALAR(FP128, hcore_f128_t, v)
#define COMPLEX(name, ctype)                                                                                 \
    case HCORE_TYPE_##name: {                                                                                \
        ctype c[2] = {(ctype)v, (ctype)w};                                                                   \
        memcpy(p, c, sizeof c);                                                                              \
        break;                                                                                               \
    }
        COMPLEX(CFP32, float)
        COMPLEX(CFP64, double)
        COMPLEX(CFPLD, long double)
#define PAIR(name, struct_t, value)                                                                          \
    case HCORE_TYPE_##name: {                                                                                \
        struct_t s;                                                                                          \
        memset(&s, (int)random_bits(), sizeof s);                                                            \
        s.v = value;                                                                                         \
        s.i = index;                                                                                         \
        memcpy(p, &s, sizeof s);                                                                             \
        break;                                                                                               \
    }
        PAIR(PAIR_FP32_INT, hcore_pair_fi_t, (float)v)
        PAIR(PAIR_FP64_INT, hcore_pair_di_t, v)
        PAIR(PAIR_LONG_INT, hcore_pair_li_t, (long)random_integer())
        PAIR(PAIR_SHORT_INT, hcore_pair_si_t, (short)random_integer())
        PAIR(PAIR_INT_INT, hcore_pair_ii_t, (int)random_integer())
        PAIR(PAIR_FPLD_INT, hcore_pair_ldi_t, v)
        PAIR(PAIR_FP32_FP32, hcore_pair_ff_t, (float)v)
        PAIR(PAIR_FP64_FP64, hcore_pair_dd_t, v)
    default: { /* integers, truth values, bytes, and 16-bit floating types as any bits */
        const uint64_t bits = random_integer();
        memcpy(p, &bits, hcore_type_size(type));
        break;
    }
    }
}

static void fill_data(hcore_type_t type)
{
    const size_t size = hcore_type_size(type);
    memset(data, 0, sizeof data); /* padding of long double */
    for (unsigned k = 0; k < SOURCES; k++) {
        for (size_t i = 0; i < ELEMENTS; i++) {
            put_element(type, data[k] + i * size);
        }
    }
}

static void make_want(hcore_type_t type, hcore_redop_t op)
{
    memcpy(want[1], data[0], sizeof want[1]);
    for (unsigned k = 2; k <= SOURCES; k++) {
        memcpy(want[k], want[k - 1], sizeof want[k]);
        ref_step(type, op, want[k], data[k - 1], ELEMENTS);
    }
}

/* `bytes` of content between guards. */
static bool holds(const uint8_t *at, const uint8_t *content, size_t bytes)
{
    for (size_t i = 1; i <= GUARD / 2; i++) {
        if (at[-(ptrdiff_t)i] != GUARD_BYTE || at[bytes + i - 1] != GUARD_BYTE) {
            return false;
        }
    }
    return memcmp(at, content, bytes) == 0;
}

static uint8_t *lay(unsigned slot, size_t skew, const uint8_t *content, size_t bytes)
{
    uint8_t *at = room[slot] + GUARD + skew;
    memset(at - GUARD / 2, GUARD_BYTE, bytes + GUARD);
    memcpy(at, content, bytes);
    return at;
}

/* One call: nsrc sources of n elements; dst is source `alias`, or its own buffer if that is nsrc. */
static bool run_once(hcore_reduce_fn_t kernel, size_t size, unsigned nsrc, size_t n, size_t (*skew)(unsigned),
                     unsigned alias)
{
    static const uint8_t blank[ELEMENTS * ELEM_MAX];
    const void *src[SOURCES];
    uint8_t *at[SOURCES + 1];
    const size_t bytes = n * size;
    for (unsigned k = 0; k < nsrc; k++) {
        src[k] = at[k] = lay(k, skew(k), data[k], bytes);
    }
    at[nsrc] = lay(SOURCES, skew(SOURCES), blank, bytes);
    kernel(at[alias], src, nsrc, n);
    for (unsigned k = 0; k < nsrc; k++) {
        if (!holds(at[k], k == alias ? want[nsrc] : data[k], bytes)) {
            return false;
        }
    }
    return holds(at[nsrc], alias == nsrc ? want[nsrc] : blank, bytes);
}

static bool run_all(hcore_reduce_fn_t kernel, size_t size, const char *title)
{
    for (unsigned nsrc = 1; nsrc <= SOURCES; nsrc++) {
        for (unsigned alias = 0; alias <= nsrc; alias++) {
            for (size_t s = 0; s < COUNT(sizes); s++) {
                for (size_t a = 0; a < COUNT(skews); a++) {
                    if (!run_once(kernel, size, nsrc, sizes[s], skews[a], alias)) {
                        tap_note("%s: nsrc %u, n %zu, alignment %zu, dst is source %u", title, nsrc, sizes[s],
                                 a, alias);
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

/* Calls `check` with each kernel of each instruction set that runs; those that sets share only once. */
static void for_each_kernel(bool (*check)(hcore_reduce_fn_t kernel, size_t size, const char *title))
{
    for (int type = 0; type < HCORE_TYPE_COUNT; type++) {
        fill_data((hcore_type_t)type);
        for (int op = 0; op < HCORE_REDOP_COUNT; op++) {
            if (!ref_defined((hcore_type_t)type, (hcore_redop_t)op)) {
                continue;
            }
            make_want((hcore_type_t)type, (hcore_redop_t)op);
            const hcore_reduce_fn_t portable =
                hcore_reduce_find_isa(0, (hcore_type_t)type, (hcore_redop_t)op);
            for (unsigned isa = 0; isa < hcore_reduce_isa_count(); isa++) {
                const hcore_reduce_fn_t kernel =
                    hcore_reduce_find_isa(isa, (hcore_type_t)type, (hcore_redop_t)op);
                if (!hcore_reduce_isa_runs(isa) || (isa > 0 && kernel == portable)) {
                    continue;
                }
                char title[96];
                snprintf(title, sizeof title, "%s of %s, %s", hcore_redop_name((hcore_redop_t)op),
                         hcore_type_name((hcore_type_t)type), hcore_reduce_isa_name(isa));
                tap_ok(kernel != NULL && check(kernel, hcore_type_size((hcore_type_t)type), title), "%s",
                       title);
            }
        }
    }
}

/* The same bits however the vector is cut. */
static bool run_pieces(hcore_reduce_fn_t kernel, size_t size, const char *title)
{
    static uint8_t out[ELEMENTS * ELEM_MAX];
    static const unsigned nsrcs[] = {2, 3, 4, 7};
    (void)title;
    for (size_t s = 0; s < COUNT(nsrcs); s++) {
        size_t n = 1;
        for (size_t first = 0; first < ELEMENTS; first += n) {
            const void *src[SOURCES];
            n = 1 + random_bits() % 80;
            n = n < ELEMENTS - first ? n : ELEMENTS - first;
            for (unsigned k = 0; k < nsrcs[s]; k++) {
                src[k] = data[k] + first * size;
            }
            kernel(out + first * size, src, nsrcs[s], n);
        }
        if (memcmp(out, want[nsrcs[s]], ELEMENTS * size) != 0) {
            return false;
        }
    }
    return true;
}

/* What MPI does not define has no kernel and no reducer; what it does has both. */
static void check_undefined(void)
{
    for (int type = 0; type < HCORE_TYPE_COUNT; type++) {
        for (int op = 0; op < HCORE_REDOP_COUNT; op++) {
            const bool defined = ref_defined((hcore_type_t)type, (hcore_redop_t)op);
            hcore_reducer_t reducer = {.elem_bytes = 0};
            const hcore_status_t status =
                hcore_reducer_builtin((hcore_type_t)type, (hcore_redop_t)op, &reducer);
            bool good = (hcore_reduce_find((hcore_type_t)type, (hcore_redop_t)op) != NULL) == defined;
            if (defined) {
                good = good && status == HCORE_OK && reducer.run != NULL && reducer.kernel != NULL &&
                       reducer.elem_bytes == hcore_type_size((hcore_type_t)type);
            } else {
                good = good && status == HCORE_ERR_UNSUPPORTED && reducer.elem_bytes == 0;
            }
            tap_ok(good, "%s of %s is %s", hcore_redop_name((hcore_redop_t)op),
                   hcore_type_name((hcore_type_t)type), defined ? "there" : "undefined");
        }
    }
    tap_ok(hcore_reduce_find(HCORE_TYPE_OPAQUE, HCORE_REDOP_SUM) == NULL, "no kernel for opaque elements");
    tap_ok(hcore_reduce_find(HCORE_TYPE_FP32, HCORE_REDOP_USER) == NULL, "no kernel for the caller's op");
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    if (strcmp(what, "kernels") == 0) {
        for_each_kernel(run_all);
    } else if (strcmp(what, "pieces") == 0) {
        for_each_kernel(run_pieces);
    } else if (strcmp(what, "undefined") == 0) {
        check_undefined();
    } else {
        fprintf(stderr, "usage: check_reduce kernels | pieces | undefined\n");
        return 2;
    }
    return tap_done();
}
