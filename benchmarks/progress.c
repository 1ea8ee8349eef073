/* SPDX-License-Identifier: BSD-3-Clause */
/* benchmarks/progress.c - the status line on standard error, which is written again and again. */
#include "bench.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Seconds: work that needs no line, how long to look before it can be told, from one writing to the next. */
static const double short_work = 2, look = 0.5, between = 0.1;
static const char erase[] = "\r\033[K";

static struct {
    bool on, shown;
    unsigned lines, done;
    double start, last;
} state; /* stays off on all ranks but 0 */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_progress_begin(const bench_options_t *options, unsigned lines)
{
    state.on = options->progress || isatty(STDERR_FILENO);
    state.lines = lines;
    state.start = now();
}

void bench_progress_show(const bench_line_t *line, double share_of_line)
{
    if (!state.on || now() - state.last < between) {
        return;
    }
    const double share = (state.done + share_of_line) / state.lines, passed = now() - state.start;
    if (passed > look && passed > short_work * share) { /* all of it takes passed / share */
        fprintf(stderr, "%s%s, %zu bytes: %.0f%% done", erase, line->collective->name, line->bytes,
                100 * share);
        fflush(stderr);
        state.shown = true;
        state.last = now();
    }
}

void bench_progress_line_done(void)
{
    state.done++;
    if (state.shown) {
        fputs(erase, stderr);
        fflush(stderr);
        state.shown = false;
    }
}
