/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/types.h - the predefined MPI types and ops as the tests know them, with a reference arithmetic of
 * their own.
 *
 * The value of an element is a pure function of (type, op, rank, index), so that every rank computes what any
 * rank sent and the serial result of a reduction without asking anybody. Which op is valid on which type is
 * MPI 4.0's table in 6.9.2.
 */
#ifndef T_MPI_TYPES_H
#define T_MPI_TYPES_H

#include "common.h"

typedef enum {
    FAMILY_INT,
    FAMILY_LOGICAL,
    FAMILY_REAL,
    FAMILY_COMPLEX,
    FAMILY_PAIR,
    FAMILY_BYTE,
    FAMILY_OPAQUE
} family_t;

/* Classes of MPI 4.0, 6.9.2, as bits; an op lists the classes it takes. */
enum {
    CLASS_C_INT = 1,
    CLASS_F_INT = 2,
    CLASS_FLOAT = 4,
    CLASS_LOGICAL = 8,
    CLASS_COMPLEX = 16,
    CLASS_BYTE = 32,
    CLASS_MULTI = 64,
    CLASS_PAIR = 128,
    CLASS_NONE = 0
};

typedef struct {
    size_t offset, size;
} piece_t;

/*
 * Numbers: i signed integer, u unsigned integer, h IEEE binary16, f float, d double, l long double, q
 * binary128; the size of an integer is that of its piece.
 */
#ifdef __x86_64__
enum { LONG_DOUBLE_BYTES = 10 }; /* the other 6 are padding */
#else
enum { LONG_DOUBLE_BYTES = sizeof(long double) };
#endif

/* One predefined type. A pair's first piece is the value, its second the index; a complex has two pieces or
 * one of both. */
typedef struct {
    const char *name;
    MPI_Datatype handle;
    unsigned class;
    family_t family;
    char number;   /* what an element, or each part of it, is */
    char index;    /* pairs: the number of the second piece */
    size_t extent; /* as MPI_Type_get_extent says */
    size_t align;
    piece_t piece[2]; /* bytes that carry data; the rest is padding */
} type_t;

/* SAMPLE marks the types that stand for their kind where all would take too long. */
const type_t *types_table(size_t *count); /* without those that this MPI lacks; valid after MPI_Init */
bool type_is_f90(const type_t *type);     /* made by MPI_Type_create_f90_... */
bool type_is_sample(const type_t *type);
bool type_is_large_sample(const type_t *type);

typedef enum {
    OP_NONE,
    OP_SUM,
    OP_PROD,
    OP_MAX,
    OP_MIN,
    OP_LAND,
    OP_LOR,
    OP_LXOR,
    OP_BAND,
    OP_BOR,
    OP_BXOR,
    OP_MINLOC,
    OP_MAXLOC,
    OP_COUNT
} op_id_t;
typedef struct {
    const char *name;
    MPI_Op handle;
    unsigned classes;
} op_t;
const op_t *op_get(op_id_t id);
bool op_takes(op_id_t id, const type_t *type);

enum { T_MAX_EXTENT = 32 };

/* Writes the element; padding is left alone. OP_NONE: any bits, for data that is only moved. */
void type_value(const type_t *type, op_id_t op, int rank, size_t index, void *element);
/* acc = acc op next, in this order. */
void type_apply(const type_t *type, op_id_t op, void *acc, const void *next);
/* acc of ranks 0..ranks-1 from left to right. */
void type_reduce(const type_t *type, op_id_t op, int ranks, size_t index, void *element);
/* Equal in all bytes that carry data; with `loose` a float may differ by what another order of evaluation can
 * give. */
bool type_equal(const type_t *type, op_id_t op, bool loose, const void *a, const void *b);
void type_print(const type_t *type, const void *element, char *text, size_t size);
void type_copy(const type_t *type, void *to, const void *from); /* data bytes alone */

#endif
