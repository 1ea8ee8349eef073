/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/lifecycle.c - beginnings and ends. usage: lifecycle SCENARIO
 *   none          never calls MPI at all
 *   query         asks Initialized and Finalized before, between and after
 *   single, funneled, serialized, multiple    MPI_Init_thread with that level
 *   selfattr      a delete callback on MPI_COMM_SELF calls collectives within MPI_Finalize
 *   twice         a second MPI_Init is still MPI's error
 *   abort         MPI_Abort with code 7 while the others wait in a barrier
 *   finalize      a second MPI_Finalize, which ends the program as MPI likes
 *   exit          ends without MPI_Finalize
 *   session       collectives of a session alone, without MPI_Init
 */
#include "common.h"

#include <pthread.h>
#include <unistd.h>

enum { SECONDS = 30 };

static void sum_ranks(MPI_Comm comm, const char *when)
{
    int rank, size, sum = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    t_check(sum == size * (size - 1) / 2, "%s: sum %d on %d ranks", when, sum, size);
    t_check(t_served_by_core(), "%s: ran on %s", when, t_last_path());
}

static int none(void)
{
    puts("ok 1 - a program that never calls MPI\n1..1");
    return 0;
}

static int query(void)
{
    int flag = 1, finalized = 1;
    MPI_Initialized(&flag);
    t_check(!flag, "initialized before MPI_Init");
    MPI_Finalized(&flag);
    t_check(!flag, "finalized before MPI_Init");
    MPI_Init(NULL, NULL);
    t_adopt_world();
    MPI_Initialized(&flag);
    t_check(flag, "not initialized after MPI_Init");
    sum_ranks(MPI_COMM_WORLD, "after MPI_Init(NULL, NULL)");
    MPI_Finalized(&flag);
    t_check(!flag, "finalized before MPI_Finalize");
    t_section("Initialized and Finalized");
    int status = t_finish();
    MPI_Initialized(&flag);
    MPI_Finalized(&finalized);
    if (!flag || !finalized) {
        printf("# after MPI_Finalize: initialized %d, finalized %d\n", flag, finalized);
        return EXIT_FAILURE;
    }
    return status;
}

/* Each thread has a communicator of its own. */
static void *thread_work(void *comm)
{
    for (int i = 0; i < 200; i++) {
        sum_ranks(*(MPI_Comm *)comm, "in a thread");
    }
    return NULL;
}

static int threaded(int required)
{
    enum { THREADS = 3 };
    int provided = -1;
    pthread_t thread[THREADS];
    MPI_Comm comm[THREADS];
    MPI_Init_thread(NULL, NULL, required, &provided);
    t_adopt_world();
    t_check(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "provided %d", provided);
    sum_ranks(MPI_COMM_WORLD, "after MPI_Init_thread");
    for (int i = 0; i < THREADS && provided == MPI_THREAD_MULTIPLE; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        pthread_create(&thread[i], NULL, thread_work, &comm[i]);
    }
    for (int i = 0; i < THREADS && provided == MPI_THREAD_MULTIPLE; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&comm[i]);
    }
    t_section("MPI_Init_thread with level %d, got %d", required, provided);
    return t_finish();
}

static unsigned deleted;
static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    int one = 1, sum = 0;
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    deleted += sum == 1;
    return MPI_SUCCESS;
}

static int selfattr(void)
{
    int before, after;
    MPI_Init(NULL, NULL);
    t_adopt_world();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &before, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, before, NULL);
    sum_ranks(MPI_COMM_WORLD, "with an attribute on MPI_COMM_SELF");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &after, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, after, NULL);
    t_section("attributes on MPI_COMM_SELF");
    int status = t_finish();
    if (deleted != 2) {
        printf("# %u of 2 delete callbacks ran and got a right sum\n", deleted);
        return EXIT_FAILURE;
    }
    return status;
}

static int twice(void)
{
    MPI_Init(NULL, NULL);
    t_adopt_world();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int wanted = t_class(PMPI_Init(NULL, NULL)), got = t_class(MPI_Init(NULL, NULL));
    t_check(got == wanted && got != MPI_SUCCESS, "a second MPI_Init gave class %d, PMPI_Init %d", got,
            wanted);
    sum_ranks(MPI_COMM_WORLD, "after a second MPI_Init");
    t_section("a second MPI_Init is MPI's error");
    return t_finish();
}

static int abort_now(void)
{
    MPI_Init(NULL, NULL);
    t_adopt_world();
    sum_ranks(MPI_COMM_WORLD, "before MPI_Abort");
    if (t_rank == t_size - 1) {
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    puts("# a barrier ended although a rank had aborted");
    return EXIT_SUCCESS;
}

static int finalize_twice(void)
{
    MPI_Init(NULL, NULL);
    t_adopt_world();
    sum_ranks(MPI_COMM_WORLD, "before MPI_Finalize");
    MPI_Finalize();
    return MPI_Finalize() == MPI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int exit_now(void)
{
    MPI_Init(NULL, NULL);
    t_adopt_world();
    sum_ranks(MPI_COMM_WORLD, "before exit");
    exit(3);
}

static int session_only(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "t.lifecycle", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &t_rank);
    sum_ranks(comm, "in a session");
    MPI_Barrier(comm);
    int good = t_check(comm != MPI_COMM_NULL, "no communicator from a session");
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    if (t_rank == 0) {
        printf("%sok 1 - a session without MPI_Init\n1..1\n", good && t_failures() == 0 ? "" : "not ");
    }
    return good && t_failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
#else
    puts("ok 1 - a session without MPI_Init # SKIP this MPI has none\n1..1");
    return EXIT_SUCCESS;
#endif
}

static int single(void)
{
    return threaded(MPI_THREAD_SINGLE);
}
static int funneled(void)
{
    return threaded(MPI_THREAD_FUNNELED);
}
static int serialized(void)
{
    return threaded(MPI_THREAD_SERIALIZED);
}
static int multiple(void)
{
    return threaded(MPI_THREAD_MULTIPLE);
}

static const struct {
    const char *name;
    int (*run)(void);
} scenarios[] = {
    {"none", none},
    {"query", query},
    {"single", single},
    {"funneled", funneled},
    {"serialized", serialized},
    {"multiple", multiple},
    {"selfattr", selfattr},
    {"twice", twice},
    {"abort", abort_now},
    {"exit", exit_now},
    {"finalize", finalize_twice},
    {"session", session_only},
};

int main(int argc, char **argv)
{
    t_guard(SECONDS);
    for (size_t i = 0; argc == 2 && i < sizeof scenarios / sizeof *scenarios; i++) {
        if (strcmp(argv[1], scenarios[i].name) == 0) {
            return scenarios[i].run();
        }
    }
    fprintf(stderr, "usage: lifecycle SCENARIO\n");
    return 2;
}
