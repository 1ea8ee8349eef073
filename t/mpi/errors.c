/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/errors.c - wrong arguments give the error that the MPI underneath gives, through the program's
 * handler, and the next right collective works. The wanted class is asked of PMPI_ in the same process; what
 * crashes or hangs MPICH 4.0 is left out (a negative count in Reduce, Allreduce, Scan, Exscan and
 * Reduce_scatter_block, Bcast with IN_PLACE or of nothing of DATATYPE_NULL).
 */
#include "common.h"

enum { MAX_RANKS = 64 };
static int in[MAX_RANKS * 4], out[MAX_RANKS * 4], counts[MAX_RANKS], displs[MAX_RANKS], negative[MAX_RANKS];
static MPI_Comm comm;

static void right_call(const char *after)
{
    int one = 1, sum = 0;
    int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    t_check(code == MPI_SUCCESS && sum == t_size, "a right Allreduce after %s: code %d, sum %d", after, code,
            sum);
    t_check(t_served_by_core(), "a right Allreduce after %s ran on %s", after, t_last_path());
}

/* The same call under both names: the classes must agree and be an error. All ranks make the same mistake. */
#define WRONG(call)                                                                                          \
    do {                                                                                                     \
        int wanted = t_class(P##call), got = t_class(call);                                                  \
        t_check(wanted == got && got != MPI_SUCCESS, "%s: class %d, wanted %d", #call, got, wanted);         \
        right_call(#call);                                                                                   \
    } while (0)

static void wrong_counts(void)
{
    WRONG(MPI_Bcast(in, -1, MPI_INT, 0, comm));
    WRONG(MPI_Gather(in, -1, MPI_INT, out, 1, MPI_INT, 0, comm));
    WRONG(MPI_Scatter(in, 1, MPI_INT, out, -1, MPI_INT, 0, comm));
    WRONG(MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, comm));
    WRONG(MPI_Allgather(in, 1, MPI_INT, out, -1, MPI_INT, comm));
    WRONG(MPI_Allgatherv(in, 1, MPI_INT, out, negative, displs, MPI_INT, comm));
    WRONG(MPI_Alltoall(in, -1, MPI_INT, out, 1, MPI_INT, comm));
    WRONG(MPI_Alltoallv(in, negative, displs, MPI_INT, out, counts, displs, MPI_INT, comm));
    WRONG(MPI_Reduce_scatter(in, out, negative, MPI_INT, MPI_SUM, comm));
    t_section("negative counts");
}

static void wrong_types(void)
{
    MPI_Datatype raw;
    MPI_Type_contiguous(2, MPI_INT, &raw); /* not committed */
    WRONG(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm));
    WRONG(MPI_Bcast(in, 1, raw, 0, comm));
    WRONG(MPI_Gather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, comm));
    WRONG(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm));
    WRONG(MPI_Alltoall(in, 1, raw, out, 1, MPI_INT, comm));
    WRONG(MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    WRONG(MPI_Reduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm));
    WRONG(MPI_Scan(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    WRONG(MPI_Exscan(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    MPI_Type_free(&raw);
    t_section("types that are null or not committed");
}

static void wrong_ops(void)
{
    MPI_Datatype derived;
    MPI_Type_contiguous(1, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    WRONG(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
    WRONG(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, comm));
    WRONG(MPI_Allreduce(in, out, 1, MPI_INT, MPI_MINLOC, comm));
    WRONG(MPI_Allreduce(in, out, 1, MPI_2INT, MPI_SUM, comm));
    WRONG(MPI_Allreduce(in, out, 1, derived, MPI_SUM, comm));
    WRONG(MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    WRONG(MPI_Reduce(in, out, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, 0, comm));
    WRONG(MPI_Scan(in, out, 1, MPI_BYTE, MPI_SUM, comm));
    WRONG(MPI_Exscan(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
    WRONG(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
    WRONG(MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_BXOR, comm));
    WRONG(MPI_Allreduce(in, out, 1, MPI_INT, MPI_REPLACE, comm));
    MPI_Type_free(&derived);
    t_section("ops that are null or not defined on the type");
}

static void wrong_roots(void)
{
    WRONG(MPI_Bcast(in, 1, MPI_INT, t_size, comm));
    WRONG(MPI_Bcast(in, 1, MPI_INT, -1, comm));
    WRONG(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, t_size, comm));
    WRONG(MPI_Gatherv(in, 1, MPI_INT, out, counts, displs, MPI_INT, -5, comm));
    WRONG(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, t_size + 3, comm));
    WRONG(MPI_Scatterv(in, counts, displs, MPI_INT, out, 1, MPI_INT, MPI_ROOT, comm));
    WRONG(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, t_size, comm));
    WRONG(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, MPI_PROC_NULL, comm));
    t_section("roots out of range");
}

static void wrong_buffers(void)
{
    WRONG(MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
    WRONG(MPI_Allreduce(NULL, out, 1, MPI_INT, MPI_SUM, comm));
    WRONG(MPI_Allreduce(in, NULL, 1, MPI_INT, MPI_SUM, comm));
    WRONG(MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, comm));
    WRONG(MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
    WRONG(MPI_Allgather(in, 1, MPI_INT, NULL, 1, MPI_INT, comm));
    WRONG(MPI_Alltoall(NULL, 1, MPI_INT, out, 1, MPI_INT, comm));
    WRONG(MPI_Alltoall(in, 1, MPI_INT, in, 1, MPI_INT, comm));
    WRONG(MPI_Scan(in, in, 1, MPI_INT, MPI_SUM, comm));
    WRONG(MPI_Exscan(in, in, 1, MPI_INT, MPI_SUM, comm));
    t_section("NULL and aliased buffers");
}

/* The handler of MPI_COMM_WORLD is the one that is called for no communicator at all. */
static void wrong_comms(void)
{
    WRONG(MPI_Barrier(MPI_COMM_NULL));
    WRONG(MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_NULL));
    WRONG(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    WRONG(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, (MPI_Comm)MPI_INT));
    WRONG(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_NULL));
    WRONG(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    MPI_Comm gone;
    MPI_Comm_dup(comm, &gone);
    MPI_Barrier(gone);
    MPI_Comm stale = gone;
    MPI_Comm_free(&gone);
    WRONG(MPI_Barrier(stale));
    t_section("communicators that are null, something else, or freed");
}

static void wrong_counts_large(void)
{
    WRONG(MPI_Bcast_c(in, -1, MPI_INT, 0, comm));
    WRONG(MPI_Allgather_c(in, -1, MPI_INT, out, 1, MPI_INT, comm));
    WRONG(MPI_Allreduce_c(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
    WRONG(MPI_Gather_c(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, comm));
    t_section("wrong arguments of _c forms");
}

static unsigned handled;
static int handled_class;
static void on_error(MPI_Comm *which, int *code, ...)
{
    (void)which;
    handled++;
    handled_class = t_class(*code);
}

static void own_handler(void)
{
    MPI_Errhandler handler;
    MPI_Comm other;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(other, handler);
    MPI_Barrier(other);
    MPI_Bcast(in, 1, MPI_INT, t_size, other);
    t_check(handled == 1 && handled_class == MPI_ERR_ROOT,
            "handler called %u times, class %d, wanted once, %d", handled, handled_class, MPI_ERR_ROOT);
    MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, other);
    t_check(handled == 2 && handled_class == MPI_ERR_OP,
            "handler called %u times, class %d, wanted twice, %d", handled, handled_class, MPI_ERR_OP);
    MPI_Barrier(other);
    t_check(handled == 2, "handler called by a right collective");
    MPI_Comm_free(&other);
    MPI_Errhandler_free(&handler);
    t_section("the program's error handler is called once for each error");
}

int main(int argc, char **argv)
{
    enum { SECONDS = 30 };
    t_init(&argc, &argv, SECONDS);
    for (int r = 0; r < t_size; r++) {
        counts[r] = 1;
        displs[r] = r;
        negative[r] = -1;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    wrong_counts();
    wrong_types();
    wrong_ops();
    wrong_roots();
    wrong_buffers();
    wrong_comms();
    wrong_counts_large();
    own_handler();
    MPI_Comm_free(&comm);
    return t_finish();
}
