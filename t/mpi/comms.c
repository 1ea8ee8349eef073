/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/comms.c - communicators from every constructor: collectives on them are right and run on the core;
 * handles that MPI gives out again after a free; other orders of ranks; overlapping and single-member
 * communicators; intercommunicators.
 */
#include "common.h"

enum { MAX_RANKS = 64 };

/* A value that depends on the rank within comm, so that a wrong order shows. */
static void check_comm(MPI_Comm comm, const char *name)
{
    int rank, size, all[MAX_RANKS], sum = -1, value;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    value = rank == size - 1 ? 77 : 0;
    MPI_Bcast(&value, 1, MPI_INT, size - 1, comm);
    t_check(value == 77, "%s: Bcast gave %d", name, value);
    value = rank * rank + 1;
    MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm);
    int wanted = 0, wrong = 0;
    for (int r = 0; r < size; r++) {
        wrong += all[r] != r * r + 1;
        wanted += r * r + 1;
    }
    t_check(wrong == 0, "%s: Allgather: %d of %d wrong", name, wrong, size);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    t_check(sum == wanted, "%s: Allreduce gave %d, wanted %d", name, sum, wanted);
    t_check(t_served_by_core(), "%s: Allreduce on %d ranks ran on %s", name, size, t_last_path());
    MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    for (int r = size - 1; r > rank; r--) {
        wanted -= r * r + 1;
    }
    t_check(sum == wanted, "%s: Scan gave %d, wanted %d", name, sum, wanted);
}

static void check_and_free(MPI_Comm *comm, const char *name)
{
    if (*comm != MPI_COMM_NULL) {
        check_comm(*comm, name);
        MPI_Comm_free(comm);
    }
}

static void duplicates(void)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_and_free(&comm, "dup");
    MPI_Info_create(&info);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    check_and_free(&comm, "dup_with_info");
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_and_free(&comm, "idup");
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    check_and_free(&comm, "dup of MPI_COMM_SELF");
    check_comm(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    check_comm(MPI_COMM_SELF, "MPI_COMM_SELF");
    t_section("dup, dup_with_info, idup");
}

static void splits(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, t_rank % 2, t_rank, &comm);
    check_and_free(&comm, "split by parity");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -t_rank, &comm);
    int rank;
    MPI_Comm_rank(comm, &rank);
    t_check(rank == t_size - 1 - t_rank, "split by a descending key: rank %d", rank);
    check_and_free(&comm, "split by a descending key");
    MPI_Comm_split(MPI_COMM_WORLD, t_rank == 0 ? MPI_UNDEFINED : 3, (t_rank * 5) % 7, &comm);
    t_check((comm == MPI_COMM_NULL) == (t_rank == 0), "split with MPI_UNDEFINED");
    check_and_free(&comm, "split with MPI_UNDEFINED");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -t_rank, MPI_INFO_NULL, &comm);
    check_and_free(&comm, "split_type");
    MPI_Comm_split(MPI_COMM_WORLD, t_rank, 0, &comm);
    check_and_free(&comm, "split into single members");
    t_section("split, split_type");
}

static MPI_Group group_of(int first, int step)
{
    int ranks[MAX_RANKS], n = 0;
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int r = first; r >= 0 && r < t_size; r += step) {
        ranks[n++] = r;
    }
    MPI_Group_incl(world, n, ranks, &group);
    MPI_Group_free(&world);
    return group;
}

static void groups(void)
{
    MPI_Comm comm;
    MPI_Group evens = group_of(0, 2), down = group_of(t_size - 1, -1);
    MPI_Comm_create(MPI_COMM_WORLD, evens, &comm);
    check_and_free(&comm, "create of the even ranks");
    MPI_Comm_create(MPI_COMM_WORLD, down, &comm);
    check_and_free(&comm, "create in descending order");
    if (t_rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, evens, 5, &comm);
        check_and_free(&comm, "create_group");
    }
    MPI_Group_free(&evens);
    MPI_Group_free(&down);
    t_section("create, create_group");
}

static void topologies(void)
{
    MPI_Comm grid, line, graph;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, keep[2] = {0, 1}, index[MAX_RANKS], edges[2 * MAX_RANKS];
    MPI_Dims_create(t_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    check_comm(grid, "cart_create");
    MPI_Cart_sub(grid, keep, &line);
    check_and_free(&line, "cart_sub");
    MPI_Comm_free(&grid);
    for (int r = 0; r < t_size; r++) {
        edges[r] = (r + 1) % t_size;
        index[r] = r + 1;
    }
    MPI_Graph_create(MPI_COMM_WORLD, t_size, index, edges, 0, &graph);
    check_and_free(&graph, "graph_create");
    int from = (t_rank + t_size - 1) % t_size, to = (t_rank + 1) % t_size, one = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    check_and_free(&graph, "dist_graph_create_adjacent");
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &t_rank, &one, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    check_and_free(&graph, "dist_graph_create");
    t_section("cart_create, cart_sub, graph_create, dist_graph_create");
}

static void check_inter(MPI_Comm inter, int low, int mine, int theirs)
{
    int value = t_rank + 1, sum = 0, wanted = 0, other_first = low ? mine : 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter); /* gives the sum of the other group */
    for (int r = 0; r < theirs; r++) {
        wanted += other_first + r + 1;
    }
    t_check(sum == wanted, "Allreduce on an intercommunicator gave %d, wanted %d", sum, wanted);
    t_check(!t_served_by_core() || !*t_last_path(), "an intercommunicator ran on %s", t_last_path());
    int rank, x = 0;
    MPI_Comm_rank(inter, &rank);
    if (low) {
        x = 9;
        MPI_Bcast(&x, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    } else {
        MPI_Bcast(&x, 1, MPI_INT, 0, inter);
    }
    t_check(x == 9, "Bcast on an intercommunicator gave %d", x);
    MPI_Barrier(inter);
}

static void intercommunicators(void)
{
    if (t_size < 2) {
        t_skip("intercommunicators", "needs two ranks");
        return;
    }
    int half = t_size / 2, low = t_rank < half;
    MPI_Comm part, inter, merged, twin;
    MPI_Comm_split(MPI_COMM_WORLD, low, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, low ? half : 0, 3, &inter);
    check_inter(inter, low, low ? half : t_size - half, low ? t_size - half : half);
    MPI_Comm_dup(inter, &twin);
    check_inter(twin, low, low ? half : t_size - half, low ? t_size - half : half);
    MPI_Intercomm_merge(inter, low, &merged);
    MPI_Comm_free(&inter);
    check_and_free(&merged, "intercomm_merge");
    check_and_free(&part, "half of the world");
    MPI_Comm_disconnect(&twin);
    t_section("intercomm_create, dup and merge");
}

static void from_session(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS ||
        MPI_Comm_create_from_group(group, "t.comms", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) !=
            MPI_SUCCESS) {
        t_skip("create_from_group", "this MPI does not do it beside MPI_Init");
    } else {
        check_and_free(&comm, "create_from_group");
        t_section("create_from_group of a session");
    }
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
#endif
}

/* Freed in another order than made, some never used, some by disconnect. */
static void free_orders(void)
{
    enum { N = 6 };
    MPI_Comm comms[N];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? 0 : t_rank / 2, i % 3 ? t_rank : -t_rank, &comms[i]);
            if (i != 3) {
                check_comm(comms[i], "one of several");
            }
        }
        for (int i = 0; i < N; i++) {
            int k = (i * 5 + round) % N;
            check_comm(comms[k], "one of several, before its free");
            if (k % 2) {
                MPI_Comm_disconnect(&comms[k]);
            } else {
                MPI_Comm_free(&comms[k]);
            }
        }
    }
    t_section("frees in other orders");
}

/*
 * MPI gives a freed handle to the next communicator, which may have other members. MPICH takes tens of
 * milliseconds to make one where ranks outnumber cpus, so that many ranks make fewer.
 */
static void handle_reuse(void)
{
    enum { MADE_BY_FEW = 500, MADE_BY_MANY = 40, FEW = 3 };
    const int made = t_size <= FEW ? MADE_BY_FEW : MADE_BY_MANY;
    unsigned reused = 0;
    MPI_Comm last = MPI_COMM_NULL;
    for (int i = 0; i < made; i++) {
        MPI_Comm comm;
        if (i % 3 == 0) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        } else if (i % 3 == 1) {
            MPI_Comm_split(MPI_COMM_WORLD, t_rank % 2, -t_rank, &comm);
        } else {
            MPI_Comm_split(MPI_COMM_WORLD, t_rank / 2, 0, &comm);
        }
        reused += comm == last;
        last = comm;
        int rank, size, value, sum;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        value = rank + i;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
        t_check(sum == size * (size - 1) / 2 + size * i, "communicator %d of %d ranks: sum %d", i, size, sum);
        t_check(t_served_by_core(), "communicator %d of %d ranks ran on %s", i, size, t_last_path());
        MPI_Comm_free(&comm);
    }
    t_section("%d communicators made and freed, %u times the handle before", made, reused);
}

/* Collectives on communicators that share members, in an order that is consistent but mixes them. */
static void overlapping(void)
{
    MPI_Comm all, low = MPI_COMM_NULL, high = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    int middle = t_size / 2;
    MPI_Comm_split(all, t_rank <= middle ? 0 : MPI_UNDEFINED, t_rank, &low);
    MPI_Comm_split(all, t_rank >= middle ? 0 : MPI_UNDEFINED, -t_rank, &high);
    for (int i = 0; i < 30; i++) {
        if (low != MPI_COMM_NULL) {
            check_comm(low, "lower half with the middle");
        }
        if (i % 4 == 0) {
            check_comm(all, "all");
        }
        if (high != MPI_COMM_NULL) {
            check_comm(high, "upper half with the middle");
        }
    }
    MPI_Comm_free(&all);
    if (low != MPI_COMM_NULL) {
        MPI_Comm_free(&low);
    }
    if (high != MPI_COMM_NULL) {
        MPI_Comm_free(&high);
    }
    t_section("overlapping communicators in turn");
}

int main(int argc, char **argv)
{
    enum { SECONDS = 100 };
    t_init(&argc, &argv, SECONDS);
    duplicates();
    splits();
    groups();
    topologies();
    intercommunicators();
    from_session();
    free_orders();
    handle_reuse();
    overlapping();
    return t_finish();
}
