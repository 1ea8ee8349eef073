/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - what was done and why: counters per function while MPI_SHIM_REPORT asks for them, written as JSON by rank 0
 * after Finalize; and the path of a thread's last collective, for tools that look from inside.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "mpi_shim/mpi_shim.h"
#include "mpi_shim/shim.h"

enum { PATHS = 24 }; /* different (backend, algorithm) one function can have been served by */

typedef struct {
    hcore_backend_t backend;
    const char *algorithm;
    uint64_t calls;
} path_t;

typedef struct {
    uint64_t calls, bytes, nanoseconds;
    uint64_t served[HCORE_BACKEND_COUNT];
    uint64_t reason[HCORE_REASON_COUNT];
    path_t path[PATHS];
} counters_t;

static counters_t counters[SHIM_FN_COUNT];
static pthread_mutex_t counters_lock = PTHREAD_MUTEX_INITIALIZER;

__thread shim_path_t shim_path;

void shim_report_init(void)
{
    shim.reporting = shim.config.report != NULL;
}

shim_watch_t shim_watch_begin(void)
{
    shim_watch_t watch = {.backend = HCORE_BACKEND_MPI, .reason = HCORE_REASON_INACTIVE};
    if (__builtin_expect(shim.reporting, 0)) {
        watch.start_ns = hcore_now_ns();
    }
    return watch;
}

static void count_path(counters_t *c, hcore_backend_t backend, const char *algorithm)
{
    for (unsigned i = 0; i < PATHS; i++) {
        path_t *path = &c->path[i];
        if (path->calls == 0) {
            path->backend = backend;
            path->algorithm = algorithm;
        }
        if (path->backend == backend && strcmp(path->algorithm, algorithm) == 0) {
            path->calls++;
            return;
        }
    }
}

static void count(const shim_watch_t *watch, shim_fn_t fn)
{
    counters_t *c = &counters[fn];
    c->calls++;
    c->bytes += watch->bytes;
    c->nanoseconds += watch->start_ns ? hcore_now_ns() - watch->start_ns : 0;
    c->served[watch->backend]++;
    c->reason[watch->reason]++;
    if (watch->algorithm) {
        count_path(c, watch->backend, watch->algorithm);
    }
}

void shim_watch_end(shim_watch_t *watch, const shim_call_t *call)
{
    shim_path.backend = watch->backend;
    shim_path.algorithm = watch->algorithm;
    shim_path.any = true;
    if (__builtin_expect(!shim.reporting, 1)) {
        return;
    }
    if (shim.threads) {
        pthread_mutex_lock(&counters_lock);
    }
    count(watch, call->fn);
    if (shim.threads) {
        pthread_mutex_unlock(&counters_lock);
    }
}

SHIM_EXPORT int mpi_shim_last_path(char *text, size_t size)
{
    if (!shim_path.any) {
        return snprintf(text, size, "%s", "");
    }
    return snprintf(text, size, "%s%s%s", hcore_backend_name(shim_path.backend), shim_path.algorithm ? "/" : "",
                    shim_path.algorithm ? shim_path.algorithm : "");
}

static void write_function(FILE *out, const char *name, const counters_t *c)
{
    const char *comma = "";
    fprintf(out, "    \"%s\": {\"calls\": %llu, \"bytes\": %llu, \"seconds\": %.9f,\n      \"served\": {", name,
            (unsigned long long)c->calls, (unsigned long long)c->bytes, (double)c->nanoseconds * 1e-9);
    for (int i = 0; i < HCORE_BACKEND_COUNT; i++, comma = ", ") {
        fprintf(out, "%s\"%s\": %llu", comma, hcore_backend_name((hcore_backend_t)i), (unsigned long long)c->served[i]);
    }
    fprintf(out, "},\n      \"reasons\": {");
    comma = "";
    for (int i = 0; i < HCORE_REASON_COUNT; i++) {
        if (c->reason[i] > 0) {
            fprintf(out, "%s\"%s\": %llu", comma, hcore_reason_name((hcore_reason_t)i),
                    (unsigned long long)c->reason[i]);
            comma = ", ";
        }
    }
    fprintf(out, "},\n      \"algorithms\": {");
    comma = "";
    for (unsigned i = 0; i < PATHS && c->path[i].calls > 0; i++, comma = ", ") {
        fprintf(out, "%s\"%s/%s\": %llu", comma, hcore_backend_name(c->path[i].backend), c->path[i].algorithm,
                (unsigned long long)c->path[i].calls);
    }
    fprintf(out, "}}");
}

static void write_all(FILE *out)
{
    const char *comma = "";
    fprintf(out, "{\n  \"version\": \"%s\",\n  \"rank\": %d,\n  \"profile\": \"%s\",\n  \"functions\": {\n",
            PACKAGE_VERSION, shim.world_rank, hcore_profile_name(shim.profile));
    for (int i = 0; i < SHIM_FN_COUNT; i++) {
        if (counters[i].calls > 0) {
            fputs(comma, out);
            write_function(out, shim_slot_name[i], &counters[i]);
            comma = ",\n";
        }
    }
    fprintf(out, "\n  }\n}\n");
}

void shim_report_write(void)
{
    if (!shim.reporting || shim.world_rank != 0) {
        return;
    }
    FILE *out = fopen(shim.config.report, "w");
    if (out) {
        write_all(out);
    }
    if (!out || fclose(out) != 0) {
        fprintf(stderr, "hccl-shim: MPI_SHIM_REPORT: can't write \"%s\": %s\n", shim.config.report, strerror(errno));
    }
}
