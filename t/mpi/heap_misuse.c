/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/heap_misuse.c - wrong programs, and calls given up, on buffers in the shared heap: no rank may write in another's memory what
 * that rank did not ask for.
 *
 *   sizes   ranks call one operator with different sizes: MPI_ERR_TRUNCATE on a rank or all, nothing past the end of a buffer
 *   late    a rank gives a call up (HCCL_EXEC_TIMEOUT) and uses its buffer for something else; a peer comes later
 */
#include <unistd.h>

#include "common.h"

enum { BYTES = 64 * 1024, GUARD = 64 * 1024, GARBAGE = 0x5a };

static char *buffer(void)
{
    char *block = malloc(BYTES + GUARD);
    memset(block, GARBAGE, BYTES + GUARD);
    return block;
}

static bool untouched(const char *block, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (block[i] != GARBAGE) {
            return false;
        }
    }
    return true;
}

typedef int (*call_t)(char *send, char *recv, int bytes);

static int call_bcast(char *send, char *recv, int bytes)
{
    return MPI_Bcast(t_rank == 0 ? send : recv, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int call_allreduce(char *send, char *recv, int bytes)
{
    return MPI_Allreduce(send, recv, bytes, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
}

static int call_gather(char *send, char *recv, int bytes)
{
    return MPI_Gather(send, bytes / t_size, MPI_BYTE, recv, bytes / t_size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int call_scatter(char *send, char *recv, int bytes)
{
    return MPI_Scatter(send, bytes / t_size, MPI_BYTE, recv, bytes / t_size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Each rank sends what it thinks right, and takes as much. */
static int call_alltoallv(char *send, char *recv, int bytes)
{
    int counts[16], displs[16];
    for (int i = 0; i < t_size; i++) {
        counts[i] = bytes / t_size;
        displs[i] = i * counts[i];
    }
    return MPI_Alltoallv(send, counts, displs, MPI_BYTE, recv, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    call_t call;
    bool late; /* everyone waits for everyone: giving up can be seen */
} calls[] = {
    {"Bcast", call_bcast, false},     {"Allreduce", call_allreduce, true},  {"Gather", call_gather, false},
    {"Scatter", call_scatter, false}, {"Alltoallv", call_alltoallv, true},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* Rank 0 has twice as much to send as the others take. A program that is so wrong may be left waiting by some operators, so only those
 * are called that end. */
static void test_sizes(void)
{
    for (int i = 0; i < CALLS; i++) {
        char *send = buffer(), *recv = buffer();
        const int mine = t_rank == 0 ? BYTES : BYTES / 2;
        int error = calls[i].call(send, recv, mine), class = MPI_SUCCESS, worst;
        if (error != MPI_SUCCESS) {
            MPI_Error_class(error, &class);
        }
        t_check(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "%s: class %d", calls[i].name, class);
        t_check(untouched(recv, (size_t)mine, BYTES + GUARD), "%s: written past the end", calls[i].name);
        PMPI_Allreduce(&class, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        t_check(worst == MPI_ERR_TRUNCATE, "%s: nobody was told", calls[i].name);
        free(send);
        free(recv);
        t_section("%s with different sizes", calls[i].name);
    }
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_check(sum == t_size, "sum %d", sum);
    t_section("and the next call is right");
}

static void test_late(int which)
{
    char *send = buffer(), *recv = buffer();
    memset(send, 1, BYTES);
    MPI_Barrier(MPI_COMM_WORLD); /* the first collective makes the communicator, which waits longer for others */
    if (t_rank == 0) {
        const int error = calls[which].call(send, recv, BYTES);
        t_check(error != MPI_SUCCESS, "%s: no error though nobody came", calls[which].name);
        memset(recv, GARBAGE, BYTES);
        sleep(3);
        t_check(untouched(recv, 0, BYTES), "%s: a peer that came late wrote", calls[which].name);
    } else {
        sleep(2);
        const int error = calls[which].call(send, recv, BYTES);
        t_check(error != MPI_SUCCESS, "%s: no error of a broken communicator", calls[which].name);
    }
    t_section("%s given up", calls[which].name);
}

int main(int argc, char **argv)
{
    t_init(&argc, &argv, 60);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(argv[1], "sizes") == 0) {
        test_sizes();
    } else {
        for (int i = 0; i < CALLS; i++) {
            if (strcmp(argv[2], calls[i].name) == 0) {
                test_late(i);
            }
        }
    }
    return t_finish();
}
