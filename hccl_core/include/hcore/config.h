/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/config.h - the knobs. One table row (hccl_core/util/config_table.h) per knob carries its name, type,
 * default, range and help; the parsers of environment and file, hccl_info and the documents read that table.
 *
 * A value comes from the environment, else from the configuration file, else it is the default. One that is
 * not allowed yields one message naming the variable, the value and what is allowed, and what was in force
 * stays; the caller decides whether that is fatal (MPI_SHIM_STRICT).
 */
#ifndef HCORE_CONFIG_H
#define HCORE_CONFIG_H

#include "hcore/types.h"

typedef enum {
    HCORE_DETERMINISTIC_FALSE,
    HCORE_DETERMINISTIC_TRUE,
    HCORE_DETERMINISTIC_STRICT
} hcore_determinism_t;
typedef enum {
    HCORE_EXPANSION_AUTO,
    HCORE_EXPANSION_AI_CPU,
    HCORE_EXPANSION_AI_CPU_CACHE_DISABLE,
    HCORE_EXPANSION_AIV
} hcore_expansion_mode_t;
typedef enum { HCORE_USE_AUTO, HCORE_USE_AIV, HCORE_USE_AICPU, HCORE_USE_MPI } hcore_use_t;
typedef enum { HCORE_CMA_AUTO, HCORE_CMA_OFF } hcore_cma_t;
typedef enum { HCORE_YIELD_AUTO, HCORE_YIELD_ON, HCORE_YIELD_OFF } hcore_yield_t;
typedef enum { HCORE_HEAP_ON, HCORE_HEAP_OFF, HCORE_HEAP_ALLOC_MEM } hcore_heap_use_t;
typedef enum {
    HCORE_LOG_OFF,
    HCORE_LOG_ERROR,
    HCORE_LOG_WARN,
    HCORE_LOG_INFO,
    HCORE_LOG_DEBUG
} hcore_log_level_t;

/* An operator's size, where one is given; UINT64_MAX: no limit. */
typedef struct {
    bool given;
    uint64_t bytes;
} hcore_size_t;

typedef struct {
    /* vendor names and meanings */
    int op_expansion_mode;      /* HCCL_OP_EXPANSION_MODE: hcore_expansion_mode_t; unset means AUTO */
    int deterministic;          /* HCCL_DETERMINISTIC: hcore_determinism_t */
    const char *algo;           /* HCCL_ALGO: the text, checked; see hcore_config_algo */
    uint64_t buffsize;          /* HCCL_BUFFSIZE: bytes (given in MB), bound of the CCL windows of one rank */
    bool retry[3];              /* HCCL_OP_RETRY_ENABLE: L0, L1, L2 */
    uint32_t retry_max, retry_hold_ms; /* HCCL_OP_RETRY_PARAMS */
    uint32_t retry_interval_ms;
    uint32_t connect_timeout_s; /* HCCL_CONNECT_TIMEOUT */
    uint32_t exec_timeout_s;    /* HCCL_EXEC_TIMEOUT, 0 = never */
    /* ours */
    bool disable;               /* MPI_SHIM_DISABLE */
    bool strict;                /* MPI_SHIM_STRICT */
    const char *profile;        /* MPI_SHIM_PROFILE: atlas-a3, host or a path */
    int backend;                /* MPI_SHIM_BACKEND: hcore_use_t */
    int log_level;              /* MPI_SHIM_LOG: level[:file] */
    const char *log_file;       /* NULL: standard error */
    const char *report;         /* MPI_SHIM_REPORT: path, NULL = none */
    int cma;                    /* MPI_SHIM_CMA: hcore_cma_t */
    int heap;                   /* MPI_SHIM_HEAP: hcore_heap_use_t */
    int yield;                  /* MPI_SHIM_YIELD: hcore_yield_t */
    bool async;                 /* MPI_SHIM_ASYNC */
    hcore_size_t aiv_limit[HCORE_OPER_COUNT]; /* MPI_SHIM_AIV_LIMIT: bytes (by hcore_oper_bytes) */
    hcore_size_t heap_from[HCORE_OPER_COUNT]; /* MPI_SHIM_HEAP_FROM: bytes as for aiv_limit; of a message where it has none */
    const char *config_file;    /* MPI_SHIM_CONFIG_FILE: path */
    uint64_t given;             /* bit per row of the knob table: the environment gave an allowed value */
    uint64_t from_file;         /* likewise: the configuration file gave one */
} hcore_config_t;

/* Receives each message about a bad value or line (and, at warn level, unknown names with the nearest one).
 * What the file has wrong begins with "FILE:LINE: ". */
typedef void (*hcore_config_message_t)(void *context, hcore_log_level_t level, const char *line);

/* Fills `config` from defaults, then the file that MPI_SHIM_CONFIG_FILE names in the environment, or else the
 * system's file if it is there, then the environment `envp` (as environ). An empty value counts as unset.
 * Returns the number of bad values and lines. Strings belong to the config: hcore_config_release frees them. Not
 * thread safe with setenv. */
unsigned hcore_config_load(hcore_config_t *config, char **envp, hcore_config_message_t message,
                           void *context);
void hcore_config_release(hcore_config_t *config);

/* Sets one knob to a value as a user would write it; the text "unset" takes back what a list of sizes has.
 * HCORE_ERR_PARAM: no knob of that name; HCORE_ERR_FORMAT: the value is not allowed, nothing has changed. */
hcore_status_t hcore_config_set(hcore_config_t *config, const char *knob, const char *value);

/* The level-1 algorithm that HCCL_ALGO asks for on this operator ("ring", "NHR", ...), or NULL.
 * Accepts both vendor forms: "level0:NA;level1:ring" and "allreduce=level0:NA;level1:ring/allgather=...". */
const char *hcore_config_algo(const hcore_config_t *config, hcore_oper_t oper);

/* For hccl_info: one row per knob. value_text writes the value in force as the user would write it, "unset"
 * where there is none, cut to fit, and returns the length written. */
typedef struct {
    const char *name;          /* "HCCL_BUFFSIZE" */
    const char *allowed;       /* "1..65536 (MB)" */
    const char *default_text;
    const char *help;          /* one sentence */
} hcore_knob_t;
size_t hcore_config_knobs(const hcore_knob_t **knobs);
size_t hcore_config_value_text(const hcore_config_t *config, size_t knob, char *text, size_t size);

#endif
