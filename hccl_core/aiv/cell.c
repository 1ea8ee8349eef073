/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cell.c - exchange between independent pairs. Only the two ends of a pair know its size, so nothing here depends on
 * any other pair: a pair without data costs nothing, and a rank leaves when its own pairs are done.
 *
 * A pair (i -> j) has a ring of DEPTH cells, owned by i. Chunks of a pair are counted from 1 over the life of the communicator. i
 * writes chunk c into cell c mod DEPTH only when ack[i][j] >= c - DEPTH, then stores c in the header (release). j sees
 * c (acquire), copies, then stores ack[i][j] = c (release), at least for every ACK_EVERY-th c: i's next write to that cell comes after
 * j's reads.
 * Large data goes past the cells where the receiver's memory is in the shared heap: every rank counts its exchanges and, when it
 * begins one, first says for each peer where that peer's data may be written and how much of it, then sets the offer's epoch
 * (release), in the same cache line. A sender waits for that epoch (acquire), writes straight to where the offer says, and sends an
 * empty cell marked PUSHED in place of the data. Without an offer that holds it all, the data goes through cells. The offer is
 * read before the receiver can leave the exchange, since it waits for that cell.
 *
 * A ScatterV of more than the root's level-2 cache holds goes the other way round, so that all ranks work: the root sends a cell marked
 * PULLED that says where in its heap the message lies, and leaves when the receiver's ack says that it has been read.
 *
 * A rank drives all its pairs in turn and never waits inside one, so no order of arrival can block it.
 */
#include <stdlib.h>

#include "aiv/round.h"
#include "mem/stream.h"

typedef struct {
    hcore_comm_t *comm;
    const hcore_args_t *args;
    uint64_t *out_left, *in_left; /* per peer: bytes still to send, to receive; UINT64_MAX when finished */
    uint32_t pending;             /* pairs not finished, both directions */
    uint64_t offer_least;         /* bytes of a message from which on it asks for an offer; UINT64_MAX: never */
    uint64_t epoch;               /* number of this exchange; the same on all ranks */
    uint64_t *to_be_read;         /* per peer: the chunk that its ack must reach before this rank leaves; 0: none */
    hcore_status_t status;        /* of what a rank does for itself */
    bool truncated, rooted, pushed, pulls;
} exchange_t;

static const uint64_t finished = UINT64_MAX;
enum { PUSHED = UINT32_MAX, PULLED = UINT32_MAX - 1 }; /* in place of a cell's bytes */
/* Of a ScatterV: bytes of all messages, and of one, from which on receivers read them (see algo/push.c, receivers_read). */
enum { PULL_TOTAL = 2 << 20, PULL_LEAST = 64 << 10 };

/* The payload of a PULLED cell. */
typedef struct {
    uint64_t place, bytes;
} pulled_t;

/* Of small chunks the receiver acknowledges every so many, the sender being likely to wait for it in the same line. Fewer than DEPTH: a
 * sender waits only for an ack that comes with a chunk it has sent. */
enum { ACK_EVERY = 4, ACK_LEAST = 1024 };
_Static_assert((int)ACK_EVERY <= (int)CELL_DEPTH, "the ack a sender waits for must come with a chunk before");

static inline uint64_t cell_room(const hcore_comm_t *comm)
{
    return comm->layout.cell_bytes - CELL_HEADER;
}

static inline uint64_t send_size(const exchange_t *x, uint32_t peer)
{
    const hcore_args_t *args = x->args;
    switch (args->oper) {
    case HCORE_OPER_GatherV:
        return peer == args->root ? args->bytes : 0;
    case HCORE_OPER_ScatterV:
        return x->comm->rank == args->root ? args_in_bytes(args, peer) : 0;
    default:
        return args_in_bytes(args, peer);
    }
}

static inline uint64_t receive_size(const exchange_t *x, uint32_t peer)
{
    const hcore_args_t *args = x->args;
    switch (args->oper) {
    case HCORE_OPER_GatherV:
        return x->comm->rank == args->root ? args_out_bytes(args, peer) : 0;
    case HCORE_OPER_ScatterV:
        return peer == args->root ? args->bytes : 0;
    default:
        return args_out_bytes(args, peer);
    }
}

static inline uint8_t *send_block(const exchange_t *x, uint32_t peer)
{
    return hcore_block_at(&x->args->in, x->args->oper == HCORE_OPER_GatherV ? 0 : peer);
}

static inline uint8_t *receive_block(const exchange_t *x, uint32_t peer)
{
    return hcore_block_at(&x->args->out, x->args->oper == HCORE_OPER_ScatterV ? 0 : peer);
}

/* At the start of a message that may go past the cells. */
static inline bool asks_offer(const exchange_t *x, uint32_t peer)
{
    return x->out_left[peer] != finished && x->out_left[peer] >= x->offer_least && x->out_left[peer] == send_size(x, peer) &&
           !x->pulls;
}

/* Where the message to `peer` may be written; NULL: nowhere. */
static uint8_t *offered(const exchange_t *x, uint32_t peer)
{
    const lane_offer_t *offer = lane_offer(x->comm, peer, x->comm->rank);
    return offer->place && offer->bytes >= x->out_left[peer] ? heap_at(x->comm, peer, offer->place) : NULL;
}

/* Also where there is nothing to offer: a peer that sends more than it is asked for finds that out, and does not wait. */
static inline void make_offer(exchange_t *x, uint32_t peer)
{
    hcore_comm_t *comm = x->comm;
    const uint64_t bytes = x->in_left[peer] == finished ? 0 : x->in_left[peer];
    const uint8_t *block = bytes >= x->offer_least ? receive_block(x, peer) : NULL;
    lane_offer_t *offer = lane_offer(comm, comm->rank, peer);
    offer->place = block && hcore_heap_owns(block) && hcore_heap_owns(block + bytes - 1) ? hcore_heap_offset(block) : 0;
    offer->bytes = bytes;
    atomic_store_explicit(&offer->epoch, x->epoch, memory_order_release); /* pairs with can_send */
}

static void make_offers(exchange_t *x)
{
    hcore_comm_t *comm = x->comm;
    for (uint32_t i = 0; comm->heaps && i < comm->nranks; i++) {
        make_offer(x, i);
    }
    if (comm->oversubscribed) {
        hcore_ring(comm);
    }
}

static inline bool can_send(const exchange_t *x, uint32_t peer)
{
    hcore_comm_t *comm = x->comm;
    if (asks_offer(x, peer) && !flag_reached(&lane_offer(comm, peer, comm->rank)->epoch, x->epoch)) {
        return false;
    }
    const uint64_t chunk = comm->sent[peer] + 1;
    if (comm->acked[peer] + CELL_DEPTH < chunk) { /* acquire: pairs with the receiver's ack */
        comm->acked[peer] = atomic_load_explicit(lane_ack(comm, comm->rank, peer), memory_order_acquire);
    }
    return comm->acked[peer] + CELL_DEPTH >= chunk;
}

static bool can_receive(const exchange_t *x, uint32_t peer)
{
    hcore_comm_t *comm = x->comm;
    const uint64_t chunk = comm->received[peer] + 1;
    return flag_reached(&lane_cell(comm, peer, comm->rank, chunk)->chunk, chunk);
}

/* Whether the message to `peer` is one that it reads itself; then the cell says where. */
static bool fill_pulled(exchange_t *x, uint32_t peer, lane_cell_t *cell)
{
    const uint64_t bytes = x->out_left[peer];
    const uint8_t *block = send_block(x, peer);
    if (!x->pulls || bytes < PULL_LEAST || bytes < x->offer_least || bytes != send_size(x, peer) || !hcore_heap_owns(block) ||
        !hcore_heap_owns(block + bytes - 1)) {
        return false;
    }
    const pulled_t there = {hcore_heap_offset(block), bytes};
    memcpy(cell->payload, &there, sizeof(there));
    cell->bytes = PULLED;
    cell->more = 0;
    x->to_be_read[peer] = x->comm->sent[peer];
    x->pushed = true;
    return true;
}

/* Fills the cell; returns what is left to send after it. */
static uint64_t fill_cell(exchange_t *x, uint32_t peer, lane_cell_t *cell)
{
    const uint64_t room = cell_room(x->comm), left = x->out_left[peer], bytes = left < room ? left : room, after = left - bytes;
    if (fill_pulled(x, peer, cell)) {
        return 0;
    }
    uint8_t *there = asks_offer(x, peer) ? offered(x, peer) : NULL;
    if (there && push_begin(x->comm) != HCORE_OK) {
        there = NULL; /* the communicator is broken, which a wait will find: a cell is always safe */
    }
    if (there) {
        x->pushed = true;
        far_copy(there, send_block(x, peer), left);
        cell->bytes = PUSHED;
        cell->more = 0;
        return 0;
    }
    put(cell->payload, send_block(x, peer) + (send_size(x, peer) - left), bytes);
    cell->bytes = (uint32_t)bytes;
    cell->more = after < UINT32_MAX ? (uint32_t)after : UINT32_MAX;
    return after;
}

static inline void send_chunk(exchange_t *x, uint32_t peer)
{
    hcore_comm_t *comm = x->comm;
    const uint64_t chunk = ++comm->sent[peer];
    lane_cell_t *cell = lane_cell(comm, comm->rank, peer, chunk);
    const uint64_t after = fill_cell(x, peer, cell);
    flag_set(comm, &cell->chunk, chunk);
    if (!x->rooted) { /* a root that is ahead gains nothing */
        data_share(cell, cell->bytes + CELL_HEADER);
    }
    x->out_left[peer] = after;
    if (after == 0) {
        x->out_left[peer] = finished;
        x->pending--;
    }
}

/* Reads the message where it lies in the sender's heap; returns its bytes, all that there is room for having been taken. A sender that
 * has given the operator up waits for who is reading (hcore_quit); who comes later finds the communicator broken. */
static uint64_t pull(exchange_t *x, uint32_t peer, const lane_cell_t *cell, uint64_t room)
{
    pulled_t there;
    memcpy(&there, cell->payload, sizeof(there));
    x->status = push_begin(x->comm);
    if (x->status == HCORE_OK) {
        far_copy(receive_block(x, peer), heap_at(x->comm, peer, there.place), there.bytes < room ? there.bytes : room);
        x->pushed = true;
    }
    push_end(x->comm);
    return there.bytes;
}

/* The sender says where its message ends; what does not fit is dropped and reported, and the pair stays in step. */
static inline void receive_chunk(exchange_t *x, uint32_t peer)
{
    hcore_comm_t *comm = x->comm;
    const uint64_t chunk = ++comm->received[peer], left = x->in_left[peer];
    const lane_cell_t *cell = lane_cell(comm, peer, comm->rank, chunk);
    const bool last = cell->more == 0;
    const bool pulled = cell->bytes == PULLED;
    const uint64_t filled = pulled ? pull(x, peer, cell, left) : cell->bytes == PUSHED ? 0 : cell->bytes;
    const uint64_t bytes = filled < left ? filled : left;
    x->truncated |= bytes < filled;
    x->pushed |= cell->bytes == PUSHED;
    if (!pulled) {
        put(receive_block(x, peer) + (receive_size(x, peer) - left), cell->payload, bytes);
    }
    if (chunk % ACK_EVERY == 0 || bytes >= ACK_LEAST || pulled) {
        flag_set(comm, lane_ack(comm, peer, comm->rank), chunk);
    }
    x->in_left[peer] = left - bytes;
    if (last) {
        x->in_left[peer] = finished;
        x->pending--;
    }
}

/* One look at every pair; true if any moved. */
static bool advance(exchange_t *x)
{
    const uint32_t n = x->comm->nranks;
    bool moved = false;
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t to = round_peer(x->comm, i), from = round_peer(x->comm, n - i);
        if (x->out_left[to] != finished && can_send(x, to)) {
            send_chunk(x, to);
            moved = true;
        }
        if (x->in_left[from] != finished && can_receive(x, from)) {
            receive_chunk(x, from);
            moved = true;
        }
    }
    return moved;
}

static bool can_advance(void *context)
{
    const exchange_t *x = context;
    for (uint32_t i = 0; i < x->comm->nranks; i++) {
        if ((x->out_left[i] != finished && can_send(x, i)) || (x->in_left[i] != finished && can_receive(x, i))) {
            return true;
        }
    }
    return false;
}

static uint32_t first_pending(const exchange_t *x)
{
    uint32_t i = 0;
    while (i + 1 < x->comm->nranks && x->in_left[i] == finished && x->out_left[i] == finished) {
        i++;
    }
    return i;
}

static hcore_status_t result_of(const exchange_t *x, hcore_status_t status)
{
    const hcore_status_t own = x->status == HCORE_OK && x->truncated ? HCORE_ERR_TRUNCATE : x->status;
    return status == HCORE_OK ? own : status;
}

static hcore_status_t drive(exchange_t *x)
{
    uint32_t idle = 0;
    while (x->pending > 0) {
        if (advance(x)) {
            idle = 0;
        } else if (++idle >= x->comm->spin) {
            const hcore_condition_t condition = {can_advance, x, first_pending(x)};
            hcore_status_t status = hcore_wait_slow(x->comm, &condition);
            if (status != HCORE_OK) {
                return status;
            }
        } else if (idle > SPIN_EAGER) {
            cpu_relax();
        }
    }
    return result_of(x, HCORE_OK);
}

/* Sends what fits a cell, when it may be written. */
static inline hcore_status_t send_small(exchange_t *x, uint32_t to)
{
    hcore_comm_t *comm = x->comm;
    hcore_status_t status = HCORE_OK;
    if (x->out_left[to] == finished) {
        return status;
    }
    if (!can_send(x, to)) {
        status = flag_wait(comm, lane_ack(comm, comm->rank, to), comm->sent[to] + 1 - CELL_DEPTH, to);
    }
    if (status == HCORE_OK) {
        send_chunk(x, to);
    }
    return status;
}

/* A sender that waits for nobody may be ahead: then its next cell is on its way here while the caller does something else. */
static inline void fetch_ahead(const hcore_comm_t *comm, uint32_t from)
{
    enum { FETCH_BYTES = 512 };
    const uint64_t chunk = comm->received[from] + 1;
    lane_cell_t *cell = lane_cell(comm, from, comm->rank, chunk);
    for (uint64_t at = LINE_BYTES; flag_reached(&cell->chunk, chunk) && at < CELL_HEADER + cell->bytes && at < FETCH_BYTES;
         at += LINE_BYTES) {
        __builtin_prefetch((const uint8_t *)cell + at);
    }
}

/* Receives what should fit a cell. */
static inline hcore_status_t receive_small(exchange_t *x, uint32_t from)
{
    hcore_comm_t *comm = x->comm;
    const uint64_t bytes = x->in_left[from] == finished ? 0 : x->in_left[from];
    hcore_status_t status = HCORE_OK;
    while (x->in_left[from] != finished && status == HCORE_OK) { /* twice if the peer sends more than was asked for */
        const uint64_t chunk = comm->received[from] + 1;
        status = flag_wait(comm, &lane_cell(comm, from, comm->rank, chunk)->chunk, chunk, from);
        if (status == HCORE_OK) {
            receive_chunk(x, from);
        }
    }
    if (x->rooted && bytes + CELL_HEADER > LINE_BYTES) {
        fetch_ahead(comm, from);
    }
    return status;
}

/*
 * When every message of this rank fits a cell and none goes past the cells: each pair in turn, with a wait for that pair alone. What it
 * waits for, a peer does without anything more from this rank: acks are of chunks of exchanges before, and every rank sends
 * before it receives.
 */
static hcore_status_t drive_small(exchange_t *x)
{
    const uint32_t n = x->comm->nranks;
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        status = send_small(x, round_peer(x->comm, i));
    }
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        status = receive_small(x, round_peer(x->comm, n - i));
    }
    return result_of(x, status);
}

static inline uint64_t start_pair(exchange_t *x, uint64_t bytes)
{
    x->pending += bytes > 0;
    return bytes > 0 ? bytes : finished;
}

/* Starts the pairs with a peer; false if one of them may need more than a cell. */
static inline bool start_peer(exchange_t *x, uint32_t peer)
{
    const uint64_t room = cell_room(x->comm), large = x->offer_least <= room ? x->offer_least : room + 1;
    const uint64_t out = send_size(x, peer), in = receive_size(x, peer);
    x->out_left[peer] = start_pair(x, out);
    x->in_left[peer] = start_pair(x, in);
    return out < large && in < large;
}

/* The part of a rank that is not the root, whose data is small: it has but one peer. False: nothing has been done. */
static inline bool try_leaf(exchange_t *x, hcore_status_t *status)
{
    hcore_comm_t *comm = x->comm;
    const uint32_t root = x->args->root;
    if (comm->rank == root || !start_peer(x, root)) {
        return false;
    }
    if (comm->heaps) {
        make_offer(x, root);
        if (comm->oversubscribed) {
            hcore_ring(comm);
        }
    }
    *status = send_small(x, root);
    if (*status == HCORE_OK) {
        *status = receive_small(x, root);
    }
    *status = result_of(x, *status);
    return true;
}

/* Until all that receivers read themselves has been read. */
static hcore_status_t wait_read(exchange_t *x)
{
    hcore_comm_t *comm = x->comm;
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 0; x->pulls && i < comm->nranks && status == HCORE_OK; i++) {
        status = flag_wait(comm, lane_ack(comm, comm->rank, i), x->to_be_read[i], i);
    }
    return status;
}

/* Whether receivers read the messages of this rank: the same for all of them, whose cells say so one by one. */
static bool has_to_pull(const hcore_comm_t *comm, const hcore_args_t *args)
{
    uint64_t total = 0;
    for (uint32_t i = 0; args->oper == HCORE_OPER_ScatterV && comm->rank == args->root && i < comm->nranks; i++) {
        total += args_in_bytes(args, i);
    }
    return comm->heap_least[args->oper] != UINT64_MAX && total >= PULL_TOTAL;
}

hcore_status_t aiv_cell_exchange(hcore_comm_t *comm, const hcore_args_t *args, const char **algorithm)
{
    const uint32_t n = comm->nranks, me = comm->rank;
    const bool rooted = args->oper == HCORE_OPER_GatherV || args->oper == HCORE_OPER_ScatterV;
    exchange_t x = {.comm = comm, .args = args, .out_left = comm->left, .in_left = comm->left + n, .to_be_read = comm->left + 2 * n,
                    .epoch = ++comm->epoch,
                    .offer_least = comm->heap_least[args->oper], .rooted = rooted};
    hcore_status_t status = HCORE_OK;
    *algorithm = "cells";
    if (rooted && try_leaf(&x, &status)) {
        return status;
    }
    bool small = true;
    x.pulls = has_to_pull(comm, args);
    memset(x.to_be_read, 0, n * sizeof(*x.to_be_read));
    x.pending = 0;
    x.out_left[me] = x.in_left[me] = finished;
    for (uint32_t i = 1; i < n; i++) {
        small = start_peer(&x, round_peer(comm, i)) && small;
    }
    make_offers(&x);
    if (x.pulls) { /* before anything that takes long: the receivers are to read meanwhile */
        advance(&x);
    }
    if (!rooted || me == args->root) {
        copy(receive_block(&x, me), send_block(&x, me),
             args->oper == HCORE_OPER_GatherV ? args_out_bytes(args, me) : args_in_bytes(args, me));
    }
    if (small) {
        return drive_small(&x);
    }
    status = drive(&x);
    status = status == HCORE_OK ? wait_read(&x) : status;
    push_end(comm);
    *algorithm = x.pushed ? "cells-heap" : *algorithm;
    return status;
}
