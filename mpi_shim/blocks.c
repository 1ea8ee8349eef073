/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.c - buffer arguments as the core's blocks. A block whose elements lie without gaps is used where it is; all others
 * go packed through scratch. Which of the two is a local matter: the core only sees sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

MPI_Count shim_count(const shim_side_t *side, uint32_t block)
{
    if (!side->counts) {
        return side->count;
    }
    return side->large ? ((const MPI_Count *)side->counts)[block] : ((const int *)side->counts)[block];
}

static MPI_Aint displacement(const shim_side_t *side, const shim_type_t *type, uint32_t block)
{
    if (!side->displs) { /* blocks one after another */
        MPI_Count before = side->counts ? 0 : (MPI_Count)block * side->count;
        for (uint32_t i = 0; side->counts && i < block; i++) {
            before += shim_count(side, i);
        }
        return (MPI_Aint)before * type->extent;
    }
    const MPI_Aint displ = side->large ? ((const MPI_Aint *)side->displs)[block] : ((const int *)side->displs)[block];
    return side->types ? displ : displ * type->extent;
}

bool shim_scratch_make(shim_scratch_t *scratch, uint32_t nblocks)
{
    bool good = true;
    shim_scratch_drop(scratch);
    for (unsigned i = 0; i < 2; i++) {
        scratch->bytes[i] = calloc(nblocks, sizeof(*scratch->bytes[i]));
        scratch->displs[i] = calloc(nblocks, sizeof(*scratch->displs[i]));
        good = good && scratch->bytes[i] && scratch->displs[i];
    }
    return good;
}

void shim_scratch_drop(shim_scratch_t *scratch)
{
    for (unsigned i = 0; i < 2; i++) {
        free(scratch->bytes[i]);
        free(scratch->displs[i]);
        free(scratch->packed[i]);
    }
    *scratch = (shim_scratch_t){.bytes = {NULL, NULL}};
}

static void *packed_room(shim_scratch_t *scratch, unsigned which, size_t bytes)
{
    if (bytes > scratch->packed_room[which]) {
        void *bigger = malloc(bytes);
        if (!bigger) {
            hcore_error("no memory to pack %zu bytes", bytes);
            return NULL;
        }
        free(scratch->packed[which]);
        scratch->packed[which] = bigger;
        scratch->packed_room[which] = bytes;
    }
    return scratch->packed[which];
}

/*
 * MPI refuses types that were not committed. Packing would notice; a type that needs no packing is shown to MPI with a count of
 * zero. Returns what MPI says, raised.
 */
static int check_committed(const shim_comm_t *comm, MPI_Datatype handle, const shim_type_t *type)
{
    char in = 0, out = 0;
    int position = 0;
    return type->predefined || !type->contiguous
               ? MPI_SUCCESS
               : shim_pmpi.Pack(&in, 0, handle, &out, 1, &position, shim_comm_handle(comm));
}

static bool type_of(const shim_side_t *side, const shim_view_t *view, uint32_t block, shim_type_t *type)
{
    if (side->types) {
        return shim_type_get(side->types[block], type);
    }
    *type = view->info;
    return true;
}

static MPI_Datatype handle_of(const shim_side_t *side, uint32_t block)
{
    return side->types ? side->types[block] : side->type;
}

/* A null buffer is an address only together with a type that has absolute displacements. */
static bool null_buffer(const shim_side_t *side, const shim_type_t *type, uint64_t bytes)
{
    return side->buffer == NULL && bytes > 0 && type->predefined;
}

/* Blocks of one size at one distance. */
static int view_uniform(shim_comm_t *comm, shim_scratch_t *scratch, const shim_side_t *side, uint32_t nblocks, unsigned which, shim_view_t *view)
{
    uint64_t bytes, extent;
    if (side->count < 0 || __builtin_mul_overflow((uint64_t)side->count, view->info.size, &bytes) ||
        (bytes > 0 && __builtin_mul_overflow((uint64_t)side->count, (uint64_t)llabs(view->info.extent), &extent)) ||
        null_buffer(side, &view->info, bytes)) {
        return SHIM_PASS;
    }
    view->bytes = bytes;
    view->packed = (side->copy || !view->info.contiguous) && bytes > 0;
    view->blocks = (hcore_blocks_t){.base = side->buffer, .stride = (ptrdiff_t)bytes};
    if (view->packed) {
        view->blocks.base = packed_room(scratch, which, bytes * nblocks);
    }
    return view->packed && !view->blocks.base ? shim_raise(shim_comm_handle(comm), MPI_ERR_NO_MEM) : MPI_SUCCESS;
}

/* Sizes of the blocks of a V or W argument; whether any of them must be packed. */
static int measure(const shim_comm_t *comm, shim_scratch_t *scratch, const shim_side_t *side, uint32_t nblocks, unsigned which,
                   shim_view_t *view)
{
    for (uint32_t i = 0; i < nblocks; i++) {
        shim_type_t type;
        const MPI_Count count = shim_count(side, i);
        uint64_t *bytes = &scratch->bytes[which][i];
        *bytes = 0;
        if (count == 0) {
            continue; /* its type and displacement are not looked at */
        }
        if (count < 0 || !type_of(side, view, i, &type) ||
            __builtin_mul_overflow((uint64_t)count, type.size, bytes) || null_buffer(side, &type, *bytes)) {
            return SHIM_PASS;
        }
        view->packed = view->packed || !type.contiguous;
        const int code = check_committed(comm, handle_of(side, i), &type);
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    return MPI_SUCCESS;
}

static int view_arrays(shim_comm_t *comm, shim_scratch_t *scratch, const shim_side_t *side, uint32_t nblocks, unsigned which, shim_view_t *view)
{
    view->packed = side->copy;
    const int code = measure(comm, scratch, side, nblocks, which, view);
    if (code != MPI_SUCCESS) {
        return code;
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < nblocks; i++) {
        shim_type_t type;
        if (view->packed) {
            scratch->displs[which][i] = (ptrdiff_t)total;
        } else if (scratch->bytes[which][i] > 0 && type_of(side, view, i, &type)) {
            scratch->displs[which][i] = displacement(side, &type, i);
        }
        total += scratch->bytes[which][i];
    }
    view->packed = view->packed && total > 0;
    view->sizes = scratch->bytes[which];
    view->blocks = (hcore_blocks_t){.base = side->buffer, .displs = scratch->displs[which]};
    if (view->packed) {
        view->blocks.base = packed_room(scratch, which, total);
    }
    return view->packed && !view->blocks.base ? shim_raise(shim_comm_handle(comm), MPI_ERR_NO_MEM) : MPI_SUCCESS;
}

int shim_view(shim_comm_t *comm, shim_scratch_t *scratch, const shim_side_t *side, uint32_t nblocks, unsigned which, shim_view_t *view)
{
    *view = (shim_view_t){.info.core = HCORE_TYPE_NONE};
    if (!side->types && !shim_type_get(side->type, &view->info)) {
        return SHIM_PASS;
    }
    const int code = side->types ? MPI_SUCCESS : check_committed(comm, side->type, &view->info);
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (side->raw) {
        view->info.size = (uint64_t)view->info.extent;
        view->info.contiguous = true;
    }
    return side->counts ? view_arrays(comm, scratch, side, nblocks, which, view)
                        : view_uniform(comm, scratch, side, nblocks, which, view);
}

int shim_view_pack(shim_comm_t *comm, const shim_side_t *side, uint32_t first, uint32_t nblocks, const shim_view_t *view)
{
    int code = MPI_SUCCESS;
    for (uint32_t i = first; view->packed && i < first + nblocks && code == MPI_SUCCESS; i++) {
        shim_type_t type;
        const MPI_Count count = shim_count(side, i);
        if (count > 0 && type_of(side, view, i, &type)) {
            const uintptr_t from = (uintptr_t)side->buffer + (uintptr_t)displacement(side, &type, i);
            const ptrdiff_t to = view->sizes ? view->blocks.displs[i] : (ptrdiff_t)i * view->blocks.stride;
            code = shim_pack((const void *)from, (uint64_t)count, handle_of(side, i), &type,
                             (char *)view->blocks.base + to, shim_comm_handle(comm));
        }
    }
    return code;
}

int shim_view_unpack(shim_comm_t *comm, const shim_side_t *side, uint32_t nblocks, const shim_view_t *view)
{
    int code = MPI_SUCCESS;
    for (uint32_t i = 0; view->packed && i < nblocks && code == MPI_SUCCESS; i++) {
        shim_type_t type;
        const MPI_Count count = shim_count(side, i);
        if (count > 0 && type_of(side, view, i, &type)) {
            const uintptr_t to = (uintptr_t)side->buffer + (uintptr_t)displacement(side, &type, i);
            const ptrdiff_t from = view->sizes ? view->blocks.displs[i] : (ptrdiff_t)i * view->blocks.stride;
            code = shim_unpack((const char *)view->blocks.base + from, (void *)to, (uint64_t)count, handle_of(side, i),
                               &type, shim_comm_handle(comm));
        }
    }
    return code;
}
