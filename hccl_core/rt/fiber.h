/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fiber.h - a function with a stack of its own, that can be left in the middle and gone on with later.
 *
 * The engines are written as code that waits. In a fiber a wait is a fiber_yield, so the same code serves operators that nobody
 * waits for. One thread at a time is in a fiber; it may be another one each time. What a fiber runs must not keep the address of a
 * thread's own variable across a wait.
 *
 * Signal masks and rounding modes are not the fiber's: it runs with those of who resumes it.
 */
#ifndef HCORE_RT_FIBER_H
#define HCORE_RT_FIBER_H

#include <stdbool.h>

typedef struct fiber fiber_t;

/* A fiber that will call fn(context) when first resumed; NULL: no memory for its stack. */
fiber_t *fiber_create(void (*fn)(void *context), void *context);

/* Goes on with a fiber until it yields or its function returns. True: it has returned, and the fiber is no more. */
bool fiber_resume(fiber_t *fiber);

/* Whether the caller runs in a fiber. */
bool fiber_inside(void);

/* In a fiber: back to who resumed it. */
void fiber_yield(void);

/* Calls fn(context) on the stack of who resumed the fiber, or at once outside of any: for functions that are not ours, whose need for stack
 * is not known. */
void fiber_outside(void (*fn)(void *context), void *context);

#endif
