/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.c - see hcore/queue.h.
 *
 * Who sets `moving` from false to true owns the fiber until it clears it: the acquire of the one pairs with the release of the
 * other, so all that a task did is seen by the thread that goes on with it. The head is taken out by the owner alone; the lock orders that
 * with additions. A thread that adds to an empty queue while another is just leaving it finds `moving` set and goes away: the owner
 * therefore looks at the queue again after clearing it. (hcore_queue_run need not: its caller has a task that has to be moved anyway, or
 * knows of those behind by the list of queues that are not empty.) t/models/queue has the proof by exhaustion.
 */
#include "hcore/queue.h"

#include <stddef.h>

#include "comm/comm_internal.h"
#include "rt/fiber.h"

enum { SPIN_IN_TASK = 4 };

bool hcore_threads = true;

void hcore_queue_init(hcore_queue_t *queue)
{
    *queue = (hcore_queue_t){.head = NULL};
    pthread_mutex_init(&queue->lock, NULL);
}

void hcore_queue_destroy(hcore_queue_t *queue)
{
    pthread_mutex_destroy(&queue->lock);
}

static hcore_task_t *first(hcore_queue_t *queue)
{
    const bool taken = hcore_lock(&queue->lock);
    hcore_task_t *task = queue->head;
    hcore_unlock(&queue->lock, taken);
    return task;
}

/* Takes the head out, tells that it is done, returns the next. */
static hcore_task_t *finish_first(hcore_queue_t *queue)
{
    const bool taken = hcore_lock(&queue->lock);
    hcore_task_t *task = queue->head, *next = task->next;
    queue->head = next;
    queue->tail = next ? queue->tail : NULL;
    hcore_unlock(&queue->lock, taken);
    atomic_store_explicit(&task->done, true, memory_order_release);
    atomic_fetch_sub_explicit(&queue->length, 1, memory_order_release);
    return next;
}

/* One fiber runs all tasks that it finds. */
static void run_tasks(void *context)
{
    hcore_queue_t *queue = context;
    hcore_task_t *task = first(queue);
    while (task) {
        task->run(task);
        task = finish_first(queue);
    }
}

/* False: there is more to do, but not now. */
static bool move_owned(hcore_queue_t *queue)
{
    if (!queue->fiber && first(queue)) {
        queue->fiber = fiber_create(run_tasks, queue);
        if (!queue->fiber) {
            return false; /* no memory: perhaps the next time */
        }
    }
    if (queue->fiber && fiber_resume(queue->fiber)) {
        queue->fiber = NULL;
    }
    return queue->fiber == NULL;
}

bool hcore_queue_move(hcore_queue_t *queue)
{
    bool more = true;
    do {
        if (hcore_queue_empty(queue)) {
            return false;
        }
        if (atomic_exchange_explicit(&queue->moving, true, memory_order_acquire)) {
            return true;
        }
        more = move_owned(queue);
        atomic_store_explicit(&queue->moving, false, memory_order_release);
    } while (more);
    return true;
}

void hcore_queue_append(hcore_queue_t *queue, hcore_task_t *task)
{
    task->next = NULL;
    atomic_store_explicit(&task->done, false, memory_order_relaxed);
    const bool taken = hcore_lock(&queue->lock);
    if (queue->tail) {
        queue->tail->next = task;
    } else {
        queue->head = task;
    }
    queue->tail = task;
    atomic_fetch_add_explicit(&queue->length, 1, memory_order_relaxed);
    hcore_unlock(&queue->lock, taken);
}

void hcore_queue_add(hcore_queue_t *queue, hcore_task_t *task)
{
    hcore_queue_append(queue, task);
    hcore_queue_move(queue);
}

bool hcore_queue_run(hcore_queue_t *queue, hcore_task_t *task)
{
    if (fiber_inside() || atomic_exchange_explicit(&queue->moving, true, memory_order_acquire)) {
        return false;
    }
    const bool next = !queue->fiber && first(queue) == task;
    if (next) {
        task->run(task);
        finish_first(queue);
    }
    atomic_store_explicit(&queue->moving, false, memory_order_release);
    return next;
}

void hcore_task_yield(void)
{
    if (fiber_inside()) {
        fiber_yield();
    }
}

bool hcore_task_inside(void)
{
    return fiber_inside();
}

void hcore_task_outside(void (*fn)(void *), void *context)
{
    fiber_outside(fn, context);
}

hcore_status_t hcore_run_in_task(hcore_comm_t *comm, hcore_backend_t backend, const hcore_args_t *args, const char **algorithm)
{
    if (!fiber_inside()) { /* hcore_queue_run */
        return hcore_run(comm, backend, args, algorithm);
    }
    const uint32_t spin = comm->spin;
    comm->spin = spin < SPIN_IN_TASK ? spin : SPIN_IN_TASK;
    const hcore_status_t status = hcore_run(comm, backend, args, algorithm);
    comm->spin = spin;
    return status;
}
