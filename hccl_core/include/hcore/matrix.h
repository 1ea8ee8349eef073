/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/matrix.h - the support matrix as data, and the one function that decides which backend serves a call.
 *
 * A profile is a list of rows (backend, operator, mode -> features and levels), limits of types and ops, and
 * the size up to which AIV is preferred. "atlas-a3" is the vendor's published table, letter by letter; "host"
 * is atlas-a3 plus extension rows for what this core does beyond it on a CPU; a user can write a file.
 */
#ifndef HCORE_MATRIX_H
#define HCORE_MATRIX_H

#include "hcore/config.h"
#include "hcore/types.h"

typedef enum { HCORE_CELL_NO, HCORE_CELL_YES, HCORE_CELL_NA } hcore_cell_t; /* csv: no, yes, na */
typedef enum { HCORE_ORIGIN_ATLAS_A3, HCORE_ORIGIN_HOST, HCORE_ORIGIN_FILE } hcore_origin_t;

const char *hcore_cell_name(hcore_cell_t cell);       /* "no", "yes", "na" */
const char *hcore_origin_name(hcore_origin_t origin); /* "atlas-a3", "host", "file" */

typedef struct {
    hcore_backend_t backend;
    hcore_oper_t oper;
    hcore_mode_t mode;
    hcore_cell_t zero_copy, deterministic, reexecution;
    hcore_cell_t level[HCORE_SPAN_COUNT];
    hcore_origin_t origin;
    const char *note; /* how a doubtful or duplicate row is read; NULL if plain */
} hcore_matrix_row_t;

typedef struct hcore_profile hcore_profile_t;

/*
 * Opens a profile: a built-in name ("atlas-a3", "host") or else the path of a file in the csv format that
 * `hccl_info matrix --format csv` writes (see doc/matrix-file.md). The caller owns it and calls
 * hcore_profile_close. On failure `error` receives one line without newline that names the file, line,
 * field, value and what is allowed; nothing is printed.
 */
hcore_status_t hcore_profile_open(const char *name, hcore_profile_t **profile, char *error,
                                  size_t error_size);
void hcore_profile_close(hcore_profile_t *profile);
const char *hcore_profile_name(const hcore_profile_t *profile);
size_t hcore_profile_rows(const hcore_profile_t *profile, const hcore_matrix_row_t **rows);

/* Reason codes. Columns: name, short text a user can read. Each outcome of a decision has one. */
#define HCORE_REASON_LIST(X)                                                                      \
    X(CHOSEN, "chosen: supported, and preferred for this size")                                   \
    X(CHOSEN_ONLY, "chosen: the only backend that qualifies")                                     \
    X(FORCED, "chosen: the configuration asks for this backend")                                  \
    X(NOT_LISTED, "the profile has no row for this backend, operator and mode")                   \
    X(LEVEL, "the row does not cover the level the ranks span")                                   \
    X(NO_REEXECUTION, "re-execution is on and the row does not support it")                       \
    X(NOT_DETERMINISTIC, "determinism is asked for and the row does not give it")                 \
    X(NO_ZERO_COPY, "zero copy is asked for and the row does not support it")                     \
    X(TYPE, "the profile does not list the data type for this operator on this backend")          \
    X(REDOP, "the profile does not list the reduction op for this type on this backend")          \
    X(TOO_LARGE, "larger than the size up to which this backend is preferred")                    \
    X(TOO_SMALL, "smaller than the size from which this backend is preferred")                    \
    X(SWITCHED_OFF, "the configuration rules this backend out")                                   \
    X(NO_BACKEND, "no backend of the core qualifies")                                             \
    X(CORE_SERVES, "not needed: a backend of the core serves the call")                           \
    X(INTERCOMM, "the communicator is an intercommunicator")                                      \
    X(NO_PATH, "the ranks do not all share memory and there is no transport between them yet")    \
    X(SETUP_FAILED, "shared memory could not be set up on every rank")                            \
    X(BAD_ARGUMENT, "an argument is not plainly valid: MPI reports it")                           \
    X(UNKNOWN_TYPE, "MPI does not define the op on this type, or the type is not a known one")    \
    X(INACTIVE, "the shim is not active")

typedef enum {
#define X(n, t) HCORE_REASON_##n,
    HCORE_REASON_LIST(X)
#undef X
    HCORE_REASON_COUNT
} hcore_reason_t;

const char *hcore_reason_name(hcore_reason_t reason); /* lower case: "not_listed" */
const char *hcore_reason_text(hcore_reason_t reason);

typedef struct {
    hcore_oper_t oper;
    hcore_mode_t mode;
    hcore_span_t span;
    hcore_type_t type;      /* TYPE_NONE for operators that move bytes of any type; OPAQUE with REDOP_USER */
    hcore_redop_t redop;    /* HCORE_REDOP_NONE for operators that do not reduce */
    uint64_t bytes;         /* by hcore_oper_bytes(oper); ignored where that is UNKNOWN */
    uint32_t nranks;
    hcore_size_t aiv_limit; /* takes the place of hcore_aiv_limit; not given: the profile's table */
    bool deterministic, reexecution, zero_copy; /* features asked for */
    bool use_aiv, use_aicpu; /* false: the configuration rules the backend out */
} hcore_query_t;

/*
 * backend  who serves the call; HCORE_BACKEND_MPI if none of the core does
 * reason   why that one
 * passed   for the backends not taken, why (the taken one's entry repeats `reason`; MPI's is CORE_SERVES when
 *          the core takes the call); index by hcore_backend_t
 */
typedef struct {
    hcore_backend_t backend;
    hcore_reason_t reason;
    hcore_reason_t passed[HCORE_BACKEND_COUNT];
} hcore_verdict_t;

/*
 * The part of a query that the knobs set: features asked for, backends ruled out, the size between backends.
 * query->oper and query->span must be set; features that the caller has already asked for stay.
 *   deterministic  HCCL_DETERMINISTIC true or strict
 *   reexecution    HCCL_OP_RETRY_ENABLE on for any level within the span
 *   backends       MPI_SHIM_BACKEND; when auto, HCCL_OP_EXPANSION_MODE, where AI_CPU and AICPU_CacheDisable
 *                  rule AIV out
 *   aiv_limit      MPI_SHIM_AIV_LIMIT
 */
void hcore_query_configure(hcore_query_t *query, const hcore_config_t *config);

/*
 * The decision. Pure, thread safe, never fails. The reason is CHOSEN when the size chose between two backends
 * that both qualify, FORCED when the configuration rules another one out, CHOSEN_ONLY otherwise.
 */
void hcore_decide(const hcore_profile_t *profile, const hcore_query_t *query, hcore_verdict_t *verdict);

/*
 * The same as a step function of size, for a caller that caches: for bytes <= *limit the verdict is *small,
 * above it is *large (query->bytes is ignored). *limit is UINT64_MAX if size does not matter.
 */
void hcore_decide_steps(const hcore_profile_t *profile, const hcore_query_t *query, uint64_t *limit,
                        hcore_verdict_t *small, hcore_verdict_t *large);

/* The threshold table: bytes (by hcore_oper_bytes) up to which AIV is preferred to AI CPU when both qualify and
 * the query does not say otherwise.
 * The only place where sizes that choose a backend stand: hccl_core/matrix/thresholds.c. */
uint64_t hcore_aiv_limit(const hcore_profile_t *profile, hcore_oper_t oper, uint32_t nranks);

#endif
