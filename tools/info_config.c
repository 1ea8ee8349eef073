/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_config.c - hccl_info config: every knob, its value and where that comes from. */
#include "info.h"

#include <string.h>

enum { OPTION_FORMAT, VALUE_SIZE = 4096 + 16 }; /* room for a path */

static const info_option_t options[] = {
    [OPTION_FORMAT] = {"format", "FORMAT", "text (default), csv or json"},
};

typedef struct {
    hcore_config_t config;
    const hcore_knob_t *knobs;
    size_t count;
    char value[VALUE_SIZE]; /* of the cell asked for last */
} source_t;

enum { NAME, VALUE, SOURCE, DEFAULT, ALLOWED, HELP };
static const char *const column_word[] = {
    [NAME] = "name",       [VALUE] = "value",     [SOURCE] = "source",
    [DEFAULT] = "default", [ALLOWED] = "allowed", [HELP] = "help",
};

static const char *source_word(const hcore_config_t *config, size_t row)
{
    if (config->given >> row & 1) {
        return "environment";
    }
    return config->from_file >> row & 1 ? "file" : "default";
}

static const char *cell(void *context, size_t row, size_t column)
{
    source_t *source = context;
    const hcore_knob_t *knob = &source->knobs[row];
    switch (column) {
    case NAME:
        return knob->name;
    case VALUE:
        hcore_config_value_text(&source->config, row, source->value, sizeof source->value);
        return source->value;
    case SOURCE:
        return source_word(&source->config, row);
    case DEFAULT:
        return knob->default_text;
    case ALLOWED:
        return knob->allowed;
    default:
        return knob->help;
    }
}

/* Indented, broken at blanks. */
static void print_wrapped(const char *label, const char *text)
{
    enum { INDENT = 4, WIDTH = 96 };
    int column = printf("%*s%s", INDENT, "", label);
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column + 1 + length > WIDTH) {
            printf("\n%*s", 2 * INDENT - 1, "");
            column = 2 * INDENT - 1;
        }
        column += printf(" %.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* Help and lists are too long for the columns of a table. */
static void print_blocks(source_t *source)
{
    for (size_t i = 0; i < source->count; i++) {
        printf("%s = %s (%s)\n", cell(source, i, NAME), cell(source, i, VALUE), cell(source, i, SOURCE));
        print_wrapped("default:", cell(source, i, DEFAULT));
        print_wrapped("allowed:", cell(source, i, ALLOWED));
        print_wrapped("help:", cell(source, i, HELP));
    }
}

static int run(const info_command_t *command, const char *const *value)
{
    source_t source;
    info_format_t format;
    int status = info_read_format(command, info_table_formats(), value[OPTION_FORMAT], &format);
    if (status != INFO_OK) {
        return status;
    }
    status = info_load_config(command, &source.config);
    source.count = hcore_config_knobs(&source.knobs);
    if (format == INFO_TEXT) {
        print_blocks(&source);
    } else {
        info_print_table(format, HX_WORDS(column_word), source.count, cell, &source);
        fputs(format == INFO_JSON ? "\n" : "", stdout);
    }
    hcore_config_release(&source.config);
    return status;
}

const info_command_t info_config_command = {
    "config", "print every setting, its value, where that comes from and its meaning",
    options,  sizeof options / sizeof *options,
    run,
};
