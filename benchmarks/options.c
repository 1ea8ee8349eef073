/* SPDX-License-Identifier: BSD-3-Clause */
/* benchmarks/options.c - the command line. One table serves the parser and --help. */
#define _GNU_SOURCE
#include "bench.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct {
    bench_options_t *options;
    int rank;
} reader_t;

typedef struct option_row {
    char letter;
    const char *name, *argument; /* argument NULL: takes none */
    bool (*take)(const reader_t *reader, const struct option_row *row, const char *text);
    const char *help;
    void (*print)(void);       /* instead of take: what is printed, and nothing is run */
    size_t target;             /* where in bench_options_t the value lies */
    const struct names *names; /* names: what is allowed */
    uint64_t low;              /* numbers: the least allowed */
    bool suffix;               /* numbers: K, M, G allowed */
} option_row_t;

static bool __attribute__((format(printf, 2, 3))) wrong(const reader_t *reader, const char *format, ...)
{
    if (reader->rank == 0) {
        va_list args;
        va_start(args, format);
        fputs("shim_bench: ", stderr);
        vfprintf(stderr, format, args);
        fputc('\n', stderr);
        va_end(args);
    }
    return false;
}

/* The tables of names have rows that begin with the name. */
typedef struct names {
    const char *what;
    const void *first;
    const size_t *count;
    size_t stride;
} names_t;

static const names_t collectives = {"collective", bench_collectives, &bench_collective_count,
                                    sizeof(bench_collective_t)};
static const names_t types = {"type", bench_types, &bench_type_count, sizeof(bench_type_t)};
static const names_t ops = {"op", bench_ops, &bench_op_count, sizeof(bench_op_t)};
static const char *const format_names[] = {[BENCH_TEXT] = "text", [BENCH_CSV] = "csv", [BENCH_JSON] = "json"};
static const size_t format_count = sizeof format_names / sizeof format_names[0];
static const names_t formats = {"format", format_names, &format_count, sizeof format_names[0]};
static const char *const side_names[] = {[BENCH_BOTH] = "both", [BENCH_SHIM_ALONE] = "shim", [BENCH_MPI_ALONE] = "mpi"};
static const size_t side_count = sizeof side_names / sizeof side_names[0];
static const names_t sides = {"side", side_names, &side_count, sizeof side_names[0]};

static const char *name_at(const names_t *names, size_t i)
{
    return *(const char *const *)((const char *)names->first + i * names->stride);
}

static bool find_name(const reader_t *reader, const names_t *names, const char *text, size_t *index)
{
    for (size_t i = 0; i < *names->count; i++) {
        if (strcasecmp(name_at(names, i), text) == 0) {
            *index = i;
            return true;
        }
    }
    return wrong(reader, "no %s is named \"%s\"; --list prints the names", names->what, text);
}

static bool take_collectives(const reader_t *reader, const option_row_t *row, const char *text)
{
    (void)row;
    char *list = strdup(text);
    bool good = list != NULL;
    char *rest = NULL;
    char *word = good ? strtok_r(list, ",", &rest) : NULL;
    while (word != NULL && good) {
        size_t index;
        good = find_name(reader, &collectives, word, &index);
        if (good) {
            reader->options->selected[index] = true;
            word = strtok_r(NULL, ",", &rest);
        }
    }
    free(list);
    return good;
}

/* The target is a pointer to the table's row. */
static bool take_row(const reader_t *reader, const option_row_t *row, const char *text)
{
    size_t index;
    bool good = find_name(reader, row->names, text, &index);
    if (good) {
        const void *found = (const char *)row->names->first + index * row->names->stride;
        memcpy((char *)reader->options + row->target, &found, sizeof found);
    }
    return good;
}

/* The target is an unsigned: the index in the table. */
static bool take_index(const reader_t *reader, const option_row_t *row, const char *text)
{
    size_t index;
    bool good = find_name(reader, row->names, text, &index);
    if (good) {
        *(unsigned *)((char *)reader->options + row->target) = (unsigned)index;
    }
    return good;
}

static bool take_text(const reader_t *reader, const option_row_t *row, const char *text)
{
    if (*text == '\0') {
        return wrong(reader, "--%s: no name given", row->name);
    }
    *(const char **)((char *)reader->options + row->target) = text;
    return true;
}

/* MPI counts in int, so that is the highest of every number here. */
static bool take_number(const reader_t *reader, const option_row_t *row, const char *text)
{
    static const char suffixes[] = "KMG";
    char *end;
    uint64_t n = strtoull(text, &end, 10);
    bool good = isdigit((unsigned char)*text) && n <= INT_MAX;
    const char *at = row->suffix && *end != '\0' ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
    if (at != NULL) {
        n <<= 10 * (at - suffixes + 1);
        end++;
    }
    if (!good || *end != '\0' || n < row->low || n > INT_MAX) {
        return wrong(reader, "--%s: \"%s\" is not a whole number from %llu to %d%s", row->name, text,
                     (unsigned long long)row->low, INT_MAX, row->suffix ? " (K, M, G allowed)" : "");
    }
    *(uint64_t *)((char *)reader->options + row->target) = n;
    return true;
}

static bool take_seconds(const reader_t *reader, const option_row_t *row, const char *text)
{
    const double most = 3600;
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0 && seconds <= most)) {
        return wrong(reader, "--%s: \"%s\" is not a number above 0 and up to %.0f", row->name, text, most);
    }
    reader->options->seconds = seconds;
    return true;
}

/* The target is a bool. */
static bool take_flag(const reader_t *reader, const option_row_t *row, const char *text)
{
    (void)text;
    *(bool *)((char *)reader->options + row->target) = true;
    return true;
}

static bool take_switch(const reader_t *reader, const option_row_t *row, const char *text)
{
    bool on = strcasecmp(text, "on") == 0;
    if (!on && strcasecmp(text, "off") != 0) {
        return wrong(reader, "--%s: \"%s\" is neither on nor off", row->name, text);
    }
    *(bool *)((char *)reader->options + row->target) = !on; /* the fields say what is left out */
    return true;
}

static void print_lists(void)
{
    const names_t *lists[] = {&collectives, &types, &ops, &formats, &sides};
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        printf("%ss:", lists[l]->what);
        for (size_t i = 0; i < *lists[l]->count; i++) {
            printf(" %s", name_at(lists[l], i));
        }
        putchar('\n');
    }
}

static void print_help(void);

#define TARGET(field)             .target = offsetof(bench_options_t, field)
#define NUMBER(field, least, kmg) TARGET(field), .low = least, .suffix = kmg
#define NAME(field, table)        TARGET(field), .names = &table
#define PRINT(function)           .print = function
static const option_row_t rows[] = {
    {'c', "collective", "LIST", take_collectives, "collectives to time, separated by commas (default: all)",
     NAME(selected, collectives)},
    {'b', "min", "BYTES", take_number, "first size of a block; suffix K, M or G (default 8)", NUMBER(min_bytes, 0, true)},
    {'e', "max", "BYTES", take_number, "last size of a block (default 1M)", NUMBER(max_bytes, 0, true)},
    {'f', "factor", "N", take_number, "from one size to the next (default 2)", NUMBER(factor, 2, false)},
    {'n', "iterations", "N", take_number, "calls a side and size (default: as many as fit the time)",
     NUMBER(calls, 1, false)},
    {'s', "seconds", "S", take_seconds, "bound of the measured time a side and size (default 0.1)", TARGET(seconds)},
    {'t', "type", "TYPE", take_row, "element type (default double)", NAME(type, types)},
    {'o', "op", "OP", take_row, "reduction op (default sum)", NAME(op, ops)},
    {'r', "root", "RANK", take_number, "root of the rooted collectives (default 0)", NUMBER(root, 0, false)},
    {'i', "in-place", NULL, take_flag, "with MPI_IN_PLACE, where the collective has such a form", TARGET(in_place)},
    {'w', "warm", NULL, take_flag, "do not dirty the input between calls", TARGET(warm)},
    {'S', "sides", "SIDES", take_index, "both, shim (MPI_ names alone) or mpi (PMPI_ names alone)", NAME(sides, sides)},
    {'H', "heap", "on|off", take_switch, "off: buffers that no allocator of the shim sees (default on)", TARGET(no_heap)},
    {'L', "floor", "on|off", take_switch, "measure the floor, the same work without a library (default on)",
     TARGET(no_floor)},
    {'T', "tune", "FILE", take_text, "measure the sizes by which the shim chooses, and write them as its configuration file",
     TARGET(tune)},
    {'F', "format", "FORMAT", take_index, "text, csv or json (default text)", NAME(format, formats)},
    {'P', "progress", NULL, take_flag, "status line even if standard error is no terminal", TARGET(progress)},
    {'l', "list", NULL, NULL, "print the names that the options take", PRINT(print_lists)},
    {'h', "help", NULL, NULL, "print this text", PRINT(print_help)},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void print_help(void)
{
    puts("usage: mpiexec -n RANKS [-genv LD_PRELOAD LIBRARY] shim_bench [OPTION]...\n"
         "Times MPI collectives through MPI_ names (a preloaded shim, if there is one) and through PMPI_ "
         "names\n"
         "(the MPI underneath) in turn. Times are microseconds a call, the greatest of all ranks; ratio is\n"
         "mpi / shim. A block is what one rank sends to one other or to all.\n");
    for (int i = 0; i < ROWS; i++) {
        char head[32];
        snprintf(head, sizeof head, "-%c, --%s%s%s", rows[i].letter, rows[i].name,
                 rows[i].argument ? " " : "", rows[i].argument ? rows[i].argument : "");
        printf("  %-24s %s\n", head, rows[i].help);
    }
}

/* What getopt_long reads, made from the rows. */
static void make_getopt(char letters[static 2 * ROWS + 1], struct option longs[static ROWS + 1])
{
    char *at = letters;
    for (int i = 0; i < ROWS; i++) {
        int takes = rows[i].argument != NULL ? required_argument : no_argument;
        longs[i] = (struct option){rows[i].name, takes, NULL, rows[i].letter};
        *at++ = rows[i].letter;
        if (takes == required_argument) {
            *at++ = ':';
        }
    }
    *at = '\0';
    longs[ROWS] = (struct option){0};
}

static const option_row_t *find_row(int letter)
{
    const option_row_t *row = NULL;
    for (int i = 0; i < ROWS; i++) {
        row = rows[i].letter == letter ? &rows[i] : row;
    }
    return row;
}

/* What no option can check alone. */
static bool check_together(const reader_t *reader, int nranks)
{
    bench_options_t *o = reader->options;
    if (o->root >= (uint64_t)nranks) {
        return wrong(reader, "--root: there are %d ranks, so it must be below %d", nranks, nranks);
    }
    if (o->op->integer_only && !o->type->integer) {
        return wrong(reader, "--op: MPI does not define %s on %s", o->op->name, o->type->name);
    }
    if (o->max_bytes < o->min_bytes) {
        return wrong(reader, "--max: must not be below --min");
    }
    if (o->max_bytes > INT_MAX / (uint64_t)nranks) {
        return wrong(reader, "--max: %d ranks allow blocks up to %d bytes", nranks, INT_MAX / nranks);
    }
    bool any = false;
    for (size_t i = 0; i < bench_collective_count; i++) {
        any = any || o->selected[i];
    }
    for (size_t i = 0; i < bench_collective_count; i++) {
        o->selected[i] = o->selected[i] || !any;
    }
    return true;
}

static bool set_defaults(const reader_t *reader)
{
    size_t type = 0, op = 0;
    *reader->options = (bench_options_t){.min_bytes = 8, .max_bytes = 1 << 20, .factor = 2, .seconds = 0.1};
    reader->options->selected = calloc(bench_collective_count, sizeof *reader->options->selected);
    if (reader->options->selected == NULL || !find_name(reader, &types, "double", &type) ||
        !find_name(reader, &ops, "sum", &op)) {
        return wrong(reader, "out of memory");
    }
    reader->options->type = &bench_types[type];
    reader->options->op = &bench_ops[op];
    return true;
}

bench_start_t bench_options_read(bench_options_t *options, int argc, char **argv, int rank, int nranks)
{
    reader_t reader = {options, rank};
    char letters[2 * ROWS + 1];
    struct option longs[ROWS + 1];
    make_getopt(letters, longs);
    if (!set_defaults(&reader)) {
        return BENCH_USAGE;
    }
    opterr = rank == 0;
    int letter;
    while ((letter = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        const option_row_t *row = find_row(letter);
        if (row == NULL) {
            return BENCH_USAGE;
        }
        if (row->print != NULL) {
            if (rank == 0) {
                row->print();
            }
            return BENCH_STOP;
        }
        if (!row->take(&reader, row, optarg)) {
            return BENCH_USAGE;
        }
    }
    if (optind < argc) {
        wrong(&reader, "unexpected argument \"%s\"", argv[optind]);
        return BENCH_USAGE;
    }
    return check_together(&reader, nranks) ? BENCH_GO : BENCH_USAGE;
}

void bench_options_release(bench_options_t *options)
{
    free(options->selected);
}
