/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * helper.c - moves operators of the core while the program's thread waits in a call of MPI that has no nonblocking form: window
 * synchronisation, files, the making of communicators. Other ranks may need this rank's part in an operator before they come to the same
 * call.
 *
 * With MPI_SHIM_ASYNC=1 also while the program computes.
 *
 * One thread, made when first needed, asleep while nothing is wanted of it. It must not call MPI, whose thread level is the program's: operators
 * that do so (a reduction with a function of the program, the first of a communicator) are left where they are.
 *
 * The locks of the core are in force from before the helper is woken until it is known to be asleep again; with MPI_SHIM_ASYNC always.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "mpi_shim/shim.h"

enum { CONNECT_NS = 100 * 1000 * 1000, IDLE_NS = 50 * 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* of all below */
static bool made, at_work;
static atomic_uint held; /* calls; written under the lock, read by the helper without (relaxed: it looks again) */

static __thread bool helper __attribute__((tls_model("initial-exec")));

/* Never inlined: a fiber asks again after it may have been moved to another thread. */
__attribute__((noinline)) bool shim_is_helper(void)
{
    return helper;
}

/* A queue that was found not to need MPI may come to need it before the helper owns it, so a task looks who goes on with it. */
void shim_task_yield(void)
{
    do {
        hcore_task_yield();
    } while (shim_is_helper());
}

/* Under the lock there is work when this says so; a wake-up follows each change from no to yes. */
static bool wanted(void)
{
    return atomic_load_explicit(&held, memory_order_relaxed) > 0 ||
           (shim.config.async && atomic_load_explicit(&shim_busy, memory_order_relaxed) > 0);
}

static void work(void)
{
    const struct timespec little = {0, IDLE_NS};
    while (wanted()) {
        if (shim_progress()) {
            sched_yield();
        } else {
            nanosleep(&little, NULL);
        }
    }
}

static void *help(void *unused)
{
    (void)unused;
    helper = true;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!wanted()) {
            pthread_cond_wait(&changed, &lock);
        }
        at_work = true;
        pthread_mutex_unlock(&lock);
        work();
        pthread_mutex_lock(&lock);
        at_work = false;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

/* Signals are the program's. */
static bool make_helper(void)
{
    pthread_t thread;
    sigset_t all, before;
    if (made) {
        return true;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    made = pthread_create(&thread, NULL, help, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made) {
        pthread_detach(thread);
        pthread_setname_np(thread, "hccl-shim");
    } else {
        hcore_warn("no thread that moves operators during a blocking call");
    }
    return made;
}

/* Connecting a communicator needs MPI, which the helper must not call. All ranks have begun the operator, or will soon. */
static void connect_pending(void)
{
    shim_pause_t pause = {0};
    const uint64_t start = hcore_now_ns();
    while (shim_any_pending() && hcore_now_ns() - start <= CONNECT_NS) {
        shim_pause(&pause);
    }
}

void shim_wake_helper(void)
{
    pthread_mutex_lock(&lock);
    if (make_helper()) {
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}

/* Under the lock, and when nothing is wanted any more. */
static void await_helper(void)
{
    while (at_work) {
        pthread_cond_wait(&changed, &lock);
    }
}

bool shim_hold(void)
{
    if (__builtin_expect(atomic_load_explicit(&shim_busy, memory_order_relaxed) == 0, 1)) {
        return false;
    }
    shim_progress();
    /* What another thread is moving just now counts too: it may leave it unfinished, and not come back. */
    if (atomic_load_explicit(&shim_busy, memory_order_relaxed) == 0) {
        return false;
    }
    connect_pending();
    pthread_mutex_lock(&lock);
    const bool there = make_helper();
    if (there) {
        if (!hcore_threads) {
            hcore_threads = true;
        }
        atomic_fetch_add_explicit(&held, 1, memory_order_relaxed);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return there;
}

void shim_unhold(bool was_held)
{
    if (__builtin_expect(!was_held, 1)) {
        return;
    }
    pthread_mutex_lock(&lock);
    /* With several threads the locks stay in force, and the helper may be at work for the others. */
    if (atomic_fetch_sub_explicit(&held, 1, memory_order_relaxed) == 1 && !shim.config.async && !shim.threads) {
        await_helper();
        hcore_threads = false;
    }
    pthread_mutex_unlock(&lock);
}

void shim_rest_helper(void)
{
    pthread_mutex_lock(&lock);
    await_helper();
    pthread_mutex_unlock(&lock);
}
