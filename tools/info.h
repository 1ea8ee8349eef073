/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tools/info.h - what the commands of hccl_info share.
 */
#ifndef INFO_H
#define INFO_H

#include <stdio.h>

#include "hcore/config.h"
#include "util/text.h"

/* Exit statuses. */
enum { INFO_OK = 0, INFO_FAILED = 1, INFO_USAGE = 2 };

/* One option of a command; help and parser read the same table. value NULL: a flag. */
typedef struct {
    const char *name;  /* "profile", written --profile */
    const char *value; /* "NAME" */
    const char *help;
} info_option_t;

typedef struct info_command {
    const char *name;
    const char *summary;
    const info_option_t *options;
    size_t option_count;
    int (*run)(const struct info_command *command,
               const char *const *value); /* value by option, NULL if not given */
} info_command_t;

enum { INFO_MAX_OPTIONS = 16 };

extern const info_command_t info_matrix_command, info_explain_command, info_config_command, info_topo_command,
    info_version_command;

/* One line "hccl_info COMMAND: ..." on standard error; command NULL: "hccl_info: ...". */
void info_complain(const info_command_t *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Values of options. On a bad one: one line that names the option, the value and what is allowed; INFO_USAGE.
 */
int info_read_word(const info_command_t *command, const char *option, hx_words_t words, const char *text,
                   size_t *index);
int info_read_size(const info_command_t *command, const char *option, const char *text, uint64_t *bytes);
int info_read_count(const info_command_t *command, const char *option, const char *text, uint32_t *count);

typedef enum { INFO_TEXT, INFO_CSV, INFO_JSON } info_format_t;

/* --format, one of the formats that the command has. text NULL: INFO_TEXT. */
int info_read_format(const info_command_t *command, hx_words_t formats, const char *text,
                     info_format_t *format);
hx_words_t info_table_formats(void);  /* text, csv, json */
hx_words_t info_object_formats(void); /* text, json */

/* The knobs from environment and file; complaints go to standard error. INFO_FAILED if one is bad and
 * MPI_SHIM_STRICT is set; the caller releases the config in any case. */
int info_load_config(const info_command_t *command, hcore_config_t *config);

/* A table: cells by row and column, NULL for none (null in JSON, empty elsewhere). Text is aligned, JSON an
 * array of objects. */
typedef const char *(*info_cell_t)(void *source, size_t row, size_t column);
void info_print_table(info_format_t format, hx_words_t columns, size_t rows, info_cell_t cell, void *source);

/* Members of a JSON object, in order; `first` starts true and keeps the commas. string NULL: null. */
void info_json_key(bool *first, const char *key);
void info_json_string(const char *text);
void info_json_member(bool *first, const char *key, const char *string);
void info_json_number(bool *first, const char *key, uint64_t number);
void info_json_flag(bool *first, const char *key, bool flag);

#endif
