/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_read.c - what hccl_info reads: values of options, and the settings. */
#include "info.h"

#include <stdarg.h>
#include <string.h>

enum { ALLOWED_SIZE = 1024, VALUE_SIZE = 128 };

void info_complain(const info_command_t *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "hccl_info%s%s: ", command ? " " : "", command ? command->name : "");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int info_read_word(const info_command_t *command, const char *option, hx_words_t words, const char *text,
                   size_t *index)
{
    char allowed[ALLOWED_SIZE], shown[VALUE_SIZE];
    if (hx_words_find(words, text, index) == HCORE_OK) {
        return INFO_OK;
    }
    hx_words_join(words, allowed, sizeof allowed);
    hx_printable(text, shown, sizeof shown);
    info_complain(command, "--%s: \"%s\" is not allowed (nearest: %s; allowed: %s)", option, shown,
                  hx_words_nearest(words, shown), allowed);
    return INFO_USAGE;
}

int info_read_size(const info_command_t *command, const char *option, const char *text, uint64_t *bytes)
{
    char shown[VALUE_SIZE];
    if (hx_parse_size(text, strlen(text), bytes) == HCORE_OK) {
        return INFO_OK;
    }
    hx_printable(text, shown, sizeof shown);
    info_complain(
        command,
        "--%s: \"%s\" is not allowed (allowed: a number of bytes below 2^64, K, M, G for powers of 1024)",
        option, shown);
    return INFO_USAGE;
}

int info_read_count(const info_command_t *command, const char *option, const char *text, uint32_t *count)
{
    uint64_t number;
    char shown[VALUE_SIZE];
    if (hx_parse_number(text, strlen(text), 1, INT32_MAX, &number) == HCORE_OK) {
        *count = (uint32_t)number;
        return INFO_OK;
    }
    hx_printable(text, shown, sizeof shown);
    info_complain(command, "--%s: \"%s\" is not allowed (allowed: 1..%d)", option, shown, INT32_MAX);
    return INFO_USAGE;
}

/* By info_format_t; the object formats skip csv, so a format is looked up by its word. */
static const char *const table_format[] = {"text", "csv", "json"};
static const char *const object_format[] = {"text", "json"};

hx_words_t info_table_formats(void)
{
    return HX_WORDS(table_format);
}

hx_words_t info_object_formats(void)
{
    return HX_WORDS(object_format);
}

int info_read_format(const info_command_t *command, hx_words_t formats, const char *text,
                     info_format_t *format)
{
    size_t allowed, index = INFO_TEXT;
    if (text) {
        int status = info_read_word(command, "format", formats, text, &allowed);
        if (status != INFO_OK) {
            return status;
        }
        hx_words_find(info_table_formats(), text, &index); /* which has every format */
    }
    *format = (info_format_t)index;
    return INFO_OK;
}

extern char **environ;

static void print_message(void *context, hcore_log_level_t level, const char *line)
{
    (void)level;
    info_complain(context, "%s", line);
}

int info_load_config(const info_command_t *command, hcore_config_t *config)
{
    unsigned bad = hcore_config_load(config, environ, print_message, (void *)command);
    return bad && config->strict ? INFO_FAILED : INFO_OK;
}
