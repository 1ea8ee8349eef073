/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c - whether another process is alive, from /proc: no descriptor is kept. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm_internal.h"

bool process_state(pid_t pid, char *state, uint64_t *start)
{
    char path[32], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = TEMP_FAILURE_RETRY(read(fd, text, sizeof(text) - 1));
    const int error = errno;
    close(fd);
    errno = error;
    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    /* The name, in parentheses, may itself hold anything: what counts begins behind the last one. Field 3 is the state,
     * field 22 the start. */
    const char *rest = strrchr(text, ')');
    unsigned long long ticks = 0;
    errno = EINVAL;
    if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", state,
                        &ticks) != 2) {
        return false;
    }
    *start = ticks;
    return true;
}
