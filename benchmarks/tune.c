/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * benchmarks/tune.c - measures the sizes by which the shim chooses, and writes them as a configuration file of the shim.
 *
 * Both ways of a choice are timed at each size in turn, on two communicators that were made with opposite settings. The size
 * written is the one with the least product of times over all sizes: one size at which noise has swapped the two does not move it.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 9, MAX_SIZES = 32, TEXT_SIZE = 1024, ITEM_SIZE = 64 };

typedef int (*set_t)(const char *knob, const char *value);

/* What the two settings mean: `small` makes all calls take the way for small data, `large` the other. */
typedef struct {
    const char *knob, *small, *large;
    bool from; /* the setting is the first size of the large way, else the last of the small */
} choice_t;

static const choice_t heap_choice = {"MPI_SHIM_HEAP_FROM", "max", "1", true};
static const choice_t backend_choice = {"MPI_SHIM_AIV_LIMIT", "max", "0", false};

/* The shim's name of a collective's operator, whether it has the choices, and whether its settings count the blocks of all ranks. */
typedef struct {
    const char *collective, *operator;
    bool heap, backend, total;
} tuned_t;

static const tuned_t tuned[] = {
    {"bcast", "Broadcast", true, true, false},
    {"gather", "Gather", true, true, false},
    {"gatherv", "GatherV", true, false, false},
    {"scatter", "Scatter", true, true, false},
    {"scatterv", "ScatterV", true, false, false},
    {"allgather", "AllGather", true, true, false},
    {"allgatherv", "AllGatherV", true, true, true},
    {"alltoall", "AlltoAll", true, true, false},
    {"alltoallv", "AlltoAllV", true, false, false},
    {"alltoallw", "AlltoAllW", true, false, false},
    {"reduce", "Reduce", true, true, false},
    {"allreduce", "AllReduce", true, true, false},
    {"reduce_scatter", "ReduceScatterV", true, true, true},
    {"reduce_scatter_block", "ReduceScatter", true, true, false},
    {"scan", "Scan", false, true, false},
    {"exscan", "Exscan", false, true, false},
};

typedef struct {
    const bench_options_t *options;
    const bench_collective_t *collective;
    const tuned_t *row;
    bench_job_t *job;
    set_t set;
    char heap_from[TEXT_SIZE], aiv_limit[TEXT_SIZE]; /* what has been found, as the knobs have it */
} tuner_t;

static void append(char *list, const char *item)
{
    snprintf(list + strlen(list), TEXT_SIZE - strlen(list), "%s%s", *list != '\0' ? "," : "", item);
}

/* A communicator whose calls of the operator all take one way; NULL handle if the setting is refused. Collective. */
static MPI_Comm communicator_with(const tuner_t *tuner, const choice_t *choice, const char *way)
{
    char heap[TEXT_SIZE] = "", limit[TEXT_SIZE] = "", item[ITEM_SIZE];
    MPI_Comm comm = MPI_COMM_NULL;
    snprintf(heap, sizeof heap, "%s", tuner->heap_from);
    snprintf(item, sizeof item, "%s:%s", tuner->row->operator, choice == &backend_choice ? way : backend_choice.small);
    if (tuner->row->backend) {
        append(limit, item);
    }
    if (choice == &heap_choice) {
        snprintf(item, sizeof item, "%s:%s", tuner->row->operator, way);
        append(heap, item);
    }
    if (tuner->set(heap_choice.knob, heap) != 0 || tuner->set(backend_choice.knob, limit) != 0) {
        return comm;
    }
    MPI_Comm_dup(tuner->job->comm, &comm);
    bench_job_t job = *tuner->job;
    job.comm = comm;
    tuner->collective->call(&job, false); /* the first collective: now the communicator has these settings */
    return comm;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds of a call on each communicator, measured in turn. False: both go the same way, on this rank. */
static bool time_both(const tuner_t *tuner, const MPI_Comm comm[2], double seconds[2])
{
    char path[2][BENCH_PATH_MAX];
    double sample[2][SAMPLES];
    bench_job_t job[2] = {*tuner->job, *tuner->job};
    unsigned calls[2];
    for (int way = 0; way < 2; way++) {
        job[way].comm = comm[way];
        calls[way] = bench_block_calls(&job[way], tuner->options, tuner->collective);
    }
    for (int i = 0; i < SAMPLES; i++) {
        for (int turn = 0; turn < 2; turn++) {
            const int way = (turn + i) % 2;
            sample[way][i] = bench_block(&job[way], tuner->options, tuner->collective, calls[way]);
            bench_last_path(path[way], sizeof path[way]);
        }
    }
    for (int way = 0; way < 2; way++) {
        PMPI_Allreduce(MPI_IN_PLACE, sample[way], SAMPLES, MPI_DOUBLE, MPI_MAX, tuner->job->comm);
        qsort(sample[way], SAMPLES, sizeof sample[way][0], compare_doubles);
        seconds[way] = sample[way][SAMPLES / 2];
    }
    return strcmp(path[0], path[1]) != 0;
}

/* How many of the sizes, from the smallest on, are best served by way 0. The same on all ranks, as the times are. */
static int best_split(int sizes, double seconds[MAX_SIZES][2])
{
    double cost = 0, least;
    int best = 0;
    for (int i = 0; i < sizes; i++) {
        cost += log(seconds[i][1]);
    }
    least = cost;
    for (int i = 0; i < sizes; i++) {
        cost += log(seconds[i][0]) - log(seconds[i][1]);
        if (cost < least) {
            least = cost;
            best = i + 1;
        }
    }
    return best;
}

/* The setting that a split means, as "Operator:size". */
static void name_split(const tuner_t *tuner, const choice_t *choice, int sizes, const size_t *bytes, int split, char *item)
{
    const size_t unit = tuner->row->total ? (size_t)tuner->job->nranks : 1;
    if (split == sizes) {
        snprintf(item, ITEM_SIZE, "%s:max", tuner->row->operator);
    } else if (choice->from) {
        snprintf(item, ITEM_SIZE, "%s:%zu", tuner->row->operator, unit * bytes[split]);
    } else {
        snprintf(item, ITEM_SIZE, "%s:%zu", tuner->row->operator, split > 0 ? unit * bytes[split - 1] : 0);
    }
}

/* Times one choice of the collective at all sizes, and appends what follows to `list`. */
static bool tune_choice(tuner_t *tuner, const choice_t *choice, char *list)
{
    const bench_options_t *options = tuner->options;
    double seconds[MAX_SIZES][2];
    size_t bytes[MAX_SIZES];
    int sizes = 0, differ = 0;
    char item[ITEM_SIZE];
    bench_job_resize(tuner->job, options->type, tuner->collective, options->type->bytes);
    MPI_Comm comm[2] = {communicator_with(tuner, choice, choice->small), communicator_with(tuner, choice, choice->large)};
    if (comm[0] == MPI_COMM_NULL || comm[1] == MPI_COMM_NULL) {
        return false;
    }
    for (uint64_t size = options->min_bytes; size <= options->max_bytes && sizes < MAX_SIZES; size *= options->factor) {
        bench_line_t line = {.collective = tuner->collective, .bytes = (size_t)size};
        bytes[sizes] = (size_t)(size / options->type->bytes * options->type->bytes);
        bench_progress_show(&line, 0);
        bench_job_resize(tuner->job, options->type, tuner->collective, bytes[sizes]);
        differ |= time_both(tuner, comm, seconds[sizes]);
        if (tuner->job->rank == 0) {
            const double microseconds = 1e6;
            bench_progress_line_done();
            printf("%-20s %-19s %9zu %11.2f %11.2f\n", tuner->collective->name, choice->knob, bytes[sizes],
                   microseconds * seconds[sizes][0], microseconds * seconds[sizes][1]);
        }
        sizes++;
    }
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
    PMPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_LOR, tuner->job->comm);
    if (differ) { /* there is a choice: without shared heaps, for one, there is none between them and copies */
        name_split(tuner, choice, sizes, bytes, best_split(sizes, seconds), item);
        append(list, item);
    }
    return true;
}

static bool tune_collective(tuner_t *tuner)
{
    if (!bench_job_open(tuner->job, tuner->options, tuner->collective)) {
        return false;
    }
    /* Where ranks outnumber cpus the shim does not look at this knob. */
    bool good = !tuner->row->heap || tuner->job->crowded || tune_choice(tuner, &heap_choice, tuner->heap_from);
    good = good && (!tuner->row->backend || tune_choice(tuner, &backend_choice, tuner->aiv_limit));
    bench_job_close(tuner->job);
    return good;
}

static const char head[] = "# Written by shim_bench --tune; it writes over files that begin with this line.\n";

/* Whether the file may be written: it is not there, or is one of ours. */
static bool may_write(const char *path)
{
    char line[sizeof head] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return access(path, F_OK) != 0;
    }
    const bool ours = fgets(line, sizeof line, file) != NULL && strcmp(line, head) == 0;
    fclose(file);
    return ours;
}

static void write_settings(FILE *file, const tuner_t *tuner, int cpus)
{
    char host[ITEM_SIZE] = "", day[ITEM_SIZE];
    const time_t now = time(NULL);
    gethostname(host, sizeof host - 1);
    strftime(day, sizeof day, "%Y-%m-%d", localtime(&now));
    fprintf(file, "%s# %s, %s, %d ranks on %d cpus, type %s, op %s\n", head, host, day, tuner->job->nranks, cpus,
            tuner->options->type->name, tuner->options->op->name);
    if (*tuner->heap_from != '\0') {
        fprintf(file, "%s = %s\n", heap_choice.knob, tuner->heap_from);
    }
    if (*tuner->aiv_limit != '\0') {
        fprintf(file, "%s = %s\n", backend_choice.knob, tuner->aiv_limit);
    }
}

/* Written beside and renamed, so that a program that starts meanwhile reads the old or the new. */
static bool write_file(const tuner_t *tuner, const char *path, int cpus)
{
    char beside[TEXT_SIZE];
    const int length = snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    FILE *file = length < (int)sizeof beside ? fopen(beside, "w") : NULL;
    bool good = file != NULL;
    if (good) {
        write_settings(file, tuner, cpus);
        good = !ferror(file);
        good = fclose(file) == 0 && good && rename(beside, path) == 0;
    }
    if (!good) {
        fprintf(stderr, "shim_bench: --tune: %s: %m\n", path);
        if (file != NULL) {
            unlink(beside);
        }
    }
    return good;
}

/* The same answer on all ranks; rank 0 says what is wrong. */
static bool can_tune(const tuner_t *tuner, const char *path)
{
    int good = 1;
    const char *wrong = tuner->job->nranks < 2 ? "needs at least two ranks"
                        : tuner->set == NULL || tuner->set(heap_choice.knob, "") != 0
                            ? "needs a preloaded shim that serves this MPI"
                            : NULL;
    if (tuner->job->rank == 0 && wrong == NULL && !may_write(path)) {
        wrong = "the file is there and was not written by shim_bench --tune";
    }
    if (wrong != NULL) {
        good = 0;
        if (tuner->job->rank == 0) {
            fprintf(stderr, "shim_bench: --tune: %s\n", wrong);
        }
    }
    PMPI_Bcast(&good, 1, MPI_INT, 0, tuner->job->comm);
    return good != 0;
}

static unsigned count_sizes(const bench_options_t *options)
{
    unsigned sizes = 0;
    for (uint64_t size = options->min_bytes; size <= options->max_bytes; size *= options->factor) {
        sizes++;
    }
    return sizes;
}

static const bench_collective_t *find_selected(const bench_options_t *options, const char *name)
{
    const bench_collective_t *found = NULL;
    for (size_t i = 0; i < bench_collective_count; i++) {
        if (options->selected[i] && strcmp(bench_collectives[i].name, name) == 0) {
            found = &bench_collectives[i];
        }
    }
    return found;
}

bool bench_tune(bench_job_t *job, const bench_options_t *options, int cpus)
{
    tuner_t tuner = {.options = options, .job = job};
    const size_t rows = sizeof tuned / sizeof tuned[0];
    unsigned lines = 0;
    *(void **)&tuner.set = dlsym(RTLD_DEFAULT, "mpi_shim_set");
    if (!can_tune(&tuner, options->tune)) {
        return false;
    }
    for (size_t i = 0; i < rows; i++) {
        const unsigned choices = tuned[i].backend + (tuned[i].heap && !job->crowded);
        lines += find_selected(options, tuned[i].collective) != NULL ? choices * count_sizes(options) : 0;
    }
    if (lines == 0) {
        if (job->rank == 0) {
            fprintf(stderr, "shim_bench: --tune: nothing is chosen by size for these collectives and ranks\n");
        }
        return false;
    }
    if (job->rank == 0) {
        bench_progress_begin(options, lines);
        printf("%-20s %-19s %9s %11s %11s\n", "collective", "choice", "bytes", "small us", "large us");
    }
    bool good = true;
    for (size_t i = 0; i < rows && good; i++) {
        tuner.row = &tuned[i];
        tuner.collective = find_selected(options, tuned[i].collective);
        good = tuner.collective == NULL || tune_collective(&tuner);
    }
    if (job->rank == 0) {
        good = good && write_file(&tuner, options->tune, cpus);
    }
    PMPI_Bcast(&good, sizeof good, MPI_BYTE, 0, job->comm);
    return good;
}
