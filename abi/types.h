/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * types.h - the predefined types and ops of MPI by name, with what the core makes of them; the same for every ABI. Included by each
 * abi.h after mpi.h. A name that the ABI lacks is MPI_DATATYPE_NULL, as is at run time a type that the library found lacks.
 */
#ifndef SHIM_ABI_TYPES_H
#define SHIM_ABI_TYPES_H

/* Types with a class the core can reduce (hcore_class_t); the size is asked at run time. */
#define ABI_TYPE_LIST(X)                                                                          \
    X(MPI_CHAR, SI) X(MPI_SIGNED_CHAR, SI) X(MPI_SHORT, SI) X(MPI_INT, SI) X(MPI_LONG, SI)        \
    X(MPI_LONG_LONG_INT, SI) X(MPI_INT8_T, SI) X(MPI_INT16_T, SI) X(MPI_INT32_T, SI)              \
    X(MPI_INT64_T, SI) X(MPI_AINT, SI) X(MPI_OFFSET, SI) X(MPI_COUNT, SI)                         \
    X(MPI_UNSIGNED_CHAR, UI) X(MPI_UNSIGNED_SHORT, UI) X(MPI_UNSIGNED, UI) X(MPI_UNSIGNED_LONG, UI) \
    X(MPI_UNSIGNED_LONG_LONG, UI) X(MPI_UINT8_T, UI) X(MPI_UINT16_T, UI) X(MPI_UINT32_T, UI)      \
    X(MPI_UINT64_T, UI)                                                                           \
    X(MPI_INTEGER, SI) X(MPI_INTEGER1, SI) X(MPI_INTEGER2, SI) X(MPI_INTEGER4, SI)                \
    X(MPI_INTEGER8, SI)                                                                            \
    X(MPI_FLOAT, FP) X(MPI_DOUBLE, FP) X(MPI_LONG_DOUBLE, FP) X(MPI_REAL, FP)                     \
    X(MPI_DOUBLE_PRECISION, FP) X(MPI_REAL4, FP) X(MPI_REAL8, FP) X(MPI_REAL16, F128)               \
    X(MPI_C_FLOAT_COMPLEX, CX) X(MPI_C_DOUBLE_COMPLEX, CX) X(MPI_C_LONG_DOUBLE_COMPLEX, CX)       \
    X(MPI_CXX_FLOAT_COMPLEX, CX) X(MPI_CXX_DOUBLE_COMPLEX, CX) X(MPI_CXX_LONG_DOUBLE_COMPLEX, CX) \
    X(MPI_COMPLEX, CX) X(MPI_DOUBLE_COMPLEX, CX) X(MPI_COMPLEX8, CX) X(MPI_COMPLEX16, CX)         \
    X(MPI_C_BOOL, BO) X(MPI_CXX_BOOL, BO) X(MPI_LOGICAL, BO) X(MPI_LOGICAL1, BO)                  \
    X(MPI_LOGICAL2, BO) X(MPI_LOGICAL4, BO) X(MPI_LOGICAL8, BO)                                   \
    X(MPI_BYTE, BY)                                                                               \
    X(MPI_WCHAR, NONE) X(MPI_PACKED, NONE) X(MPI_CHARACTER, NONE) X(MPI_INTEGER16, NONE)          \
    X(MPI_COMPLEX32, NONE) X(MPIX_C_FLOAT16, F16)

/* Pairs, with the core's own. */
#define ABI_PAIR_LIST(X)                                                                          \
    X(MPI_FLOAT_INT, FP32_INT) X(MPI_DOUBLE_INT, FP64_INT) X(MPI_LONG_INT, LONG_INT)              \
    X(MPI_SHORT_INT, SHORT_INT) X(MPI_2INT, INT_INT) X(MPI_LONG_DOUBLE_INT, FPLD_INT)             \
    X(MPI_2REAL, FP32_FP32) X(MPI_2INTEGER, INT_INT) X(MPI_2DOUBLE_PRECISION, FP64_FP64)

#define ABI_OP_LIST(X)                                                                            \
    X(MPI_SUM, SUM) X(MPI_PROD, PROD) X(MPI_MAX, MAX) X(MPI_MIN, MIN) X(MPI_LAND, LAND)           \
    X(MPI_LOR, LOR) X(MPI_LXOR, LXOR) X(MPI_BAND, BAND) X(MPI_BOR, BOR) X(MPI_BXOR, BXOR)         \
    X(MPI_MINLOC, MINLOC) X(MPI_MAXLOC, MAXLOC)

#ifndef MPI_INTEGER1
#define MPI_INTEGER1 MPI_DATATYPE_NULL
#endif
#ifndef MPI_INTEGER2
#define MPI_INTEGER2 MPI_DATATYPE_NULL
#endif
#ifndef MPI_INTEGER4
#define MPI_INTEGER4 MPI_DATATYPE_NULL
#endif
#ifndef MPI_INTEGER8
#define MPI_INTEGER8 MPI_DATATYPE_NULL
#endif
#ifndef MPI_INTEGER16
#define MPI_INTEGER16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_REAL4
#define MPI_REAL4 MPI_DATATYPE_NULL
#endif
#ifndef MPI_REAL8
#define MPI_REAL8 MPI_DATATYPE_NULL
#endif
#ifndef MPI_REAL16
#define MPI_REAL16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_COMPLEX8
#define MPI_COMPLEX8 MPI_DATATYPE_NULL
#endif
#ifndef MPI_COMPLEX16
#define MPI_COMPLEX16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_COMPLEX32
#define MPI_COMPLEX32 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL1
#define MPI_LOGICAL1 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL2
#define MPI_LOGICAL2 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL4
#define MPI_LOGICAL4 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL8
#define MPI_LOGICAL8 MPI_DATATYPE_NULL
#endif
#ifndef MPI_CXX_BOOL
#define MPI_CXX_BOOL MPI_DATATYPE_NULL
#endif
#ifndef MPI_CXX_FLOAT_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX MPI_DATATYPE_NULL
#endif
#ifndef MPI_CXX_DOUBLE_COMPLEX
#define MPI_CXX_DOUBLE_COMPLEX MPI_DATATYPE_NULL
#endif
#ifndef MPI_CXX_LONG_DOUBLE_COMPLEX
#define MPI_CXX_LONG_DOUBLE_COMPLEX MPI_DATATYPE_NULL
#endif
#ifndef MPIX_C_FLOAT16
#define MPIX_C_FLOAT16 MPI_DATATYPE_NULL
#endif

#endif
