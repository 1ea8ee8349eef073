/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.c - buffer arguments as the core's blocks. A block whose elements lie without gaps is used where it is; all others
 * go packed through scratch. Which of the two is a local matter: the core only sees sizes.
 *
 * A block is one piece of the program's, or, of a neighbourhood operator, all the pieces of one rank: those lie one after another or are
 * packed so.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

/* Where the program's arrays have it. */
static inline uint32_t index_of(const shim_side_t *side, uint32_t piece)
{
    return side->parts ? side->parts->block[piece] : piece;
}

MPI_Count shim_count(const shim_side_t *side, uint32_t piece)
{
    if (!side->counts) {
        return side->count;
    }
    const uint32_t i = index_of(side, piece);
    return side->large ? ((const MPI_Count *)side->counts)[i] : ((const int *)side->counts)[i];
}

static MPI_Aint displacement(const shim_side_t *side, const shim_type_t *type, uint32_t piece)
{
    const uint32_t block = index_of(side, piece);
    if (side->same) {
        return 0;
    }
    if (!side->displs) { /* blocks one after another */
        MPI_Count before = side->counts ? 0 : (MPI_Count)block * side->count;
        for (uint32_t i = 0; side->counts && i < block; i++) {
            before += shim_count(side, i);
        }
        return (MPI_Aint)before * type->extent;
    }
    const MPI_Aint displ = side->large || side->aints ? ((const MPI_Aint *)side->displs)[block] : ((const int *)side->displs)[block];
    return side->types ? displ : displ * type->extent;
}

bool shim_scratch_make(shim_scratch_t *scratch, uint32_t nblocks)
{
    bool good = true;
    shim_scratch_drop(scratch);
    scratch->room = nblocks;
    for (unsigned i = 0; i < 2; i++) {
        scratch->bytes[i] = calloc(nblocks, sizeof(*scratch->bytes[i]));
        scratch->displs[i] = calloc(nblocks, sizeof(*scratch->displs[i]));
        good = good && scratch->bytes[i] && scratch->displs[i];
    }
    return good;
}

bool shim_scratch_grow(shim_scratch_t *scratch, uint32_t nblocks)
{
    shim_scratch_t bigger = {.room = 0};
    if (nblocks <= scratch->room) {
        return true;
    }
    const bool good = shim_scratch_make(&bigger, nblocks);
    shim_scratch_drop(good ? scratch : &bigger);
    if (good) {
        *scratch = bigger;
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
    *scratch = (shim_scratch_t){.room = 0};
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

static MPI_Datatype handle_of(const shim_side_t *side, uint32_t piece)
{
    return side->types ? side->types[index_of(side, piece)] : side->type;
}

static bool type_of(const shim_side_t *side, const shim_view_t *view, uint32_t piece, shim_type_t *type)
{
    if (side->types) {
        return shim_type_get(handle_of(side, piece), type);
    }
    *type = view->info;
    return true;
}

/* A null buffer is an address only together with a type that has absolute displacements, or with such of its own. */
static bool null_buffer(const shim_side_t *side, const shim_type_t *type, uint64_t bytes, uint32_t piece)
{
    const bool of_its_own = side->types && (side->aints || side->large) && displacement(side, type, piece) != 0;
    return side->buffer == NULL && bytes > 0 && type->predefined && !of_its_own;
}

/* Blocks of one size at one distance. */
static int view_uniform(shim_comm_t *comm, shim_scratch_t *scratch, const shim_side_t *side, uint32_t nblocks, unsigned which, shim_view_t *view)
{
    uint64_t bytes, extent;
    if (side->count < 0 || __builtin_mul_overflow((uint64_t)side->count, view->info.size, &bytes) ||
        (bytes > 0 && __builtin_mul_overflow((uint64_t)side->count, (uint64_t)llabs(view->info.extent), &extent)) ||
        null_buffer(side, &view->info, bytes, 0)) {
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

/* Sizes of the pieces of an argument; whether any of them must be packed. */
static int measure(const shim_comm_t *comm, const shim_side_t *side, uint32_t pieces, shim_view_t *view, uint64_t *sizes)
{
    for (uint32_t i = 0; i < pieces; i++) {
        shim_type_t type;
        const MPI_Count count = shim_count(side, i);
        uint64_t *bytes = &sizes[i];
        *bytes = 0;
        if (count == 0) {
            continue; /* its type and displacement are not looked at */
        }
        if (count < 0 || !type_of(side, view, i, &type) ||
            __builtin_mul_overflow((uint64_t)count, type.size, bytes) || null_buffer(side, &type, *bytes, i)) {
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

/* Where the pieces lie; the bytes of all. */
static uint64_t place(const shim_side_t *side, uint32_t pieces, const shim_view_t *view, const uint64_t *bytes, ptrdiff_t *displs)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        shim_type_t type;
        if (view->packed) {
            displs[i] = (ptrdiff_t)total;
        } else if (bytes[i] > 0 && type_of(side, view, i, &type)) {
            displs[i] = displacement(side, &type, i);
        }
        total += bytes[i];
    }
    return total;
}

/* Blocks put together from parts. False: some block's do not lie one after another. */
static bool join(const shim_parts_t *parts, uint32_t nblocks, const uint64_t *bytes, const ptrdiff_t *displs, uint64_t *block_bytes,
                 ptrdiff_t *block_displs)
{
    bool joined = true;
    for (uint32_t b = 0; b < nblocks; b++) {
        uint64_t sum = 0;
        for (uint32_t i = parts->first[b]; i < parts->first[b + 1]; i++) {
            if (sum == 0) {
                block_displs[b] = displs[i];
            } else if (bytes[i] > 0) {
                joined = joined && displs[i] == block_displs[b] + (ptrdiff_t)sum;
            }
            sum += bytes[i];
        }
        block_bytes[b] = sum;
    }
    return joined;
}

/* Blocks of sizes and at places of their own. Parts have their places in scratch behind the blocks. */
static int view_arrays(shim_comm_t *comm, shim_scratch_t *scratch, const shim_side_t *side, uint32_t nblocks, unsigned which, shim_view_t *view)
{
    const uint32_t pieces = shim_pieces(side, nblocks), before = side->parts ? nblocks : 0;
    uint64_t *bytes = scratch->bytes[which] + before;
    ptrdiff_t *displs = scratch->displs[which] + before;
    view->packed = side->copy;
    const int code = measure(comm, side, pieces, view, bytes);
    if (code != MPI_SUCCESS) {
        return code;
    }
    uint64_t total = place(side, pieces, view, bytes, displs);
    if (side->parts && !join(side->parts, nblocks, bytes, displs, scratch->bytes[which], scratch->displs[which])) {
        view->packed = true;
        total = place(side, pieces, view, bytes, displs);
        join(side->parts, nblocks, bytes, displs, scratch->bytes[which], scratch->displs[which]);
    }
    view->packed = view->packed && total > 0;
    view->sizes = scratch->bytes[which];
    view->places = displs;
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
    return side->counts || side->parts ? view_arrays(comm, scratch, side, nblocks, which, view)
                                       : view_uniform(comm, scratch, side, nblocks, which, view);
}

int shim_view_pack(shim_comm_t *comm, const shim_side_t *side, uint32_t first, uint32_t nblocks, const shim_view_t *view)
{
    int code = MPI_SUCCESS;
    const uint32_t end = first + shim_pieces(side, nblocks);
    for (uint32_t i = first; view->packed && i < end && code == MPI_SUCCESS; i++) {
        shim_type_t type;
        const MPI_Count count = shim_count(side, i);
        if (count > 0 && type_of(side, view, i, &type)) {
            const uintptr_t from = (uintptr_t)side->buffer + (uintptr_t)displacement(side, &type, i);
            const ptrdiff_t to = view->sizes ? view->places[i] : (ptrdiff_t)i * view->blocks.stride;
            code = shim_pack((const void *)from, (uint64_t)count, handle_of(side, i), &type,
                             (char *)view->blocks.base + to, shim_comm_handle(comm));
        }
    }
    return code;
}

int shim_view_unpack(shim_comm_t *comm, const shim_side_t *side, uint32_t nblocks, const shim_view_t *view)
{
    int code = MPI_SUCCESS;
    const uint32_t pieces = shim_pieces(side, nblocks);
    for (uint32_t i = 0; view->packed && i < pieces && code == MPI_SUCCESS; i++) {
        shim_type_t type;
        const MPI_Count count = shim_count(side, i);
        if (count > 0 && type_of(side, view, i, &type)) {
            const uintptr_t to = (uintptr_t)side->buffer + (uintptr_t)displacement(side, &type, i);
            const ptrdiff_t from = view->sizes ? view->places[i] : (ptrdiff_t)i * view->blocks.stride;
            code = shim_unpack((const char *)view->blocks.base + from, (void *)to, (uint64_t)count, handle_of(side, i),
                               &type, shim_comm_handle(comm));
        }
    }
    return code;
}
