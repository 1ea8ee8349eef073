/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/types.h - the words of the collective core: status codes, data types, reduction ops,
 * operators, backends, modes and levels.
 *
 * Every list stands here once as an X-macro; enums, names, sizes, tests and documents are made from it.
 * The core never includes mpi.h: an MPI type or op reaches it only as one of these values.
 */
#ifndef HCORE_TYPES_H
#define HCORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Result of every core call that can fail. The first function to see a failure logs it; outputs are
 * set only on HCORE_OK. */
#define HCORE_STATUS_LIST(X)                                                                      \
    X(OK, 0, "success")                                                                           \
    X(ERR_PARAM, -1, "invalid argument")                                                          \
    X(ERR_NO_MEMORY, -2, "out of memory")                                                         \
    X(ERR_UNSUPPORTED, -3, "not supported")                                                       \
    X(ERR_SYSTEM, -4, "system call failed")                                                       \
    X(ERR_TIMEOUT, -5, "timed out")                                                               \
    X(ERR_PEER_DEAD, -6, "a peer process has ended")                                              \
    X(ERR_TRUNCATE, -7, "a peer sent more data than the call can take")                           \
    X(ERR_NOT_FOUND, -8, "no such name")                                                          \
    X(ERR_FORMAT, -9, "malformed input")                                                          \
    X(ERR_CALLBACK, -10, "a callback of the caller failed")

typedef enum {
#define X(n, v, t) HCORE_##n = v,
    HCORE_STATUS_LIST(X)
#undef X
} hcore_status_t;

/* Text of a status; never NULL. */
const char *hcore_status_text(hcore_status_t status);

/*
 * Data types. Columns: name, C type, class.
 * Classes: SI signed integer, UI unsigned integer, BO truth value, FP floating point, CX complex,
 * PR value-index pair of MINLOC/MAXLOC, BY uninterpreted bytes.
 * LOGICAL types follow Fortran: any non-zero value is true on input, 1 is written for true.
 */
typedef struct { float v; int i; } hcore_pair_fi_t;
typedef struct { double v; int i; } hcore_pair_di_t;
typedef struct { long v; int i; } hcore_pair_li_t;
typedef struct { short v; int i; } hcore_pair_si_t;
typedef struct { int v; int i; } hcore_pair_ii_t;
typedef struct { long double v; int i; } hcore_pair_ldi_t;
typedef struct { float v; float i; } hcore_pair_ff_t;
typedef struct { double v; double i; } hcore_pair_dd_t;
typedef float _Complex hcore_cf32_t;
typedef double _Complex hcore_cf64_t;
typedef long double _Complex hcore_cfld_t;
typedef struct { uint16_t bits; } hcore_f16_t;  /* IEEE binary16, as bits: not every compiler has it */
typedef struct { uint16_t bits; } hcore_bf16_t; /* bfloat16, the upper half of an fp32 */

#define HCORE_TYPE_LIST(X)                                                                        \
    X(BYTE, uint8_t, BY)                                                                          \
    X(INT8, int8_t, SI)                                                                           \
    X(INT16, int16_t, SI)                                                                         \
    X(INT32, int32_t, SI)                                                                         \
    X(INT64, int64_t, SI)                                                                         \
    X(UINT8, uint8_t, UI)                                                                         \
    X(UINT16, uint16_t, UI)                                                                       \
    X(UINT32, uint32_t, UI)                                                                       \
    X(UINT64, uint64_t, UI)                                                                       \
    X(FP16, hcore_f16_t, FP)                                                                      \
    X(FP32, float, FP)                                                                            \
    X(FP64, double, FP)                                                                           \
    X(FPLD, long double, FP)                                                                      \
    X(FP128, hcore_f128_t, FP)                                                                    \
    X(CFP32, hcore_cf32_t, CX)                                                                    \
    X(CFP64, hcore_cf64_t, CX)                                                                    \
    X(CFPLD, hcore_cfld_t, CX)                                                                    \
    X(BOOL8, uint8_t, BO)                                                                         \
    X(LOGICAL8, int8_t, BO)                                                                       \
    X(LOGICAL16, int16_t, BO)                                                                     \
    X(LOGICAL32, int32_t, BO)                                                                     \
    X(LOGICAL64, int64_t, BO)                                                                     \
    X(PAIR_FP32_INT, hcore_pair_fi_t, PR)                                                         \
    X(PAIR_FP64_INT, hcore_pair_di_t, PR)                                                         \
    X(PAIR_LONG_INT, hcore_pair_li_t, PR)                                                         \
    X(PAIR_SHORT_INT, hcore_pair_si_t, PR)                                                        \
    X(PAIR_INT_INT, hcore_pair_ii_t, PR)                                                          \
    X(PAIR_FPLD_INT, hcore_pair_ldi_t, PR)                                                        \
    X(PAIR_FP32_FP32, hcore_pair_ff_t, PR)                                                        \
    X(PAIR_FP64_FP64, hcore_pair_dd_t, PR)                                                        \
    X(BFP16, hcore_bf16_t, FP)

/* IEEE binary128 where it differs from long double, else long double itself. */
#if defined(__SIZEOF_FLOAT128__)
typedef __float128 hcore_f128_t;
#else
typedef long double hcore_f128_t;
#endif

typedef enum { HCORE_CLASS_BY, HCORE_CLASS_SI, HCORE_CLASS_UI, HCORE_CLASS_BO, HCORE_CLASS_FP,
               HCORE_CLASS_CX, HCORE_CLASS_PR } hcore_class_t;

typedef enum {
#define X(n, t, c) HCORE_TYPE_##n,
    HCORE_TYPE_LIST(X)
#undef X
    HCORE_TYPE_COUNT,
    HCORE_TYPE_OPAQUE = HCORE_TYPE_COUNT, /* elements only a caller's reducer understands */
    HCORE_TYPE_NONE                       /* the operator moves bytes; no type is involved */
} hcore_type_t;

size_t hcore_type_size(hcore_type_t type);          /* bytes of one element; 0 for OPAQUE and NONE */
hcore_class_t hcore_type_class(hcore_type_t type);
const char *hcore_type_name(hcore_type_t type);     /* lower case: "fp32", "int64", "pair_int_int" */
hcore_status_t hcore_type_parse(const char *name, hcore_type_t *type);

#define HCORE_REDOP_LIST(X)                                                                       \
    X(SUM, sum) X(PROD, prod) X(MAX, max) X(MIN, min) X(LAND, land) X(LOR, lor) X(LXOR, lxor)     \
    X(BAND, band) X(BOR, bor) X(BXOR, bxor) X(MINLOC, minloc) X(MAXLOC, maxloc)                   \
    X(REPLACE, replace) X(NO_OP, no_op)

typedef enum {
#define X(n, s) HCORE_REDOP_##n,
    HCORE_REDOP_LIST(X)
#undef X
    HCORE_REDOP_COUNT,
    HCORE_REDOP_USER = HCORE_REDOP_COUNT, /* the caller's reducer */
    HCORE_REDOP_NONE                      /* the operator does not reduce */
} hcore_redop_t;

const char *hcore_redop_name(hcore_redop_t op);
hcore_status_t hcore_redop_parse(const char *name, hcore_redop_t *op);

/*
 * Operators, by their HCCL names; the second block is what MPI has and HCCL lacks.
 * Columns: name, reduces (0/1), bytes: what "bytes" of a decision or threshold means for it:
 *   BUFFER  bytes of one rank's whole vector (AllReduce, Reduce, Scan, Broadcast)
 *   BLOCK   bytes that go between one pair of ranks, or from one rank to all (AllGather, AlltoAll,
 *           Gather, Scatter, ReduceScatter's receive block)
 *   TOTAL   sum over all ranks' blocks (AllGatherV, ReduceScatterV)
 *   UNKNOWN not equal on all ranks, so no decision may depend on it (rule 4.1 of doc/architecture.md)
 */
#define HCORE_OPERATOR_LIST(X)                                                                    \
    X(Broadcast, 0, BUFFER)                                                                       \
    X(AllGather, 0, BLOCK)                                                                        \
    X(AllGatherV, 0, TOTAL)                                                                       \
    X(Reduce, 1, BUFFER)                                                                          \
    X(AllReduce, 1, BUFFER)                                                                       \
    X(Scatter, 0, BLOCK)                                                                          \
    X(ReduceScatter, 1, BLOCK)                                                                    \
    X(ReduceScatterV, 1, TOTAL)                                                                   \
    X(AlltoAll, 0, BLOCK)                                                                         \
    X(AlltoAllV, 0, UNKNOWN)                                                                      \
    X(AlltoAllVC, 0, UNKNOWN)                                                                     \
    X(Send, 0, BUFFER)                                                                            \
    X(Recv, 0, BUFFER)                                                                            \
    X(BatchSendRecv, 0, UNKNOWN)                                                                  \
    X(Barrier, 0, BUFFER)                                                                         \
    X(Gather, 0, BLOCK)                                                                           \
    X(GatherV, 0, UNKNOWN)                                                                        \
    X(ScatterV, 0, UNKNOWN)                                                                       \
    X(AlltoAllW, 0, UNKNOWN)                                                                      \
    X(Scan, 1, BUFFER)                                                                            \
    X(Exscan, 1, BUFFER)                                                                          \
    X(NeighborAllGather, 0, UNKNOWN)                                                              \
    X(NeighborAllGatherV, 0, UNKNOWN)                                                             \
    X(NeighborAlltoAll, 0, UNKNOWN)                                                               \
    X(NeighborAlltoAllV, 0, UNKNOWN)                                                              \
    X(NeighborAlltoAllW, 0, UNKNOWN)

typedef enum {
#define X(n, r, b) HCORE_OPER_##n,
    HCORE_OPERATOR_LIST(X)
#undef X
    HCORE_OPER_COUNT
} hcore_oper_t;

typedef enum {
    HCORE_BYTES_BUFFER,
    HCORE_BYTES_BLOCK,
    HCORE_BYTES_TOTAL,
    HCORE_BYTES_UNKNOWN
} hcore_bytes_kind_t;

const char *hcore_oper_name(hcore_oper_t oper);     /* the HCCL name: "AllReduce" */
hcore_status_t hcore_oper_parse(const char *name, hcore_oper_t *oper); /* case-insensitive */
static inline bool hcore_oper_reduces(hcore_oper_t oper)
{
#define X(n, r, b) | (uint32_t)(r) << HCORE_OPER_##n
    return (uint32_t)oper < HCORE_OPER_COUNT && ((0u HCORE_OPERATOR_LIST(X)) >> oper & 1u) != 0;
#undef X
}
hcore_bytes_kind_t hcore_oper_bytes(hcore_oper_t oper);

/* MPI is not a backend of the core: it is what the caller does when the core declines. */
typedef enum {
    HCORE_BACKEND_AIV,
    HCORE_BACKEND_AICPU,
    HCORE_BACKEND_MPI,
    HCORE_BACKEND_COUNT
} hcore_backend_t;
typedef enum { HCORE_MODE_OP, HCORE_MODE_IR, HCORE_MODE_CAPTURE, HCORE_MODE_COUNT } hcore_mode_t;
typedef enum {
    HCORE_SPAN_NODE,
    HCORE_SPAN_SUPERPOD,
    HCORE_SPAN_INTER_SUPERPOD,
    HCORE_SPAN_COUNT
} hcore_span_t;

const char *hcore_backend_name(hcore_backend_t backend);   /* "aiv", "aicpu", "mpi" */
const char *hcore_mode_name(hcore_mode_t mode);            /* "op", "ir", "capture" */
const char *hcore_span_name(hcore_span_t span);            /* "node", "superpod", "inter_superpod" */
hcore_status_t hcore_backend_parse(const char *name, hcore_backend_t *backend);
hcore_status_t hcore_mode_parse(const char *name, hcore_mode_t *mode);
hcore_status_t hcore_span_parse(const char *name, hcore_span_t *span);

#endif
