/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fiber.c - see fiber.h. The switch itself is a few instructions where we have them, else ucontext's, which costs two system calls.
 *
 * Stacks are kept for the next fiber: a fresh one would cost page faults each time.
 */
#define _GNU_SOURCE
#include "rt/fiber.h"

#include "hcore/queue.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(FIBER_UCONTEXT)
#define FIBER_UCONTEXT 1
#endif
#ifdef FIBER_UCONTEXT
#include <ucontext.h>
#endif

/* ThreadSanitizer and AddressSanitizer must be told which stack is in use. */
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

enum {
    STACK_BYTES = 256 * 1024, /* address space; what is not touched takes no memory */
    KEPT_STACKS = 64          /* without a fiber */
};

#ifdef FIBER_UCONTEXT
typedef ucontext_t context_t;
#else
typedef void *context_t; /* stack pointer, all else lies on the stack */
#endif

struct fiber {
    context_t here, resumer;
    void (*fn)(void *);
    void *context;
    void (*outside)(void *); /* asked for by fiber_outside */
    void *outside_context;
    fiber_t *caller; /* what the resuming thread ran: a fiber's outside function may resume another */
    fiber_t *next;   /* in the list of free ones */
    uint8_t *stack;  /* a guard page, then STACK_BYTES; the fiber itself lies at the upper end */
    size_t bytes;
    bool returned;
#if defined(__SANITIZE_THREAD__)
    void *tsan, *tsan_resumer;
#endif
#if defined(__SANITIZE_ADDRESS__)
    void *asan_fake;
    const void *asan_bottom; /* of the resumer's stack */
    size_t asan_bytes;
#endif
};

static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static fiber_t *free_list;
static unsigned free_count;

static __thread fiber_t *current __attribute__((tls_model("initial-exec")));

/* Never inlined: the address of `current` must be found anew after each switch, which another thread may have come out of. */
static __attribute__((noinline)) fiber_t *get_current(void)
{
    return current;
}

static __attribute__((noinline)) void set_current(fiber_t *fiber)
{
    current = fiber;
}

static void run_current(void);

#ifdef FIBER_UCONTEXT

static void prepare(fiber_t *fiber, void *top)
{
    getcontext(&fiber->here);
    fiber->here.uc_stack.ss_sp = fiber->stack;
    fiber->here.uc_stack.ss_size = (size_t)((uint8_t *)top - fiber->stack);
    fiber->here.uc_link = NULL;
    makecontext(&fiber->here, run_current, 0);
}

static void change(context_t *from, context_t *to)
{
    swapcontext(from, to);
}

#else

/* hcore_fiber_change(from, to): keeps what the ABI says a function keeps on the old stack, takes the same from the new one. */
void hcore_fiber_change(void **from, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden hcore_fiber_change\n"
        ".globl hcore_fiber_change\n"
        ".type hcore_fiber_change, @function\n"
        "hcore_fiber_change:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size hcore_fiber_change, . - hcore_fiber_change\n");

/* A stack as if run_current had been called by nobody and had just been left: aligned as after a call, a null return address. */
static void prepare(fiber_t *fiber, void *top)
{
    enum { SAVED_REGISTERS = 6 };
    uintptr_t *sp = (uintptr_t *)((uintptr_t)top & ~(uintptr_t)15);
    *--sp = 0;
    *--sp = (uintptr_t)run_current;
    for (int i = 0; i < SAVED_REGISTERS; i++) {
        *--sp = 0;
    }
    fiber->here = sp;
}

static void change(context_t *from, context_t *to)
{
    hcore_fiber_change(from, *to);
}

#endif

/* Into the fiber, until it comes back. */
static void switch_in(fiber_t *fiber)
{
#if defined(__SANITIZE_THREAD__)
    fiber->tsan_resumer = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->tsan, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    void *fake;
    __sanitizer_start_switch_fiber(&fake, fiber->stack, (size_t)((uint8_t *)fiber - fiber->stack));
#endif
    change(&fiber->resumer, &fiber->here);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

/* Out of the fiber, until it is resumed; for the last time if it has returned. */
static void switch_out(fiber_t *fiber)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(fiber->tsan_resumer, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fiber->returned ? NULL : &fiber->asan_fake, fiber->asan_bottom, fiber->asan_bytes);
#endif
    change(&fiber->here, &fiber->resumer);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber->asan_fake, &fiber->asan_bottom, &fiber->asan_bytes);
#endif
}

static void run_current(void)
{
    fiber_t *fiber = get_current();
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(NULL, &fiber->asan_bottom, &fiber->asan_bytes);
#endif
    fiber->fn(fiber->context);
    fiber->returned = true;
    switch_out(fiber);
    __builtin_unreachable();
}

static fiber_t *take_free(void)
{
    const bool taken = hcore_lock(&free_lock);
    fiber_t *fiber = free_list;
    if (fiber) {
        free_list = fiber->next;
        free_count--;
    }
    hcore_unlock(&free_lock, taken);
    return fiber;
}

static void give_back(fiber_t *fiber)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(fiber->tsan);
#endif
    const bool taken = hcore_lock(&free_lock);
    const bool keep = free_count < KEPT_STACKS;
    if (keep) {
        fiber->next = free_list;
        free_list = fiber;
        free_count++;
    }
    hcore_unlock(&free_lock, taken);
    if (!keep) {
        const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
        munmap(fiber->stack - guard, fiber->bytes + guard);
    }
}

static fiber_t *make_stack(void)
{
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map = mmap(NULL, STACK_BYTES + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED) {
        return NULL;
    }
    mprotect(map, guard, PROT_NONE); /* without it, an overflow is noticed later */
    fiber_t *fiber = (fiber_t *)((uintptr_t)(map + guard + STACK_BYTES - sizeof(*fiber)) & ~(uintptr_t)63);
    fiber->stack = map + guard;
    fiber->bytes = STACK_BYTES;
    return fiber;
}

fiber_t *fiber_create(void (*fn)(void *), void *context)
{
    fiber_t *fiber = take_free();
    if (!fiber) {
        fiber = make_stack();
    }
    if (fiber) {
        fiber->fn = fn;
        fiber->context = context;
        fiber->outside = NULL;
        fiber->returned = false;
#if defined(__SANITIZE_THREAD__)
        fiber->tsan = __tsan_create_fiber(0);
#endif
        prepare(fiber, fiber);
    }
    return fiber;
}

bool fiber_resume(fiber_t *fiber)
{
    fiber->caller = get_current();
    for (;;) {
        set_current(fiber);
        switch_in(fiber);
        set_current(fiber->caller);
        void (*outside)(void *) = fiber->outside;
        if (!outside) {
            break;
        }
        fiber->outside = NULL;
        outside(fiber->outside_context);
    }
    const bool returned = fiber->returned;
    if (returned) {
        give_back(fiber);
    }
    return returned;
}

bool fiber_inside(void)
{
    return get_current() != NULL;
}

void fiber_yield(void)
{
    switch_out(get_current());
}

void fiber_outside(void (*fn)(void *), void *context)
{
    fiber_t *fiber = get_current();
    if (!fiber) {
        fn(context);
        return;
    }
    fiber->outside = fn;
    fiber->outside_context = context;
    switch_out(fiber);
}
