/* SPDX-License-Identifier: BSD-3-Clause */
/* t/tap.h - the Test Anything Protocol, as much of it as C tests need. Not thread safe. */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned tap_count, tap_failed;

/* One test: "ok N - text" or "not ok N - text". Returns the condition. */
static inline bool __attribute__((format(printf, 2, 3))) tap_ok(bool good, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%sok %u - ", good ? "" : "not ", ++tap_count);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    tap_failed += !good;
    return good;
}

static inline void __attribute__((format(printf, 1, 2))) tap_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("# ");
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

static inline void tap_skip(const char *text, const char *reason)
{
    printf("ok %u - %s # SKIP %s\n", ++tap_count, text, reason);
}

/* Last call of main: prints the plan; the exit status. */
static inline int tap_done(void)
{
    printf("1..%u\n", tap_count);
    return tap_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
