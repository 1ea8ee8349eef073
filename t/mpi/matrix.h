/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/matrix.h - the pieces of coll_matrix: one cell of the space (function x type x op x count x root x in
 * place x form), the areas it sends from and receives into, and the tables of functions.
 */
#ifndef T_MPI_MATRIX_H
#define T_MPI_MATRIX_H

#include "types.h"

typedef struct {
    const char *func;
    const type_t *type;
    op_id_t op;
    int count, root;
    bool in_place;
    bool large; /* the _c form */
    size_t serial;
} cell_t;

typedef struct {
    const char *name;
    bool rooted, can_in_place;
    void (*run)(const cell_t *cell);
} func_t;

/* Both end with a NULL name. */
extern const func_t move_funcs[], reduce_funcs[];

/* What a call uses, and what it shall be afterwards. */
typedef struct {
    t_buf_t buf, want;
} area_t;

void area_new(area_t *area, const cell_t *cell, size_t elements);
/* Inputs: n values of (rank, index...) at element `at`. */
void area_put(area_t *area, const cell_t *cell, size_t at, int rank, size_t index, size_t n);
/* From here on the area shall stay as it is but for what the area_want_ calls say. */
void area_ready(area_t *area);
void area_want_moved(area_t *area, const cell_t *cell, size_t at, int rank, size_t index, size_t n);
void area_want_reduced(area_t *area, const cell_t *cell, size_t at, int ranks, size_t index, size_t n);
void area_check(area_t *area, const cell_t *cell, const char *what);
/* n elements at `at` must have the same bits on all ranks. */
void area_same(area_t *area, const cell_t *cell, size_t at, size_t n);
void *area_at(area_t *area, const cell_t *cell, size_t at);
void cell_check_code(const cell_t *cell, int code);

/* The blocks of a v-collective. */
enum { MAX_RANKS = 64 };
typedef struct {
    int n[MAX_RANKS], d[MAX_RANKS];
    MPI_Count nc[MAX_RANKS];
    MPI_Aint dc[MAX_RANKS];
    size_t elements;
} layout_t;
typedef int (*block_count_t)(int peer, int count);
/* Ascending or descending by rank, with a hole of one element after each block, or dense and ascending. */
typedef enum { LAYOUT_UP, LAYOUT_DOWN, LAYOUT_DENSE } layout_order_t;
void layout_set(layout_t *layout, int count, block_count_t block, layout_order_t order);

/* What the standard calls not significant is filled with these. */
#define JUNK_BUFFER t_junk
#define JUNK_INTS   ((int *)t_junk)
#define JUNK_COUNTS ((MPI_Count *)t_junk)
#define JUNK_AINTS  ((MPI_Aint *)t_junk)
#define JUNK_COUNT  T_JUNK_COUNT
#define JUNK_TYPE   MPI_DATATYPE_NULL

/* Both forms of a call whose arguments convert. */
#define CALL(large, name, ...) ((large) ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))

#endif
