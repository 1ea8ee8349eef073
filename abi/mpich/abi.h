/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi.h - what the shim must know of the MPICH ABI beyond mpi.h: how to tell that a handle can't be one without asking
 * the library (which would call the wrong error handler), how to recognise the library, and the predefined types and
 * ops by name. Handle values are taken from mpi.h and looked up by value.
 */
#ifndef SHIM_ABI_H
#define SHIM_ABI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* A library is of this ABI when its version text has one of these words and it lacks the other ABIs' symbols. */
#define ABI_VERSION_WORDS {"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPI"}
#define ABI_FOREIGN_SYMBOLS {"ompi_mpi_comm_world", "MPI_ABI_VERSION"}
#define ABI_FOREIGN_FILES {"libmpi_abi."}
#define ABI_NAME "MPICH"

/* A handle as a number. */
#define ABI_WORD(handle) ((uint64_t)(uint32_t)(handle))

/* Handles are words whose top two bits say how the object is kept (0 never is an object) and whose next four bits
 * say of what class it is. */
enum { ABI_CLASS_COMM = 0x1, ABI_CLASS_DATATYPE = 0x3, ABI_CLASS_OP = 0x6 };

static inline bool abi_plausible(int handle, unsigned object_class)
{
    const uint32_t word = (uint32_t)handle;
    return word >> 30 != 0 && ((word >> 26) & 0xfu) == object_class;
}

/* Predefined types with a class the core can reduce (hcore_class_t): the size is asked at run time. A type the
 * installation lacks has the value MPI_DATATYPE_NULL. */
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
    X(MPI_C_BOOL, BO) X(MPI_CXX_BOOL, BO) X(MPI_LOGICAL, BO)                                      \
    X(MPI_BYTE, BY)                                                                               \
    X(MPI_FLOAT_INT, PR) X(MPI_DOUBLE_INT, PR) X(MPI_LONG_INT, PR) X(MPI_SHORT_INT, PR)           \
    X(MPI_2INT, PR) X(MPI_LONG_DOUBLE_INT, PR) X(MPI_2REAL, PR) X(MPI_2DOUBLE_PRECISION, PR)      \
    X(MPI_2INTEGER, PR)                                                                           \
    X(MPI_WCHAR, NONE) X(MPI_PACKED, NONE) X(MPI_CHARACTER, NONE) X(MPI_INTEGER16, NONE)          \
    X(MPI_COMPLEX32, NONE) X(MPIX_C_FLOAT16, F16)

#define ABI_OP_LIST(X)                                                                            \
    X(MPI_SUM, SUM) X(MPI_PROD, PROD) X(MPI_MAX, MAX) X(MPI_MIN, MIN) X(MPI_LAND, LAND)           \
    X(MPI_LOR, LOR) X(MPI_LXOR, LXOR) X(MPI_BAND, BAND) X(MPI_BOR, BOR) X(MPI_BXOR, BXOR)         \
    X(MPI_MINLOC, MINLOC) X(MPI_MAXLOC, MAXLOC)

#endif
