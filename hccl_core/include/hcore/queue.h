/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/queue.h - operators that nobody waits for.
 *
 * A queue runs tasks one after another, in the order they were added. A task is a function that may call anything of the core that
 * waits (hcore_run, hcore_comm_create): in a queue such a wait returns to whoever moves the queue, and goes on when the queue is moved
 * again. A communicator runs one operator at a time in the same order on all ranks, so those of one communicator belong in one
 * queue; operators of several communicators are under way at once, one from each queue.
 *
 * Threads: any thread may add to and move any queue, several at once; a task is run by one thread at a time, not always the same.
 */
#ifndef HCORE_QUEUE_H
#define HCORE_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "hcore/comm.h"

typedef struct hcore_task hcore_task_t;

/* The caller's until hcore_task_done, except for `next` and `done`. */
struct hcore_task {
    void (*run)(hcore_task_t *task);
    hcore_task_t *next;
    atomic_bool done; /* release, after run has returned and the queue has let go of the task; acquire in hcore_task_done */
};

typedef struct {
    pthread_mutex_t lock; /* head, tail */
    hcore_task_t *head, *tail;
    struct fiber *fiber;  /* runs the head; of the thread that is moving the queue */
    atomic_bool moving;   /* some thread is; acquire and release around what it does */
    atomic_uint length;   /* tasks not done. Release after one is done, acquire by who goes on from what it did. */
} hcore_queue_t;

/* Whether several threads may call at the same time: true unless the caller knows better and says so before it calls anything else. */
extern bool hcore_threads;

/* A lock that is taken only then. */
static inline bool hcore_lock(pthread_mutex_t *lock)
{
    const bool taken = hcore_threads;
    if (taken) {
        pthread_mutex_lock(lock);
    }
    return taken;
}

static inline void hcore_unlock(pthread_mutex_t *lock, bool taken)
{
    if (taken) {
        pthread_mutex_unlock(lock);
    }
}

void hcore_queue_init(hcore_queue_t *queue);
void hcore_queue_destroy(hcore_queue_t *queue); /* empty */

static inline bool hcore_queue_empty(const hcore_queue_t *queue)
{
    return atomic_load_explicit(&queue->length, memory_order_acquire) == 0;
}

/* Adds a task and moves the queue once. HCORE_ERR_NO_MEMORY never: without memory for a stack the task waits for it. */
void hcore_queue_add(hcore_queue_t *queue, hcore_task_t *task);

/* The same, but begins nothing: for a task that its caller will most likely wait for next. */
void hcore_queue_append(hcore_queue_t *queue, hcore_task_t *task);

/* If `task` is the next to be run and has not begun, runs it on the caller's stack, where its waits are blocking ones, as fast as without a
 * queue. False: it is not. */
bool hcore_queue_run(hcore_queue_t *queue, hcore_task_t *task);

/* Runs what can be run without waiting. Returns at once if another thread does so. False: it is known to be empty. */
bool hcore_queue_move(hcore_queue_t *queue);

static inline bool hcore_task_done(const hcore_task_t *task)
{
    return atomic_load_explicit(&task->done, memory_order_acquire);
}

/* For a task that waits for something that is not the core's: back to who moves the queue. Outside of a task: returns at once. */
void hcore_task_yield(void);
bool hcore_task_inside(void);

/* In a task: calls fn(context) on the stack of who moves the queue: a task's own is of 256 KiB. Elsewhere: at once. */
void hcore_task_outside(void (*fn)(void *context), void *context);

/* hcore_run for tasks: waits give up soon, as others may be done meanwhile. */
hcore_status_t hcore_run_in_task(hcore_comm_t *comm, hcore_backend_t backend, const hcore_args_t *args, const char **algorithm);

#endif
