/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/models/heap.pml - rounds on shared heaps (hccl_core/aiv/heap.c, and the asking round of hccl_core/aicpu/path.c).
 *
 * In round n a rank puts where its data lies into place[n mod 2], then sets its flag to n. When it has seen all flags it reads all
 * places. In a round that moves data (here: the even ones) it then reads all peers' IN and writes its part of all peers' OUT,
 * sets done to n, and leaves when all are done; the caller then changes IN and uses OUT. In a round that can't (the odd ones) it
 * sets done and leaves at once.
 *
 * Proven: places are those of the round, IN is read as it was at the call, OUT is complete when the call returns and is not written
 * later, and all ranks end.
 *
 * EARLY_LEAVE (not waiting for all done), ONE_PLACE (the same place in all rounds) and LATE_PLACE (flag before place) must fail.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif
#ifdef ONE_PLACE
#define PARITY 1
#else
#define PARITY 2
#endif

byte place[RANKS * 2], in[RANKS], out[RANKS * RANKS]; /* out[owner * RANKS + writer] */
byte flag[RANKS], finished[RANKS];

inline arrive()
{
    in[me] = n;
#ifdef LATE_PLACE
    flag[me] = n;
    place[me * 2 + n % PARITY] = n;
#else
    place[me * 2 + n % PARITY] = 0; /* torn */
    place[me * 2 + n % PARITY] = n;
    flag[me] = n;
#endif
}

inline wait_arrived()
{
    peer = 0;
    do
    :: peer < RANKS -> flag[peer] >= n; peer++
    :: else -> break
    od
}

inline wait_done()
{
    peer = 0;
    do
    :: peer < RANKS -> finished[peer] >= n; peer++
    :: else -> break
    od
}

inline look()
{
    peer = 0;
    do
    :: peer < RANKS -> assert(place[peer * 2 + n % PARITY] == n); peer++
    :: else -> break
    od
}

inline move()
{
    peer = 0;
    do
    :: peer < RANKS -> assert(in[peer] == n); out[peer * RANKS + me] = n; peer++
    :: else -> break
    od
}

/* The caller: what it got is whole, and it may do with its buffers what it likes. */
inline use()
{
    peer = 0;
    do
    :: peer < RANKS -> assert(out[me * RANKS + peer] == n); out[me * RANKS + peer] = 0; peer++
    :: else -> break
    od;
    in[me] = 0
}

proctype rank(byte me)
{
    byte n = 1, peer;
    do
    :: n <= ROUNDS ->
        arrive();
        wait_arrived();
        look();
        if
        :: n % 2 == 0 ->
            move();
            finished[me] = n;
#ifndef EARLY_LEAVE
            wait_done();
#endif
            use()
        :: else -> finished[me] = n
        fi;
        n++
    :: else -> break
    od
}

init {
    byte i = 0;
    atomic {
        do
        :: i < RANKS -> run rank(i); i++
        :: else -> break
        od
    }
}
