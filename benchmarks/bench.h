/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * benchmarks/bench.h - what the rooms of shim_bench share.
 *
 * shim_bench calls MPI_X and PMPI_X in turn in one process, so that a preloaded shim and the MPI underneath
 * it are timed under the same noise. Its own needs (agreeing on numbers, collecting samples) go through PMPI_
 * names, so that a fault of what is being measured cannot spoil the measuring.
 */
#ifndef SHIM_BENCH_H
#define SHIM_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name;
    MPI_Datatype type;
    size_t bytes; /* a divisor of a cache line */
    bool integer;
    void (*fill)(void *element, unsigned value); /* writes one element; value is at most 100 */
} bench_type_t;

typedef struct {
    const char *name;
    MPI_Op op;
    bool integer_only;
    unsigned rest; /* op(rest, rest) is rest: what is reduced in place again and again stays */
} bench_op_t;

/* What the least work of a collective is made of. */
typedef enum {
    BENCH_FLOOR_NONE,
    BENCH_FLOOR_FLAG,
    BENCH_FLOOR_FROM_ROOT,
    BENCH_FLOOR_TO_ROOT,
    BENCH_FLOOR_TO_ALL,
    BENCH_FLOOR_REDUCE_ROOT,
    BENCH_FLOOR_REDUCE_ALL,
    BENCH_FLOOR_REDUCE_SCATTER
} bench_floor_kind_t;
typedef struct bench_floor bench_floor_t;

/* Which argument becomes MPI_IN_PLACE, and on which ranks. */
typedef enum { BENCH_NEVER, BENCH_SEND, BENCH_ROOT_SEND, BENCH_ROOT_RECV } bench_in_place_t;

/* One call to time: everything a collective's arguments are made of. Blocks are counts of `type`. */
typedef struct {
    MPI_Comm comm;
    int rank, nranks, root;
    bool crowded; /* more ranks than rank 0 may use cpus; the same on all ranks */
    int count;    /* elements of one block */
    MPI_Datatype type;
    MPI_Op op;
    unsigned rest;                 /* what the input holds but for what is dirtied */
    char *send, *recv, *other;     /* `other` keeps one side's result while the second is made */
    bool in_place;                 /* asked for, and the collective has such a form */
    const void *from;              /* what the call gets: `send` or MPI_IN_PLACE */
    void *to;                      /* `recv` or MPI_IN_PLACE */
    char *input;                   /* the `send_bytes` that this rank contributes: in `send`, or in place in `recv` */
    bool heap;                     /* the buffers come from malloc */
    size_t send_room, recv_room;
    size_t send_bytes, recv_bytes; /* the parts of the buffers that the collective reads and writes */
    int *counts;                   /* v-collectives: nranks times `count` */
    int *displs;                   /* in elements */
    int *byte_displs;              /* Alltoallw */
    MPI_Datatype *types;           /* Alltoallw */
    const char *type_name;
    size_t type_bytes;
    bench_floor_t *floor; /* NULL: not measured */
} bench_job_t;

/* A buffer holds one block or one block for each rank. */
typedef enum { BENCH_NONE, BENCH_BLOCK, BENCH_ALL } bench_extent_t;

typedef struct {
    const char *name; /* lower case, as in MPI without the prefix */
    int (*call)(const bench_job_t *job, bool pmpi);
    bench_extent_t send, recv;
    bench_in_place_t in_place;
    bool reduces;
    bench_floor_kind_t floor;
} bench_collective_t;

extern const bench_collective_t bench_collectives[];
extern const size_t bench_collective_count;
extern const bench_type_t bench_types[];
extern const size_t bench_type_count;
extern const bench_op_t bench_ops[];
extern const size_t bench_op_count;

enum { BENCH_TEXT, BENCH_CSV, BENCH_JSON };               /* bench_options_t.format */
enum { BENCH_BOTH, BENCH_SHIM_ALONE, BENCH_MPI_ALONE }; /* bench_options_t.sides */

typedef struct {
    bool *selected; /* index as bench_collectives */
    uint64_t min_bytes, max_bytes;
    uint64_t factor; /* from one size to the next */
    uint64_t calls;  /* measured calls a side and size; 0: as many as fit `seconds` */
    bool warm;       /* leave the buffers as they are between calls */
    bool in_place;
    bool progress;   /* even if standard error is no terminal */
    bool no_floor, no_heap;
    double seconds;  /* bound of the measured time a side and size */
    uint64_t root;
    const bench_type_t *type;
    const bench_op_t *op;
    unsigned format, sides;
    const char *tune; /* where to write what was measured in place of results; NULL: results */
} bench_options_t;

typedef enum { BENCH_GO, BENCH_STOP, BENCH_USAGE } bench_start_t;

/* Reads the command line. BENCH_STOP: all was said (--help, --list); BENCH_USAGE: a wrong argument was named
 * on standard error. Only rank 0 prints. */
bench_start_t bench_options_read(bench_options_t *options, int argc, char **argv, int rank, int nranks);
void bench_options_release(bench_options_t *options);

typedef struct {
    double median, p5, p95; /* microseconds a call; each sample is the maximum over ranks */
} bench_spread_t;

#define BENCH_PATH_MAX 128

typedef struct {
    const bench_collective_t *collective;
    size_t bytes;             /* of one block, as really sent: a whole number of elements */
    bool in_place;
    bench_spread_t shim, mpi; /* through MPI_X, through PMPI_X; all 0: not timed */
    bench_spread_t floor;     /* all 0: none */
    unsigned shim_calls, mpi_calls;
    bool same;                 /* both gave the same bytes, or were not compared */
    char path[BENCH_PATH_MAX]; /* who served MPI_X on rank 0: "backend/algorithm"; empty if unknown */
} bench_line_t;

/* Cpus that any rank of `comm` may use: a launcher may have bound each to its own. Collective. */
int bench_cpus(MPI_Comm comm);

/* Who served this thread's last MPI_X, as "backend/algorithm"; empty if unknown. */
void bench_last_path(char *path, size_t size);

/* Whether a shim that can tell its path is loaded. */
bool bench_shim_loaded(void);

/* Buffers for the largest size of `collective`; false (on every rank) if one rank lacks memory. */
bool bench_job_open(bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective);
void bench_job_close(bench_job_t *job);
/* Blocks of `bytes`, a multiple of the type's size and not above what the job was opened for. */
void bench_job_resize(bench_job_t *job, const bench_type_t *type, const bench_collective_t *collective,
                      size_t bytes);
/* One call of each side from the same input into the same garbage; whether the same bytes came out on every
 * rank. `path` receives who served MPI_X here. Leaves the input at rest. */
bool bench_job_compare(bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective,
                       char *path, size_t path_size);

/* floor.c. A job's floor has the same blocks as the job, in memory of its own. Collective, but for _call's name. */
bench_floor_t *bench_floor_open(MPI_Comm comm, size_t send_bytes, size_t recv_bytes);
void bench_floor_close(bench_floor_t *floor);
char *bench_floor_send(const bench_floor_t *floor, int rank);
bool bench_floor_has(const bench_job_t *job, const bench_collective_t *collective);
/* One round of the least work; job and collective as for a call. */
void bench_floor_call(const bench_job_t *job, const bench_collective_t *collective);

/* Times one line; collective over the job's communicator. The numbers are right on rank 0. */
void bench_measure(bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective,
                   size_t bytes, bench_line_t *line);

/* The two halves of timing for who compares in ways of his own: how many calls of MPI_X make a block, and seconds of a call in one, on this
 * rank, after a barrier. Collective. */
unsigned bench_block_calls(const bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective);
double bench_block(const bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective, unsigned calls);

/* tune.c: measures the shim's sizes and writes options->tune; false if that was not possible, which is said. Collective. */
bool bench_tune(bench_job_t *job, const bench_options_t *options, int cpus);

/* progress.c, rank 0 only: a status line on standard error, if that is a terminal and there are seconds of work. */
void bench_progress_begin(const bench_options_t *options, unsigned lines);
void bench_progress_show(const bench_line_t *line, double share_of_line);
void bench_progress_line_done(void); /* takes the status line away, for the output */

/* Rank 0 only: head, one call for each line, foot. */
void bench_output_begin(const bench_options_t *options, int nranks, int cpus);
void bench_output_line(const bench_options_t *options, const bench_line_t *line);
void bench_output_end(const bench_options_t *options);

#endif
