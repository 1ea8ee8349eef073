/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_output.c - tables and JSON of hccl_info. */
#include "info.h"

#include <inttypes.h>
#include <string.h>

void info_json_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < ' ') {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
}

void info_json_key(bool *first, const char *key)
{
    fputs(*first ? "" : ", ", stdout);
    *first = false;
    info_json_string(key);
    fputs(": ", stdout);
}

void info_json_member(bool *first, const char *key, const char *string)
{
    info_json_key(first, key);
    if (string) {
        info_json_string(string);
    } else {
        fputs("null", stdout);
    }
}

void info_json_number(bool *first, const char *key, uint64_t number)
{
    info_json_key(first, key);
    printf("%" PRIu64, number);
}

void info_json_flag(bool *first, const char *key, bool flag)
{
    info_json_key(first, key);
    fputs(flag ? "true" : "false", stdout);
}

static void print_json(hx_words_t columns, size_t rows, info_cell_t cell, void *source)
{
    puts("[");
    for (size_t row = 0; row < rows; row++) {
        bool first = true;
        fputs("  {", stdout);
        for (size_t column = 0; column < columns.count; column++) {
            info_json_member(&first, columns.word[column], cell(source, row, column));
        }
        puts(row + 1 < rows ? "}," : "}");
    }
    fputs("]", stdout);
}

static void print_csv_cell(const char *text)
{
    if (!text[strcspn(text, ",\"\n")]) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        fputs(*text == '"' ? "\"" : "", stdout);
        putchar(*text);
    }
    putchar('"');
}

static void print_csv(hx_words_t columns, size_t rows, info_cell_t cell, void *source)
{
    for (size_t column = 0; column < columns.count; column++) {
        printf("%s%s", column ? "," : "", columns.word[column]);
    }
    putchar('\n');
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < columns.count; column++) {
            const char *text = cell(source, row, column);
            fputs(column ? "," : "", stdout);
            print_csv_cell(text ? text : "");
        }
        putchar('\n');
    }
}

static size_t column_width(hx_words_t columns, size_t column, size_t rows, info_cell_t cell, void *source)
{
    size_t width = strlen(columns.word[column]);
    for (size_t row = 0; row < rows; row++) {
        const char *text = cell(source, row, column);
        size_t length = text ? strlen(text) : 0;
        width = length > width ? length : width;
    }
    return width;
}

enum { MAX_COLUMNS = 16 };

static void print_text(hx_words_t columns, size_t rows, info_cell_t cell, void *source)
{
    int width[MAX_COLUMNS];
    for (size_t column = 0; column < columns.count; column++) {
        width[column] = (int)column_width(columns, column, rows, cell, source);
    }
    for (size_t line = 0; line <= rows; line++) { /* line 0 is the header */
        int blanks = 0;                           /* held back, so that no line ends with blanks */
        for (size_t column = 0; column < columns.count; column++) {
            const char *text = line ? cell(source, line - 1, column) : columns.word[column];
            text = text ? text : "";
            printf("%*s%s", *text ? blanks : 0, "", text);
            blanks = (*text ? 0 : blanks) + width[column] - (int)strlen(text) + 2;
        }
        putchar('\n');
    }
}

void info_print_table(info_format_t format, hx_words_t columns, size_t rows, info_cell_t cell, void *source)
{
    switch (format) {
    case INFO_TEXT:
        print_text(columns, rows, cell, source);
        break;
    case INFO_CSV:
        print_csv(columns, rows, cell, source);
        break;
    case INFO_JSON:
        print_json(columns, rows, cell, source);
        break;
    }
}
