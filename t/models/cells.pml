/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/models/cells.pml - chunks through the cells of a pair of ranks, both directions at once.
 *
 * Rank i sends to rank j through a ring of CELLS cells. Chunk c (from 1) goes to cell c mod CELLS: payload first, then
 * the count of chunks that i has taken from j (a piggybacked acknowledgement), then the cell's flag, c, last. The
 * receiver copies chunk c when the flag is c and later stores ack = c. The sender writes chunk c only when it
 * knows of an acknowledgement of at least c - CELLS, from ack or from a header.
 *
 * A rank does what is possible next in any order, so an acknowledgement may be stored long after the copy.
 *
 * Proven: every chunk arrives, whole and in order, no cell is overwritten before it was read, no acknowledgement
 * runs ahead of the copies, and both ranks end.
 *
 * WIDE_WINDOW (one cell too many), FLAG_FIRST (flag before payload) and EARLY_ACK (ack before the copy) must fail.
 */
#ifndef CHUNKS
#define CHUNKS 4
#endif
#define CELLS 2
#ifdef WIDE_WINDOW
#define WINDOW (CELLS + 1)
#else
#define WINDOW CELLS
#endif

typedef ring_t { byte flag[CELLS]; byte taken[CELLS]; byte payload[CELLS] };
ring_t ring[2];  /* index: the sender */
byte ack[2];     /* index: the sender whose chunks are acknowledged */
byte copied[2];  /* what rank i has really copied; seen by the assertions alone */

#define OUT ring[me]
#define IN ring[1 - me]

inline send_chunk()
{
#ifdef FLAG_FIRST
    OUT.flag[(sent + 1) % CELLS] = sent + 1;
#endif
    OUT.payload[(sent + 1) % CELLS] = 0; /* torn */
    OUT.payload[(sent + 1) % CELLS] = sent + 1;
    OUT.taken[(sent + 1) % CELLS] = got;
    OUT.flag[(sent + 1) % CELLS] = sent + 1;
    sent++
}

inline take_chunk()
{
#ifdef EARLY_ACK
    ack[1 - me] = got + 1;
#endif
    if
    :: IN.taken[(got + 1) % CELLS] > known -> known = IN.taken[(got + 1) % CELLS]
    :: else
    fi;
    assert(known <= copied[1 - me]);
    assert(IN.payload[(got + 1) % CELLS] == got + 1); /* first byte copied */
    assert(IN.payload[(got + 1) % CELLS] == got + 1); /* last byte copied */
    d_step { got++; copied[me] = got }
}

proctype rank(byte me)
{
    byte sent, got, told; /* told: the acknowledgement stored last */
    byte known;           /* the peer's acknowledgements that this rank knows of */
    do
    :: sent == CHUNKS && got == CHUNKS && told == CHUNKS -> break
    :: sent < CHUNKS && sent + 1 <= known + WINDOW -> send_chunk()
    :: sent < CHUNKS && sent + 1 > known + WINDOW && ack[me] > known ->
        known = ack[me];
        assert(known <= copied[1 - me])
    :: got < CHUNKS && IN.flag[(got + 1) % CELLS] == got + 1 -> take_chunk()
    :: told < got -> ack[1 - me] = got; told = got
    od
}

init {
    atomic { run rank(0); run rank(1) }
}
