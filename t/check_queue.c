/* SPDX-License-Identifier: BSD-3-Clause */
/* t/check_queue.c - fibers and queues of tasks (hccl_core/rt). Built twice: with the switch of our own, and with ucontext's. */
#include "hcore/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rt/fiber.h"
#include "tap.h"

/* ---- fibers ---- */

static int steps;

static void three_steps(void *context)
{
    int *seen = context;
    for (int i = 0; i < 3; i++) {
        seen[i] = ++steps;
        fiber_yield();
    }
}

static void test_yields(void)
{
    int seen[3] = {0}, resumed = 1;
    steps = 0;
    fiber_t *fiber = fiber_create(three_steps, seen);
    tap_ok(fiber != NULL && steps == 0, "a fiber does nothing before it is resumed");
    while (!fiber_resume(fiber)) {
        resumed++;
        steps += 10;
    }
    tap_ok(resumed == 4 && seen[0] == 1 && seen[1] == 12 && seen[2] == 23, "it goes on where it left");
    tap_ok(!fiber_inside(), "outside again");
}

/* What the ABI says a function keeps, and locals, are there after a yield, whatever the resumer does in between. */
static void keep_registers(void *context)
{
    volatile double half = 0.5;
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
    for (int i = 0; i < 1000; i++) {
        a += b ^ (uint64_t)i, b += c * 3, c ^= d, d += e, e += f ^ g, f += 11, g ^= a;
        half += 0.25;
        fiber_yield();
    }
    *(uint64_t *)context = a + b + c + d + e + f + g + (uint64_t)half;
}

static void test_registers(void)
{
    uint64_t got[2] = {0}, alone = 0, other = 1;
    fiber_t *x = fiber_create(keep_registers, &got[0]), *y = fiber_create(keep_registers, &got[1]);
    bool x_done = false, y_done = false;
    while (!x_done || !y_done) {
        x_done = x_done || fiber_resume(x);
        other = other * 6364136223846793005u + 1;
        y_done = y_done || fiber_resume(y);
    }
    fiber_t *z = fiber_create(keep_registers, &alone);
    while (!fiber_resume(z)) {
    }
    tap_ok(got[0] == alone && got[1] == alone && alone != 0 && other != 0, "two fibers in turn compute what one alone does");
}

/* Deep enough to be noticed if stacks were shared or too small, and no deeper than an engine goes. */
static int dig(int depth)
{
    volatile char room[512];
    memset((void *)(uintptr_t)room, depth, sizeof room);
    if (depth > 0) {
        const int below = dig(depth - 1);
        if (depth % 50 == 0) {
            fiber_yield();
        }
        return below + (room[17] == (char)depth);
    }
    return 0;
}

static void dig_200(void *context)
{
    *(int *)context = dig(200);
}

static void test_stacks(void)
{
    enum { FIBERS = 100 };
    int depth[FIBERS] = {0}, good = 0, left = FIBERS;
    fiber_t *fiber[FIBERS];
    for (int i = 0; i < FIBERS; i++) {
        fiber[i] = fiber_create(dig_200, &depth[i]);
    }
    while (left > 0) {
        for (int i = 0; i < FIBERS; i++) {
            if (fiber[i] && fiber_resume(fiber[i])) {
                fiber[i] = NULL;
                left--;
                good += depth[i] == 200;
            }
        }
    }
    tap_ok(good == FIBERS, "%d of %d fibers have a stack of their own", good, FIBERS);
}

static char *base; /* an address on the stack of the test */

static void note_distance(void *context)
{
    char here;
    *(ptrdiff_t *)context = (uintptr_t)&here > (uintptr_t)base ? &here - base : base - &here;
}

static void go_outside(void *context)
{
    ptrdiff_t *distance = context;
    note_distance(&distance[0]);
    fiber_outside(note_distance, &distance[1]);
    distance[2] = fiber_inside();
}

static void test_outside(void)
{
    char here;
    ptrdiff_t distance[3] = {0};
    base = &here;
    fiber_t *fiber = fiber_create(go_outside, distance);
    tap_ok(fiber_resume(fiber), "a function called outside is no yield");
#if !defined(__SANITIZE_ADDRESS__) /* has locals elsewhere */
    tap_ok(distance[0] > 64 * 1024 && distance[1] < 64 * 1024 && distance[2], "it runs on the resumer's stack");
#endif
    fiber_outside(note_distance, &distance[1]);
    tap_ok(!fiber_inside(), "outside of a fiber it is called at once");
}

/* ---- queues ---- */

typedef struct {
    hcore_task_t task;
    int number, yields;
    int *order, *at;
    atomic_int *inside;
    bool clash, in_fiber;
} job_t;

static void do_job(hcore_task_t *task)
{
    job_t *job = (job_t *)task;
    job->clash = atomic_fetch_add(job->inside, 1) != 0;
    job->in_fiber = hcore_task_inside();
    for (int i = 0; i < job->yields; i++) {
        hcore_task_yield();
    }
    job->order[(*job->at)++] = job->number;
    atomic_fetch_sub(job->inside, 1);
}

enum { JOBS = 64 };
typedef struct {
    hcore_queue_t queue;
    job_t job[JOBS];
    int order[JOBS], at;
    atomic_int inside;
} line_t;

static void line_set(line_t *line, int yields)
{
    hcore_queue_init(&line->queue);
    line->at = 0;
    atomic_store(&line->inside, 0);
    for (int i = 0; i < JOBS; i++) {
        line->job[i] = (job_t){.task.run = do_job, .number = i, .yields = yields > 0 ? (i * 7) % yields : 0, .order = line->order,
                               .at = &line->at, .inside = &line->inside};
    }
}

static bool line_good(const line_t *line)
{
    bool good = line->at == JOBS && hcore_queue_empty(&line->queue);
    for (int i = 0; i < JOBS; i++) {
        good = good && line->order[i] == i && !line->job[i].clash && hcore_task_done(&line->job[i].task);
    }
    return good;
}

static void test_order(void)
{
    static line_t line;
    line_set(&line, 5);
    for (int i = 0; i < JOBS; i++) {
        hcore_queue_add(&line.queue, &line.job[i].task);
    }
    tap_ok(!hcore_task_done(&line.job[JOBS - 1].task), "adding does not wait");
    while (hcore_queue_move(&line.queue)) {
    }
    tap_ok(line_good(&line), "tasks run one after another in the order they were added");
    line_set(&line, 0);
    hcore_queue_add(&line.queue, &line.job[0].task);
    tap_ok(hcore_task_done(&line.job[0].task) && hcore_queue_empty(&line.queue), "a task that need not wait is done when it is added");
    hcore_queue_destroy(&line.queue);
}

static void test_run_here(void)
{
    static line_t line;
    line_set(&line, 3);
    hcore_queue_append(&line.queue, &line.job[0].task);
    hcore_queue_append(&line.queue, &line.job[1].task);
    tap_ok(!hcore_task_done(&line.job[0].task), "appending begins nothing");
    tap_ok(!hcore_queue_run(&line.queue, &line.job[1].task), "the second is not run before the first");
    tap_ok(hcore_queue_run(&line.queue, &line.job[0].task) && hcore_task_done(&line.job[0].task) && !line.job[0].in_fiber,
       "the first is, on the caller's stack");
    hcore_queue_move(&line.queue);
    while (hcore_queue_move(&line.queue)) {
    }
    tap_ok(hcore_task_done(&line.job[1].task) && line.job[1].in_fiber, "the second in a fiber");
}

/* Threads that add to and move the same queues; each queue is added to by one of them. */
enum { THREADS = 4, ROUNDS = 200 };
static line_t shared[THREADS];
static pthread_barrier_t meet;

static void move_all(void)
{
    for (bool busy = true; busy;) {
        busy = false;
        for (int i = 0; i < THREADS; i++) {
            busy |= hcore_queue_move(&shared[i].queue);
        }
    }
}

static void *stress(void *context)
{
    const int me = (int)(intptr_t)context;
    intptr_t bad = 0;
    unsigned seed = (unsigned)me + 1;
    for (int round = 0; round < ROUNDS; round++) {
        line_set(&shared[me], 1 + round % 9);
        pthread_barrier_wait(&meet);
        for (int i = 0; i < JOBS; i++) {
            hcore_queue_add(&shared[me].queue, &shared[me].job[i].task);
            if (rand_r(&seed) % 4 == 0) {
                sched_yield();
            }
            hcore_queue_move(&shared[rand_r(&seed) % THREADS].queue);
        }
        move_all();
        pthread_barrier_wait(&meet);
        bad += !line_good(&shared[me]);
        pthread_barrier_wait(&meet);
    }
    return (void *)bad;
}

static void test_threads(void)
{
    pthread_t thread[THREADS];
    intptr_t bad = 0;
    pthread_barrier_init(&meet, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, stress, (void *)(intptr_t)i);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        bad += (intptr_t)result;
    }
    tap_ok(bad == 0, "%d threads add to and move %d queues: %d rounds went wrong", THREADS, THREADS, (int)bad);
}

int main(void)
{
    test_yields();
    test_registers();
    test_stacks();
    test_outside();
    test_order();
    test_run_here();
    test_threads();
    return tap_done();
}
