/* SPDX-License-Identifier: BSD-3-Clause */
/* other_abi.c - built with any MPI: prints "right" on rank 0. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum, wrong = 0;
    double x = 0.5, y[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allgather(&x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        wrong += sum != size * (size - 1) / 2 || y[size - 1] != 0.5;
    }
    MPI_Finalize();
    if (rank == 0) {
        puts(wrong ? "wrong" : "right");
    }
    return wrong;
}
