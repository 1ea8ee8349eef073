/* SPDX-License-Identifier: BSD-3-Clause */
/* benchmarks/output.c - the results as text, CSV or JSON. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

/* The first line of what the MPI says of itself, without characters that CSV or JSON would need to escape. */
static const char *mpi_version(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    PMPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c != '\0'; c++) {
        *c = *c == '\t' || *c == '"' || *c == '\\' ? ' ' : *c;
    }
    return text;
}

static const char *name_of(const bench_options_t *options, const bench_line_t *line)
{
    return line->collective->reduces ? options->op->name : "-";
}

static double ratio(const bench_line_t *line)
{
    return line->shim.median > 0 ? line->mpi.median / line->shim.median : 0;
}

static const char *path_of(const bench_line_t *line)
{
    return line->path[0] != '\0' ? line->path : "-";
}

static const char *yes_or_no(bool it)
{
    return it ? "yes" : "no";
}

static void text_begin(const bench_options_t *options, int nranks, int cpus)
{
    printf("# %d ranks, %d cpus, %s, type %s, op %s%s\n", nranks, cpus, mpi_version(), options->type->name,
           options->op->name, options->in_place ? ", in place" : "");
    if (!bench_shim_loaded() && options->sides != BENCH_MPI_ALONE) {
        puts("# no shim is preloaded: both sides are the MPI itself");
    }
    printf("%-20s %9s %11s %11s %11s %11s %8s %11s %8s  %s\n", "collective", "bytes", "shim us", "p95", "mpi us",
           "p95", "ratio", "floor us", "x floor", "backend");
}

/* A number, or a dash where there is none. */
static void text_number(const char *format, int width, double number, bool known)
{
    if (known) {
        printf(format, width, number);
    } else {
        printf("%*s ", width, "-");
    }
}

static void text_line(const bench_options_t *options, const bench_line_t *line)
{
    const bool shim = options->sides != BENCH_MPI_ALONE, mpi = options->sides != BENCH_SHIM_ALONE;
    const bool floor = line->floor.median > 0;
    printf("%-20s %9zu ", line->collective->name, line->bytes);
    text_number("%*.2f ", 11, line->shim.median, shim);
    text_number("%*.2f ", 11, line->shim.p95, shim);
    text_number("%*.2f ", 11, line->mpi.median, mpi);
    text_number("%*.2f ", 11, line->mpi.p95, mpi);
    text_number("%*.3g ", 8, ratio(line), shim && mpi);
    text_number("%*.2f ", 11, line->floor.median, floor);
    text_number("%*.2f ", 8, floor ? line->shim.median / line->floor.median : 0, floor && shim);
    printf(" %s%s\n", path_of(line), line->same ? "" : "  RESULTS DIFFER");
}

static void csv_begin(const bench_options_t *options, int nranks, int cpus)
{
    (void)options;
    (void)nranks;
    (void)cpus;
    puts("collective,bytes,type,op,shim_us,shim_p5,shim_p95,shim_calls,mpi_us,mpi_p5,mpi_p95,mpi_calls,ratio,"
         "floor_us,in_place,backend,same");
}

static void csv_line(const bench_options_t *options, const bench_line_t *line)
{
    printf("%s,%zu,%s,%s,%.4f,%.4f,%.4f,%u,%.4f,%.4f,%.4f,%u,%.4f,%.4f,%s,%s,%s\n", line->collective->name,
           line->bytes, options->type->name, name_of(options, line), line->shim.median, line->shim.p5,
           line->shim.p95, line->shim_calls, line->mpi.median, line->mpi.p5, line->mpi.p95, line->mpi_calls,
           ratio(line), line->floor.median, yes_or_no(line->in_place), path_of(line), yes_or_no(line->same));
}

static void json_begin(const bench_options_t *options, int nranks, int cpus)
{
    printf("{\"ranks\": %d, \"cpus\": %d, \"mpi\": \"%s\", \"shim\": %s, \"type\": \"%s\", \"lines\": [",
           nranks, cpus, mpi_version(), bench_shim_loaded() ? "true" : "false", options->type->name);
}

static void json_side(const char *name, const bench_spread_t *side, unsigned calls)
{
    printf(", \"%s\": {\"median_us\": %.4f, \"p5_us\": %.4f, \"p95_us\": %.4f, \"calls\": %u}", name,
           side->median, side->p5, side->p95, calls);
}

static void json_line(const bench_options_t *options, const bench_line_t *line)
{
    static bool again;
    printf("%s\n {\"collective\": \"%s\", \"bytes\": %zu, \"op\": \"%s\"", again ? "," : "",
           line->collective->name, line->bytes, name_of(options, line));
    if (options->sides != BENCH_MPI_ALONE) {
        json_side("shim", &line->shim, line->shim_calls);
    }
    if (options->sides != BENCH_SHIM_ALONE) {
        json_side("mpi", &line->mpi, line->mpi_calls);
    }
    if (line->floor.median > 0) {
        printf(", \"floor\": {\"median_us\": %.4f, \"p5_us\": %.4f, \"p95_us\": %.4f}", line->floor.median, line->floor.p5,
               line->floor.p95);
    }
    if (options->sides == BENCH_BOTH) {
        printf(", \"ratio\": %.4f", ratio(line));
    }
    printf(", \"in_place\": %s, \"backend\": \"%s\", \"same\": %s}", line->in_place ? "true" : "false", line->path,
           line->same ? "true" : "false");
    again = true;
}

static void json_end(void)
{
    puts("\n]}");
}

static void nothing(void)
{
}

static const struct {
    void (*begin)(const bench_options_t *options, int nranks, int cpus);
    void (*line)(const bench_options_t *options, const bench_line_t *line);
    void (*end)(void);
} writers[] = {
    [BENCH_TEXT] = {text_begin, text_line, nothing},
    [BENCH_CSV] = {csv_begin, csv_line, nothing},
    [BENCH_JSON] = {json_begin, json_line, json_end},
};

void bench_output_begin(const bench_options_t *options, int nranks, int cpus)
{
    writers[options->format].begin(options, nranks, cpus);
}

void bench_output_line(const bench_options_t *options, const bench_line_t *line)
{
    writers[options->format].line(options, line);
    fflush(stdout);
}

void bench_output_end(const bench_options_t *options)
{
    writers[options->format].end();
    fflush(stdout);
}
