/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/settings.c - mpi_shim_set: what it refuses, that it counts for communicators that are used first afterwards, and
 * that older ones keep what they had, also for operators and types that they had not been used with.
 */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>

enum { SECONDS = 30 };

static int (*set)(const char *knob, const char *value);

static void check_path(const char *when, const char *backend)
{
    t_check(strncmp(t_last_path(), backend, strlen(backend)) == 0, "%s: ran on %s", when, t_last_path());
}

static void allreduce(MPI_Comm comm, MPI_Datatype type, const char *when, const char *backend)
{
    int64_t mine = 0, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, type, MPI_SUM, comm);
    check_path(when, backend);
}

static void on_a_new_one(const char *when, const char *backend)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    allreduce(comm, MPI_INT, when, backend);
    allreduce(comm, MPI_INT, when, backend);
    MPI_Comm_free(&comm);
}

static void check_refusals(void)
{
    t_check(set("MPI_SHIM_BACKEND", "mpi") == -1, "a knob that may not be set was");
    t_check(set("NO_SUCH_KNOB", "1") == -1, "a name that is none was set");
    t_check(set(NULL, "1") == -1, "no name was set");
    t_check(set("MPI_SHIM_AIV_LIMIT", "AllReduce:0,Barrier:0") == -1, "a bad value was set");
    on_a_new_one("after refusals", "aiv/");
    t_section("what is refused changes nothing on %d ranks", t_size);
}

static void check_scope(void)
{
    MPI_Comm old;
    MPI_Comm_dup(MPI_COMM_WORLD, &old);
    MPI_Barrier(old);
    t_check(set("MPI_SHIM_AIV_LIMIT", "AllReduce:0") == 0, "a good value was refused");
    allreduce(old, MPI_INT, "a communicator that had been used", "aiv/");
    allreduce(old, MPI_FLOAT, "another type on it", "aiv/");
    on_a_new_one("a new communicator", "aicpu/");
    t_check(set("MPI_SHIM_HEAP_FROM", "AlltoAllW:1M") == 0, "the other list was refused");
    on_a_new_one("with both lists set", "aicpu/");
    t_check(set("MPI_SHIM_AIV_LIMIT", NULL) == 0, "NULL was refused");
    on_a_new_one("taken back with NULL", "aiv/");
    t_check(set("MPI_SHIM_AIV_LIMIT", "AllReduce:0") == 0 && set("MPI_SHIM_AIV_LIMIT", "") == 0, "\"\" was refused");
    on_a_new_one("taken back with \"\"", "aiv/");
    MPI_Comm_free(&old);
    t_section("a value counts for new communicators of %d ranks", t_size);
}

int main(int argc, char **argv)
{
    *(void **)&set = dlsym(RTLD_DEFAULT, "mpi_shim_set");
    const bool found = set != NULL, early = found && set("MPI_SHIM_AIV_LIMIT", "AllReduce:0") == 0;
    t_init(&argc, &argv, SECONDS);
    if (t_check(found, "no mpi_shim_set") && t_check(!early, "set before MPI_Init")) {
        check_refusals();
        check_scope();
    }
    return t_finish();
}
