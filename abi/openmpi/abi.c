/* SPDX-License-Identifier: BSD-3-Clause */
/* abi.c - the addresses of Open MPI's predefined objects. */
#include <stddef.h>

#include "abi.h"

abi_global_t abi_global;

const char *abi_find(void *(*look_up)(void *library, const char *name), void *library)
{
    abi_global_t found = {NULL};
#define X(name)                               \
    found.name = look_up(library, #name);     \
    if (!found.name) {                        \
        return #name;                         \
    }
    ABI_NEEDED_LIST(X)
#undef X
#define X(name)                                                       \
    found.name = look_up(library, #name);                             \
    found.name = found.name ? found.name : found.ompi_mpi_datatype_null;
    ABI_TYPE_SYMBOL_LIST(X)
#undef X
    abi_global = found;
    return NULL;
}
