/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - who gets memory of the shared heap: the switch of malloc.c, and MPI_Alloc_mem. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "hcore/heap.h"
#include "mpi_shim/shim.h"

static hcore_heap_use_t wanted(void)
{
    hcore_config_t config;
    hcore_config_load(&config, environ, NULL, NULL); /* what is wrong in it is said when the shim starts */
    const hcore_heap_use_t use = config.disable ? HCORE_HEAP_OFF : (hcore_heap_use_t)config.heap;
    hcore_config_release(&config);
    return use;
}

void shim_memory_begin(bool ours)
{
    shim_heap_serve(ours && wanted() == HCORE_HEAP_ON);
}

/* A program linked with its MPI may allocate what it will send long before MPI_Init. */
__attribute__((constructor)) static void begin(void)
{
    if (shim_has_our_names(RTLD_DEFAULT)) {
        shim_memory_begin(true);
    }
}

/* 0: no alignment that we could keep. */
static size_t alignment(MPI_Info info)
{
    char text[32] = "";
    int there = 0;
    if (info == MPI_INFO_NULL ||
        shim_pmpi.Info_get(info, "mpi_minimum_memory_alignment", sizeof(text) - 1, text, &there) != MPI_SUCCESS || !there) {
        return 1;
    }
    char *end;
    const unsigned long long align = strtoull(text, &end, 10);
    return *end || (align & (align - 1)) != 0 ? 0 : (size_t)align;
}

int shim_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    enum { LEAST = 4096 }; /* a block of the heap is a page at least */
    int initialized = 0;
    shim_pmpi.Initialized(&initialized);
    if (initialized && size >= LEAST && baseptr && shim_start() && shim.config.heap != HCORE_HEAP_OFF &&
        hcore_heap_start() == HCORE_OK) {
        const size_t align = alignment(info);
        void *block = align > 0 ? hcore_heap_alloc((size_t)size, align, false) : NULL;
        if (block) {
            *(void **)baseptr = block;
            return MPI_SUCCESS;
        }
    }
    /* What lies in the heap is ours to free: MPI's own blocks must not, which may also begin within what it has allocated. */
    const bool rested = shim_heap_rest(true);
    const int code = shim_pmpi.Alloc_mem(size, info, baseptr);
    shim_heap_rest(rested);
    return code;
}

int shim_Free_mem(void *base)
{
    if (hcore_heap_owns(base)) {
        hcore_heap_free(base);
        return MPI_SUCCESS;
    }
    return shim_pmpi.Free_mem(base);
}
