/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * util/config_file.h - the grammar of a configuration file: lines "NAME = value", blank lines, and comment
 * lines that begin with "#". What names and values mean, its user knows. Private to the core.
 */
#ifndef HX_CONFIG_FILE_H
#define HX_CONFIG_FILE_H

#include "hcore/types.h"

/*
 * assign    hears of each "NAME = value", without the blanks around both, at `place` ("FILE:LINE"); false if
 * it is a mistake, which it has told complain  hears of each other mistake, as one line of text
 */
typedef struct {
    bool (*assign)(void *context, const char *place, const char *name, const char *value);
    void (*complain)(void *context, const char *line);
    void *context;
} hx_config_user_t;

/* Reads a file to its end, past mistakes unless there are very many. Any content is safe. A file that is not
 * there is a mistake only if it is `needed`. */
void hx_config_file_read(const char *path, bool needed, const hx_config_user_t *user);

#endif
