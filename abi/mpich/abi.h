/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi.h - what the shim must know of the MPICH ABI beyond mpi.h: how to tell that a handle can't be one without asking
 * the library (which would call the wrong error handler), how to recognise the library, and what its launchers say. Handle values are
 * constants of mpi.h.
 */
#ifndef SHIM_ABI_H
#define SHIM_ABI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/types.h"

/* A library is of this ABI when its version text has one of these words, and it has its own symbols and lacks the other ABIs'. */
#define ABI_VERSION_WORDS {"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPI"}
#define ABI_OWN_SYMBOLS {"PMPI_Init"}
#define ABI_FOREIGN_SYMBOLS {"ompi_mpi_comm_world", "MPI_ABI_VERSION"}
#define ABI_FOREIGN_FILES {"libmpi_abi."}
#define ABI_NAME "MPICH"
#define ABI_LIBRARY "libmpi_shim.so"

/* Variables in which launchers say how many ranks they put on this host. */
#define ABI_RANKS_VARIABLES {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"}

/* A handle as a number, below 2^63. */
#define ABI_WORD(handle) ((uint64_t)(uint32_t)(handle))

/* Handles are words whose top two bits say how the object is kept (0 never is an object) and whose next four bits
 * say of what class it is. */
typedef enum { ABI_CLASS_COMM = 0x1, ABI_CLASS_DATATYPE = 0x3, ABI_CLASS_OP = 0x6 } abi_class_t;

static inline bool abi_plausible(int handle, abi_class_t object_class)
{
    const uint32_t word = (uint32_t)handle;
    return word >> 30 != 0 && ((word >> 26) & 0xfu) == object_class;
}

/* Looks up in the library found what is no constant of mpi.h. NULL: all is there; else the name of what is not. */
static inline const char *abi_find(void *(*look_up)(void *library, const char *name), void *library)
{
    (void)look_up, (void)library;
    return NULL;
}

#endif
