/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/known.c - a fixed number of calls of each kind, for tests of the report and of bad settings:
 * 11 MPI_Allreduce (7 of one float, 4 of 1000 doubles; sums, one by the _c form), 5 MPI_Bcast of 100 ints, 3
 * MPI_Barrier, 2 MPI_Alltoall, and one MPI_Allreduce on an intercommunicator if there are two ranks. Prints
 * one line on rank 0.
 */
#include "common.h"

enum { FLOATS = 7, DOUBLES = 3, BCASTS = 5, BARRIERS = 3, ALLTOALLS = 2, LENGTH = 1000, MAX_RANKS = 64 };

static void allreduces(void)
{
    static double d[LENGTH], sums[LENGTH];
    float x = 1.5f, y = 0;
    for (int i = 0; i < FLOATS; i++) {
        MPI_Allreduce(&x, &y, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        t_check(y == 1.5f * (float)t_size, "sum of floats: %g", (double)y);
    }
    for (int i = 0; i < LENGTH; i++) {
        d[i] = i;
    }
    for (int i = 0; i < DOUBLES; i++) {
        MPI_Allreduce(d, sums, LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Allreduce_c(d, sums, LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    t_check(sums[LENGTH - 1] == (double)(LENGTH - 1) * t_size, "sum of doubles: %g", sums[LENGTH - 1]);
}

static void moves(void)
{
    int data[100] = {0}, to[MAX_RANKS], from[MAX_RANKS];
    for (int i = 0; i < BCASTS; i++) {
        data[99] = t_rank == 0 ? i : -1;
        MPI_Bcast(data, 100, MPI_INT, 0, MPI_COMM_WORLD);
        t_check(data[99] == i, "bcast: %d", data[99]);
    }
    for (int r = 0; r < t_size; r++) {
        to[r] = t_rank * 100 + r;
    }
    for (int i = 0; i < ALLTOALLS; i++) {
        MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
        t_check(from[0] == t_rank, "alltoall: %d", from[0]);
    }
    for (int i = 0; i < BARRIERS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void between_groups(void)
{
    MPI_Comm part, inter;
    int half = t_size / 2, low = t_rank < half, one = 1, sum = 0;
    MPI_Comm_split(MPI_COMM_WORLD, low, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, low ? half : 0, 3, &inter);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    t_check(sum == (low ? t_size - half : half), "sum over the other group: %d", sum);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    enum { SECONDS = 30 };
    t_init(&argc, &argv, SECONDS);
    allreduces();
    moves();
    if (t_size > 1) {
        between_groups();
    }
    t_section("known calls");
    return t_finish();
}
