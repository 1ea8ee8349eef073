/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/models/cells.pml - chunks through the cells of a pair of ranks, both directions at once (hccl_core/aiv/cell.c).
 *
 * Rank i sends to rank j through a ring of CELLS cells. Chunk c (from 1) goes to cell c mod CELLS, payload first and the
 * cell's number, c, last. The receiver copies chunk c when the number has reached c and then, if EVERY divides c, stores ack = c. The
 * sender writes chunk c only when it has seen an ack of at least c - CELLS. A rank does whatever of both is possible next,
 * in any order.
 *
 * Proven: every chunk arrives, whole and in order, no cell is overwritten before it was read, and both ranks end.
 *
 * WIDE_WINDOW (one chunk too many), NUMBER_FIRST (number before payload), EARLY_ACK (ack before the copy) and EVERY greater
 * than CELLS must fail.
 */
#ifndef CHUNKS
#define CHUNKS 6
#endif
#define CELLS 2
#ifndef EVERY
#define EVERY CELLS
#endif
#ifdef WIDE_WINDOW
#define WINDOW (CELLS + 1)
#else
#define WINDOW CELLS
#endif

typedef ring_t { byte number[CELLS]; byte payload[CELLS] };
ring_t ring[2]; /* index: the sender */
byte ack[2];    /* index: the sender whose chunks are acknowledged */

#define OUT ring[me]
#define IN ring[1 - me]
#define OUT_CELL ((sent + 1) % CELLS)
#define IN_CELL ((got + 1) % CELLS)

inline send_chunk()
{
#ifdef NUMBER_FIRST
    OUT.number[OUT_CELL] = sent + 1;
#endif
    OUT.payload[OUT_CELL] = 0; /* torn */
    OUT.payload[OUT_CELL] = sent + 1;
#ifndef NUMBER_FIRST
    OUT.number[OUT_CELL] = sent + 1;
#endif
    sent++
}

/* The first and the last byte of the copy. */
inline copy_chunk()
{
    assert(IN.payload[IN_CELL] == got + 1);
    assert(IN.payload[IN_CELL] == got + 1)
}

inline tell_ack()
{
    if
    :: (got + 1) % EVERY == 0 -> ack[1 - me] = got + 1
    :: else
    fi
}

inline take_chunk()
{
#ifdef EARLY_ACK
    tell_ack();
    copy_chunk();
#else
    copy_chunk();
    tell_ack();
#endif
    got++
}

proctype rank(byte me)
{
    byte sent, got;
    byte acked; /* the ack seen last */
    do
    :: sent == CHUNKS && got == CHUNKS -> break
    :: sent < CHUNKS && sent + 1 <= acked + WINDOW -> send_chunk()
    :: sent < CHUNKS && sent + 1 > acked + WINDOW && ack[me] > acked -> acked = ack[me]
    :: got < CHUNKS && IN.number[IN_CELL] >= got + 1 -> take_chunk()
    od
}

init {
    atomic { run rank(0); run rank(1) }
}
