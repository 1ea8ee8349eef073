/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/models/lines.pml - reuse of the AIV engine's lines and slots (hccl_core/aiv/round.h).
 *
 * Each rank has DEPTH slots; in round n a writer writes slot n mod DEPTH and then sets its flag to n. All ranks run the
 * same sequence of rounds, any sequence: the first to begin a round chooses its kind; a round is
 *   SYMMETRIC  everyone writes its slot, waits for everyone's flag and reads all slots
 *   ROOT_OUT   the root writes, waits for nobody and goes on; the others wait for the root and read
 *   ROOT_IN    the others write; the root waits for them and reads
 *   PREFIX     everyone but the last writes; each waits for the ranks below it and reads those
 * There is no barrier. At the end of round n a rank sets done to n, in a round that is not symmetric only if EVERY divides n: that much
 * is enough. It may write in round n only if every peer is known to
 * have done round n - DEPTH: it looks at their done, or it knows from an earlier look, or from a symmetric round m
 * that all have done m - 1 (they arrived in m).
 *
 * Proven, for all sequences: a reader always finds the round it waited for in the slot (so nothing is overwritten
 * before all have read it), and every rank reaches the end.
 *
 * NO_CHECK (no rule), EARLY_DONE (done before the reads), SAFE_TOO_FAR (a symmetric round m taken as proof that all
 * have done m) and EVERY greater than DEPTH must fail.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif
#define DEPTH 2
#ifndef EVERY
#define EVERY DEPTH
#endif

#define NOT_CHOSEN 0
#define SYMMETRIC 1
#define ROOT_OUT 2
#define ROOT_IN 3
#define PREFIX 4

typedef slots_t { byte round[DEPTH] };
slots_t slot[RANKS];
byte flag[RANKS];
byte finished[RANKS]; /* "done" is a name of the model checker's own */
byte kind[ROUNDS + 1];
byte root[ROUNDS + 1];
byte left[ROUNDS + 1]; /* ranks that have left the round */

/* That q has done round n - DEPTH. It never becomes untrue, so looking at all peers at once proves as much as looking
 * at one after the other. */
#define DONE(q) (q == me || finished[q] + DEPTH >= n)
#if RANKS == 2
#define ALL_DONE (DONE(0) && DONE(1))
#else
#define ALL_DONE (DONE(0) && DONE(1) && DONE(2))
#endif

#define IS_ROOT (me == root[n])
#define WRITES (kind[n] == SYMMETRIC || (kind[n] == PREFIX && me + 1 < RANKS) || (kind[n] == ROOT_OUT && IS_ROOT) || (kind[n] == ROOT_IN && !IS_ROOT))
#define READS(q) (q != me && (kind[n] == SYMMETRIC || (kind[n] == PREFIX && q < me) || \
                  (kind[n] == ROOT_OUT && q == root[n]) || (kind[n] == ROOT_IN && IS_ROOT)))

/* The first to come chooses for all; a round that all have left is forgotten, which keeps the search small. */
inline begin_round()
{
    atomic {
        if
        :: kind[n] == NOT_CHOSEN ->
            if
            :: kind[n] = SYMMETRIC
            :: kind[n] = PREFIX
            :: kind[n] = ROOT_OUT; select(q : 0 .. RANKS - 1); root[n] = q
            :: kind[n] = ROOT_IN; select(q : 0 .. RANKS - 1); root[n] = q
            fi;
            q = 0
        :: else
        fi
    }
}

inline may_write()
{
#ifdef NO_CHECK
    skip
#else
    if
    :: safe + DEPTH >= n
    :: safe + DEPTH < n -> d_step { ALL_DONE -> safe = n - DEPTH }
    fi
#endif
}

/* From the first store to the slot on, its old round is lost to readers. */
inline write_slot()
{
    slot[me].round[n % DEPTH] = n;
    flag[me] = n
}

/* What lies between two looks at shared memory is one step, so that the search stays small. */
inline next_read()
{
    d_step {
        do
        :: q < RANKS && !READS(q) -> q++
        :: else -> break
        od
    }
}

inline read_slots()
{
    next_read();
    do
    :: q < RANKS ->
        flag[q] >= n;
        assert(slot[q].round[n % DEPTH] == n);
        q++;
        next_read()
    :: q == RANKS -> break
    od;
    q = 0
}

inline set_done()
{
    if
    :: kind[n] == SYMMETRIC || n % EVERY == 0 -> finished[me] = n
    :: else
    fi;
    if
#ifdef SAFE_TOO_FAR
    :: kind[n] == SYMMETRIC -> safe = n
#else
    :: kind[n] == SYMMETRIC -> safe = n - 1
#endif
    :: else
    fi
}

inline end_round()
{
    left[n]++;
    if
    :: left[n] == RANKS -> left[n] = 0; kind[n] = NOT_CHOSEN; root[n] = 0
    :: else
    fi;
    n++
}

proctype rank(byte me)
{
    byte n = 1;
    byte q, safe;
    do
    :: n > ROUNDS -> break
    :: n <= ROUNDS ->
        begin_round();
        if
        :: WRITES -> may_write(); write_slot()
        :: else
        fi;
#ifdef EARLY_DONE
        d_step { set_done() };
        read_slots();
        d_step { end_round() }
#else
        read_slots();
        d_step { set_done(); end_round() }
#endif
    od
}

init {
    atomic {
        byte i = 0;
        do
        :: i < RANKS -> run rank(i); i++
        :: i == RANKS -> break
        od
    }
}
