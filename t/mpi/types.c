/* SPDX-License-Identifier: BSD-3-Clause */
/* t/mpi/types.c - see types.h. */
#include "types.h"

typedef struct {
    double v;
    int i;
} double_int_t;
typedef struct {
    long v;
    int i;
} long_int_t;
typedef struct {
    short v;
    int i;
} short_int_t;
typedef struct {
    long double v;
    int i;
} long_double_int_t;

#define ONE(n)                                                                                               \
    {                                                                                                        \
        {0, n},                                                                                              \
        {                                                                                                    \
            0, 0                                                                                             \
        }                                                                                                    \
    }
#define BOTH(n, stride)                                                                                      \
    {                                                                                                        \
        {0, n},                                                                                              \
        {                                                                                                    \
            stride, n                                                                                        \
        }                                                                                                    \
    }
#define PAIR(struct_type, n)                                                                                 \
    {                                                                                                        \
        {0, n},                                                                                              \
        {                                                                                                    \
            offsetof(struct_type, i), sizeof(int)                                                            \
        }                                                                                                    \
    }
#define ROW_INT(t, c, class, k)                                                                              \
    {                                                                                                        \
#t, t, class, FAMILY_INT, k, 0, sizeof(c), sizeof(c), ONE(sizeof(c))                                 \
    }
#define ROW_REAL(t, n, ext, k)                                                                               \
    {                                                                                                        \
#t, t, CLASS_FLOAT, FAMILY_REAL, k, 0, ext, ext, ONE(n)                                              \
    }
#define ROW_COMPLEX(t, n, half, k)                                                                           \
    {                                                                                                        \
#t, t, CLASS_COMPLEX, FAMILY_COMPLEX, k, 0, 2 * (half), half, BOTH(n, half)                          \
    }
#define ROW_LOGICAL(t, n)                                                                                    \
    {                                                                                                        \
#t, t, CLASS_LOGICAL, FAMILY_LOGICAL, 'u', 0, n, n, ONE(n)                                           \
    }
#define ROW_BYTES(t, class, family, n)                                                                       \
    {                                                                                                        \
#t, t, class, family, 'u', 0, n, n, ONE(n)                                                           \
    }
#define ROW_PAIR(t, s, n, k)                                                                                 \
    {                                                                                                        \
#t, t, CLASS_PAIR, FAMILY_PAIR, k, 'i', sizeof(s), _Alignof(s), PAIR(s, n)                           \
    }
#define ROW_TWIN(t, n, k)                                                                                    \
    {                                                                                                        \
#t, t, CLASS_PAIR, FAMILY_PAIR, k, k, 2 * (n), n, BOTH(n, n)                                         \
    }

static const type_t all_types[] = {
    ROW_INT(MPI_SIGNED_CHAR, signed char, CLASS_C_INT, 'i'),
    ROW_INT(MPI_UNSIGNED_CHAR, unsigned char, CLASS_C_INT, 'u'),
    ROW_INT(MPI_SHORT, short, CLASS_C_INT, 'i'),
    ROW_INT(MPI_UNSIGNED_SHORT, unsigned short, CLASS_C_INT, 'u'),
    ROW_INT(MPI_INT, int, CLASS_C_INT, 'i'),
    ROW_INT(MPI_UNSIGNED, unsigned, CLASS_C_INT, 'u'),
    ROW_INT(MPI_LONG, long, CLASS_C_INT, 'i'),
    ROW_INT(MPI_UNSIGNED_LONG, unsigned long, CLASS_C_INT, 'u'),
    ROW_INT(MPI_LONG_LONG, long long, CLASS_C_INT, 'i'),
    ROW_INT(MPI_UNSIGNED_LONG_LONG, unsigned long long, CLASS_C_INT, 'u'),
    ROW_INT(MPI_INT8_T, int8_t, CLASS_C_INT, 'i'),
    ROW_INT(MPI_INT16_T, int16_t, CLASS_C_INT, 'i'),
    ROW_INT(MPI_INT32_T, int32_t, CLASS_C_INT, 'i'),
    ROW_INT(MPI_INT64_T, int64_t, CLASS_C_INT, 'i'),
    ROW_INT(MPI_UINT8_T, uint8_t, CLASS_C_INT, 'u'),
    ROW_INT(MPI_UINT16_T, uint16_t, CLASS_C_INT, 'u'),
    ROW_INT(MPI_UINT32_T, uint32_t, CLASS_C_INT, 'u'),
    ROW_INT(MPI_UINT64_T, uint64_t, CLASS_C_INT, 'u'),
    ROW_INT(MPI_AINT, MPI_Aint, CLASS_MULTI, 'i'),
    ROW_INT(MPI_OFFSET, MPI_Offset, CLASS_MULTI, 'i'),
    ROW_INT(MPI_COUNT, MPI_Count, CLASS_MULTI, 'i'),
    ROW_INT(MPI_INTEGER, int32_t, CLASS_F_INT, 'i'),
    ROW_INT(MPI_INTEGER1, int8_t, CLASS_F_INT, 'i'),
    ROW_INT(MPI_INTEGER2, int16_t, CLASS_F_INT, 'i'),
    ROW_INT(MPI_INTEGER4, int32_t, CLASS_F_INT, 'i'),
    ROW_INT(MPI_INTEGER8, int64_t, CLASS_F_INT, 'i'),
#ifdef MPIX_C_FLOAT16
    ROW_REAL(MPIX_C_FLOAT16, 2, 2, 'h'),
#endif
    ROW_REAL(MPI_FLOAT, 4, 4, 'f'),
    ROW_REAL(MPI_DOUBLE, 8, 8, 'd'),
    ROW_REAL(MPI_LONG_DOUBLE, LONG_DOUBLE_BYTES, sizeof(long double), 'l'),
    ROW_REAL(MPI_REAL, 4, 4, 'f'),
    ROW_REAL(MPI_DOUBLE_PRECISION, 8, 8, 'd'),
    ROW_REAL(MPI_REAL4, 4, 4, 'f'),
    ROW_REAL(MPI_REAL8, 8, 8, 'd'),
    ROW_REAL(MPI_REAL16, 16, 16, 'q'),
    ROW_COMPLEX(MPI_C_FLOAT_COMPLEX, 4, 4, 'f'),
    ROW_COMPLEX(MPI_C_DOUBLE_COMPLEX, 8, 8, 'd'),
    ROW_COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, LONG_DOUBLE_BYTES, sizeof(long double), 'l'),
    ROW_COMPLEX(MPI_CXX_FLOAT_COMPLEX, 4, 4, 'f'),
    ROW_COMPLEX(MPI_CXX_DOUBLE_COMPLEX, 8, 8, 'd'),
    ROW_COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, LONG_DOUBLE_BYTES, sizeof(long double), 'l'),
    ROW_COMPLEX(MPI_COMPLEX, 4, 4, 'f'),
    ROW_COMPLEX(MPI_DOUBLE_COMPLEX, 8, 8, 'd'),
    ROW_COMPLEX(MPI_COMPLEX8, 4, 4, 'f'),
    ROW_COMPLEX(MPI_COMPLEX16, 8, 8, 'd'),
    ROW_COMPLEX(MPI_COMPLEX32, 16, 16, 'q'),
    ROW_LOGICAL(MPI_C_BOOL, 1),
    ROW_LOGICAL(MPI_CXX_BOOL, 1),
    ROW_LOGICAL(MPI_LOGICAL, 4),
    ROW_BYTES(MPI_BYTE, CLASS_BYTE, FAMILY_BYTE, 1),
    ROW_BYTES(MPI_CHAR, CLASS_NONE, FAMILY_OPAQUE, 1),
    ROW_BYTES(MPI_WCHAR, CLASS_NONE, FAMILY_OPAQUE, sizeof(wchar_t)),
    ROW_BYTES(MPI_CHARACTER, CLASS_NONE, FAMILY_OPAQUE, 1),
    ROW_BYTES(MPI_PACKED, CLASS_NONE, FAMILY_OPAQUE, 1),
    {"MPI_FLOAT_INT", MPI_FLOAT_INT, CLASS_PAIR, FAMILY_PAIR, 'f', 'i', 8, 4, BOTH(4, 4)},
    ROW_PAIR(MPI_DOUBLE_INT, double_int_t, 8, 'd'),
    ROW_PAIR(MPI_LONG_INT, long_int_t, sizeof(long), 'i'),
    ROW_PAIR(MPI_SHORT_INT, short_int_t, sizeof(short), 'i'),
    ROW_PAIR(MPI_LONG_DOUBLE_INT, long_double_int_t, LONG_DOUBLE_BYTES, 'l'),
    ROW_TWIN(MPI_2INT, 4, 'i'),
    ROW_TWIN(MPI_2INTEGER, 4, 'i'),
    ROW_TWIN(MPI_2REAL, 4, 'f'),
    ROW_TWIN(MPI_2DOUBLE_PRECISION, 8, 'd'),
};
enum { ALL_TYPES = sizeof all_types / sizeof *all_types, F90_TYPES = 6 };

/* One of each number and family, and those with padding. */
static const char *const samples[] = {
    "MPI_SIGNED_CHAR", "MPI_UNSIGNED_SHORT", "MPI_INT",         "MPI_UNSIGNED_LONG",
    "MPI_FLOAT",       "MPI_DOUBLE",         "MPI_LONG_DOUBLE", "MPI_C_DOUBLE_COMPLEX",
    "MPI_C_BOOL",      "MPI_BYTE",           "MPI_DOUBLE_INT",  "MPI_2INT",
};
static const char *const large_samples[] = {"MPI_INT", "MPI_DOUBLE", "MPI_SHORT_INT"};

static bool listed(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

bool type_is_sample(const type_t *type)
{
    return listed(samples, sizeof samples / sizeof *samples, type->name);
}

bool type_is_large_sample(const type_t *type)
{
    return listed(large_samples, sizeof large_samples / sizeof *large_samples, type->name);
}

/* Types by what Fortran needs of them; each MPI answers with a type of its own. */
static size_t make_f90(type_t *row)
{
    row[0] = (type_t){"f90_integer_4", 0, CLASS_F_INT, FAMILY_INT, 'i', 0, 2, 2, ONE(2)};
    row[1] = (type_t){"f90_integer_9", 0, CLASS_F_INT, FAMILY_INT, 'i', 0, 4, 4, ONE(4)};
    row[2] = (type_t){"f90_integer_15", 0, CLASS_F_INT, FAMILY_INT, 'i', 0, 8, 8, ONE(8)};
    row[3] = (type_t){"f90_real_6", 0, CLASS_FLOAT, FAMILY_REAL, 'f', 0, 4, 4, ONE(4)};
    row[4] = (type_t){"f90_real_15", 0, CLASS_FLOAT, FAMILY_REAL, 'd', 0, 8, 8, ONE(8)};
    row[5] = (type_t){"f90_complex_15", 0, CLASS_COMPLEX, FAMILY_COMPLEX, 'd', 0, 16, 8, BOTH(8, 8)};
    MPI_Type_create_f90_integer(4, &row[0].handle);
    MPI_Type_create_f90_integer(9, &row[1].handle);
    MPI_Type_create_f90_integer(15, &row[2].handle);
    MPI_Type_create_f90_real(6, 30, &row[3].handle);
    MPI_Type_create_f90_real(15, 300, &row[4].handle);
    MPI_Type_create_f90_complex(15, 300, &row[5].handle);
    return F90_TYPES;
}

bool type_is_f90(const type_t *type)
{
    return strncmp(type->name, "f90_", 4) == 0;
}

const type_t *types_table(size_t *count)
{
    static type_t present[ALL_TYPES + F90_TYPES];
    static size_t n;
    if (n == 0) {
        for (size_t i = 0; i < ALL_TYPES; i++) {
            if (all_types[i].handle != MPI_DATATYPE_NULL) {
                present[n++] = all_types[i];
            }
        }
        n += make_f90(present + n);
    }
    *count = n;
    return present;
}

enum {
    ORDERED = CLASS_C_INT | CLASS_F_INT | CLASS_FLOAT | CLASS_MULTI,
    ARITHMETIC = ORDERED | CLASS_COMPLEX,
    TRUTH = CLASS_C_INT | CLASS_LOGICAL,
    BITWISE = CLASS_C_INT | CLASS_F_INT | CLASS_BYTE | CLASS_MULTI
};

static const op_t ops[OP_COUNT] = {
    [OP_NONE] = {"none", MPI_OP_NULL, 0},
    [OP_SUM] = {"MPI_SUM", MPI_SUM, ARITHMETIC},
    [OP_PROD] = {"MPI_PROD", MPI_PROD, ARITHMETIC},
    [OP_MAX] = {"MPI_MAX", MPI_MAX, ORDERED},
    [OP_MIN] = {"MPI_MIN", MPI_MIN, ORDERED},
    [OP_LAND] = {"MPI_LAND", MPI_LAND, TRUTH},
    [OP_LOR] = {"MPI_LOR", MPI_LOR, TRUTH},
    [OP_LXOR] = {"MPI_LXOR", MPI_LXOR, TRUTH},
    [OP_BAND] = {"MPI_BAND", MPI_BAND, BITWISE},
    [OP_BOR] = {"MPI_BOR", MPI_BOR, BITWISE},
    [OP_BXOR] = {"MPI_BXOR", MPI_BXOR, BITWISE},
    [OP_MINLOC] = {"MPI_MINLOC", MPI_MINLOC, CLASS_PAIR},
    [OP_MAXLOC] = {"MPI_MAXLOC", MPI_MAXLOC, CLASS_PAIR},
};

const op_t *op_get(op_id_t id)
{
    return &ops[id];
}

bool op_takes(op_id_t id, const type_t *type)
{
    return (ops[id].classes & type->class) != 0;
}
