/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_matrix.c - hccl_info matrix: the rows of a profile. */
#include "info.h"

#include "hcore/matrix.h"

enum { OPTION_PROFILE, OPTION_FORMAT, ERROR_SIZE = 1024 };

static const info_option_t options[] = {
    [OPTION_PROFILE] = {"profile", "NAME", "host (default), atlas-a3, or the path of a matrix file"},
    [OPTION_FORMAT] = {"format", "FORMAT", "text (default), csv or json; a matrix file is in the csv format"},
};

/* The note is for people and JSON; the csv format has no such field. */
enum {
    BACKEND,
    OPERATOR,
    MODE,
    ZERO_COPY,
    DETERMINISTIC,
    REEXECUTION,
    NODE,
    SUPERPOD,
    INTER_SUPERPOD,
    ORIGIN,
    NOTE
};
static const char *const column_word[] = {
    [BACKEND] = "backend",
    [OPERATOR] = "operator",
    [MODE] = "mode",
    [ZERO_COPY] = "zero_copy",
    [DETERMINISTIC] = "deterministic",
    [REEXECUTION] = "reexecution",
    [NODE] = "node",
    [SUPERPOD] = "superpod",
    [INTER_SUPERPOD] = "inter_superpod",
    [ORIGIN] = "origin",
    [NOTE] = "note",
};

static const char *cell(void *source, size_t index, size_t column)
{
    const hcore_matrix_row_t *row = (const hcore_matrix_row_t *)source + index;
    switch (column) {
    case BACKEND:
        return hcore_backend_name(row->backend);
    case OPERATOR:
        return hcore_oper_name(row->oper);
    case MODE:
        return hcore_mode_name(row->mode);
    case ZERO_COPY:
        return hcore_cell_name(row->zero_copy);
    case DETERMINISTIC:
        return hcore_cell_name(row->deterministic);
    case REEXECUTION:
        return hcore_cell_name(row->reexecution);
    case NODE:
    case SUPERPOD:
    case INTER_SUPERPOD:
        return hcore_cell_name(row->level[column - NODE]);
    case ORIGIN:
        return hcore_origin_name(row->origin);
    default:
        return row->note;
    }
}

static int run(const info_command_t *command, const char *const *value)
{
    const char *name = value[OPTION_PROFILE] ? value[OPTION_PROFILE] : "host";
    const hcore_matrix_row_t *rows;
    hcore_profile_t *profile;
    info_format_t format;
    char error[ERROR_SIZE];
    int status = info_read_format(command, info_table_formats(), value[OPTION_FORMAT], &format);
    if (status != INFO_OK) {
        return status;
    }
    if (hcore_profile_open(name, &profile, error, sizeof error) != HCORE_OK) {
        info_complain(command, "%s", error);
        return INFO_USAGE;
    }
    size_t count = hcore_profile_rows(profile, &rows);
    hx_words_t columns = HX_WORDS(column_word);
    columns.count -= format == INFO_CSV;
    if (format == INFO_JSON) {
        bool first = true;
        fputs("{", stdout);
        info_json_member(&first, "profile", hcore_profile_name(profile));
        info_json_key(&first, "rows");
    }
    info_print_table(format, columns, count, cell, (void *)rows);
    fputs(format == INFO_JSON ? "}\n" : "", stdout);
    hcore_profile_close(profile);
    return INFO_OK;
}

const info_command_t info_matrix_command = {
    "matrix", "print the support matrix of a profile", options, sizeof options / sizeof *options, run,
};
