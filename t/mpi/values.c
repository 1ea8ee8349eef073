/* SPDX-License-Identifier: BSD-3-Clause */
/* t/mpi/values.c - the arithmetic half of types.h: element values, the serial reference, comparison. */
#include "types.h"

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad_real_t;
#else
typedef long double quad_real_t;
#endif

/* ---- numbers ---- */

static uint64_t load_int(const type_t *type, const void *p)
{
    uint64_t bits = 0;
    memcpy(&bits, p, type->piece[0].size); /* little endian */
    unsigned unused = 64 - 8 * (unsigned)type->piece[0].size;
    return type->number == 'i' ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static void store_int(const type_t *type, void *p, uint64_t value)
{
    memcpy(p, &value, type->piece[0].size);
}

static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 1023;
    float value;
    if (exponent == 0) {
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    uint32_t bits = sign | ((exponent + 112) << 23) | (fraction << 13);
    if (exponent == 31) {
        bits = sign | 0x7f800000 | (fraction << 13);
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Round to nearest even. */
static uint16_t float_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)((bits >> 16) & 0x8000);
    float size = value < 0 ? -value : value;
    if (size >= 65520.0f) {
        return (uint16_t)(sign | 0x7c00);
    }
    if (size < 0x1p-14f) {
        float scaled = size * 0x1p24f, rounded = (scaled + 0x1p23f) - 0x1p23f;
        return (uint16_t)(sign | (uint16_t)rounded);
    }
    uint32_t magnitude = bits & 0x7fffffff, lost = magnitude & 0x1fff;
    uint32_t kept = (magnitude >> 13) - (112 << 10);
    kept += lost > 0x1000 || (lost == 0x1000 && (kept & 1));
    return (uint16_t)(sign | kept);
}

/* Widest form, exact for every number but binary128's low bits; for values, printing and tolerances. */
static long double load_real(char number, const void *p)
{
    switch (number) {
#define CASE(c, real)                                                                                        \
    case c: {                                                                                                \
        real v;                                                                                              \
        memcpy(&v, p, sizeof v);                                                                             \
        return (long double)v;                                                                               \
    }
        CASE('f', float)
        CASE('d', double)
        CASE('q', quad_real_t)
#undef CASE
    case 'h': {
        uint16_t half;
        memcpy(&half, p, sizeof half);
        return (long double)half_to_float(half);
    }
    default: {
        long double v = 0;
        memcpy(&v, p, LONG_DOUBLE_BYTES);
        return v;
    }
    }
}

static void store_real(char number, void *p, quad_real_t value)
{
    switch (number) {
#define CASE(c, real)                                                                                        \
    case c: {                                                                                                \
        real v = (real)value;                                                                                \
        memcpy(p, &v, sizeof v);                                                                             \
        return;                                                                                              \
    }
        CASE('f', float)
        CASE('d', double)
        CASE('q', quad_real_t)
#undef CASE
    case 'h': {
        uint16_t half = float_to_half((float)value);
        memcpy(p, &half, sizeof half);
        return;
    }
    default: {
        long double v = (long double)value;
        memcpy(p, &v, LONG_DOUBLE_BYTES);
    }
    }
}

/* ---- values ---- */

static uint64_t bits_of(const type_t *type, op_id_t op, int rank, size_t index)
{
    uint64_t salt = (uint64_t)(unsigned char)type->number << 8 | (uint64_t)op;
    return t_mix(t_mix((uint64_t)index * 2654435761u + salt) + (uint64_t)rank * UINT64_C(0xd1342543de82ef95));
}

/* Sums round; products stay near 1, so that 8 of them neither overflow a half nor vanish. */
static quad_real_t real_value(char number, op_id_t op, uint64_t bits)
{
    double value = op == OP_PROD ? (0.6 + (double)(bits % 1009) / 1260.0) * (bits & 0x100000 ? -1 : 1)
                                 : ((double)(bits % 20011) - 10005.0) / 7.0;
    quad_real_t below_double = number == 'q' ? (quad_real_t)(bits % 1000) * 0x1p-70 : 0;
    return (quad_real_t)value + below_double;
}

static uint64_t int_value(op_id_t op, uint64_t bits)
{
    switch (op) {
    case OP_PROD: /* mostly odd, or a product of several would be 0 in a char */
        return bits >> 60 ? bits | 1 : bits;
    case OP_LAND: /* a zero is the rare value that matters; others have a low byte of 0, or the top bit alone
                   */
        return bits >> 61 ? bits << (bits % 3 * 8) | (uint64_t)0x8080808080808080 : 0;
    case OP_LOR:
        return bits >> 61 ? 0 : (uint64_t)0x8080808080808080;
    case OP_LXOR:
        return bits >> 63 ? 0 : bits;
    case OP_BAND:
        return bits | bits << 7 | bits >> 5;
    case OP_BOR:
        return bits & bits << 7 & bits >> 5;
    default:
        return bits;
    }
}

static void value_pair(const type_t *type, uint64_t bits, unsigned char *element)
{
    int value = (int)(bits % 5) - 2, index = (int)((bits >> 20) % 1000); /* ties are frequent */
    const char number[2] = {type->number, type->index};
    const int number_value[2] = {value, index};
    for (int i = 0; i < 2; i++) {
        if (number[i] == 'i') {
            int64_t wide = number_value[i];
            memcpy(element + type->piece[i].offset, &wide, type->piece[i].size);
        } else {
            store_real(number[i], element + type->piece[i].offset, (quad_real_t)number_value[i]);
        }
    }
}

static void value_bits(const type_t *type, uint64_t bits, unsigned char *element)
{
    for (int i = 0; i < 2; i++) {
        uint64_t word = bits;
        for (size_t k = 0; k < type->piece[i].size; k += sizeof word) {
            size_t left = type->piece[i].size - k;
            memcpy(element + type->piece[i].offset + k, &word, left < sizeof word ? left : sizeof word);
            word = t_mix(word);
        }
        bits = t_mix(bits + 1);
    }
}

void type_value(const type_t *type, op_id_t op, int rank, size_t index, void *element)
{
    uint64_t bits = bits_of(type, op, rank, index);
    if (op == OP_NONE) {
        value_bits(type, bits, element);
        return;
    }
    switch (type->family) {
    case FAMILY_INT:
    case FAMILY_BYTE:
        store_int(type, element, int_value(op, bits));
        break;
    case FAMILY_LOGICAL:
        store_int(type, element, int_value(op, bits) != 0);
        break;
    case FAMILY_REAL:
    case FAMILY_COMPLEX:
        for (int i = 0; i < 2 && type->piece[i].size; i++) {
            store_real(type->number, (unsigned char *)element + type->piece[i].offset,
                       real_value(type->number, op, bits));
            bits = t_mix(bits);
        }
        break;
    default:
        value_pair(type, bits, element);
    }
}

/* ---- arithmetic ---- */

static uint64_t int_op(const type_t *type, op_id_t op, uint64_t a, uint64_t b)
{
    bool less = type->number == 'i' ? (int64_t)a < (int64_t)b : a < b;
    switch (op) {
    case OP_SUM:
        return a + b;
    case OP_PROD:
        return a * b;
    case OP_MAX:
        return less ? b : a;
    case OP_MIN:
        return less ? a : b;
    case OP_LAND:
        return a && b;
    case OP_LOR:
        return a || b;
    case OP_LXOR:
        return !a != !b;
    case OP_BAND:
        return a & b;
    case OP_BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* One rounding per operation in the type's own precision. `a` and `b` have the type's parts: 1 real, 2
 * complex. */
#define REAL_APPLY(suffix, real)                                                                             \
    static void apply_##suffix(op_id_t op, int parts, real *a, const real *b)                                \
    {                                                                                                        \
        if (op == OP_PROD && parts == 2) {                                                                   \
            real re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];                             \
            a[0] = re;                                                                                       \
            a[1] = im;                                                                                       \
            return;                                                                                          \
        }                                                                                                    \
        for (int i = 0; i < parts; i++) {                                                                    \
            a[i] = op == OP_SUM    ? a[i] + b[i]                                                             \
                   : op == OP_PROD ? a[i] * b[i]                                                             \
                   : op == OP_MAX  ? (a[i] < b[i] ? b[i] : a[i])                                             \
                                   : (a[i] < b[i] ? a[i] : b[i]);                                             \
        }                                                                                                    \
    }
REAL_APPLY(f, float)
REAL_APPLY(d, double)
REAL_APPLY(l, long double)
REAL_APPLY(q, quad_real_t)

static void apply_real(const type_t *type, op_id_t op, unsigned char *acc, const unsigned char *next)
{
    int parts = type->piece[1].size ? 2 : 1;
    switch (type->number) {
#define CASE(letter, c, real)                                                                                \
    case letter: {                                                                                           \
        real a[2] = {0}, b[2] = {0};                                                                         \
        memcpy(a, acc, (size_t)parts * sizeof(real));                                                        \
        memcpy(b, next, (size_t)parts * sizeof(real));                                                       \
        apply_##c(op, parts, a, b);                                                                          \
        type_copy(type, acc, a);                                                                             \
        break;                                                                                               \
    }
        CASE('f', f, float)
        CASE('d', d, double)
        CASE('l', l, long double)
        CASE('q', q, quad_real_t)
#undef CASE
    default: { /* a float holds the exact sum or product of two halves well enough for one right rounding */
        uint16_t half[2];
        memcpy(&half[0], acc, sizeof half[0]);
        memcpy(&half[1], next, sizeof half[1]);
        float a = half_to_float(half[0]), b = half_to_float(half[1]);
        apply_f(op, 1, &a, &b);
        store_real('h', acc, (quad_real_t)a);
    }
    }
}

static void apply_pair(const type_t *type, op_id_t op, unsigned char *acc, const unsigned char *next)
{
    long double part[2][2];
    const unsigned char *element[2] = {acc, next};
    for (int e = 0; e < 2; e++) {
        for (int i = 0; i < 2; i++) {
            const unsigned char *p = element[e] + type->piece[i].offset;
            char number = i ? type->index : type->number;
            int64_t wide = 0;
            if (number == 'i') {
                unsigned unused = 64 - 8 * (unsigned)type->piece[i].size;
                memcpy(&wide, p, type->piece[i].size);
                wide = (int64_t)((uint64_t)wide << unused) >> unused;
            }
            part[e][i] = number == 'i' ? (long double)wide : load_real(number, p);
        }
    }
    bool better = op == OP_MINLOC ? part[1][0] < part[0][0] : part[1][0] > part[0][0];
    if (better || (part[1][0] == part[0][0] && part[1][1] < part[0][1])) {
        type_copy(type, acc, next);
    }
}

void type_apply(const type_t *type, op_id_t op, void *acc, const void *next)
{
    switch (type->family) {
    case FAMILY_REAL:
    case FAMILY_COMPLEX:
        apply_real(type, op, acc, next);
        break;
    case FAMILY_PAIR:
        apply_pair(type, op, acc, next);
        break;
    default:
        store_int(type, acc, int_op(type, op, load_int(type, acc), load_int(type, next)));
    }
}

void type_reduce(const type_t *type, op_id_t op, int ranks, size_t index, void *element)
{
    unsigned char next[T_MAX_EXTENT];
    type_value(type, op, 0, index, element);
    for (int r = 1; r < ranks; r++) {
        type_value(type, op, r, index, next);
        type_apply(type, op, element, next);
    }
    /* one rank alone: nothing is applied, the value stays what it is */
}

/* ---- comparing ---- */

void type_copy(const type_t *type, void *to, const void *from)
{
    for (int i = 0; i < 2; i++) {
        size_t at = type->piece[i].offset;
        memcpy((unsigned char *)to + at, (const unsigned char *)from + at, type->piece[i].size);
    }
}

static long double epsilon_of(char number)
{
    return number == 'h' ? 0x1p-10L : number == 'f' ? 0x1p-23L : number == 'd' ? 0x1p-52L : 0x1p-63L;
}

static bool close_enough(const type_t *type, op_id_t op, const unsigned char *a, const unsigned char *b)
{
    const long double largest_sum = 8 * 1500.0L, largest_product = 2 * 4.0L, steps = 16;
    long double bound = (op == OP_SUM ? largest_sum : largest_product) * steps * epsilon_of(type->number);
    for (int i = 0; i < 2 && type->piece[i].size; i++) {
        long double x = load_real(type->number, a + type->piece[i].offset);
        long double y = load_real(type->number, b + type->piece[i].offset);
        long double gap = x < y ? y - x : x - y;
        if (!(gap <= bound)) {
            return false;
        }
    }
    return true;
}

bool type_equal(const type_t *type, op_id_t op, bool loose, const void *a, const void *b)
{
    const unsigned char *x = a, *y = b;
    bool same = true;
    for (int i = 0; i < 2; i++) {
        same = same && memcmp(x + type->piece[i].offset, y + type->piece[i].offset, type->piece[i].size) == 0;
    }
    bool rounds =
        (type->family == FAMILY_REAL || type->family == FAMILY_COMPLEX) && (op == OP_SUM || op == OP_PROD);
    return same || (loose && rounds && close_enough(type, op, x, y));
}

void type_print(const type_t *type, const void *element, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < 2 && type->piece[i].size && used < size; i++) {
        const unsigned char *p = (const unsigned char *)element + type->piece[i].offset;
        for (size_t k = type->piece[i].size; k-- > 0 && used < size;) {
            used += (size_t)snprintf(text + used, size - used, "%02x", p[k]);
        }
        if (strchr("hfdlq", type->number) && used < size) {
            used += (size_t)snprintf(text + used, size - used, "(%.12Lg)", load_real(type->number, p));
        }
        used += used < size ? (size_t)snprintf(text + used, size - used, " ") : 0;
    }
}
