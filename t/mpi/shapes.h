/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/shapes.h - derived datatypes whose type map the tests know by themselves. One item of every shape has
 * the signature of SHAPE_INTS MPI_INTs, so that any may be sent and any other received; offsets are in ints.
 */
#ifndef T_MPI_SHAPES_H
#define T_MPI_SHAPES_H

#include "common.h"

enum { SHAPE_INTS = 6 };
typedef struct {
    const char *name;
    MPI_Datatype type;
    int per_item;           /* how many of the type make an item: SHAPE_INTS for MPI_INT itself, else 1 */
    int offset[SHAPE_INTS]; /* where the int number i of an item lies */
    int extent;             /* from item to item */
} shape_t;

size_t shapes_make(const shape_t **shapes);
void shapes_free(void);

/* One buffer seen through a shape, and what it shall become. Nothing but the ints of the type map may be
 * written. */
typedef struct {
    const shape_t *shape;
    t_buf_t buf, want;
    size_t origin;     /* int index of address 0 of the type map */
    bool absolute;     /* MPI_BOTTOM with addresses in the type */
    MPI_Datatype type; /* what the call gets */
} side_t;

void side_new(side_t *side, const shape_t *shape, size_t items, bool absolute);
void side_put(side_t *side, size_t item, int rank, size_t index, size_t items);
void side_ready(side_t *side);
void side_want(side_t *side, size_t item, int rank, size_t index, size_t items);
void side_check(side_t *side, const char *what);
void side_end(side_t *side);
void *side_address(side_t *side);                 /* the buffer argument */
int side_count(const side_t *side, size_t items); /* the count argument, or a displacement */

#endif
