/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix/matrix_file.c - reads a matrix file: comma-separated, a header line, one row per line; see
 * doc/matrix-file.md. Every complaint names file, line, field, value and what is allowed.
 */
#include "matrix/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, ALLOWED_SIZE = 512, VALUE_SIZE = 64 };

/* What may stand in backend: MPI is not a backend of the core. */
static hx_words_t core_backend_words(void)
{
    hx_words_t words = hx_backend_words();
    words.count = HCORE_BACKEND_MPI;
    return words;
}

/* The fields in file order: name, the words allowed, where the value goes. */
#define FIELD_LIST(X)                                                                                        \
    X("backend", core_backend_words, row->backend, hcore_backend_t)                                          \
    X("operator", hx_oper_words, row->oper, hcore_oper_t)                                                    \
    X("mode", hx_mode_words, row->mode, hcore_mode_t)                                                        \
    X("zero_copy", hx_cell_words, row->zero_copy, hcore_cell_t)                                              \
    X("deterministic", hx_cell_words, row->deterministic, hcore_cell_t)                                      \
    X("reexecution", hx_cell_words, row->reexecution, hcore_cell_t)                                          \
    X("node", hx_cell_words, row->level[HCORE_SPAN_NODE], hcore_cell_t)                                      \
    X("superpod", hx_cell_words, row->level[HCORE_SPAN_SUPERPOD], hcore_cell_t)                              \
    X("inter_superpod", hx_cell_words, row->level[HCORE_SPAN_INTER_SUPERPOD], hcore_cell_t)                  \
    X("origin", hx_origin_words, row->origin, hcore_origin_t)

static const struct {
    const char *name;
    hx_words_t (*words)(void);
} field_table[] = {
#define X(name, words, place, type) {name, words},
    FIELD_LIST(X)
#undef X
};
enum { FIELDS = sizeof field_table / sizeof *field_table };

static const char header[] =
#define X(name, words, place, type) "," name
    FIELD_LIST(X)
#undef X
    ;

/* `value` holds the words' indices in file order. */
static void set_row(hcore_matrix_row_t *row, const size_t value[FIELDS])
{
    memset(row, 0, sizeof *row);
#define X(name, words, place, type) place = (type)*value++;
    FIELD_LIST(X)
#undef X
}

typedef struct {
    const char *path;
    unsigned long line;
    char *error;
    size_t error_size;
} reader_t;

static void complain_value(const reader_t *reader, size_t field, const char *value)
{
    char allowed[ALLOWED_SIZE], shown[VALUE_SIZE];
    hx_words_t words = field_table[field].words();
    hx_words_join(words, allowed, sizeof allowed);
    hx_printable(value, shown, sizeof shown);
    snprintf(reader->error, reader->error_size,
             "%s:%lu: field %zu \"%s\": value \"%s\" is not allowed (nearest: %s; allowed: %s)", reader->path,
             reader->line, field + 1, field_table[field].name, shown, hx_words_nearest(words, shown),
             allowed);
}

static void complain_count(const reader_t *reader, size_t field, const char *value)
{
    char shown[VALUE_SIZE];
    if (field < FIELDS) {
        snprintf(reader->error, reader->error_size,
                 "%s:%lu: field %zu \"%s\" is missing (allowed: %d fields %s)", reader->path, reader->line,
                 field + 1, field_table[field].name, FIELDS, header + 1);
    } else {
        hx_printable(value, shown, sizeof shown);
        snprintf(reader->error, reader->error_size,
                 "%s:%lu: field %zu: value \"%s\" is one too many (allowed: %d fields %s)", reader->path,
                 reader->line, field + 1, shown, FIELDS, header + 1);
    }
}

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1])) {
        text[--length] = '\0';
    }
    return text;
}

static hcore_status_t parse_row(const reader_t *reader, char *line, hcore_matrix_row_t *row)
{
    size_t value[FIELDS], field = 0;
    for (char *text; (text = strsep(&line, ",")); field++) {
        text = trim(text);
        if (field == FIELDS) {
            complain_count(reader, field, text);
            return HCORE_ERR_FORMAT;
        }
        if (hx_words_find(field_table[field].words(), text, &value[field]) != HCORE_OK) {
            complain_value(reader, field, text);
            return HCORE_ERR_FORMAT;
        }
    }
    if (field < FIELDS) {
        complain_count(reader, field, NULL);
        return HCORE_ERR_FORMAT;
    }
    set_row(row, value);
    return HCORE_OK;
}

typedef struct {
    hcore_matrix_row_t *row;
    size_t count, room;
} rows_t;

/* Room for one row more. */
static hcore_status_t reserve(rows_t *rows)
{
    if (rows->count < rows->room) {
        return HCORE_OK;
    }
    size_t room = rows->room ? rows->room * 2 : FIRST_ROOM;
    hcore_matrix_row_t *grown = realloc(rows->row, room * sizeof *grown);
    if (!grown) {
        return HCORE_ERR_NO_MEMORY;
    }
    rows->row = grown;
    rows->room = room;
    return HCORE_OK;
}

/* One line that is neither empty nor a comment: the header first, then rows. */
static hcore_status_t take_line(const reader_t *reader, char *line, bool *have_header, rows_t *rows)
{
    if (!*have_header) {
        char shown[VALUE_SIZE];
        *have_header = strcmp(line, header + 1) == 0;
        if (!*have_header) {
            hx_printable(line, shown, sizeof shown);
            snprintf(reader->error, reader->error_size, "%s:%lu: header \"%s\" is not allowed (allowed: %s)",
                     reader->path, reader->line, shown, header + 1);
        }
        return *have_header ? HCORE_OK : HCORE_ERR_FORMAT;
    }
    hcore_status_t status = reserve(rows);
    if (status != HCORE_OK) {
        snprintf(reader->error, reader->error_size, "%s:%lu: out of memory", reader->path, reader->line);
        return status;
    }
    status = parse_row(reader, line, &rows->row[rows->count]);
    rows->count += status == HCORE_OK;
    return status;
}

/* The text of a line without blanks around it and, in the first line, the mark that spreadsheets write. */
static hcore_status_t clean_line(const reader_t *reader, char *buffer, size_t length, char **line)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (memchr(buffer, '\0', length)) {
        snprintf(reader->error, reader->error_size, "%s:%lu: a zero byte is not allowed (allowed: text)",
                 reader->path, reader->line);
        return HCORE_ERR_FORMAT;
    }
    bool marked = reader->line == 1 && strncmp(buffer, mark, sizeof mark - 1) == 0;
    *line = trim(buffer + (marked ? sizeof mark - 1 : 0));
    return HCORE_OK;
}

static hcore_status_t read_lines(reader_t *reader, FILE *file, rows_t *rows)
{
    hcore_status_t status = HCORE_OK;
    bool have_header = false;
    char *buffer = NULL, *line;
    size_t room = 0;
    ssize_t length;
    while (status == HCORE_OK && (length = getline(&buffer, &room, file)) >= 0) {
        reader->line++;
        status = clean_line(reader, buffer, (size_t)length, &line);
        if (status == HCORE_OK && *line && *line != '#') {
            status = take_line(reader, line, &have_header, rows);
        }
    }
    if (status == HCORE_OK && !feof(file)) {
        snprintf(reader->error, reader->error_size, "%s: can't be read: %s", reader->path, strerror(errno));
        status = HCORE_ERR_SYSTEM;
    }
    if (status == HCORE_OK && rows->count == 0) {
        snprintf(reader->error, reader->error_size,
                 "%s:%lu: the file ends without a row (allowed: header %s, then rows)", reader->path,
                 reader->line, header + 1);
        status = HCORE_ERR_FORMAT;
    }
    free(buffer);
    return status;
}

hcore_status_t hx_matrix_file_read(const char *path, hcore_matrix_row_t **rows, size_t *count, char *error,
                                   size_t error_size)
{
    reader_t reader = {path, 0, error, error_size};
    rows_t read = {NULL, 0, 0};
    FILE *file = fopen(path, "re");
    if (!file) {
        int reason = errno;
        char allowed[ALLOWED_SIZE];
        hx_words_join(hx_profile_words(), allowed, sizeof allowed);
        snprintf(error, error_size, "%s: neither a built-in profile (allowed: %s) nor a readable file: %s",
                 path, allowed, strerror(reason));
        return reason == ENOENT ? HCORE_ERR_NOT_FOUND : HCORE_ERR_SYSTEM;
    }
    hcore_status_t status = read_lines(&reader, file, &read);
    fclose(file);
    if (status == HCORE_OK) {
        *rows = read.row;
        *count = read.count;
    } else {
        free(read.row);
    }
    return status;
}
