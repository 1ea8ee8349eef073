/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/progress.c - a rank that waits in a collective keeps the point-to-point messages of its peers moving:
 * a large send to or from it needs its part in a rendezvous, and nobody but the waiting rank can play it.
 */
#include "common.h"

enum { LARGE = 4 << 20, TAG = 7 };
static unsigned char *buffer;

static void fill(unsigned char seed)
{
    for (size_t i = 0; i < LARGE; i++) {
        buffer[i] = (unsigned char)(i * 7 + seed);
    }
}

static void check(unsigned char seed, const char *what)
{
    size_t wrong = 0;
    for (size_t i = 0; i < LARGE; i++) {
        wrong += buffer[i] != (unsigned char)(i * 7 + seed);
    }
    t_check(wrong == 0, "%s: %zu bytes wrong", what, wrong);
}

typedef void (*wait_t)(void);
static void in_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}
static void in_bcast(void)
{
    int x = 5;
    MPI_Bcast(&x, 1, MPI_INT, t_size - 1, MPI_COMM_WORLD);
}
static void in_large_bcast(void)
{
    enum { N = 1 << 18 };
    int *x = calloc(N, sizeof *x);
    MPI_Bcast(x, N, MPI_INT, t_size - 1, MPI_COMM_WORLD);
    free(x);
}
static void in_allreduce(void)
{
    double x = 1, y;
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void in_alltoall(void)
{
    enum { MAX_RANKS = 64, BLOCK = 20000 };
    char *x = calloc(MAX_RANKS, BLOCK), *y = calloc(MAX_RANKS, BLOCK);
    MPI_Alltoall(x, BLOCK, MPI_CHAR, y, BLOCK, MPI_CHAR, MPI_COMM_WORLD);
    free(x);
    free(y);
}
static const struct {
    const char *name;
    wait_t wait;
} waits[] = {
    {"MPI_Barrier", in_barrier},     {"MPI_Bcast", in_bcast},       {"a large MPI_Bcast", in_large_bcast},
    {"MPI_Allreduce", in_allreduce}, {"MPI_Alltoall", in_alltoall},
};

/* Rank 0 has posted the receive and waits in the collective; the last rank's blocking send must end before it
 * joins. */
static void peer_sends(wait_t wait, unsigned char seed)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int last = t_size - 1;
    if (t_rank == 0) {
        memset(buffer, 0, LARGE);
        MPI_Irecv(buffer, LARGE, MPI_BYTE, last, TAG, MPI_COMM_WORLD, &request);
    } else if (t_rank == last) {
        fill(seed);
        MPI_Ssend(buffer, LARGE, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
    wait();
    if (t_rank == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(seed, "received while waiting");
    }
    t_check(t_served_by_core(), "the collective ran on %s", t_last_path());
}

/* Rank 0 has begun a send and waits in the collective; the last rank receives it before it joins. */
static void peer_receives(wait_t wait, unsigned char seed)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int last = t_size - 1;
    if (t_rank == 0) {
        fill(seed);
        MPI_Isend(buffer, LARGE, MPI_BYTE, last, TAG, MPI_COMM_WORLD, &request);
    } else if (t_rank == last) {
        memset(buffer, 0, LARGE);
        MPI_Recv(buffer, LARGE, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(seed, "sent while waiting");
    }
    wait();
    if (t_rank == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    t_check(t_served_by_core(), "the collective ran on %s", t_last_path());
}

/* Two peers exchange while rank 0 waits: nothing of it concerns rank 0, and it must not slow them to a stop
 * either. */
static void peers_exchange(wait_t wait)
{
    if (t_size >= 3 && t_rank == 1) {
        fill(9);
        MPI_Send(buffer, LARGE, MPI_BYTE, 2, TAG, MPI_COMM_WORLD);
    } else if (t_size >= 3 && t_rank == 2) {
        MPI_Recv(buffer, LARGE, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(9, "between two peers");
    }
    wait();
}

/* A waiting target completes one-sided accesses of a peer. */
static void peer_puts(wait_t wait)
{
    MPI_Win win;
    int *window, last = t_size - 1;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    *window = 0;
    MPI_Win_fence(0, win);
    if (t_rank == last) {
        int value = 42;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    wait();
    MPI_Win_fence(0, win);
    t_check(t_rank != 0 || *window == 42, "the window has %d, wanted 42", *window);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    enum { SECONDS = 60 };
    t_init(&argc, &argv, SECONDS);
    buffer = malloc(LARGE);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        peer_sends(waits[i].wait, (unsigned char)i);
        peer_receives(waits[i].wait, (unsigned char)(i + 100));
        peers_exchange(waits[i].wait);
        t_section("peers send and receive 4 MiB while a rank waits in %s", waits[i].name);
    }
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        peer_puts(waits[i].wait);
    }
    t_section("a peer's accumulate under a lock ends while the target waits in a collective");
    free(buffer);
    return t_finish();
}
