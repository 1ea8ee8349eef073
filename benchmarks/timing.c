/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * benchmarks/timing.c - how one line is timed.
 *
 * Blocks of calls through MPI_X and through PMPI_X alternate, and the side that starts changes from one pair
 * of blocks to the next, so that drift of the machine falls on both. A sample is the mean of a block, the
 * greatest of all ranks. Before each call the input is dirtied: one element in each cache line gets
 * another value, so every call has to fetch it from the caller's cache again. That work and the clock's own
 * cost are not in the sample. In place a call's result is the next one's input: what is not dirtied is at rest
 * (bench_op_t), and nothing dirtied ever gets small, so no call meets numbers that the processor is slow with.
 */
#include "bench.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef enum { SIDE_SHIM, SIDE_MPI, SIDE_FLOOR, SIDES } side_t;
enum { LINE_BYTES = 64, CLOCK_TRIES = 1000, GROWTH = 8, TRIES = 3, MAX_BLOCKS = 101 };

/*
 * How calls are grouped when their number is not given: a block is long enough for the clock, and there are
 * enough blocks for quantiles unless the calls are so slow that time forbids it. Where ranks outnumber cpus a
 * block lasts some turns of the scheduler: a rank that was spinning in the block before has used up its
 * share, and the others come first.
 */
typedef struct {
    double block_seconds;
    unsigned max_calls, min_blocks;
} grouping_t;
static const grouping_t roomy = {1e-3, 1000, 5}, crowded = {20e-3, 10000, 5};

static const grouping_t *grouping_of(const bench_job_t *job)
{
    return job->crowded ? &crowded : &roomy;
}

/* The sides that are timed, and how; `calls` is by side, 0 for those that are not. */
typedef struct {
    side_t sides[SIDES];
    unsigned side_count, blocks, calls[SIDES];
} plan_t;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What two readings of the clock differ by when nothing lies between them. */
static double clock_cost(void)
{
    static double cost = -1;
    for (int i = 0; cost < 0 || i < CLOCK_TRIES; i++) {
        double start = now();
        double passed = now() - start;
        cost = cost < 0 || passed < cost ? passed : cost;
    }
    return cost;
}

static void choose_sides(plan_t *plan, const bench_job_t *job, const bench_options_t *options,
                         const bench_collective_t *collective)
{
    if (options->sides != BENCH_MPI_ALONE) {
        plan->sides[plan->side_count++] = SIDE_SHIM;
    }
    if (options->sides != BENCH_SHIM_ALONE) {
        plan->sides[plan->side_count++] = SIDE_MPI;
    }
    if (bench_floor_has(job, collective)) {
        plan->sides[plan->side_count++] = SIDE_FLOOR;
    }
}

/* The fence lets the stores reach the cache before the clock is read: they are the program's work, not the call's. */
static void dirty(const bench_job_t *job, const bench_type_t *type, char *input, unsigned value)
{
    for (size_t at = 0; at < job->send_bytes; at += LINE_BYTES) {
        type->fill(input + at, value);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

/* Seconds of one call of each of `calls`, the buffers dirtied in between. */
static double run_block(const bench_job_t *job, const bench_options_t *options,
                        const bench_collective_t *collective, side_t side, unsigned calls)
{
    double cost = clock_cost();
    double total = 0;
    char *input = side == SIDE_FLOOR ? bench_floor_send(job->floor, job->rank) : job->input;
    for (unsigned i = 0; i < calls; i++) {
        if (!options->warm) {
            dirty(job, options->type, input, 1 + i % 2);
        }
        double start = now();
        if (side == SIDE_FLOOR) {
            bench_floor_call(job, collective);
        } else {
            collective->call(job, side == SIDE_MPI);
        }
        double passed = now() - start - cost;
        total += passed > 0 ? passed : 0;
    }
    return total / calls;
}

static unsigned clamp(double wish, unsigned low, unsigned high)
{
    return wish < low ? low : wish > high ? high : (unsigned)wish;
}

/* Seconds of a call in the best of some blocks, so that a hiccup of the machine does not count; the same on
 * all ranks. */
static double best_block(const bench_job_t *job, const bench_options_t *options,
                         const bench_collective_t *collective, side_t side, unsigned calls, int tries)
{
    double try[TRIES];
    for (int i = 0; i < tries; i++) {
        try[i] = run_block(job, options, collective, side, calls);
    }
    PMPI_Allreduce(MPI_IN_PLACE, try, tries, MPI_DOUBLE, MPI_MAX, job->comm);
    double best = try[0];
    for (int i = 1; i < tries; i++) {
        best = try[i] < best ? try[i] : best;
    }
    return best;
}

/*
 * Calls that make a block, and the seconds of one in such a block. A block is long enough for the clock, and
 * for the ranks to have fallen into step: a first call may cost a turn of the scheduler, or the waking of a
 * rank, and a thousand cost little more. So it grows while it is short or while growing makes a call much
 * cheaper.
 */
static unsigned size_block(const bench_job_t *job, const bench_options_t *options,
                           const bench_collective_t *collective, side_t side, double *seconds)
{
    const double much_cheaper = 0.5;
    const grouping_t *grouping = grouping_of(job);
    unsigned calls = 1;
    *seconds = best_block(job, options, collective, side, calls, TRIES);
    for (unsigned next = GROWTH; next < grouping->max_calls; next *= GROWTH) {
        const bool is_short = *seconds * next < grouping->block_seconds;
        double longer = best_block(job, options, collective, side, next, is_short ? TRIES : 1);
        if (!is_short && longer > much_cheaper * *seconds) {
            break;
        }
        *seconds = longer;
        calls = next;
    }
    return clamp(*seconds > 0 ? grouping->block_seconds / *seconds : grouping->max_calls, calls,
                 grouping->max_calls);
}

unsigned bench_block_calls(const bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective)
{
    double seconds;
    return size_block(job, options, collective, SIDE_SHIM, &seconds);
}

/* Without the barrier the first to leave a slow block would count its wait for the last in a fast one. */
static double run_side(const bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective,
                       side_t side, unsigned calls)
{
    MPI_Barrier(job->comm);
    run_block(job, options, collective, side, 1);
    return run_block(job, options, collective, side, calls);
}

double bench_block(const bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective, unsigned calls)
{
    return run_side(job, options, collective, SIDE_SHIM, calls);
}

/* How many calls make a block, and how many blocks: from what fits the time, or from what the user asked for.
 */
static plan_t make_plan(const bench_job_t *job, const bench_options_t *options,
                        const bench_collective_t *collective)
{
    const unsigned min_blocks = grouping_of(job)->min_blocks;
    plan_t plan = {.blocks = MAX_BLOCKS};
    choose_sides(&plan, job, options, collective);
    if (options->calls > 0) {
        unsigned calls = (unsigned)options->calls;
        plan.blocks = clamp(calls, 1, MAX_BLOCKS);
        for (unsigned i = 0; i < plan.side_count; i++) {
            plan.calls[plan.sides[i]] = (calls + plan.blocks - 1) / plan.blocks;
        }
        return plan;
    }
    for (unsigned i = 0; i < plan.side_count; i++) {
        double seconds;
        const side_t side = plan.sides[i];
        plan.calls[side] = size_block(job, options, collective, side, &seconds);
        plan.blocks = clamp(options->seconds / (seconds * plan.calls[side]), min_blocks, plan.blocks);
    }
    return plan;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bench_spread_t spread(double *samples, unsigned n)
{
    qsort(samples, n, sizeof *samples, compare_doubles);
    double microseconds = 1e6;
    return (bench_spread_t){.median = microseconds * samples[n / 2],
                            .p5 = microseconds * samples[(n - 1) * 5 / 100],
                            .p95 = microseconds * samples[((n - 1) * 95 + 99) / 100]};
}

/* The samples of all blocks become the line's; sides that were not timed stay 0. */
static void collect(const bench_job_t *job, const plan_t *plan, double sample[SIDES][MAX_BLOCKS], bench_line_t *line)
{
    bench_spread_t *spreads[SIDES] = {&line->shim, &line->mpi, &line->floor};
    for (unsigned i = 0; i < plan->side_count; i++) {
        const side_t side = plan->sides[i];
        PMPI_Allreduce(MPI_IN_PLACE, sample[side], (int)plan->blocks, MPI_DOUBLE, MPI_MAX, job->comm);
        *spreads[side] = spread(sample[side], plan->blocks);
    }
    line->shim_calls = plan->blocks * plan->calls[SIDE_SHIM];
    line->mpi_calls = plan->blocks * plan->calls[SIDE_MPI];
}

void bench_measure(bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective,
                   size_t bytes, bench_line_t *line)
{
    double sample[SIDES][MAX_BLOCKS];
    *line = (bench_line_t){.collective = collective, .bytes = bytes, .in_place = job->in_place};
    bench_progress_show(line, 0);
    bench_job_resize(job, options->type, collective, bytes);
    line->same = bench_job_compare(job, options, collective, line->path, sizeof line->path);
    plan_t plan = make_plan(job, options, collective);

    for (unsigned block = 0; block < plan.blocks; block++) {
        bench_progress_show(line, (double)block / plan.blocks);
        for (unsigned turn = 0; turn < plan.side_count; turn++) {
            const side_t side = plan.sides[(turn + block) % plan.side_count];
            sample[side][block] = run_side(job, options, collective, side, plan.calls[side]);
        }
    }
    collect(job, &plan, sample, line);
}
