/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/models/queue.pml - threads add tasks to a queue and move it, and none is left behind (hccl_core/rt/queue.c).
 *
 *   add   under the lock: append, length++; then move
 *   move  loop: length == 0: leave; moving already set: leave, its owner does it
 *               run tasks until none is found, each: run, under the lock: take out; length--
 *               clear moving; look again
 *
 * The tasks of the model need not wait: so when all threads have left, all tasks must have been run. Proven besides: no two threads
 * are in tasks at the same time, and tasks run in the order in which they were added.
 *
 * NO_SECOND_LOOK (the owner leaves when it has cleared `moving`), EARLY_CLEAR (before the last task has been taken out) and NO_OWNER (nobody
 * looks at `moving`) must fail.
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef TASKS
#define TASKS 2
#endif

byte appended; /* tasks in the order of their numbers */
byte taken;
byte length;
byte inside;
bool moving;
byte left_threads;

inline run_tasks()
{
    do
    :: taken < appended ->
        next = taken;
        inside++;
        assert(inside == 1);
        inside--;
#ifdef EARLY_CLEAR
        moving = false;
#endif
        atomic { assert(taken == next); taken++ }
        length--
    :: else -> break
    od
}

inline move()
{
    do
    :: length == 0 -> break
    :: length > 0 ->
        atomic { held = moving; moving = true }
#ifndef NO_OWNER
        if
        :: held -> break
        :: else
        fi;
#endif
        run_tasks();
        moving = false;
#ifdef NO_SECOND_LOOK
        break
#endif
    od
}

proctype thread()
{
    byte i = 0, next;
    bool held;
    do
    :: i < TASKS ->
        atomic { appended++; length++ }
        move();
        i++
    :: else -> break
    od;
    left_threads++
}

init {
    byte i = 0;
    atomic {
        do
        :: i < THREADS -> run thread(); i++
        :: else -> break
        od
    }
    left_threads == THREADS;
    assert(taken == THREADS * TASKS && length == 0)
}
