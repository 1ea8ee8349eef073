/* SPDX-License-Identifier: BSD-3-Clause */
/* t/check_half.c - FP16 and BFP16: every value, and rounding on both sides of every point between two
 * neighbours. */
#include "hcore/reduce.h"
#include "reduce/half.h"
#include "reduce_ref.h"
#include "tap.h"

#include <math.h>
#include <string.h>

enum { VALUES = 65536 };

typedef struct {
    hcore_type_t type;
    const char *name;
    float (*widen)(uint32_t half);
    uint32_t (*narrow)(float f);
} half_codec_t;

static const half_codec_t codecs[] = {
    {HCORE_TYPE_FP16, "fp16", hx_f16_widen, hx_f16_narrow},
    {HCORE_TYPE_BFP16, "bfp16", hx_bf16_widen, hx_bf16_narrow},
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool same_value(float f, double v)
{
    return isnan(v) ? isnan(f) : f == v && !signbit(f) == !signbit(v);
}

static void check_widen(const half_codec_t *c)
{
    unsigned bad = 0;
    for (uint32_t bits = 0; bits < VALUES; bits++) {
        bad += !same_value(c->widen(bits), ref_half_value(c->type, (uint16_t)bits));
    }
    tap_ok(bad == 0, "%s: every value widens to itself", c->name);
}

static void check_narrow(const half_codec_t *c)
{
    unsigned bad = 0;
    for (uint32_t bits = 0; bits < VALUES; bits++) {
        const float f = c->widen(bits);
        bad += c->narrow(f) != (isnan(f) ? ref_half_bits(c->type, NAN) : bits);
    }
    tap_ok(bad == 0, "%s: every number narrows to itself, every NaN to the quiet one", c->name);
    tap_ok(c->narrow(hx_f32_of(0x7fffffff)) == ref_half_bits(c->type, NAN) &&
               c->narrow(hx_f32_of(0xff800001)) == ref_half_bits(c->type, NAN),
           "%s: NaNs of fp32 at the ends of their range narrow to the quiet one", c->name);
}

/* The point between each number and the next one away from zero, and its two fp32 neighbours. */
static void check_rounding(const half_codec_t *c)
{
    const uint16_t infinity = ref_half_bits(c->type, INFINITY);
    unsigned bad = 0;
    for (unsigned sign = 0; sign < 2; sign++) {
        for (uint32_t bits = 0; bits < infinity; bits++) {
            const double low = ref_half_value(c->type, (uint16_t)bits);
            const double high = bits + 1 < infinity ? ref_half_value(c->type, (uint16_t)(bits + 1))
                                                    : 2 * low - ref_half_value(c->type, (uint16_t)(bits - 1));
            const float middle = (float)((low + high) / 2);
            const float points[] = {middle, nextafterf(middle, 0.0f), nextafterf(middle, INFINITY)};
            for (size_t p = 0; p < COUNT(points); p++) {
                const float f = sign ? -points[p] : points[p];
                bad += c->narrow(f) != ref_half_bits(c->type, f);
            }
        }
    }
    tap_ok(bad == 0, "%s: rounds to nearest, ties to even, between every two neighbours", c->name);
}

/* Every value against partners that reach rounding, overflow, underflow and NaN, in every instruction set. */
static void check_kernels(const half_codec_t *c, hcore_redop_t op)
{
    static const double partners[] = {0.0,     -0.0,     1.0,      -1.5,       0x1p-14,  0x1.004p0, 3.140625,
                                      65504.0, -0x1p-24, 0x1p-133, 0x1.fep127, INFINITY, NAN};
    static uint16_t x[VALUES], y[VALUES], got[VALUES], want[VALUES];
    const void *const src[] = {x, y};
    for (uint32_t i = 0; i < VALUES; i++) {
        x[i] = (uint16_t)i;
    }
    for (unsigned isa = 0; isa < hcore_reduce_isa_count(); isa++) {
        if (!hcore_reduce_isa_runs(isa)) {
            continue;
        }
        unsigned bad = 0;
        for (size_t p = 0; p < COUNT(partners); p++) {
            for (uint32_t i = 0; i < VALUES; i++) {
                y[i] = ref_half_bits(c->type, partners[p]);
            }
            memcpy(want, x, sizeof want);
            ref_step(c->type, op, want, y, VALUES);
            hcore_reduce_find_isa(isa, c->type, op)(got, src, COUNT(src), VALUES);
            bad += memcmp(got, want, sizeof got) != 0;
        }
        tap_ok(bad == 0, "%s: %s of every value with %zu partners, %s", c->name, hcore_redop_name(op),
               COUNT(partners), hcore_reduce_isa_name(isa));
    }
}

int main(void)
{
    static const hcore_redop_t ops[] = {HCORE_REDOP_SUM, HCORE_REDOP_PROD, HCORE_REDOP_MAX, HCORE_REDOP_MIN,
                                        HCORE_REDOP_LAND};
    for (size_t c = 0; c < COUNT(codecs); c++) {
        check_widen(&codecs[c]);
        check_narrow(&codecs[c]);
        check_rounding(&codecs[c]);
        for (size_t o = 0; o < COUNT(ops); o++) {
            check_kernels(&codecs[c], ops[o]);
        }
    }
    return tap_done();
}
