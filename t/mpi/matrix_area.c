/* SPDX-License-Identifier: BSD-3-Clause */
/* t/mpi/matrix_area.c - areas, layouts and the memory of serial results for coll_matrix. */
#include "matrix.h"

static bool any_order(void)
{
    return t_env_number("TEST_ANY_ORDER", 0) != 0;
}

void *area_at(area_t *area, const cell_t *cell, size_t at)
{
    return area->buf.data + at * cell->type->extent;
}

/* The start moves from cell to cell over the addresses that the type's alignment allows. */
void area_new(area_t *area, const cell_t *cell, size_t elements)
{
    size_t steps = T_GUARD / cell->type->align;
    t_buf_set(&area->buf, elements * cell->type->extent, cell->serial % steps * cell->type->align);
}

void area_put(area_t *area, const cell_t *cell, size_t at, int rank, size_t index, size_t n)
{
    unsigned char *p = area_at(area, cell, at);
    for (size_t i = 0; i < n; i++, p += cell->type->extent) {
        type_value(cell->type, cell->op, rank, index + i, p);
    }
}

void area_ready(area_t *area)
{
    t_buf_image(&area->want, &area->buf);
}

void area_want_moved(area_t *area, const cell_t *cell, size_t at, int rank, size_t index, size_t n)
{
    unsigned char *p = area->want.data + at * cell->type->extent;
    for (size_t i = 0; i < n; i++, p += cell->type->extent) {
        type_value(cell->type, cell->op, rank, index + i, p);
    }
}

/* Serial results are asked for again by each function, root and form. */
typedef struct {
    const type_t *type;
    op_id_t op;
    int ranks;
    size_t index, n;
    unsigned char *result;
} memory_t;

static const unsigned char *serial_result(const cell_t *cell, int ranks, size_t index, size_t n)
{
    enum { SLOTS = 8 };
    static memory_t memory[SLOTS];
    static unsigned victim;
    for (int i = 0; i < SLOTS; i++) {
        const memory_t *m = &memory[i];
        if (m->result && m->type == cell->type && m->op == cell->op && m->ranks == ranks &&
            m->index == index && m->n >= n) {
            return m->result;
        }
    }
    memory_t *m = &memory[victim++ % SLOTS];
    free(m->result);
    *m = (memory_t){cell->type, cell->op, ranks, index, n, calloc(n + 1, cell->type->extent)};
    for (size_t i = 0; i < n; i++) {
        type_reduce(cell->type, cell->op, ranks, index + i, m->result + i * cell->type->extent);
    }
    return m->result;
}

void area_want_reduced(area_t *area, const cell_t *cell, size_t at, int ranks, size_t index, size_t n)
{
    const unsigned char *result = serial_result(cell, ranks, index, n);
    size_t extent = cell->type->extent;
    for (size_t i = 0; i < n; i++) {
        type_copy(cell->type, area->want.data + (at + i) * extent, result + i * extent);
    }
}

static void describe(const cell_t *cell, char *text, size_t size)
{
    snprintf(text, size, "%s%s %s %s count %d root %d%s shift %zu", cell->func, cell->large ? "_c" : "",
             cell->type->name, op_get(cell->op)->name, cell->count, cell->root,
             cell->in_place ? " in place" : "",
             cell->serial % (T_GUARD / cell->type->align) * cell->type->align);
}

void cell_check_code(const cell_t *cell, int code)
{
    char text[160];
    describe(cell, text, sizeof text);
    t_check(code == MPI_SUCCESS, "%s: returned %d", text, code);
    if (t_env_number("TEST_MAY_FALL_BACK", 0) == 0) {
        t_check(t_served_by_core(), "%s: ran on %s", text, t_last_path());
    }
}

/* Index of the first element that differs in data, or -1; equal ones lose their differences in padding (and,
 * in any order, in rounding). */
static ptrdiff_t first_difference(area_t *area, const cell_t *cell)
{
    size_t extent = cell->type->extent, n = area->buf.size / extent;
    bool loose = any_order();
    for (size_t i = 0; i < n; i++) {
        const unsigned char *got = area->buf.data + i * extent;
        unsigned char *wanted = area->want.data + i * extent;
        if (!type_equal(cell->type, cell->op, loose, got, wanted)) {
            return (ptrdiff_t)i;
        }
        memcpy(wanted, got, extent);
    }
    return -1;
}

void area_check(area_t *area, const cell_t *cell, const char *what)
{
    ptrdiff_t where = 0;
    if (t_buf_equal(&area->buf, &area->want, &where)) {
        t_check(true, "equal");
        return;
    }
    char text[160], got[96], wanted[96];
    describe(cell, text, sizeof text);
    ptrdiff_t element = first_difference(area, cell);
    if (element >= 0) {
        size_t at = (size_t)element * cell->type->extent;
        type_print(cell->type, area->buf.data + at, got, sizeof got);
        type_print(cell->type, area->want.data + at, wanted, sizeof wanted);
        t_check(false, "%s: %s element %td: got %s wanted %s", text, what, element, got, wanted);
        return;
    }
    bool same = t_buf_equal(&area->buf, &area->want, &where);
    t_check(same, "%s: %s byte %td outside of the data was overwritten", text, what, where);
}

void area_same(area_t *area, const cell_t *cell, size_t at, size_t n)
{
    const type_t *type = cell->type;
    const unsigned char *p = area_at(area, cell, at);
    if (type->piece[0].size + type->piece[1].size == type->extent) {
        t_same(p, n * type->extent);
        return;
    }
    for (size_t i = 0; i < n; i++, p += type->extent) {
        t_same(p + type->piece[0].offset, type->piece[0].size);
        t_same(p + type->piece[1].offset, type->piece[1].size);
    }
}

void layout_set(layout_t *layout, int count, block_count_t block, layout_order_t order)
{
    size_t at = 0, hole = order == LAYOUT_DENSE ? 0 : 1;
    for (int i = 0; i < t_size; i++) {
        int r = order == LAYOUT_DOWN ? t_size - 1 - i : i;
        layout->n[r] = block(r, count);
        layout->d[r] = (int)at;
        layout->nc[r] = layout->n[r];
        layout->dc[r] = layout->d[r];
        at += (size_t)layout->n[r] + hole;
    }
    layout->elements = at;
}
