/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/models/sleep.pml - a rank that waits for a flag goes to sleep, and no wake-up is lost (hccl_core/comm/wait.c).
 *
 *   waiter  seen = bell; sleepers++; FENCE; if flag not there: futex_wait(bell, seen); sleepers--; look again
 *   poster  store flag; FENCE; if sleepers != 0: bell++, futex_wake(all)
 *
 * Every process has a store buffer of one entry, which drains at any time: a store, or an add that is not a fence
 * by itself, is seen by others only later. A fence waits until the buffer is empty; so do the system calls.
 *
 * Proven: every waiter ends (a lost wake-up is a deadlock), although the model's sleep has no time limit.
 *
 * NO_POSTER_FENCE, NO_WAITER_FENCE and LATE_BELL (bell read after the last look at the flag) must fail.
 */
#ifndef WAITERS
#define WAITERS 2
#endif
#ifndef POSTS
#define POSTS 2
#endif

#define POSTER WAITERS
#define CPUS (WAITERS + 1)

#define EMPTY 0
#define SET_FLAG 1
#define ADD_SLEEPER 2
#define TAKE_SLEEPER 3
#define ADD_BELL 4

byte flag;
byte sleepers;
byte bell;
bool asleep[WAITERS];
byte pending[CPUS]; /* the store buffers: what is to be done */
byte operand[CPUS];

/* A full buffer must drain before the next store. */
inline put(what, value)
{
    atomic { pending[me] == EMPTY -> pending[me] = what; operand[me] = value }
}

inline fence()
{
    pending[me] == EMPTY
}

inline futex_wait(expected)
{
    fence();
    if
    :: atomic { bell == expected -> asleep[me] = true }
       !asleep[me]
    :: bell != expected
    fi
}

inline futex_wake_all()
{
    fence();
    d_step {
        i = 0;
        do
        :: i < WAITERS -> asleep[i] = false; i++
        :: i == WAITERS -> break
        od;
        i = 0
    }
}

/* The hardware: drains a process's buffer whenever it likes. */
proctype drain(byte me)
{
end:
    do
    :: d_step { pending[me] == SET_FLAG -> flag = operand[me]; operand[me] = 0; pending[me] = EMPTY }
    :: d_step { pending[me] == ADD_SLEEPER -> sleepers++; pending[me] = EMPTY }
    :: d_step { pending[me] == TAKE_SLEEPER -> sleepers--; pending[me] = EMPTY }
    :: d_step { pending[me] == ADD_BELL -> bell++; pending[me] = EMPTY }
    od
}

proctype waiter(byte me)
{
    byte wanted = 1;
    byte seen;
    do
    :: wanted > POSTS -> break
    :: wanted <= POSTS && flag >= wanted -> wanted++
    :: wanted <= POSTS && flag < wanted ->
#ifndef LATE_BELL
        seen = bell;
#endif
        put(ADD_SLEEPER, 0);
#ifndef NO_WAITER_FENCE
        fence();
#endif
        if
        :: flag >= wanted
        :: flag < wanted ->
#ifdef LATE_BELL
            seen = bell;
#endif
            futex_wait(seen)
        fi;
        seen = 0;
        put(TAKE_SLEEPER, 0)
    od
}

proctype poster(byte me)
{
    byte n = 1;
    byte i;
    do
    :: n > POSTS -> break
    :: n <= POSTS ->
        put(SET_FLAG, n);
#ifndef NO_POSTER_FENCE
        fence();
#endif
        if
        :: sleepers != 0 ->
            put(ADD_BELL, 0);
            futex_wake_all()
        :: sleepers == 0
        fi;
        n++
    od
}

init {
    atomic {
        byte w = 0;
        do
        :: w < WAITERS -> run waiter(w); run drain(w); w++
        :: w == WAITERS -> break
        od;
        run drain(POSTER);
        run poster(POSTER)
    }
}
