/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c - start and end of the shim: configuration, profile, the functions of MPI that begin and end things. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_shim/mpi_shim.h"
#include "mpi_shim/shim.h"

shim_t shim = {.keyval = MPI_KEYVAL_INVALID};

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
/* release store after everything in `shim` is set; pairs with the acquire loads in shim_start */
static atomic_bool started;
static unsigned bad_values;
static bool strict;

/* A bad value is one line on stderr of one rank, asked for or not; all other messages need the log. When it ends the job, each
 * rank says so itself: the first to abort may not be rank 0. */
static void config_message(void *context, hcore_log_level_t level, const char *line)
{
    (void)context;
    if (level == HCORE_LOG_ERROR) {
        bad_values++;
        if (shim.world_rank == 0 || strict) {
            fprintf(stderr, "hccl-shim: %s\n", line);
        }
    }
    HCORE_LOG(level, "%s", line);
}

static void open_profile(void)
{
    char error[512], line[640];
    if (hcore_profile_open(shim.config.profile, &shim.profile, error, sizeof(error)) == HCORE_OK) {
        return;
    }
    snprintf(line, sizeof(line), "MPI_SHIM_PROFILE: %s; the profile \"host\" stays in force", error);
    config_message(NULL, HCORE_LOG_ERROR, line);
    if (hcore_profile_open("host", &shim.profile, error, sizeof(error)) != HCORE_OK) {
        abort(); /* the built-in profile is part of the library */
    }
}

static uint32_t launcher_ranks(void)
{
    static const char *const names[] = ABI_RANKS_VARIABLES;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);
        long value = text ? strtol(text, NULL, 10) : 0;
        if (value > 0) {
            return (uint32_t)value;
        }
    }
    return 0;
}

/* Twice: messages about values can only be logged once the log's own knob is known. */
static void load_config(void)
{
    hcore_config_load(&shim.config, environ, NULL, NULL);
    if (shim.config.log_level > HCORE_LOG_OFF) {
        hcore_log_open((hcore_log_level_t)shim.config.log_level, shim.config.log_file);
    }
    strict = shim.config.strict;
    hcore_config_release(&shim.config);
    hcore_config_load(&shim.config, environ, config_message, NULL);
}

void shim_set_crowded(void)
{
    atomic_store_explicit(&shim.crowded, true, memory_order_relaxed);
    atomic_store_explicit(&shim.yields, shim.config.yield != HCORE_YIELD_OFF, memory_order_relaxed);
}

static void start_locked(void)
{
    int initialized = 0, level = MPI_THREAD_SINGLE;
    shim_pmpi.Initialized(&initialized);
    if (initialized) {
        shim_pmpi.Comm_rank(MPI_COMM_WORLD, &shim.world_rank); /* Sessions alone give no rank: 0 */
        shim_pmpi.Query_thread(&level);
    }
    shim.threads = !initialized || level == MPI_THREAD_MULTIPLE;
    shim.host_ranks = launcher_ranks();
    hcore_log_rank(shim.world_rank);
    load_config();
    hcore_threads = shim.threads || shim.config.async;
    atomic_store_explicit(&shim.yields, shim.config.yield == HCORE_YIELD_ON, memory_order_relaxed);
    if (shim.host_ranks > (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)) {
        shim_set_crowded();
    }
    open_profile();
    shim_type_init();
    shim_pmpi.Comm_create_keyval(shim_comm_copy, shim_comm_delete, &shim.keyval, NULL);
    shim_report_init();
    if (bad_values > 0 && strict && initialized) {
        hcore_log_close();
        shim_pmpi.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

bool shim_start(void)
{
    if (!atomic_load_explicit(&started, memory_order_acquire)) {
        pthread_mutex_lock(&start_lock);
        if (!atomic_load_explicit(&started, memory_order_relaxed)) {
            start_locked();
            atomic_store_explicit(&started, true, memory_order_release);
        }
        pthread_mutex_unlock(&start_lock);
    }
    return true;
}

SHIM_EXPORT int mpi_shim_set(const char *knob, const char *value)
{
    static const char *const settable[] = {"MPI_SHIM_AIV_LIMIT", "MPI_SHIM_HEAP_FROM"};
    bool known = false;
    for (size_t i = 0; knob && i < sizeof(settable) / sizeof(settable[0]); i++) {
        known |= strcmp(knob, settable[i]) == 0;
    }
    if (!known || !atomic_load_explicit(&started, memory_order_acquire)) {
        return -1;
    }
    const char *text = value && *value ? value : "unset";
    return hcore_config_set(&shim.config, knob, text) == HCORE_OK ? 0 : -1;
}

int shim_Init(int *argc, char ***argv)
{
    int code = shim_pmpi.Init(argc, argv);
    if (code == MPI_SUCCESS) {
        shim_start();
    }
    return code;
}

int shim_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = shim_pmpi.Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) {
        shim_start();
    }
    return code;
}

int shim_Finalize(void)
{
    shim_pause_t pause = {0};
    while (shim_progress()) { /* requests that were freed, or forgotten: peers may wait for this rank's part */
        shim_pause(&pause);
    }
    shim_rest_helper();
    shim_requests_end();
    shim.finalizing = true;
    int code = shim_pmpi.Finalize();
    /* After it: the program's delete callbacks, which run in Finalize, may still have used collectives. */
    if (code == MPI_SUCCESS && atomic_load_explicit(&started, memory_order_acquire)) {
        shim_comm_end();
        shim_report_write();
        hcore_log_close();
    }
    return code;
}

int shim_Abort(MPI_Comm comm, int errorcode)
{
    hcore_log_close();
    return shim_pmpi.Abort(comm, errorcode);
}

int shim_Comm_free(MPI_Comm *comm)
{
    return shim_comm_free_with(comm, shim_pmpi.Comm_free);
}

int shim_Comm_disconnect(MPI_Comm *comm)
{
    if (comm) {
        shim_comm_settle(*comm); /* MPI: it ends when all communication on it has */
    }
    return shim_comm_free_with(comm, shim_pmpi.Comm_disconnect);
}
