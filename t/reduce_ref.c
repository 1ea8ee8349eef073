/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/reduce_ref.c - the reference. It shares no code or method with the kernels: integers go through 64 bits,
 * floating types through the widest one (an op done with more than twice the precision and then rounded is
 * correctly rounded), 16-bit types through arithmetic on the quantum.
 */
#include "reduce_ref.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef hcore_f128_t wide_t;

bool ref_defined(hcore_type_t type, hcore_redop_t op)
{
    switch (op) {
    case HCORE_REDOP_REPLACE:
    case HCORE_REDOP_NO_OP:
        return true;
    default:
        break;
    }
    const bool arithmetic = op == HCORE_REDOP_SUM || op == HCORE_REDOP_PROD;
    const bool order = op == HCORE_REDOP_MAX || op == HCORE_REDOP_MIN;
    const bool logical = op == HCORE_REDOP_LAND || op == HCORE_REDOP_LOR || op == HCORE_REDOP_LXOR;
    const bool bitwise = op == HCORE_REDOP_BAND || op == HCORE_REDOP_BOR || op == HCORE_REDOP_BXOR;
    switch (hcore_type_class(type)) {
    case HCORE_CLASS_SI:
    case HCORE_CLASS_UI:
        return arithmetic || order || logical || bitwise;
    case HCORE_CLASS_FP:
        return arithmetic || order || logical;
    case HCORE_CLASS_CX:
        return arithmetic;
    case HCORE_CLASS_BO:
        return logical;
    case HCORE_CLASS_BY:
        return bitwise;
    case HCORE_CLASS_PR:
        return op == HCORE_REDOP_MINLOC || op == HCORE_REDOP_MAXLOC;
    }
    return false;
}

/* 16-bit types: digits of precision, exponent of the smallest number, largest number, bits of the fraction,
 * bits. */
typedef struct {
    int precision, least, fraction;
    double most;
    uint16_t infinity, nan;
} half_t;

static const half_t *half_format(hcore_type_t type)
{
    static const half_t f16 = {11, -24, 10, 65504.0, 0x7c00, 0x7e00};
    static const half_t bf16 = {8, -133, 7, 0x1.fep127, 0x7f80, 0x7fc0};
    return type == HCORE_TYPE_FP16 ? &f16 : &bf16;
}

double ref_half_value(hcore_type_t type, uint16_t bits)
{
    const half_t *h = half_format(type);
    const int magnitude = bits & 0x7fff;
    const int exponent = magnitude >> h->fraction;
    const int fraction = magnitude & ((1 << h->fraction) - 1);
    double v;
    if (magnitude >= h->infinity) {
        v = magnitude > h->infinity ? NAN : INFINITY;
    } else if (exponent == 0) {
        v = ldexp(fraction, h->least);
    } else {
        v = ldexp(fraction + (1 << h->fraction), h->least + exponent - 1);
    }
    return bits >> 15 ? -v : v;
}

uint16_t ref_half_bits(hcore_type_t type, double value)
{
    const half_t *h = half_format(type);
    if (isnan(value)) {
        return h->nan;
    }
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    value = fabs(value);
    if (value == 0 || isinf(value)) {
        return sign | (value == 0 ? 0 : h->infinity);
    }
    int quantum = ilogb(value) - (h->precision - 1);
    quantum = quantum < h->least ? h->least : quantum;
    double digits = nearbyint(ldexp(value, -quantum));
    if (ldexp(digits, quantum) > h->most) {
        return sign | h->infinity;
    }
    /* Digits of a normal number include the hidden one, which adds one to the exponent field; rounding up to
     * the next power of two carries the same way. */
    return sign | (uint16_t)(((quantum - h->least) << h->fraction) + (int)digits);
}

/* Integers and truth values. */
static uint64_t load_bits(const void *p, size_t size)
{
    uint64_t v64 = 0;
    memcpy(&v64, p, size);
    return v64;
}

static int64_t extended(uint64_t v, size_t size)
{
    const unsigned unused = 64 - 8 * (unsigned)size;
    return (int64_t)(v << unused) >> unused;
}

static uint64_t integer_op(hcore_redop_t op, bool is_signed, size_t size, uint64_t a, uint64_t b)
{
    const bool a_less = is_signed ? extended(a, size) < extended(b, size) : a < b;
    switch (op) {
    case HCORE_REDOP_SUM:
        return a + b;
    case HCORE_REDOP_PROD:
        return a * b;
    case HCORE_REDOP_MAX:
        return a_less ? b : a;
    case HCORE_REDOP_MIN:
        return a_less ? a : b;
    case HCORE_REDOP_LAND:
        return a != 0 && b != 0;
    case HCORE_REDOP_LOR:
        return a != 0 || b != 0;
    case HCORE_REDOP_LXOR:
        return (a != 0) != (b != 0);
    case HCORE_REDOP_BAND:
        return a & b;
    case HCORE_REDOP_BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* Floating types: the real type a complex one or a pair's value is made of, its values, its rounding. */
static wide_t load_real(hcore_type_t type, const void *p)
{
    float f;
    double d;
    long double l;
    wide_t w;
    switch (type) {
    case HCORE_TYPE_FP32:
        memcpy(&f, p, sizeof f);
        return f;
    case HCORE_TYPE_FP64:
        memcpy(&d, p, sizeof d);
        return d;
    case HCORE_TYPE_FPLD:
        memcpy(&l, p, sizeof l);
        return l;
    case HCORE_TYPE_FP128:
        memcpy(&w, p, sizeof w);
        return w;
    default:
        return ref_half_value(type, (uint16_t)load_bits(p, sizeof(uint16_t)));
    }
}

static void store_real(hcore_type_t type, void *p, wide_t w)
{
    const bool nan = w != w;
    const float f = nan ? __builtin_nanf("") : (float)w;
    const double d = nan ? __builtin_nan("") : (double)w;
    const long double l = nan ? __builtin_nanl("") : (long double)w;
    uint16_t h;
    switch (type) {
    case HCORE_TYPE_FP32:
        memcpy(p, &f, sizeof f);
        break;
    case HCORE_TYPE_FP64:
        memcpy(p, &d, sizeof d);
        break;
    case HCORE_TYPE_FPLD:
        memset(p, 0, sizeof l);
        memcpy(p, &l, LDBL_MANT_DIG == 64 ? 10 : sizeof l);
        break;
    case HCORE_TYPE_FP128:
        w = nan ? (wide_t)d : w;
        memcpy(p, &w, sizeof w);
        break;
    default:
        /* bfloat16 is defined as computed in fp32, which shows in products below fp32's normal range. */
        h = ref_half_bits(type, type == HCORE_TYPE_BFP16 ? (double)f : d);
        memcpy(p, &h, sizeof h);
        break;
    }
}

/* One op, rounded to the type (16-bit types: left to the store, which comes after every op). */
static wide_t real_op(hcore_type_t type, hcore_redop_t op, wide_t a, wide_t b)
{
    wide_t r = op == HCORE_REDOP_SUM ? a + b : a * b;
    volatile long double l = (long double)a;
    switch (type) {
    case HCORE_TYPE_FP32:
        return (float)r;
    case HCORE_TYPE_FP64:
        return (double)r;
    case HCORE_TYPE_FPLD:
        return op == HCORE_REDOP_SUM ? l + (long double)b : l * (long double)b;
    default:
        return r;
    }
}

static void float_step(hcore_type_t type, hcore_redop_t op, void *acc, const void *with)
{
    const wide_t a = load_real(type, acc), b = load_real(type, with);
    const bool nan = a != a || b != b;
    switch (op) {
    case HCORE_REDOP_SUM:
    case HCORE_REDOP_PROD:
        store_real(type, acc, real_op(type, op, a, b));
        break;
    case HCORE_REDOP_MAX:
        store_real(type, acc, nan ? a + b : a >= b ? a : b);
        break;
    case HCORE_REDOP_MIN:
        store_real(type, acc, nan ? a + b : a <= b ? a : b);
        break;
    default:
        store_real(type, acc, (wide_t)(int)integer_op(op, false, sizeof(int), a != 0, b != 0));
        break;
    }
}

static void complex_step(hcore_type_t part, hcore_redop_t op, void *acc, const void *with)
{
    const size_t size = hcore_type_size(part);
    uint8_t *const x = acc;
    const uint8_t *const y = with;
    const wide_t a = load_real(part, x), b = load_real(part, x + size);
    const wide_t c = load_real(part, y), d = load_real(part, y + size);
    wide_t re = real_op(part, HCORE_REDOP_SUM, a, c), im = real_op(part, HCORE_REDOP_SUM, b, d);
    if (op == HCORE_REDOP_PROD) {
        re = real_op(part, HCORE_REDOP_SUM, real_op(part, op, a, c), -real_op(part, op, b, d));
        im = real_op(part, HCORE_REDOP_SUM, real_op(part, op, a, d), real_op(part, op, b, c));
    }
    store_real(part, x, re);
    store_real(part, x + size, im);
}

typedef struct {
    wide_t value, index;
} pair_t;

static pair_t load_pair(hcore_type_t type, const void *p)
{
    switch (type) {
#define PAIR(name, struct_t)                                                                                 \
    case HCORE_TYPE_##name: {                                                                                \
        struct_t s;                                                                                          \
        memcpy(&s, p, sizeof s);                                                                             \
        return (pair_t){s.v, s.i};                                                                           \
    }
        PAIR(PAIR_FP32_INT, hcore_pair_fi_t)
        PAIR(PAIR_FP64_INT, hcore_pair_di_t)
        PAIR(PAIR_LONG_INT, hcore_pair_li_t)
        PAIR(PAIR_SHORT_INT, hcore_pair_si_t)
        PAIR(PAIR_INT_INT, hcore_pair_ii_t)
        PAIR(PAIR_FPLD_INT, hcore_pair_ldi_t)
        PAIR(PAIR_FP32_FP32, hcore_pair_ff_t)
        PAIR(PAIR_FP64_FP64, hcore_pair_dd_t)
#undef PAIR
    default:
        return (pair_t){0, 0};
    }
}

static void pair_step(hcore_type_t type, hcore_redop_t op, void *acc, const void *with)
{
    const pair_t a = load_pair(type, acc), b = load_pair(type, with);
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    bool second;
    if (a_nan || b_nan) {
        second = a_nan ? b_nan && b.index < a.index : true;
    } else if (a.value == b.value) {
        second = b.index < a.index;
    } else {
        second = (op == HCORE_REDOP_MINLOC) == (b.value < a.value);
    }
    if (second) {
        memcpy(acc, with, hcore_type_size(type));
    }
}

static hcore_type_t part_of(hcore_type_t complex_type)
{
    switch (complex_type) {
    case HCORE_TYPE_CFP32:
        return HCORE_TYPE_FP32;
    case HCORE_TYPE_CFP64:
        return HCORE_TYPE_FP64;
    default:
        return HCORE_TYPE_FPLD;
    }
}

static void element_step(hcore_type_t type, hcore_redop_t op, void *acc, const void *with)
{
    const size_t size = hcore_type_size(type);
    const hcore_class_t class = hcore_type_class(type);
    uint64_t v;
    switch (class) {
    case HCORE_CLASS_FP:
        float_step(type, op, acc, with);
        break;
    case HCORE_CLASS_CX:
        complex_step(part_of(type), op, acc, with);
        break;
    case HCORE_CLASS_PR:
        pair_step(type, op, acc, with);
        break;
    default:
        v = integer_op(op, class == HCORE_CLASS_SI, size, load_bits(acc, size), load_bits(with, size));
        memcpy(acc, &v, size);
        break;
    }
}

void ref_step(hcore_type_t type, hcore_redop_t op, void *acc, const void *with, size_t n)
{
    const size_t size = hcore_type_size(type);
    if (op == HCORE_REDOP_REPLACE) {
        memcpy(acc, with, n * size);
    }
    if (op == HCORE_REDOP_REPLACE || op == HCORE_REDOP_NO_OP) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        element_step(type, op, (uint8_t *)acc + i * size, (const uint8_t *)with + i * size);
    }
}
