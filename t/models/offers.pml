/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/models/offers.pml - large data past the cells (hccl_core/aiv/cell.c): one pair, exchanges in a row.
 *
 * In exchange e the receiver says where the data may be written, or that it may not, then sets its epoch to e. The sender waits for
 * that epoch, then either writes there and sends an empty cell, or sends the data in the cell. The receiver leaves when it has
 * the cell, and its caller then uses the memory. A sender whose data is small sends it in the cell at once.
 *
 * Or the sender says in the cell where the data lies, and leaves when the receiver has acknowledged it; its caller then changes them.
 *
 * Proven: data arrives whole at the place offered for this exchange, nothing is written to memory that was given back, both ranks end.
 *
 * NO_EPOCH (the sender does not wait), LATE_OFFER (epoch before offer), EARLY_CELL (cell before the data) and NO_ACK (the sender leaves
 * before its data are read) must fail.
 */
#ifndef EXCHANGES
#define EXCHANGES 5
#endif
#define CELLS 2

byte offer, epoch;          /* the receiver's: 0 or 1 + index of the memory */
byte memory[2];             /* where data may go; which one changes from exchange to exchange */
bool lent[2];
byte cell[CELLS], data[CELLS], ack;
bool pushed[CELLS], pulled[CELLS];
byte source;                /* the sender's data, 0 once its caller has changed them */

#define PLACE (e % 2)
#define LARGE (e % 3 != 0)   /* sender and receiver know the size */

proctype sender()
{
    byte e = 1, to;
    do
    :: e <= EXCHANGES ->
        ack + CELLS >= e;
        to = 0;
        source = e;
        pulled[e % CELLS] = false;
        if
        :: LARGE -> pulled[e % CELLS] = true
        :: LARGE ->
#ifndef NO_EPOCH
            epoch >= e;
#endif
            to = offer
        :: else
        fi;
        pushed[e % CELLS] = to > 0;
#ifdef EARLY_CELL
        cell[e % CELLS] = e;
#endif
        if
        :: to > 0 -> assert(lent[to - 1]); memory[to - 1] = e
        :: else -> data[e % CELLS] = e
        fi;
#ifndef EARLY_CELL
        cell[e % CELLS] = e;
#endif
#ifndef NO_ACK
        if
        :: pulled[e % CELLS] -> ack >= e
        :: else
        fi;
#endif
        source = 0;
        e++
    :: else -> break
    od
}

proctype receiver()
{
    byte e = 1;
    do
    :: e <= EXCHANGES ->
        lent[PLACE] = true;
#ifdef LATE_OFFER
        epoch = e;
#endif
        if
        :: LARGE -> offer = 1 + PLACE
        :: offer = 0 /* small, or memory that can't be offered */
        fi;
#ifndef LATE_OFFER
        epoch = e;
#endif
        cell[e % CELLS] == e;
        if
        :: pulled[e % CELLS] -> assert(source == e)
        :: !pulled[e % CELLS] && pushed[e % CELLS] -> assert(memory[PLACE] == e)
        :: else -> assert(data[e % CELLS] == e)
        fi;
        ack = e;
        lent[PLACE] = false;
        memory[PLACE] = 0;
        e++
    :: else -> break
    od
}

init {
    atomic { run sender(); run receiver() }
}
