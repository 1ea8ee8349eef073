/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/log.h - the log. Silent unless MPI_SHIM_LOG asks. One line per record:
 *   hccl-shim <level> [rank] message
 * The first function to see an error logs it; callers pass the status on without logging again.
 */
#ifndef HCORE_LOG_H
#define HCORE_LOG_H

#include "hcore/config.h"

extern hcore_log_level_t hcore_log_level; /* read without lock: set once before ranks start collectives */

/* file NULL: standard error. A file is opened for append, private to the user (mode 0600). */
hcore_status_t hcore_log_open(hcore_log_level_t level, const char *file);
void hcore_log_rank(int rank);
void hcore_log_close(void);
void hcore_log_write(hcore_log_level_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define HCORE_LOG(lvl, ...)                                                                       \
    do {                                                                                          \
        if ((lvl) <= hcore_log_level) {                                                           \
            hcore_log_write((lvl), __VA_ARGS__);                                                  \
        }                                                                                         \
    } while (0)
#define hcore_error(...) HCORE_LOG(HCORE_LOG_ERROR, __VA_ARGS__)
#define hcore_warn(...) HCORE_LOG(HCORE_LOG_WARN, __VA_ARGS__)
#define hcore_info(...) HCORE_LOG(HCORE_LOG_INFO, __VA_ARGS__)
#define hcore_debug(...) HCORE_LOG(HCORE_LOG_DEBUG, __VA_ARGS__)

#endif
