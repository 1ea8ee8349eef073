/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/dlopened.c - not linked with MPI: opens it RTLD_LOCAL, as Python and Julia do, and calls it by the
 * addresses dlsym gives for that handle. usage: dlopened LIBRARY
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *library;

static void *entry(const char *name)
{
    void *address = dlsym(library, name);
    if (!address) {
        fprintf(stderr, "dlopened: no %s\n", name);
        exit(3);
    }
    return address;
}

int main(int argc, char **argv)
{
    enum { SECONDS = 30, CALLS = 20 };
    alarm(SECONDS);
    if (argc != 2 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))) {
        fprintf(stderr, "dlopened: %s\n", argc == 2 ? dlerror() : "usage: dlopened LIBRARY");
        return 3;
    }
    int (*init)(int *, char ***) = (int (*)(int *, char ***))entry("MPI_Init");
    int (*finalize)(void) = (int (*)(void))entry("MPI_Finalize");
    int (*comm_rank)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))entry("MPI_Comm_rank");
    int (*comm_size)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))entry("MPI_Comm_size");
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) =
        (int (*)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))entry("MPI_Allreduce");
    int rank = -1, size = 0, sum = 0, wrong = 0;
    init(&argc, &argv);
    comm_rank(MPI_COMM_WORLD, &rank);
    comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < CALLS; i++) {
        int value = rank + i;
        allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != size * (size - 1) / 2 + size * i;
    }
    finalize();
    if (rank == 0) {
        printf("%d ranks, %d wrong\n", size, wrong);
    }
    return wrong ? 1 : 0;
}
