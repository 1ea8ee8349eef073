/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that may legally differ between ranks in ways that tempt a library to take different paths on them. */
#include "common.h"

enum { SECONDS = 100, BLOCK = 50000, CALLS = 16 };

/* MPI_Reduce_scatter allows in place on some processes only; large, and often enough that all paths are tried. */
static void in_place_on_one(int who)
{
    int counts[64];
    const size_t all = (size_t)BLOCK * (size_t)t_size;
    int64_t *in = malloc(all * sizeof *in), *out = malloc(all * sizeof *out);
    for (int i = 0; i < t_size; i++) {
        counts[i] = BLOCK;
    }
    for (int call = 0; call < CALLS; call++) {
        for (size_t i = 0; i < all; i++) {
            in[i] = (int64_t)i * (t_rank + 1) + call;
        }
        const bool mine = t_rank == who;
        if (mine) {
            memcpy(out, in, all * sizeof *in);
        }
        MPI_Reduce_scatter(mine ? MPI_IN_PLACE : in, out, counts, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        const int64_t factor = (int64_t)t_size * (t_size + 1) / 2;
        size_t bad = 0;
        for (size_t i = 0; i < BLOCK; i++) {
            bad += out[i] != ((int64_t)t_rank * BLOCK + (int64_t)i) * factor + (int64_t)call * t_size;
        }
        t_check(bad == 0, "call %d, in place on rank %d: %zu wrong elements", call, who, bad);
    }
    free(in);
    free(out);
}

/* A type too large for an int, used for nothing, on one rank. */
static void huge_type_on_one(void)
{
    MPI_Datatype gib, huge;
    MPI_Type_contiguous(1 << 30, MPI_CHAR, &gib);
    MPI_Type_contiguous(3, gib, &huge);
    MPI_Type_commit(&huge);
    int counts[64] = {0}, displs[64] = {0}, from[64] = {0}, mine = t_rank + 1, got[64] = {0};
    from[t_size - 1] = 1;
    counts[0] = t_rank == t_size - 1;
    if (t_rank > 0) {
        from[t_size - 1] = 0;
    }
    MPI_Alltoallv(&mine, counts, displs, t_rank == t_size - 1 ? MPI_INT : huge, got, from, displs, MPI_INT,
                  MPI_COMM_WORLD);
    t_check(t_rank != 0 || got[0] == t_size, "received %d, wanted %d", got[0], t_size);
    MPI_Type_free(&huge);
    MPI_Type_free(&gib);
}

/* No bytes, but a product of count and extent that does not fit 64 bits. */
static void vast_extent_without_bytes(void)
{
    MPI_Datatype nothing, vast;
    char byte = 0;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_create_resized(nothing, 0, (MPI_Aint)1 << 40, &vast);
    MPI_Type_commit(&nothing);
    MPI_Type_commit(&vast);
    const MPI_Count count = t_rank == 0 ? (MPI_Count)1 << 30 : 5;
    MPI_Datatype type = t_rank == 0 ? vast : nothing;
    char other = 0;
    t_check(MPI_Allgather_c(&byte, count, type, &other, count, type, MPI_COMM_WORLD) == MPI_SUCCESS, "Allgather_c failed");
    MPI_Type_free(&vast);
    MPI_Type_free(&nothing);
}

int main(int argc, char **argv)
{
    t_init(&argc, &argv, SECONDS);
    in_place_on_one(0);
    in_place_on_one(t_size - 1);
    t_section("Reduce_scatter in place on one of %d ranks", t_size);
    huge_type_on_one();
    t_section("a type of 3 GiB on one of %d ranks", t_size);
    vast_extent_without_bytes();
    t_section("an extent beyond 64 bits and no bytes on one of %d ranks", t_size);
    return t_finish();
}
