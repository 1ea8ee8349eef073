/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/endless.c - collectives without end, until somebody kills a rank. usage: endless DIRECTORY
 * Each rank writes its process number to DIRECTORY/RANK once it has been through all of them.
 */
#include "common.h"

#include <unistd.h>

enum { N = 50000, MAX_RANKS = 64 };

static void tell(const char *directory)
{
    char path[4096], final[4096];
    snprintf(path, sizeof path, "%s/.%d", directory, t_rank);
    snprintf(final, sizeof final, "%s/%d", directory, t_rank);
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%ld\n", (long)getpid()) < 0 || fclose(file) != 0 ||
        rename(path, final) != 0) {
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

int main(int argc, char **argv)
{
    enum { SECONDS = 60 };
    t_init(&argc, &argv, SECONDS);
    int *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), x = 1, y;
    for (unsigned round = 0;; round++) {
        MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(a, N, MPI_INT, (int)(round % (unsigned)t_size), MPI_COMM_WORLD);
        MPI_Alltoall(a, N / t_size, MPI_INT, b, N / t_size, MPI_INT, MPI_COMM_WORLD);
        MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (round == 0 && argc == 2) {
            tell(argv[1]);
        }
    }
}
