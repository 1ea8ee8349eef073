/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi.h - what the shim must know of the Open MPI ABI (4.x, 5.0) beyond mpi.h.
 *
 * Handles are pointers, and a predefined handle is the address of a variable of the library, which the shim must not refer to: it is not
 * linked with one. So the names of mpi.h become reads of a table of addresses that are looked up in the library the process has.
 */
#ifndef SHIM_ABI_H
#define SHIM_ABI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/types.h"

/* A library is of this ABI when its version text has one of these words, and it has its own symbols and lacks the other ABIs'. */
#define ABI_VERSION_WORDS {"Open MPI", "Spectrum MPI"}
#define ABI_OWN_SYMBOLS {"PMPI_Init", "ompi_mpi_comm_world"}
#define ABI_FOREIGN_SYMBOLS {"MPIR_Err_create_code", "MPI_ABI_VERSION"}
#define ABI_FOREIGN_FILES {"libmpi_abi."}
#define ABI_NAME "Open MPI"
#define ABI_LIBRARY "libmpi_shim_ompi.so"

/* Variables in which launchers say how many ranks they put on this host. */
#define ABI_RANKS_VARIABLES {"OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"}

/* Variables of the library that the shim names; those that no library lacks, and types that one may. */
#define ABI_NEEDED_LIST(X)                                                                                    \
    X(ompi_mpi_comm_world) X(ompi_mpi_comm_self) X(ompi_mpi_comm_null) X(ompi_request_null) X(ompi_mpi_info_null) \
    X(ompi_mpi_datatype_null) X(ompi_mpi_byte) X(ompi_mpi_packed)                                             \
    X(ompi_mpi_op_null) X(ompi_mpi_op_max) X(ompi_mpi_op_min) X(ompi_mpi_op_sum) X(ompi_mpi_op_prod)          \
    X(ompi_mpi_op_land) X(ompi_mpi_op_band) X(ompi_mpi_op_lor) X(ompi_mpi_op_bor) X(ompi_mpi_op_lxor)         \
    X(ompi_mpi_op_bxor) X(ompi_mpi_op_maxloc) X(ompi_mpi_op_minloc) X(ompi_mpi_op_replace) X(ompi_mpi_op_no_op)
#define ABI_TYPE_SYMBOL_LIST(X)                                                                               \
    X(ompi_mpi_char) X(ompi_mpi_signed_char) X(ompi_mpi_short) X(ompi_mpi_int) X(ompi_mpi_long)               \
    X(ompi_mpi_long_long_int) X(ompi_mpi_int8_t) X(ompi_mpi_int16_t) X(ompi_mpi_int32_t) X(ompi_mpi_int64_t)  \
    X(ompi_mpi_aint) X(ompi_mpi_offset) X(ompi_mpi_count) X(ompi_mpi_unsigned_char) X(ompi_mpi_unsigned_short) \
    X(ompi_mpi_unsigned) X(ompi_mpi_unsigned_long) X(ompi_mpi_unsigned_long_long) X(ompi_mpi_uint8_t)         \
    X(ompi_mpi_uint16_t) X(ompi_mpi_uint32_t) X(ompi_mpi_uint64_t) X(ompi_mpi_integer) X(ompi_mpi_integer1)   \
    X(ompi_mpi_integer2) X(ompi_mpi_integer4) X(ompi_mpi_integer8) X(ompi_mpi_integer16) X(ompi_mpi_float)    \
    X(ompi_mpi_double) X(ompi_mpi_long_double) X(ompi_mpi_real) X(ompi_mpi_dblprec) X(ompi_mpi_real4)         \
    X(ompi_mpi_real8) X(ompi_mpi_real16) X(ompi_mpi_c_float_complex) X(ompi_mpi_c_double_complex)             \
    X(ompi_mpi_c_long_double_complex) X(ompi_mpi_cxx_cplex) X(ompi_mpi_cxx_dblcplex) X(ompi_mpi_cxx_ldblcplex) \
    X(ompi_mpi_cplex) X(ompi_mpi_dblcplex) X(ompi_mpi_complex8) X(ompi_mpi_complex16) X(ompi_mpi_complex32)   \
    X(ompi_mpi_c_bool) X(ompi_mpi_cxx_bool) X(ompi_mpi_logical) X(ompi_mpi_logical1) X(ompi_mpi_logical2)     \
    X(ompi_mpi_logical4) X(ompi_mpi_logical8) X(ompi_mpi_wchar) X(ompi_mpi_character) X(ompi_mpi_float_int)   \
    X(ompi_mpi_double_int) X(ompi_mpi_long_int) X(ompi_mpi_short_int) X(ompi_mpi_2int) X(ompi_mpi_longdbl_int) \
    X(ompi_mpi_2real) X(ompi_mpi_2integer) X(ompi_mpi_2dblprec)

typedef struct {
#define X(name) void *name;
    ABI_NEEDED_LIST(X) ABI_TYPE_SYMBOL_LIST(X)
#undef X
} abi_global_t;

extern abi_global_t abi_global; /* set before the first wrapper is called, then only read */

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)abi_global.global)

/* A handle as a number, below 2^63. */
#define ABI_WORD(handle) ((uint64_t)(uintptr_t)(handle))

typedef enum { ABI_CLASS_COMM, ABI_CLASS_DATATYPE, ABI_CLASS_OP } abi_class_t;

/* An address says nothing of what lies there: not the null handle of its class, and aligned as an object is. */
static inline bool abi_plausible(const void *handle, abi_class_t object_class)
{
    const void *null = object_class == ABI_CLASS_COMM       ? abi_global.ompi_mpi_comm_null
                       : object_class == ABI_CLASS_DATATYPE ? abi_global.ompi_mpi_datatype_null
                                                            : abi_global.ompi_mpi_op_null;
    return handle && handle != null && (uintptr_t)handle % _Alignof(void *) == 0;
}

/* Fills the table from the library found. NULL: all that is needed is there; else the name of what is not. */
const char *abi_find(void *(*look_up)(void *library, const char *name), void *library);

#endif
