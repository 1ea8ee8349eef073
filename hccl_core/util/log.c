/* SPDX-License-Identifier: BSD-3-Clause */
/* util/log.c - the log: one line per record, one write per line, so that lines of many ranks never
 * interleave. */
#include "hcore/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 2048, NO_RANK = -1 };

hcore_log_level_t hcore_log_level = HCORE_LOG_OFF;

static int log_fd = STDERR_FILENO;
static int log_rank = NO_RANK;

static const char *const level_word[] = {"off", "error", "warn", "info", "debug"};

hcore_status_t hcore_log_open(hcore_log_level_t level, const char *file)
{
    int fd = STDERR_FILENO;
    if (file && level != HCORE_LOG_OFF) {
        fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, S_IRUSR | S_IWUSR);
        if (fd < 0) {
            return HCORE_ERR_SYSTEM;
        }
    }
    hcore_log_close();
    log_fd = fd;
    hcore_log_level = level;
    return HCORE_OK;
}

void hcore_log_rank(int rank)
{
    log_rank = rank;
}

void hcore_log_close(void)
{
    hcore_log_level = HCORE_LOG_OFF;
    if (log_fd != STDERR_FILENO) {
        close(log_fd);
    }
    log_fd = STDERR_FILENO;
}

/* "hccl-shim warn [3] "; returns the length. */
static size_t put_prefix(char *line, size_t size, hcore_log_level_t level)
{
    int n = log_rank == NO_RANK ? snprintf(line, size, "hccl-shim %s [-] ", level_word[level])
                                : snprintf(line, size, "hccl-shim %s [%d] ", level_word[level], log_rank);
    return (size_t)n;
}

void hcore_log_write(hcore_log_level_t level, const char *format, ...)
{
    int saved_errno = errno; /* a caller may log first and look at errno after */
    char line[LINE_SIZE];
    size_t used = put_prefix(line, sizeof line, level);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + used, sizeof line - used, format, args);
    va_end(args);
    if (n >= 0) {
        size_t end = used + (size_t)n;
        if (end > sizeof line - 2) {
            end = sizeof line - 2; /* room for the newline in place of the last character and the end */
        }
        for (char *c = line + used; c < line + end; c++) {
            *c = *c == '\n' ? ' ' : *c; /* one line per record, whatever a name in the message holds */
        }
        line[end] = '\n';
        ssize_t written = write(log_fd, line, end + 1);
        (void)written; /* a log that can't be written must not disturb the program */
    }
    errno = saved_errno;
}
