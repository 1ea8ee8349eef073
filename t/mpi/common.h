/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/common.h - what the MPI test programs share: start and end, checks that become TAP lines on rank 0,
 * and buffers with guard bytes.
 *
 * A program is a list of sections. Every rank counts its failed checks and prints one line for each;
 * t_section adds them up over the ranks by point-to-point messages alone, since collectives are what is being
 * tested.
 */
#ifndef T_MPI_COMMON_H
#define T_MPI_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int t_rank, t_size;

/* MPI_Init, and an alarm that ends the process after `seconds`. With TEST_SHIM=1 it is a failure if the shim
 * is not there. */
void t_init(int *argc, char ***argv, unsigned seconds);
/* The alarm and the rank alone, for programs that initialise MPI in their own way. */
void t_guard(unsigned seconds);
void t_adopt_world(void);

/* One check. A failed one prints "# rank R: text" (the first T_MAX_LINES of a rank). Returns the condition.
 */
bool t_check(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Folds bytes that must be equal on all ranks into a checksum, compared by the next t_section. */
void t_same(const void *bytes, size_t size);

/* Ends a section: all ranks call it. Rank 0 prints the TAP line. A section without a single check fails. */
void t_section(const char *format, ...) __attribute__((format(printf, 1, 2)));
void t_skip(const char *text, const char *reason);
/* Prints the plan and finalises MPI; the exit status. t_finish_open leaves MPI as it is. */
int t_finish(void);
int t_finish_open(void);

/* Failed checks of this rank since the last section. */
unsigned long t_failures(void);

/* Point-to-point barrier over MPI_COMM_WORLD. */
void t_meet(void);

/* What a test passes for a pointer that MPI must not look at. A variable, so that no compiler warns of it. */
extern void *t_junk;
/* MPI_STATUSES_IGNORE, which some compilers take for an array of no size. */
extern MPI_Status *t_ignore;
enum { T_JUNK_COUNT = -77, T_JUNK_HANDLE = 0x12345678 };

uint64_t t_mix(uint64_t x);
/* A generator with equal sequences for equal seeds; below(n) is in 0..n-1. */
uint64_t t_next(uint64_t *state);
unsigned t_below(uint64_t *state, unsigned n);
double t_env_number(const char *name, double otherwise);

/*
 * A buffer of `size` bytes with a guard zone at both ends. t_buf_set fills all of it with the guard pattern;
 * `shift` moves the start away from an aligned address. t_buf_image copies it, so that a test can write into
 * the image what it expects.
 */
enum { T_GUARD = 64 };
typedef struct {
    unsigned char *raw, *data;
    size_t capacity, size, shift;
} t_buf_t;
void t_buf_set(t_buf_t *buf, size_t size, size_t shift);
void t_buf_image(t_buf_t *image, const t_buf_t *buf);
/* Compares data and guards; `where` is the offset of the first difference from data, negative in the front
 * guard. */
bool t_buf_equal(const t_buf_t *a, const t_buf_t *b, ptrdiff_t *where);
void t_buf_free(t_buf_t *buf);

/* Whether the calling thread's last collective ran on our core; true without the shim, where nobody knows. */
bool t_served_by_core(void);
/* "aiv/one-line", "mpi", ...; "" without the shim. */
const char *t_last_path(void);

/* The error class of a call's result. */
int t_class(int code);

#endif
