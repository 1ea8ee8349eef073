/* SPDX-License-Identifier: BSD-3-Clause */
/* Delete callbacks that use the communicator being freed, set before its first collective on some ranks and after on others. */
#include "common.h"

enum { SECONDS = 60, ROUNDS = 50 };

static int called;

static int callback(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int one = 1, sum = 0, size = 0;
    (void)keyval, (void)value, (void)extra;
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    t_check(sum == size, "Allreduce in a delete callback gave %d, wanted %d", sum, size);
    called++;
    return MPI_SUCCESS;
}

static void round_of(int keyval, int round)
{
    MPI_Comm comm;
    int one = 1, sum = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const bool before = (t_rank + round) % 2 == 0;
    if (before) {
        MPI_Comm_set_attr(comm, keyval, NULL);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    t_check(sum == t_size, "Allreduce gave %d, wanted %d", sum, t_size);
    if (!before) {
        MPI_Comm_set_attr(comm, keyval, NULL);
    }
    if (round % 2) {
        MPI_Comm_free(&comm);
    } else {
        MPI_Comm_disconnect(&comm);
    }
    t_check(comm == MPI_COMM_NULL, "the handle is not null");
}

int main(int argc, char **argv)
{
    int keyval;
    t_init(&argc, &argv, SECONDS);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &keyval, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        round_of(keyval, round);
    }
    t_check(called == ROUNDS, "the callback was called %d times, wanted %d", called, ROUNDS);
    MPI_Comm_free_keyval(&keyval);
    t_section("collectives in delete callbacks, %d ranks", t_size);
    return t_finish();
}
