/* SPDX-License-Identifier: BSD-3-Clause */
/* type.c - MPI types and ops as the core's; packing of types whose elements do not lie one after the other. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

enum { TYPE_PLACES = 256, OP_PLACES = 64 }; /* powers of two, much more than predefined handles */

typedef struct {
    MPI_Datatype handle;
    bool used;
    shim_type_t type;
} type_place_t;

typedef struct {
    MPI_Op handle;
    bool used;
    hcore_redop_t op;
} op_place_t;

/* Filled once before the first use, then only read. */
static type_place_t type_table[TYPE_PLACES];
static op_place_t op_table[OP_PLACES];

static unsigned place_of(uint64_t handle, unsigned room)
{
    return (unsigned)(handle * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
}

typedef enum { ROW_BY, ROW_SI, ROW_UI, ROW_BO, ROW_FP, ROW_F16, ROW_F128, ROW_CX, ROW_NONE } row_class_t;

static hcore_type_t by_size(row_class_t class, uint64_t size)
{
    static const struct {
        row_class_t class;
        size_t size;
        hcore_type_t type;
    } rows[] = {
        {ROW_BY, 1, HCORE_TYPE_BYTE},        {ROW_SI, 1, HCORE_TYPE_INT8},
        {ROW_SI, 2, HCORE_TYPE_INT16},       {ROW_SI, 4, HCORE_TYPE_INT32},
        {ROW_SI, 8, HCORE_TYPE_INT64},       {ROW_UI, 1, HCORE_TYPE_UINT8},
        {ROW_UI, 2, HCORE_TYPE_UINT16},      {ROW_UI, 4, HCORE_TYPE_UINT32},
        {ROW_UI, 8, HCORE_TYPE_UINT64},      {ROW_F16, 2, HCORE_TYPE_FP16},
        {ROW_FP, 4, HCORE_TYPE_FP32},        {ROW_FP, 8, HCORE_TYPE_FP64},
        {ROW_FP, sizeof(long double), HCORE_TYPE_FPLD},
        {ROW_F128, sizeof(hcore_f128_t), HCORE_TYPE_FP128},
        {ROW_CX, 8, HCORE_TYPE_CFP32},       {ROW_CX, 16, HCORE_TYPE_CFP64},
        {ROW_CX, sizeof(hcore_cfld_t), HCORE_TYPE_CFPLD},
        {ROW_BO, 2, HCORE_TYPE_LOGICAL16},   {ROW_BO, 4, HCORE_TYPE_LOGICAL32},
        {ROW_BO, 8, HCORE_TYPE_LOGICAL64},   {ROW_BO, 1, HCORE_TYPE_BOOL8},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].class == class && rows[i].size == size) {
            return rows[i].type;
        }
    }
    return HCORE_TYPE_NONE;
}

static bool ask_extent(MPI_Datatype handle, shim_type_t *type)
{
    MPI_Count size = 0;
    if (shim_pmpi.Type_size_x(handle, &size) != MPI_SUCCESS || size == MPI_UNDEFINED ||
        shim_pmpi.Type_get_extent(handle, &type->lb, &type->extent) != MPI_SUCCESS) {
        return false;
    }
    type->size = (uint64_t)size;
    return true;
}

static void add_type(MPI_Datatype handle, const shim_type_t *type)
{
    unsigned i = place_of(ABI_WORD(handle), TYPE_PLACES);
    while (type_table[i].used && type_table[i].handle != handle) {
        i = (i + 1) & (TYPE_PLACES - 1);
    }
    type_table[i] = (type_place_t){handle, true, *type};
}

/* `pair`: what the core calls it, if it is one. A type the library lacks has no size. */
static void add_predefined(MPI_Datatype handle, row_class_t class, hcore_type_t pair)
{
    shim_type_t type = {.predefined = true};
    if (handle == MPI_DATATYPE_NULL || !ask_extent(handle, &type) || type.size == 0) {
        return;
    }
    type.contiguous = type.size == (uint64_t)type.extent;
    type.core = pair != HCORE_TYPE_NONE ? pair : by_size(class, type.size);
    /* A pair the library lays out otherwise than C does is only moved. */
    if (type.core != HCORE_TYPE_NONE && hcore_type_size(type.core) != (size_t)type.extent) {
        type.core = HCORE_TYPE_NONE;
    }
    add_type(handle, &type);
}

static void add_op(MPI_Op handle, hcore_redop_t op)
{
    unsigned i = place_of(ABI_WORD(handle), OP_PLACES);
    while (op_table[i].used) {
        i = (i + 1) & (OP_PLACES - 1);
    }
    op_table[i] = (op_place_t){handle, true, op};
}

void shim_type_init(void)
{
#define X(name, class) add_predefined(name, ROW_##class, HCORE_TYPE_NONE);
    ABI_TYPE_LIST(X)
#undef X
#define X(name, pair) add_predefined(name, ROW_NONE, HCORE_TYPE_PAIR_##pair);
    ABI_PAIR_LIST(X)
#undef X
#define X(name, op) add_op(name, HCORE_REDOP_##op);
    ABI_OP_LIST(X)
#undef X
}

/*
 * Whether a type is `n` copies of a gapless predefined type in order. Only duplicates and contiguous ones are looked into: size
 * equal to extent alone would also hold for a type that permutes its parts.
 */
static bool is_contiguous(MPI_Datatype handle, const shim_type_t *type)
{
    int ni = 0, na = 0, nd = 0, combiner = 0, count = 0;
    if (type->lb != 0 || type->size != (uint64_t)type->extent ||
        shim_pmpi.Type_get_envelope(handle, &ni, &na, &nd, &combiner) != MPI_SUCCESS) {
        return false;
    }
    if (combiner == MPI_COMBINER_NAMED) {
        return true;
    }
    if ((combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) || ni > 1 || na > 0 || nd != 1) {
        return false;
    }
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    shim_type_t of;
    if (shim_pmpi.Type_get_contents(handle, ni, na, nd, &count, NULL, &inner) != MPI_SUCCESS) {
        return false;
    }
    const bool good = shim_type_get(inner, &of) && of.contiguous;
    shim_pmpi.Type_get_envelope(inner, &ni, &na, &nd, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        shim_pmpi.Type_free(&inner); /* get_contents made a reference of ours */
    }
    return good;
}

bool shim_type_get(MPI_Datatype handle, shim_type_t *type)
{
    for (unsigned i = place_of(ABI_WORD(handle), TYPE_PLACES); type_table[i].used; i = (i + 1) & (TYPE_PLACES - 1)) {
        if (type_table[i].handle == handle) {
            *type = type_table[i].type;
            return true;
        }
    }
    *type = (shim_type_t){.core = HCORE_TYPE_NONE};
    if (!abi_plausible(handle, ABI_CLASS_DATATYPE) || !ask_extent(handle, type)) {
        return false;
    }
    type->contiguous = is_contiguous(handle, type);
    return true;
}

hcore_redop_t shim_op_get(MPI_Op handle)
{
    for (unsigned i = place_of(ABI_WORD(handle), OP_PLACES); op_table[i].used; i = (i + 1) & (OP_PLACES - 1)) {
        if (op_table[i].handle == handle) {
            return op_table[i].op;
        }
    }
    /* MPI_REPLACE and MPI_NO_OP are predefined too, and not for collectives: MPI says so. */
    const bool predefined = handle == MPI_REPLACE || handle == MPI_NO_OP;
    return abi_plausible(handle, ABI_CLASS_OP) && !predefined ? HCORE_REDOP_USER : HCORE_REDOP_NONE;
}

enum { PACK_BYTES = 1 << 30 }; /* of one call to the library, whose sizes are int */

/*
 * A typed place for MPI_Pack and MPI_Unpack, which refuse the null buffer of a type with absolute addresses (MPI_BOTTOM): the same
 * place seen from an address that is not null.
 */
typedef struct {
    char *buffer;
    MPI_Datatype type;
    bool shifted; /* type is ours to free */
} place_t;

static int get_place(uintptr_t address, MPI_Datatype type, place_t *place)
{
    static char anchor;
    *place = (place_t){(char *)address, type, false};
    if (address != 0) {
        return MPI_SUCCESS;
    }
    const int one = 1;
    const MPI_Aint back = -(MPI_Aint)(uintptr_t)&anchor;
    int code = shim_pmpi.Type_create_hindexed(1, &one, &back, type, &place->type);
    if (code == MPI_SUCCESS) {
        place->buffer = &anchor;
        place->shifted = true;
        code = shim_pmpi.Type_commit(&place->type);
    }
    return code;
}

static void put_place(place_t *place)
{
    if (place->shifted) {
        shim_pmpi.Type_free(&place->type);
    }
}

typedef enum { TO_PACKED, FROM_PACKED } direction_t;

/* The library's packing with sizes of int; with those of MPI_Count for what does not fit, where the library has it. */
static int move_packed(direction_t direction, const place_t *place, MPI_Count count, char *packed, MPI_Count bytes, MPI_Comm comm)
{
    int position = 0;
    MPI_Count far = 0;
    const bool out = direction == TO_PACKED;
    if (bytes <= INT_MAX) {
        return out ? shim_pmpi.Pack(place->buffer, (int)count, place->type, packed, (int)bytes, &position, comm)
                   : shim_pmpi.Unpack(packed, (int)bytes, &position, place->buffer, (int)count, place->type, comm);
    }
    if (!shim_pmpi.Pack_c || !shim_pmpi.Unpack_c) {
        return shim_raise(comm, MPI_ERR_COUNT);
    }
    return out ? shim_pmpi.Pack_c(place->buffer, count, place->type, packed, bytes, &far, comm)
               : shim_pmpi.Unpack_c(packed, bytes, &far, place->buffer, count, place->type, comm);
}

/* At most PACK_BYTES, unless one element is larger. */
static int transfer_step(direction_t direction, uintptr_t address, uint64_t count, MPI_Datatype handle, char *packed,
                         uint64_t bytes, MPI_Comm comm)
{
    place_t place;
    int code = get_place(address, handle, &place);
    if (code == MPI_SUCCESS) {
        code = move_packed(direction, &place, (MPI_Count)count, packed, (MPI_Count)bytes, comm);
    }
    put_place(&place);
    return code;
}

static int transfer(direction_t direction, uintptr_t buffer, uint64_t count, MPI_Datatype handle, const shim_type_t *type,
                    char *packed, MPI_Comm comm)
{
    const uint64_t step = type->size > 0 && type->size < PACK_BYTES ? PACK_BYTES / type->size : 1;
    int code = MPI_SUCCESS;
    for (uint64_t i = 0; i < count && type->size > 0 && code == MPI_SUCCESS; i += step) {
        const uint64_t n = count - i < step ? count - i : step;
        code = transfer_step(direction, buffer + (uintptr_t)((MPI_Aint)i * type->extent), n, handle,
                             packed + i * type->size, n * type->size, comm);
    }
    return code;
}

int shim_pack(const void *buffer, uint64_t count, MPI_Datatype handle, const shim_type_t *type, void *packed, MPI_Comm comm)
{
    if (type->contiguous) {
        memcpy(packed, buffer, count * type->size);
        return MPI_SUCCESS;
    }
    return transfer(TO_PACKED, (uintptr_t)buffer, count, handle, type, packed, comm);
}

int shim_unpack(const void *packed, void *buffer, uint64_t count, MPI_Datatype handle, const shim_type_t *type,
                MPI_Comm comm)
{
    if (type->contiguous) {
        memcpy(buffer, packed, count * type->size);
        return MPI_SUCCESS;
    }
    return transfer(FROM_PACKED, (uintptr_t)buffer, count, handle, type, (char *)(uintptr_t)packed, comm);
}

/* A typed buffer of n elements: `base` is what free() takes, the elements begin where lb says. */
typedef struct {
    char *base, *first;
} typed_t;

static bool get_typed(const shim_user_op_t *user, size_t n, typed_t *typed)
{
    MPI_Aint true_lb = 0, true_extent = 0;
    shim_pmpi.Type_get_true_extent(user->type, &true_lb, &true_extent);
    const MPI_Aint span = (MPI_Aint)(n - 1) * user->info.extent;
    const MPI_Aint low = (span < 0 ? span : 0) + true_lb;
    const size_t bytes = (size_t)((span < 0 ? -span : span) + true_extent);
    typed->base = calloc(1, bytes > 0 ? bytes : 1); /* gaps are defined, whatever the function reads */
    typed->first = (char *)((uintptr_t)typed->base - (uintptr_t)low);
    return typed->base != NULL;
}

static int apply(const shim_user_op_t *user, const void *const *src, unsigned nsrc, size_t n, typed_t *left, typed_t *right)
{
    int code = shim_unpack(src[0], left->first, n, user->type, &user->info, user->comm);
    for (unsigned i = 1; i < nsrc && code == MPI_SUCCESS; i++) {
        code = shim_unpack(src[i], right->first, n, user->type, &user->info, user->comm);
        for (size_t done = 0; done < n && code == MPI_SUCCESS;) { /* right = left op right */
            const size_t step = n - done < INT_MAX ? n - done : INT_MAX;
            const MPI_Aint shift = (MPI_Aint)done * user->info.extent;
            code = shim_pmpi.Reduce_local(left->first + shift, right->first + shift, (int)step, user->type, user->op);
            done += step;
        }
        const typed_t swap = *left;
        *left = *right;
        *right = swap;
    }
    return code;
}

/* The arguments of a reducer. */
typedef struct {
    shim_user_op_t *user;
    void *dst;
    const void *const *src;
    unsigned nsrc;
    size_t n;
} reduction_t;

static void reduce(void *context)
{
    const reduction_t *r = context;
    shim_user_op_t *user = r->user;
    void *dst = r->dst;
    const void *const *src = r->src;
    const unsigned nsrc = r->nsrc;
    const size_t n = r->n;
    typed_t left = {NULL, NULL}, right = {NULL, NULL};
    int code = get_typed(user, n, &left) && get_typed(user, n, &right) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS) {
        code = apply(user, src, nsrc, n, &left, &right);
    }
    if (code == MPI_SUCCESS) {
        code = shim_pack(left.first, n, user->type, &user->info, dst, user->comm);
    }
    user->error = user->error == MPI_SUCCESS ? code : user->error;
    free(left.base);
    free(right.base);
}

/* src[0] op src[1] op ..., from the left, in the program's own type, by the program's own function: on a stack that is the program's too. */
void shim_user_reduce(const hcore_reducer_t *self, void *dst, const void *const *src, unsigned nsrc, size_t n)
{
    reduction_t reduction = {self->context, dst, src, nsrc, n};
    if (n > 0) {
        if (shim_is_helper()) {
            shim_task_yield();
        }
        hcore_task_outside(reduce, &reduction);
    }
}
