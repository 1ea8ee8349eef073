/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/models/lines.pml - reuse of the AIV engine's lines and slots.
 *
 * Each rank has DEPTH slots; in round n a writer writes slot n mod DEPTH and then sets its flag to n. All ranks run the same
 * sequence of rounds, which is chosen up front; a round is
 *   SYMMETRIC  everyone writes its slot, waits for everyone's flag and reads all slots
 *   ROOT_OUT   the root writes, waits for nobody and goes on; the others wait for the root and read
 *   ROOT_IN    the others write; the root waits for them and reads
 * There is no barrier. A rank may write in round n only if every peer is known to be done with round n - DEPTH:
 * finished[q] >= n - DEPTH, which q sets at the end of a rooted round, or flag[q] > n - DEPTH, which q sets when it
 * writes in a later round.
 *
 * Proven, for all sequences: a reader always finds the round it waited for in the slot (so nothing is overwritten before all
 * have read it), and every rank reaches the end.
 *
 * NO_CHECK removes the rule, EARLY_DONE sets done before the reads; both must fail.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif
#define DEPTH 2

#define SYMMETRIC 0
#define ROOT_OUT 1
#define ROOT_IN 2

typedef slots_t { byte round[DEPTH] };
slots_t slot[RANKS];
byte flag[RANKS];
byte finished[RANKS];
byte kind[ROUNDS + 1];
byte root[ROUNDS + 1];

/* The slot is torn from the first store to the last: 0 stands for that. */
/* That q is done with round n - DEPTH. It never becomes untrue, so looking at all peers at once proves as much
 * as looking at one after the other. */
#define DONE(q) (q == me || n <= DEPTH || finished[q] + DEPTH >= n || flag[q] + DEPTH > n)
#ifdef NO_CHECK
#define MAY_WRITE true
#elif RANKS == 2
#define MAY_WRITE (DONE(0) && DONE(1))
#else
#define MAY_WRITE (DONE(0) && DONE(1) && DONE(2))
#endif
#define WRITES (kind[n] == SYMMETRIC || (kind[n] == ROOT_OUT && me == root[n]) || (kind[n] == ROOT_IN && me != root[n]))
#define READS_ALL (kind[n] == SYMMETRIC || (kind[n] == ROOT_IN && me == root[n]))
#define READS_ROOT (kind[n] == ROOT_OUT && me != root[n])

/* The slot is torn from the first store to the last: 0 stands for that. */
inline write_slot()
{
    slot[me].round[n % DEPTH] = 0;
    slot[me].round[n % DEPTH] = n;
    flag[me] = n
}

inline check_slot(from)
{
    assert(slot[from].round[n % DEPTH] == n)
}

inline read_all()
{
    q = (me == 0 -> 1 : 0);
    do
    :: q < RANKS ->
        flag[q] >= n;
        d_step {
            check_slot(q);
            q = (q + 1 == me -> q + 2 : q + 1)
        }
    :: q >= RANKS -> break
    od;
    q = 0
}

inline read_root()
{
    flag[root[n]] >= n;
    check_slot(root[n])
}

proctype rank(byte me)
{
    byte n = 1;
    byte q;
    do
    :: n > ROUNDS -> break
    :: n <= ROUNDS ->
        if
        :: WRITES -> MAY_WRITE; write_slot()
        :: else
        fi;
#ifdef EARLY_DONE
        finished[me] = n;
#endif
        if
        :: READS_ALL -> read_all()
        :: READS_ROOT -> read_root()
        :: else
        fi;
#ifndef EARLY_DONE
        if
        :: kind[n] != SYMMETRIC -> finished[me] = n
        :: else
        fi;
#endif
        n++
    od
}

init {
    byte i = 1;
    do
    :: i <= ROUNDS ->
        if
        :: kind[i] = SYMMETRIC
        :: kind[i] = ROOT_OUT
        :: kind[i] = ROOT_IN
        fi;
        if
        :: root[i] = 0
        :: kind[i] != SYMMETRIC -> root[i] = RANKS - 1
        fi;
        i++
    :: i > ROUNDS -> break
    od;
    atomic {
        i = 0;
        do
        :: i < RANKS -> run rank(i); i++
        :: i == RANKS -> break
        od
    }
}
