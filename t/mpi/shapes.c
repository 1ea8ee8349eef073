/* SPDX-License-Identifier: BSD-3-Clause */
/* t/mpi/shapes.c - see shapes.h. */
#include "shapes.h"

enum { MAX_SHAPES = 10, INT = sizeof(int), INTERLEAVE = 2 };
static shape_t shapes[MAX_SHAPES];
static size_t n_shapes;

static void add(const char *name, MPI_Datatype type, int per_item, const int *offset, int extent)
{
    shape_t *s = &shapes[n_shapes++];
    *s = (shape_t){.name = name, .type = type, .per_item = per_item, .extent = extent};
    memcpy(s->offset, offset, sizeof s->offset);
    if (type != MPI_INT) {
        MPI_Type_commit(&s->type);
    }
}

static MPI_Datatype resized(MPI_Datatype type, int lb, int extent)
{
    MPI_Datatype result;
    MPI_Type_create_resized(type, (MPI_Aint)lb * INT, (MPI_Aint)extent * INT, &result);
    MPI_Type_free(&type);
    return result;
}

static MPI_Datatype make_struct(void)
{
    MPI_Datatype inner, result;
    MPI_Type_contiguous(2, MPI_INT, &inner);
    int lengths[3] = {2, 1, 2};
    MPI_Aint at[3] = {3 * INT, 0, 6 * INT};
    MPI_Datatype types[3] = {MPI_INT, inner, MPI_INT};
    MPI_Type_create_struct(3, lengths, at, types, &result);
    MPI_Type_free(&inner);
    return result;
}

size_t shapes_make(const shape_t **out)
{
    MPI_Datatype t;
    n_shapes = 0;
    add("ints", MPI_INT, SHAPE_INTS, (const int[]){0, 1, 2, 3, 4, 5}, SHAPE_INTS);
    MPI_Type_contiguous(SHAPE_INTS, MPI_INT, &t);
    add("contiguous", t, 1, (const int[]){0, 1, 2, 3, 4, 5}, SHAPE_INTS);
    MPI_Type_vector(3, 2, 4, MPI_INT, &t);
    add("vector", t, 1, (const int[]){0, 1, 4, 5, 8, 9}, 10);
    MPI_Type_vector(3, 2, -4, MPI_INT, &t);
    add("vector with a negative stride", t, 1, (const int[]){0, 1, -4, -3, -8, -7}, 10);
    MPI_Type_indexed(3, (int[]){1, 3, 2}, (int[]){5, 0, -3}, MPI_INT, &t);
    add("indexed, unsorted", t, 1, (const int[]){5, 0, 1, 2, -3, -2}, 9);
    MPI_Type_vector(3, 2, 3, MPI_INT, &t);
    add("resized with a negative lower bound", resized(t, -2, 13), 1, (const int[]){0, 1, 3, 4, 6, 7}, 13);
    MPI_Type_create_subarray(2, (int[]){5, 4}, (int[]){3, 2}, (int[]){1, 1}, MPI_ORDER_C, MPI_INT, &t);
    add("subarray", t, 1, (const int[]){5, 6, 9, 10, 13, 14}, 20);
    add("struct with a gap at its end", resized(make_struct(), 0, 11), 1, (const int[]){3, 4, 0, 1, 6, 7},
        11);
    MPI_Type_create_hindexed_block(2, 3, (MPI_Aint[]){9 * INT, 0}, MPI_INT, &t);
    add("items that interleave", resized(t, 0, 3 * INTERLEAVE), 1, (const int[]){9, 10, 11, 0, 1, 2},
        3 * INTERLEAVE);
    *out = shapes;
    return n_shapes;
}

void shapes_free(void)
{
    for (size_t i = 0; i < n_shapes; i++) {
        if (shapes[i].type != MPI_INT) {
            MPI_Type_free(&shapes[i].type);
        }
    }
}

static size_t slot(const side_t *side, size_t item, size_t i)
{
    return (size_t)((ptrdiff_t)(side->origin + item * (size_t)side->shape->extent) + side->shape->offset[i]);
}

void side_new(side_t *side, const shape_t *shape, size_t items, bool absolute)
{
    int low = 0, high = 0;
    for (int i = 0; i < SHAPE_INTS; i++) {
        low = shape->offset[i] < low ? shape->offset[i] : low;
        high = shape->offset[i] > high ? shape->offset[i] : high;
    }
    side->shape = shape;
    side->origin = (size_t)-low;
    side->absolute = absolute;
    side->type = shape->type;
    size_t ints = items ? (items - 1) * (size_t)shape->extent + (size_t)(high - low + 1) : (size_t)-low;
    t_buf_set(&side->buf, ints * INT, 0);
    if (absolute) {
        MPI_Aint address;
        MPI_Get_address(side->buf.data + side->origin * INT, &address);
        MPI_Type_create_hindexed_block(1, 1, &address, shape->type, &side->type);
        MPI_Type_commit(&side->type);
    }
}

void side_end(side_t *side)
{
    if (side->absolute) {
        MPI_Type_free(&side->type);
    }
}

void *side_address(side_t *side)
{
    return side->absolute ? MPI_BOTTOM : side->buf.data + side->origin * INT;
}

int side_count(const side_t *side, size_t items)
{
    return (int)items * side->shape->per_item;
}

static int value(int rank, size_t index, size_t i)
{
    return (int)t_mix((uint64_t)rank << 40 ^ (index * SHAPE_INTS + i));
}

static void write_items(const side_t *side, const t_buf_t *to, size_t item, int rank, size_t index,
                        size_t items)
{
    for (size_t k = 0; k < items; k++) {
        for (size_t i = 0; i < SHAPE_INTS; i++) {
            int v = value(rank, index + k, i);
            memcpy(to->data + slot(side, item + k, i) * INT, &v, sizeof v);
        }
    }
}

void side_put(side_t *side, size_t item, int rank, size_t index, size_t items)
{
    write_items(side, &side->buf, item, rank, index, items);
}

void side_ready(side_t *side)
{
    t_buf_image(&side->want, &side->buf);
}

void side_want(side_t *side, size_t item, int rank, size_t index, size_t items)
{
    write_items(side, &side->want, item, rank, index, items);
}

void side_check(side_t *side, const char *what)
{
    ptrdiff_t where = 0;
    bool same = t_buf_equal(&side->buf, &side->want, &where);
    int got = 0, wanted = 0;
    if (!same && where >= 0 && (size_t)where + INT <= side->buf.size) {
        memcpy(&got, side->buf.data + where / INT * INT, INT);
        memcpy(&wanted, side->want.data + where / INT * INT, INT);
    }
    t_check(same, "%s (%s%s): int %td, counted from address 0 of the type: got %08x wanted %08x", what,
            side->shape->name, side->absolute ? ", absolute" : "", where / INT - (ptrdiff_t)side->origin,
            (unsigned)got, (unsigned)wanted);
}
