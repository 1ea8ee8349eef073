/* SPDX-License-Identifier: BSD-3-Clause */
/* benchmarks/shim_bench.c - times collectives through the shim and through the MPI underneath, side by side.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { EXIT_DIFFERENT = 1, EXIT_BAD_ARGUMENT = 2 };

/* A collective's sizes: first_size, next_size, ... while not above last_size. Barrier has the one size 0. */
static uint64_t first_size(const bench_options_t *options, const bench_collective_t *collective)
{
    return collective->send != BENCH_NONE ? options->min_bytes : 0;
}

static uint64_t last_size(const bench_options_t *options, const bench_collective_t *collective)
{
    return collective->send != BENCH_NONE ? options->max_bytes : 0;
}

static uint64_t next_size(const bench_options_t *options, uint64_t bytes)
{
    return bytes == 0 ? options->type->bytes : bytes * options->factor;
}

static unsigned count_lines(const bench_options_t *options)
{
    unsigned lines = 0;
    for (size_t i = 0; i < bench_collective_count; i++) {
        const bench_collective_t *c = &bench_collectives[i];
        uint64_t bytes = first_size(options, c);
        for (; options->selected[i] && bytes <= last_size(options, c); bytes = next_size(options, bytes)) {
            lines++;
        }
    }
    return lines;
}

/* All sizes of one collective; false if a line's results differ or memory is short. */
static bool run_collective(bench_job_t *job, const bench_options_t *options,
                           const bench_collective_t *collective)
{
    if (!bench_job_open(job, options, collective)) {
        if (job->rank == 0) {
            fprintf(stderr, "shim_bench: %s: not enough memory for blocks of %llu bytes\n", collective->name,
                    (unsigned long long)options->max_bytes);
        }
        return false;
    }
    bool good = true;
    uint64_t bytes = first_size(options, collective);
    for (; bytes <= last_size(options, collective); bytes = next_size(options, bytes)) {
        bench_line_t line;
        bench_measure(job, options, collective, bytes / options->type->bytes * options->type->bytes, &line);
        good = good && line.same;
        if (job->rank == 0) {
            bench_progress_line_done();
            bench_output_line(options, &line);
        }
    }
    bench_job_close(job);
    return good;
}

static bool run_all(const bench_options_t *options, int rank, int nranks)
{
    int cpus = bench_cpus(MPI_COMM_WORLD);
    bench_job_t job = {.comm = MPI_COMM_WORLD, .rank = rank, .nranks = nranks, .crowded = nranks > cpus};
    if (options->tune != NULL) {
        return bench_tune(&job, options, cpus);
    }
    bool good = true;
    if (rank == 0) {
        bench_output_begin(options, nranks, cpus);
        bench_progress_begin(options, count_lines(options));
    }
    for (size_t i = 0; i < bench_collective_count; i++) {
        if (options->selected[i]) {
            good = run_collective(&job, options, &bench_collectives[i]) && good;
        }
    }
    if (rank == 0) {
        bench_output_end(options);
    }
    return good;
}

int main(int argc, char **argv)
{
    int rank, nranks;
    bench_options_t options;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &nranks);
    int status = EXIT_SUCCESS;
    switch (bench_options_read(&options, argc, argv, rank, nranks)) {
    case BENCH_GO:
        status = run_all(&options, rank, nranks) ? EXIT_SUCCESS : EXIT_DIFFERENT;
        break;
    case BENCH_USAGE:
        status = EXIT_BAD_ARGUMENT;
        break;
    case BENCH_STOP:
        break;
    }
    bench_options_release(&options);
    MPI_Finalize();
    return status;
}
