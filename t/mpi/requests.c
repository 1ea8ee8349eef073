/* SPDX-License-Identifier: BSD-3-Clause */
/* t/mpi/requests.c - nonblocking and persistent collectives as requests: mixed with others, in every completion function, in any order. */
#include "common.h"

#include <unistd.h>

enum { TAG = 7, MANY = 40 };

static int sum_of_ranks(int add)
{
    return t_size * (t_size - 1) / 2 + add * t_size;
}

/* A mixed array: an allreduce, a receive from the left, a send to the right, a null, a barrier. */
enum { MIX_REDUCE, MIX_RECV, MIX_SEND, MIX_NULL, MIX_BARRIER, MIX };
typedef struct {
    int in, out, got, sent;
    MPI_Request request[MIX];
} mix_t;

static void start_mix(mix_t *m, int value)
{
    m->in = t_rank + value;
    m->sent = t_rank * 100 + value;
    m->out = m->got = -1;
    m->request[MIX_NULL] = MPI_REQUEST_NULL;
    MPI_Iallreduce(&m->in, &m->out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &m->request[MIX_REDUCE]);
    MPI_Irecv(&m->got, 1, MPI_INT, (t_rank + t_size - 1) % t_size, TAG, MPI_COMM_WORLD, &m->request[MIX_RECV]);
    MPI_Isend(&m->sent, 1, MPI_INT, (t_rank + 1) % t_size, TAG, MPI_COMM_WORLD, &m->request[MIX_SEND]);
    MPI_Ibarrier(MPI_COMM_WORLD, &m->request[MIX_BARRIER]);
}

static void check_mix(const mix_t *m, int value, const char *what)
{
    t_check(m->out == sum_of_ranks(value), "%s: allreduce gave %d", what, m->out);
    t_check(m->got == (t_rank + t_size - 1) % t_size * 100 + value, "%s: received %d", what, m->got);
    for (int i = 0; i < MIX; i++) {
        t_check(m->request[i] == MPI_REQUEST_NULL, "%s: request %d is left", what, i);
    }
}

static void check_recv_status(const MPI_Status *status, const char *what)
{
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    t_check(status->MPI_SOURCE == (t_rank + t_size - 1) % t_size && status->MPI_TAG == TAG && count == 1, "%s: status of the receive",
            what);
}

static void check_own_status(const MPI_Status *status, const char *what)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    MPI_Test_cancelled(status, &cancelled);
    t_check(count == 0 && cancelled == 0, "%s: status of the collective: count %d, cancelled %d", what, count, cancelled);
}

static void all_ways(void)
{
    mix_t m;
    MPI_Status status[MIX];
    int index, flag, count, indices[MIX], done = 0;
    start_mix(&m, 1);
    t_check(MPI_Waitall(MIX, m.request, status) == MPI_SUCCESS, "Waitall");
    check_mix(&m, 1, "Waitall");
    check_recv_status(&status[MIX_RECV], "Waitall");
    check_own_status(&status[MIX_REDUCE], "Waitall");
    start_mix(&m, 2);
    t_check(MPI_Waitall(MIX, m.request, t_ignore) == MPI_SUCCESS, "Waitall without statuses");
    check_mix(&m, 2, "Waitall without statuses");
    start_mix(&m, 3);
    for (flag = 0; !flag;) {
        t_check(MPI_Testall(MIX, m.request, &flag, status) == MPI_SUCCESS, "Testall");
    }
    check_mix(&m, 3, "Testall");
    check_recv_status(&status[MIX_RECV], "Testall");
    start_mix(&m, 4);
    for (done = 0; done < MIX - 1; done++) {
        t_check(MPI_Waitany(MIX, m.request, &index, &status[0]) == MPI_SUCCESS && index >= 0 && index < MIX, "Waitany");
        if (index == MIX_RECV) {
            check_recv_status(&status[0], "Waitany");
        }
    }
    check_mix(&m, 4, "Waitany");
    t_check(MPI_Waitany(MIX, m.request, &index, &status[0]) == MPI_SUCCESS && index == MPI_UNDEFINED, "Waitany of nothing");
    start_mix(&m, 5);
    for (done = 0; done < MIX - 1; done += flag) {
        t_check(MPI_Testany(MIX, m.request, &index, &flag, &status[0]) == MPI_SUCCESS, "Testany");
        t_check(!flag || (index >= 0 && index < MIX), "Testany: index");
    }
    check_mix(&m, 5, "Testany");
    start_mix(&m, 6);
    for (done = 0; done < MIX - 1; done += count) {
        t_check(MPI_Waitsome(MIX, m.request, &count, indices, status) == MPI_SUCCESS && count >= 1, "Waitsome");
        for (int i = 0; i < count; i++) {
            if (indices[i] == MIX_RECV) {
                check_recv_status(&status[i], "Waitsome");
            }
        }
    }
    check_mix(&m, 6, "Waitsome");
    t_check(MPI_Waitsome(MIX, m.request, &count, indices, status) == MPI_SUCCESS && count == MPI_UNDEFINED, "Waitsome of nothing");
    start_mix(&m, 7);
    for (done = 0; done < MIX - 1; done += count) {
        t_check(MPI_Testsome(MIX, m.request, &count, indices, t_ignore) == MPI_SUCCESS, "Testsome");
    }
    check_mix(&m, 7, "Testsome");
    start_mix(&m, 8);
    for (flag = 0; !flag;) {
        t_check(MPI_Request_get_status(m.request[MIX_REDUCE], &flag, &status[0]) == MPI_SUCCESS, "Request_get_status");
    }
    t_check(m.out == sum_of_ranks(8) && m.request[MIX_REDUCE] != MPI_REQUEST_NULL, "Request_get_status: the result is there");
    for (int i = MIX - 1; i >= 0; i--) {
        for (flag = 0; !flag;) {
            t_check(MPI_Test(&m.request[i], &flag, &status[0]) == MPI_SUCCESS, "Test");
        }
    }
    check_mix(&m, 8, "Test");
    t_section("mixed arrays in all completion functions");
}

/* Large and small, completed in reverse. */
static void many(void)
{
    static const int counts[] = {1, 3, 100, 5000, 300000};
    MPI_Request request[MANY];
    int *in[MANY], *out[MANY], n[MANY];
    for (int i = 0; i < MANY; i++) {
        n[i] = counts[i % 5];
        in[i] = malloc((size_t)n[i] * sizeof(int));
        out[i] = malloc((size_t)n[i] * sizeof(int));
        for (int j = 0; j < n[i]; j++) {
            in[i][j] = t_rank + i + j;
        }
        MPI_Iallreduce(in[i], out[i], n[i], MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[i]);
    }
    int one = t_rank, all = -1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* blocking, behind them */
    t_check(all == sum_of_ranks(0), "a blocking call behind them gave %d", all);
    for (int i = MANY - 1; i >= 0; i--) {
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        for (int j = 0; j < n[i]; j++) {
            if (!t_check(out[i][j] == sum_of_ranks(i + j), "operator %d, element %d: %d", i, j, out[i][j])) {
                break;
            }
        }
        free(in[i]);
        free(out[i]);
    }
    t_check(t_served_by_core(), "not served by the core");
    t_section("%d outstanding on one communicator, completed in reverse", MANY);
}

/* Rank 0 comes late to the first collective of a communicator; the others must get through the start call. */
static void first_is_nonblocking(void)
{
    MPI_Comm comm;
    MPI_Request request[2];
    int in = t_rank, out = -1, token = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (t_rank == 0) {
        for (int i = 1; i < t_size; i++) {
            MPI_Recv(&token, 1, MPI_INT, i, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* sent after their start */
        }
    }
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request[0]);
    MPI_Ibarrier(comm, &request[1]);
    if (t_rank != 0) {
        MPI_Send(&token, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Waitall(2, request, t_ignore);
    t_check(out == sum_of_ranks(0), "gave %d", out);
    t_check(t_served_by_core(), "not served by the core: %s", t_last_path());
    MPI_Comm_free(&comm);
    t_section("the first collective of a communicator is nonblocking, and its start waits for nobody");
}

/* What the others wait for moves while this rank sits in a blocking point-to-point call. */
static void moves_in_blocking_calls(void)
{
    enum { N = 200000 };
    static int in[N], out[N];
    int token = 0;
    MPI_Request request;
    for (int way = 0; way < 3; way++) {
        for (int i = 0; i < N; i++) {
            in[i] = i + t_rank;
        }
        MPI_Iallreduce(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        if (t_rank == 0) { /* waits in a call of MPI for what the others send when they are through */
            for (int i = 1; i < t_size; i++) {
                MPI_Status status;
                if (way == 1) {
                    MPI_Probe(i, TAG, MPI_COMM_WORLD, &status);
                }
                if (way == 2) {
                    MPI_Message message;
                    MPI_Mprobe(i, TAG, MPI_COMM_WORLD, &message, &status);
                    MPI_Mrecv(&token, 1, MPI_INT, &message, &status);
                } else {
                    MPI_Recv(&token, 1, MPI_INT, i, TAG, MPI_COMM_WORLD, &status);
                }
                t_check(status.MPI_SOURCE == i && status.MPI_TAG == TAG, "status");
            }
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Ssend(&t_rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
        }
        t_check(out[N - 1] == sum_of_ranks(N - 1), "way %d gave %d", way, out[N - 1]);
    }
    int from_left = -1;
    MPI_Status status;
    MPI_Iallreduce(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Sendrecv(&t_rank, 1, MPI_INT, (t_rank + 1) % t_size, TAG, &from_left, 1, MPI_INT, (t_rank + t_size - 1) % t_size, TAG,
                 MPI_COMM_WORLD, &status);
    t_check(from_left == (t_rank + t_size - 1) % t_size && status.MPI_SOURCE == from_left, "Sendrecv");
    int value = t_rank;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (t_rank + 1) % t_size, TAG, (t_rank + t_size - 1) % t_size, TAG, MPI_COMM_WORLD, &status);
    t_check(value == from_left, "Sendrecv_replace");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    t_section("operators move in blocking point-to-point calls");
}

/* The same while it sits in a call that has no nonblocking form, and which the others come to only when they are through. */
static void moves_in_held_calls(void)
{
    enum { N = 100000 };
    static int in[N], out[N], shared;
    MPI_Request request;
    MPI_Win win;
    MPI_Comm other;
    MPI_Win_create(&shared, sizeof shared, sizeof shared, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (int way = 0; way < 4; way++) {
        for (int i = 0; i < N; i++) {
            in[i] = i + t_rank + way;
        }
        MPI_Iallreduce(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        if (t_rank != 0) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (way % 2 == 0) {
            MPI_Win_fence(0, win);
        } else {
            MPI_Comm_dup(MPI_COMM_WORLD, &other);
            MPI_Comm_free(&other);
        }
        if (t_rank == 0) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        t_check(out[N - 1] == sum_of_ranks(N - 1 + way), "way %d gave %d", way, out[N - 1]);
    }
    MPI_Win_free(&win);
    t_section("operators move in calls that have no nonblocking form");
}

static int calls_of_op;
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    calls_of_op++;
    for (int i = 0; i < *n; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

/* Communicator, type and op are freed at once after the start. */
static void freed_early(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request request[3];
    int in[6], out[6], gathered[2 * 64 * 2];
    memset(gathered, 0xff, sizeof gathered);
    for (int i = 0; i < 6; i++) {
        in[i] = i + t_rank;
        out[i] = -1;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(1, 1, 2, MPI_INT, &type);
    MPI_Datatype wide;
    MPI_Type_create_resized(type, 0, 2 * sizeof(int), &wide);
    MPI_Type_commit(&wide);
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(in, out, 6, MPI_INT, op, comm, &request[0]);
    MPI_Iallgather(in, 2, MPI_INT, gathered, 2, wide, comm, &request[1]);
    MPI_Ibarrier(comm, &request[2]);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Type_free(&wide);
    MPI_Comm_free(&comm);
    t_check(op == MPI_OP_NULL && comm == MPI_COMM_NULL, "handles are null");
    MPI_Waitall(3, request, t_ignore);
    for (int i = 0; i < 6; i++) {
        t_check(out[i] == sum_of_ranks(i), "element %d: %d", i, out[i]);
    }
    for (int r = 0; r < t_size; r++) {
        t_check(gathered[4 * r] == r && gathered[4 * r + 2] == r + 1 && gathered[4 * r + 1] == -1, "block %d", r);
    }
    t_section("communicator, type and op are freed after the start");
}

static void persistent(void)
{
    MPI_Request request[3] = {MPI_REQUEST_NULL};
    int in, out = -1, root = -1, got = -1, index, flag = 0, count, indices[3];
    MPI_Status status[3];
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Bcast_init(&root, 1, MPI_INT, t_size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    MPI_Recv_init(&got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &request[2]);
    t_check(MPI_Wait(&request[0], &status[0]) == MPI_SUCCESS && request[0] != MPI_REQUEST_NULL, "Wait of an inactive one");
    t_check(MPI_Test(&request[0], &flag, &status[0]) == MPI_SUCCESS && flag, "Test of an inactive one");
    t_check(MPI_Waitany(2, request, &index, &status[0]) == MPI_SUCCESS && index == MPI_UNDEFINED, "Waitany of inactive ones");
    t_check(MPI_Waitsome(2, request, &count, indices, status) == MPI_SUCCESS && count == MPI_UNDEFINED, "Waitsome of inactive ones");
    t_check(MPI_Waitall(2, request, status) == MPI_SUCCESS, "Waitall of inactive ones");
    for (int i = 0; i < 100; i++) {
        in = t_rank + i;
        root = t_rank == t_size - 1 ? i : -1;
        t_check(MPI_Startall(3, request) == MPI_SUCCESS, "Startall");
        MPI_Send(&i, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
        if (i % 2 == 0) {
            MPI_Waitall(3, request, status);
        } else {
            for (int done = 0; done < 3; done++) {
                t_check(MPI_Waitany(3, request, &index, status) == MPI_SUCCESS && index != MPI_UNDEFINED, "Waitany");
            }
        }
        t_check(out == sum_of_ranks(i) && root == i && got == i, "round %d gave %d and %d", i, out, root);
    }
    t_check(t_served_by_core(), "not served by the core");
    for (int i = 0; i < 3; i++) {
        t_check(MPI_Request_free(&request[i]) == MPI_SUCCESS && request[i] == MPI_REQUEST_NULL, "Request_free");
    }
    t_section("persistent requests: inactive, started, waited for, freed");
}

/* What belongs together is said by the order of the initialisations alone. The communicator is freed before the last start. */
static void started_in_any_order(void)
{
    enum { N = 4 };
    MPI_Request request[N];
    MPI_Comm comm;
    int in[N], out[N];
    uint64_t seed = (uint64_t)t_rank * 31 + 5;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < N; i++) {
        MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request[i]);
    }
    MPI_Comm_free(&comm);
    for (int round = 0; round < 200; round++) {
        int order[N];
        for (int i = 0; i < N; i++) {
            const unsigned j = t_below(&seed, (unsigned)i + 1);
            order[i] = order[j];
            order[j] = i;
            in[i] = t_rank + i + round;
        }
        for (int i = 0; i < N; i++) {
            MPI_Start(&request[order[i]]);
        }
        MPI_Waitall(N, request, t_ignore);
        for (int i = 0; i < N; i++) {
            t_check(out[i] == sum_of_ranks(i + round), "round %d, %d: %d", round, i, out[i]);
        }
    }
    for (int i = 0; i < N; i++) {
        MPI_Request_free(&request[i]);
    }
    t_section("persistent requests started in another order on each rank");
}

/* Errors are those of MPI, and the next correct call works. */
static void wrong(void)
{
    MPI_Request request, lasting;
    int in = 1, out = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    t_check(t_class(MPI_Iallreduce(&in, &out, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request)) == MPI_ERR_COUNT, "negative count");
    t_check(t_class(MPI_Ibcast(&in, 1, MPI_INT, t_size, MPI_COMM_WORLD, &request)) == MPI_ERR_ROOT, "root");
    t_check(t_class(MPI_Ibarrier(MPI_COMM_NULL, &request)) == MPI_ERR_COMM, "communicator");
    t_check(MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, NULL) != MPI_SUCCESS, "no request");
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &lasting);
    MPI_Start(&lasting);
    t_check(t_class(MPI_Start(&lasting)) == MPI_ERR_REQUEST, "started twice");
    t_check(t_class(MPI_Cancel(&lasting)) == MPI_ERR_REQUEST, "cancelled");
    MPI_Wait(&lasting, MPI_STATUS_IGNORE);
    MPI_Request_free(&lasting);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    t_check(t_class(MPI_Start(&request)) == MPI_ERR_REQUEST, "Start of a nonblocking one");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    t_check(out == t_size, "the next one gave %d", out);
    t_section("errors");
}

/* Outstanding operators on several communicators, completed in random order, with messages between. */
static void storm(int rounds)
{
    enum { COMMS = 8, OPS = 64 };
    MPI_Comm comm[COMMS];
    MPI_Request request[OPS + 2];
    int in[OPS], out[OPS], order[OPS + 2], got = -1, sent;
    uint64_t seed = 1, own = (uint64_t)t_rank + 99;
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < OPS; i++) {
            const MPI_Comm on = comm[t_below(&seed, COMMS)];
            const int root = (int)t_below(&seed, (unsigned)t_size), kind = (int)t_below(&seed, 4);
            in[i] = kind == 1 && t_rank != root ? -1 : kind == 1 ? i + round : t_rank + i + round;
            out[i] = kind == 1 ? i + round : kind == 3 ? 0 : -1;
            switch (kind) {
            case 0:
                MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, on, &request[i]);
                break;
            case 1: /* arrives in `in` */
                MPI_Ibcast(&in[i], 1, MPI_INT, root, on, &request[i]);
                break;
            case 2:
                out[i] = t_rank == root ? -1 : sum_of_ranks(i + round);
                MPI_Ireduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, root, on, &request[i]);
                break;
            default:
                MPI_Iscan(&in[i], &out[i], 1, MPI_INT, MPI_SUM, on, &request[i]);
            }
            order[i] = kind;
        }
        sent = t_rank + round;
        MPI_Irecv(&got, 1, MPI_INT, (t_rank + t_size - 1) % t_size, TAG, MPI_COMM_WORLD, &request[OPS]);
        MPI_Isend(&sent, 1, MPI_INT, (t_rank + 1) % t_size, TAG, MPI_COMM_WORLD, &request[OPS + 1]);
        int place[OPS + 2];
        for (int i = 0; i < OPS + 2; i++) {
            place[i] = i;
        }
        for (int left = OPS + 2; left > 0; left--) {
            const unsigned pick = t_below(&own, (unsigned)left);
            const int i = place[pick];
            place[pick] = place[left - 1];
            MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        }
        t_check(got == (t_rank + t_size - 1) % t_size + round, "round %d: message %d", round, got);
        for (int i = 0; i < OPS; i++) {
            const int kind = order[i], scan = (t_rank + 1) * t_rank / 2 + (t_rank + 1) * (i + round);
            const int want = kind == 1 ? i + round : kind == 3 ? scan : sum_of_ranks(i + round);
            t_check((kind == 1 ? in[i] : out[i]) == want, "round %d, operator %d of kind %d: %d, not %d", round, i, kind,
                    kind == 1 ? in[i] : out[i], want);
        }
    }
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_free(&comm[i]);
    }
    t_section("%d outstanding on %d communicators in random order, %d rounds", OPS, COMMS, rounds);
}

int main(int argc, char **argv)
{
    t_init(&argc, &argv, 300);
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    if (argc <= 2) {
        all_ways();
        many();
        first_is_nonblocking();
        moves_in_blocking_calls();
        moves_in_held_calls();
        freed_early();
        persistent();
        started_in_any_order();
        wrong();
    }
    storm(rounds);
    return t_finish();
}
