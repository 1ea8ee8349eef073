/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bootstrap.c - gives all ranks of a communicator one shared window.
 *
 * Rank 0 makes a memfd and listens on an abstract unix socket whose name the kernel picks. Its record in the first
 * allgather carries that name and a random secret. The others connect, prove that they know the secret, receive the
 * descriptor, and answer whether they could map it; rank 0 tells everyone whether all could, so all ranks take the same
 * path afterwards. Both ends also ask the kernel that the other is the same user. Nothing has a name in a file system, so
 * nothing can be left behind.
 *
 * The allgather has told everyone whether all ranks share a host, so rank 0 waits only for ranks that will come. Waiting on
 * sockets lets the caller's library move, and where ranks outnumber cpus it costs far less than a second allgather.
 */
#define _GNU_SOURCE
#include "comm/comm_internal.h"
#include "mem/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SECRET_BYTES = 16, BOOT_ID_BYTES = 40, NAME_BYTES = 16, POLL_MS = 2, EXTRA_CONNECTIONS = 16, LISTEN_BACKLOG = 4096 };

static const uint64_t lane_magic = 0x4843434c53484d31u; /* "HCCLSHM1" */

/* What every rank tells all others first. */
typedef struct {
    char boot_id[BOOT_ID_BYTES];
    uint64_t net_ns, pid_ns;
    uint32_t uid;
    int32_t pid;
    uint64_t start; /* of the process, so that a number given out again is not taken for it */
    uint32_t ready;      /* rank 0: the window exists and the socket listens */
    uint32_t host_ranks;
    uint8_t name_len;    /* rank 0: abstract socket name, first byte 0 */
    char name[NAME_BYTES];
    uint8_t secret[SECRET_BYTES];
    hcore_place_t place;
    heap_card_t heap;
} record_t;

/* What a rank says to rank 0's socket. */
typedef struct {
    uint8_t secret[SECRET_BYTES];
    uint32_t rank;
} hello_t;

static uint64_t inode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* The probe is not cheap, and where a process may run rarely changes while it lives. */
static void probe_once(hcore_place_t *place)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static hcore_place_t known;
    static bool probed;
    pthread_mutex_lock(&lock);
    if (!probed) {
        hcore_topo_probe(&known);
        probed = true;
    }
    *place = known;
    pthread_mutex_unlock(&lock);
}

static void fill_record(const hcore_comm_t *comm, record_t *record)
{
    memset(record, 0, sizeof(*record));
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got = read(fd, record->boot_id, sizeof(record->boot_id) - 1);
        (void)got; /* an empty id equals only another empty id; the socket decides then */
        close(fd);
    }
    record->net_ns = inode_of("/proc/self/ns/net");
    record->pid_ns = inode_of("/proc/self/ns/pid");
    record->uid = (uint32_t)geteuid();
    record->pid = (int32_t)getpid();
    char state;
    if (!process_state(getpid(), &state, &record->start)) {
        record->start = 0;
    }
    record->host_ranks = comm->options.host_ranks;
    if (comm->options.heap && hcore_heap_start() == HCORE_OK) {
        heap_card(&record->heap);
    }
    probe_once(&record->place);
}

/* Rank 0: the window and the socket. The descriptors are the caller's also on failure (-1 if not made). */
static hcore_status_t make_window(hcore_comm_t *comm, record_t *record, int *memfd, int *listener)
{
    *listener = -1;
    *memfd = memfd_create("hccl-shim", MFD_CLOEXEC);
    /* The control part is backed at once: a full system shows here, not as a signal later. */
    if (*memfd < 0 || TEMP_FAILURE_RETRY(ftruncate(*memfd, (off_t)comm->layout.total)) != 0 ||
        TEMP_FAILURE_RETRY(fallocate(*memfd, 0, 0, (off_t)comm->layout.control)) != 0) {
        hcore_error("shared window of %llu bytes: %s", (unsigned long long)comm->layout.total, strerror(errno));
        return HCORE_ERR_SYSTEM;
    }
    *listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(sa_family_t); /* no name: the kernel picks an unused abstract one */
    if (*listener < 0 || bind(*listener, (struct sockaddr *)&address, length) != 0 ||
        listen(*listener, LISTEN_BACKLOG) != 0) {
        hcore_error("private socket: %s", strerror(errno));
        return HCORE_ERR_SYSTEM;
    }
    length = sizeof(address);
    if (getsockname(*listener, (struct sockaddr *)&address, &length) != 0 ||
        getrandom(record->secret, SECRET_BYTES, 0) != SECRET_BYTES) {
        hcore_error("private socket: %s", strerror(errno));
        return HCORE_ERR_SYSTEM;
    }
    size_t name = length - offsetof(struct sockaddr_un, sun_path);
    if (name == 0 || name > NAME_BYTES) {
        hcore_error("private socket: a name of %zu bytes", name);
        return HCORE_ERR_SYSTEM;
    }
    record->name_len = (uint8_t)name;
    memcpy(record->name, address.sun_path, name);
    record->ready = 1;
    return HCORE_OK;
}

static bool same_user(int fd, uint32_t uid)
{
    struct ucred cred;
    socklen_t length = sizeof(cred);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &length) == 0 && cred.uid == uid;
}

static uint64_t now_ms(void)
{
    return hcore_now_ns() / 1000000u;
}

static bool send_fd(int connection, int fd)
{
    char byte = 0;
    struct iovec iov = {&byte, 1};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof(control));
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof(int));
    return TEMP_FAILURE_RETRY(sendmsg(connection, &message, MSG_NOSIGNAL)) == 1;
}

static int receive_fd(int connection)
{
    char byte;
    struct iovec iov = {&byte, 1};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    if (TEMP_FAILURE_RETRY(recvmsg(connection, &message, MSG_CMSG_CLOEXEC)) != 1) {
        return -1;
    }
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) {
        return -1;
    }
    int fd;
    memcpy(&fd, CMSG_DATA(header), sizeof(int));
    return fd;
}

/* What a connection of rank 0 waits for. */
enum { AWAITS_HELLO = -1, NO_VOTE = -1 };

/* Rank 0's open connections. Slot 0 is the listener. */
typedef struct {
    struct pollfd *fd;
    int64_t *rank;  /* per connection: AWAITS_HELLO, or the rank whose vote is awaited */
    int8_t *vote;   /* per rank: NO_VOTE, or whether it has mapped the window */
    int *served;    /* per rank: its connection once it has voted, -1 */
    uint32_t open, room, votes;
} handout_t;

static void forget_connection(handout_t *h, uint32_t i)
{
    h->open--;
    h->fd[i] = h->fd[h->open];
    h->rank[i] = h->rank[h->open];
}

/* In a task nobody waits, so that others can go on. */
static int poll_or_yield(struct pollfd *fd, nfds_t n)
{
    hcore_task_yield();
    return poll(fd, n, hcore_task_inside() ? 0 : POLL_MS);
}

/* The right secret gets the descriptor, anything else is shut. */
static bool answer_hello(hcore_comm_t *comm, handout_t *h, uint32_t i, const record_t *mine, int memfd)
{
    hello_t hello;
    ssize_t got = recv(h->fd[i].fd, &hello, sizeof(hello), MSG_DONTWAIT);
    if (got != (ssize_t)sizeof(hello) || memcmp(hello.secret, mine->secret, SECRET_BYTES) != 0 ||
        hello.rank == 0 || hello.rank >= comm->nranks || h->vote[hello.rank] != NO_VOTE ||
        !send_fd(h->fd[i].fd, memfd)) {
        return false;
    }
    h->rank[i] = hello.rank;
    return true;
}

/* A rank whose connection breaks has not mapped the window. */
static void take_vote(handout_t *h, uint32_t i)
{
    const uint32_t rank = (uint32_t)h->rank[i];
    uint8_t fine = 0;
    ssize_t got = recv(h->fd[i].fd, &fine, sizeof(fine), MSG_DONTWAIT);
    h->vote[rank] = got == (ssize_t)sizeof(fine) && fine;
    h->served[rank] = h->fd[i].fd;
    h->votes++;
    forget_connection(h, i);
}

static void serve_connection(hcore_comm_t *comm, handout_t *h, uint32_t i, const record_t *mine, int memfd)
{
    if (h->rank[i] != AWAITS_HELLO) {
        take_vote(h, i);
    } else if (!answer_hello(comm, h, i, mine, memfd)) {
        close(h->fd[i].fd);
        forget_connection(h, i);
    }
}

static void accept_connections(handout_t *h, const record_t *mine)
{
    while (h->open < h->room) {
        int fd = accept4(h->fd[0].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            return;
        }
        if (!same_user(fd, mine->uid)) {
            close(fd);
            continue;
        }
        h->rank[h->open] = AWAITS_HELLO;
        h->fd[h->open++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}

static bool get_handout(handout_t *h, uint32_t nranks, int listener)
{
    h->room = nranks + EXTRA_CONNECTIONS;
    h->fd = calloc(h->room, sizeof(*h->fd));
    h->rank = calloc(h->room, sizeof(*h->rank));
    h->vote = malloc(nranks * sizeof(*h->vote));
    h->served = malloc(nranks * sizeof(*h->served));
    if (!h->fd || !h->rank || !h->vote || !h->served) {
        return false;
    }
    memset(h->vote, NO_VOTE, nranks * sizeof(*h->vote));
    memset(h->served, 0xff, nranks * sizeof(*h->served));
    h->fd[h->open++] = (struct pollfd){.fd = listener, .events = POLLIN};
    return true;
}

/* Tells the verdict to all who are there to hear it; a missing answer is a no. */
static void put_handout(handout_t *h, uint32_t nranks, uint8_t fine)
{
    for (uint32_t rank = 0; h->served && rank < nranks; rank++) {
        if (h->served[rank] >= 0) {
            ssize_t sent = TEMP_FAILURE_RETRY(send(h->served[rank], &fine, sizeof(fine), MSG_NOSIGNAL));
            (void)sent; /* who is gone needs no verdict */
            close(h->served[rank]);
        }
    }
    while (h->fd && h->open > 1) {
        close(h->fd[--h->open].fd);
    }
    free(h->fd);
    free(h->rank);
    free(h->vote);
    free(h->served);
}

/* Rank 0: hands out the descriptor and collects the votes; true if all ranks have mapped the window. */
static bool hand_out(hcore_comm_t *comm, const record_t *mine, int listener, int memfd, bool fine)
{
    handout_t h = {0};
    bool all = get_handout(&h, comm->nranks, listener);
    const uint64_t deadline = now_ms() + (uint64_t)comm->options.connect_timeout_s * 1000u;
    while (all && h.votes + 1 < comm->nranks) {
        if (poll_or_yield(h.fd, h.open) > 0) {
            for (uint32_t i = h.open; i-- > 1;) {
                if (h.fd[i].revents) {
                    serve_connection(comm, &h, i, mine, memfd);
                }
            }
            accept_connections(&h, mine);
        }
        hcore_progress(comm); /* a peer may still be inside the allgather */
        if (now_ms() > deadline) {
            hcore_error("%u of %u ranks did not fetch the shared window in %u s (HCCL_CONNECT_TIMEOUT)",
                        comm->nranks - 1 - h.votes, comm->nranks, comm->options.connect_timeout_s);
            all = false;
        }
    }
    for (uint32_t rank = 1; all && rank < comm->nranks; rank++) {
        all = h.vote[rank] == true;
    }
    all = all && fine;
    put_handout(&h, comm->nranks, all);
    return all;
}

/* Waits until the connection has something to read, letting the caller's library move. */
#define NO_DEADLINE UINT64_MAX

static bool await_answer(hcore_comm_t *comm, int fd, uint64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll_or_yield(&p, 1) <= 0) {
        hcore_progress(comm);
        if (now_ms() > deadline) {
            errno = ETIMEDOUT;
            return false;
        }
    }
    return true;
}

/* Ranks other than 0: connects and says hello. -1 on failure. */
static int call_root(const hcore_comm_t *comm, const record_t *mine, const record_t *root)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, root->name, root->name_len);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + root->name_len);
    hello_t hello = {.rank = comm->rank};
    memcpy(hello.secret, root->secret, SECRET_BYTES);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (TEMP_FAILURE_RETRY(connect(fd, (struct sockaddr *)&address, length)) != 0 ||
                    !same_user(fd, mine->uid) ||
                    TEMP_FAILURE_RETRY(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL)) != (ssize_t)sizeof(hello))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static hcore_status_t map_window(hcore_comm_t *comm, int memfd)
{
    void *base = mmap(NULL, comm->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memfd, 0);
    if (base == MAP_FAILED) {
        hcore_error("mapping the shared window of %llu bytes: %s", (unsigned long long)comm->layout.total,
                    strerror(errno));
        return HCORE_ERR_SYSTEM;
    }
    madvise(base, comm->layout.total, MADV_DONTDUMP);
    lane_attach(comm, base);
    return HCORE_OK;
}

static bool one_host(const record_t *records, uint32_t nranks)
{
    for (uint32_t i = 1; i < nranks; i++) {
        if (memcmp(records[i].boot_id, records[0].boot_id, BOOT_ID_BYTES) != 0 ||
            records[i].net_ns != records[0].net_ns || records[i].uid != records[0].uid) {
            return false;
        }
    }
    return true;
}

/* Maps the heaps of all ranks, or finds them mapped; false if one can't be. A process reads its own where it is. */
static bool reach_heaps(hcore_comm_t *comm, const record_t *records)
{
    bool some = false;
    for (uint32_t i = 0; i < comm->nranks; i++) {
        const heap_card_t *card = &records[i].heap;
        comm->heap_range[i] = (heap_span_t){card->base, card->bytes};
        if (i == comm->rank || card->bytes == 0) {
            comm->heap_base[i] = (uint8_t *)(uintptr_t)card->base;
        } else if (comm->pid[i] != 0 && heap_peer_get(card, &comm->heap_peer[i])) {
            comm->heap_base[i] = heap_peer_base(comm->heap_peer[i]);
        } else {
            return false;
        }
        some |= card->bytes > 0;
    }
    return some;
}

/* What all records together say: the same on every rank, but for `heaps`, which is agreed on later. */
static void learn(hcore_comm_t *comm, const record_t *records, hcore_place_t *places)
{
    const uint32_t n = comm->nranks;
    uint32_t host_ranks = n;
    for (uint32_t i = 0; i < n; i++) {
        places[i] = records[i].place;
        comm->pid[i] = records[i].pid_ns == records[comm->rank].pid_ns ? records[i].pid : 0;
        comm->start[i] = records[i].start;
        host_ranks = records[i].host_ranks > host_ranks ? records[i].host_ranks : host_ranks;
    }
    comm->heaps = comm->options.heap && reach_heaps(comm, records);
    comm->span = hcore_topo_span(places, n);
    comm->oversubscribed = host_ranks > hcore_topo_cpus(places, n);
}

/* Closes what the exchange needed; the mapping keeps the memory. */
static void close_both(int memfd, int socket_fd)
{
    if (socket_fd >= 0) {
        close(socket_fd);
    }
    if (memfd >= 0) {
        close(memfd);
    }
}

/* Ranks other than 0: fetches the descriptor, maps the window, votes, and hears the verdict. Who has voted must not give up: rank
 * 0 has a deadline of its own, and when it is gone the connection ends. */
static bool fetch(hcore_comm_t *comm, const record_t *mine, const record_t *root)
{
    const uint64_t deadline = now_ms() + (uint64_t)comm->options.connect_timeout_s * 1000u;
    int fd = call_root(comm, mine, root), memfd = -1;
    if (fd >= 0 && await_answer(comm, fd, deadline)) {
        memfd = receive_fd(fd);
    }
    if (memfd < 0) {
        hcore_error("rank %u can't fetch the shared window from rank 0: %s", comm->rank, strerror(errno));
    }
    uint8_t fine = memfd >= 0 && map_window(comm, memfd) == HCORE_OK, verdict = 0;
    if (fd < 0 || TEMP_FAILURE_RETRY(send(fd, &fine, sizeof(fine), MSG_NOSIGNAL)) != (ssize_t)sizeof(fine) ||
        !await_answer(comm, fd, NO_DEADLINE) ||
        TEMP_FAILURE_RETRY(recv(fd, &verdict, sizeof(verdict), 0)) != (ssize_t)sizeof(verdict)) {
        verdict = 0;
    }
    close_both(memfd, fd);
    return verdict != 0;
}

static bool share(hcore_comm_t *comm, const record_t *records, int listener, int memfd)
{
    if (comm->rank != 0) {
        return fetch(comm, &records[comm->rank], &records[0]);
    }
    const bool mapped = map_window(comm, memfd) == HCORE_OK;
    if (mapped) {
        comm->header->magic = lane_magic;
        comm->header->bytes = comm->layout.total;
    }
    return hand_out(comm, &records[0], listener, memfd, mapped);
}

/* Got before anything is exchanged: a rank that can't take part must not have begun to. */
typedef struct {
    record_t *records;
    hcore_place_t *places;
} workspace_t;

static bool get_workspace(workspace_t *work, uint32_t nranks)
{
    work->records = calloc(nranks, sizeof(*work->records));
    work->places = calloc(nranks, sizeof(*work->places));
    return work->records && work->places;
}

static void put_workspace(workspace_t *work)
{
    free(work->records);
    free(work->places);
}

static hcore_status_t exchange(hcore_comm_t *comm, const workspace_t *work, hcore_reason_t *why)
{
    int memfd = -1, listener = -1;
    record_t mine;
    fill_record(comm, &mine);
    if (comm->rank == 0) {
        make_window(comm, &mine, &memfd, &listener); /* its failure travels as mine.ready == 0 */
    }
    bool good = comm->boot.allgather(comm->boot.context, &mine, work->records, sizeof(mine)) == 0;
    *why = HCORE_REASON_SETUP_FAILED;
    if (good && !one_host(work->records, comm->nranks)) {
        *why = HCORE_REASON_NO_PATH;
        good = false;
    }
    if (good && work->records[0].ready) {
        learn(comm, work->records, work->places);
        good = share(comm, work->records, listener, memfd);
    } else {
        good = false;
    }
    close_both(memfd, listener);
    return good ? HCORE_OK : HCORE_ERR_UNSUPPORTED;
}

hcore_status_t lane_bootstrap(hcore_comm_t *comm, hcore_reason_t *why)
{
    workspace_t work;
    hcore_status_t status = get_workspace(&work, comm->nranks) ? exchange(comm, &work, why) : HCORE_ERR_NO_MEMORY;
    put_workspace(&work);
    if (status != HCORE_OK && comm->base) {
        munmap(comm->base, comm->layout.total);
        comm->base = NULL;
    }
    return status;
}
