/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/coll_matrix.c - every blocking collective and its _c form, over types, ops, counts, roots, in place
 * or not, against a serial reference.
 *
 * usage: coll_matrix [--kind move|reduce] [--func LIST] [--type LIST] [--op LIST] [--count LIST]
 *                    [--root N|all] [--form int|count|both] [--all]
 *
 * Lists are comma-separated names without regard to a missing MPI_; an empty selection fails. The table
 * `thinning` says which part of the space is run at which count; --all runs the whole. TEST_MAY_FALL_BACK=1:
 * a call may be served by the MPI underneath. TEST_ANY_ORDER=1: floats may differ from rank order as another
 * order of evaluation allows.
 */
#include "matrix.h"

#include <getopt.h>

typedef enum { TYPES_ALL, TYPES_SAMPLE, TYPES_LARGE_SAMPLE } types_part_t;
typedef enum { ROOTS_ALL, ROOTS_ENDS, ROOTS_ONE } roots_part_t;
typedef enum { FORMS_BOTH, FORMS_IN_TURN } forms_part_t;

/* The first row whose limit is not below the count holds. Reductions have ten times the cells of moves by
 * their ops. */
static const struct {
    int limit;
    types_part_t types;
    roots_part_t roots;
    forms_part_t move_forms, reduce_forms;
} thinning[] = {
    {7, TYPES_ALL, ROOTS_ALL, FORMS_BOTH, FORMS_IN_TURN},
    {1000, TYPES_SAMPLE, ROOTS_ENDS, FORMS_IN_TURN, FORMS_IN_TURN},
    {65537, TYPES_LARGE_SAMPLE, ROOTS_ONE, FORMS_IN_TURN, FORMS_IN_TURN},
};
enum { THINNING_ROWS = sizeof thinning / sizeof *thinning };

static struct {
    const char *kind, *func, *type, *op, *form;
    int root;
    bool all;
    int counts[16], n_counts;
} options = {.root = -1, .counts = {0, 1, 7, 1000, 65537}, .n_counts = 5};

static size_t cells_seen;

static const char *bare(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 ? name + 4 : name;
}

static bool selected(const char *list, const char *name)
{
    if (!list) {
        return true;
    }
    size_t length = strlen(bare(name));
    for (const char *p = list; *p;) {
        const char *item = bare(p);
        size_t n = strcspn(item, ",");
        if (n == length && strncasecmp(item, bare(name), n) == 0) {
            return true;
        }
        p = item + n + (item[n] == ',');
    }
    return false;
}

static size_t thinning_row(int count)
{
    size_t row = 0;
    while (row + 1 < THINNING_ROWS && count > thinning[row].limit) {
        row++;
    }
    return row;
}

static bool type_runs(const type_t *type, int count)
{
    types_part_t part = options.all || options.type ? TYPES_ALL : thinning[thinning_row(count)].types;
    if (type_is_f90(type) && !options.type) {
        return false;
    }
    return selected(options.type, type->name) &&
           (part == TYPES_ALL || (part == TYPES_SAMPLE ? type_is_sample(type) : type_is_large_sample(type)));
}

static bool root_runs(int root, int count)
{
    if (options.root >= 0) {
        return root == options.root;
    }
    switch (options.all ? ROOTS_ALL : thinning[thinning_row(count)].roots) {
    case ROOTS_ALL:
        return true;
    case ROOTS_ENDS:
        return root == 0 || root == t_size - 1;
    default:
        return root == t_size / 2;
    }
}

static bool form_runs(const cell_t *cell)
{
    if (options.form && strcmp(options.form, "both") != 0) {
        return cell->large == (strcmp(options.form, "count") == 0);
    }
    size_t row = thinning_row(cell->count);
    forms_part_t part = cell->op == OP_NONE ? thinning[row].move_forms : thinning[row].reduce_forms;
    return options.all || options.form || part == FORMS_BOTH || cell->large == (cells_seen / 2 % 2 == 1);
}

/*
 * An MPI may lack an op on an optional type (MPICH 4.0 has none on MPI_COMPLEX32). That is taken as such only
 * when both the name under test and the MPI underneath refuse it.
 */
static bool op_refused(const type_t *type, op_id_t op)
{
    unsigned char in[T_MAX_EXTENT] = {0}, out[T_MAX_EXTENT] = {0};
    MPI_Op handle = op_get(op)->handle;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return t_class(MPI_Allreduce(in, out, 1, type->handle, handle, MPI_COMM_SELF)) == MPI_ERR_OP &&
           t_class(PMPI_Allreduce(in, out, 1, type->handle, handle, MPI_COMM_SELF)) == MPI_ERR_OP;
}

static bool op_runs(const type_t *type, op_id_t op)
{
    return op_takes(op, type) && selected(options.op, op_get(op)->name) && !op_refused(type, op);
}

/* All cells of a function at one type, op and count. */
static void run_cells(const func_t *func, cell_t cell)
{
    int roots = func->rooted ? t_size : 1;
    for (cell.root = 0; cell.root < roots; cell.root++) {
        if (func->rooted && !root_runs(cell.root, cell.count)) {
            continue;
        }
        for (int variant = 0; variant < (func->can_in_place ? 2 : 1); variant++) {
            cell.in_place = variant == 1;
            for (int form = 0; form < 2; form++) {
                cell.large = form == 1;
                cell.serial = cells_seen++;
                if (func->run && form_runs(&cell)) {
                    func->run(&cell);
                }
            }
        }
    }
}

static void run_func(const func_t *func, bool reduces)
{
    size_t n_types;
    const type_t *types = types_table(&n_types);
    for (int c = 0; c < options.n_counts; c++) {
        for (size_t t = 0; t < n_types; t++) {
            cell_t cell = {.func = func->name, .type = &types[t], .op = OP_NONE, .count = options.counts[c]};
            if (!type_runs(cell.type, cell.count)) {
                continue;
            }
            for (int op = OP_SUM; op < OP_COUNT && reduces; op++) {
                cell.op = (op_id_t)op;
                if (op_runs(cell.type, cell.op)) {
                    run_cells(func, cell);
                }
            }
            if (!reduces) {
                run_cells(func, cell);
            }
        }
    }
}

/* MPI_Barrier has no form, type or count; the type only serves the message. */
static void run_barrier(const func_t *func)
{
    enum { BARRIERS = 100 };
    size_t n_types;
    cell_t cell = {.func = func->name, .type = types_table(&n_types)};
    for (int i = 0; i < BARRIERS; i++) {
        func->run(&cell);
    }
}

static void run_table(const func_t *table, bool reduces)
{
    for (const func_t *func = table; func->name; func++) {
        if (!selected(options.func, func->name)) {
            continue;
        }
        if (strcmp(func->name, "MPI_Barrier") == 0) {
            run_barrier(func);
        } else {
            run_func(func, reduces);
        }
        t_section("%s on %d ranks", func->name, t_size);
    }
}

static void check_types(void)
{
    size_t n;
    const type_t *types = types_table(&n);
    for (size_t i = 0; i < n; i++) {
        MPI_Aint lb, extent;
        int size;
        MPI_Type_get_extent(types[i].handle, &lb, &extent);
        MPI_Type_size(types[i].handle, &size);
        t_check((size_t)extent == types[i].extent, "%s: extent %td, the tests' table has %zu", types[i].name,
                (ptrdiff_t)extent, types[i].extent);
    }
    for (size_t i = 0; i < n && t_rank == 0; i++) {
        for (int op = OP_SUM; op < OP_COUNT; op++) {
            if (op_takes((op_id_t)op, &types[i]) && op_refused(&types[i], (op_id_t)op)) {
                printf("# left out: %s on %s, which this MPI refuses\n", op_get((op_id_t)op)->name,
                       types[i].name);
            }
        }
    }
    t_section("the tests know the predefined types");
}

static int parse_counts(char *text)
{
    int n = 0;
    for (char *p = strtok(text, ","); p && n < 16; p = strtok(NULL, ",")) {
        options.counts[n++] = atoi(p);
    }
    return n;
}

static bool parse(int argc, char **argv)
{
    static const struct option names[] = {
        {"kind", 1, 0, 'k'}, {"func", 1, 0, 'f'},  {"type", 1, 0, 't'},
        {"op", 1, 0, 'o'},   {"count", 1, 0, 'c'}, {"root", 1, 0, 'r'},
        {"form", 1, 0, 'm'}, {"all", 0, 0, 'a'},   {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (c) {
        case 'k':
            options.kind = optarg;
            break;
        case 'f':
            options.func = optarg;
            break;
        case 't':
            options.type = optarg;
            break;
        case 'o':
            options.op = optarg;
            break;
        case 'c':
            options.n_counts = parse_counts(optarg);
            break;
        case 'r':
            options.root = strcmp(optarg, "all") == 0 ? -1 : atoi(optarg);
            break;
        case 'm':
            options.form = optarg;
            break;
        case 'a':
            options.all = true;
            break;
        default:
            return false;
        }
    }
    return optind == argc;
}

int main(int argc, char **argv)
{
    enum { SECONDS = 300 };
    t_init(&argc, &argv, SECONDS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!parse(argc, argv)) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check_types();
    if (!options.kind || strcmp(options.kind, "move") == 0) {
        run_table(move_funcs, false);
    }
    if (!options.kind || strcmp(options.kind, "reduce") == 0) {
        run_table(reduce_funcs, true);
    }
    return t_finish();
}
