/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_shim.h - what the preload library offers to programs and tools that look from inside. All of it works without being
 * linked: a program finds the functions by dlsym(RTLD_DEFAULT, ...), which gives NULL where the library is not loaded.
 */
#ifndef MPI_SHIM_H
#define MPI_SHIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The path of the calling thread's last collective as "backend/algorithm" ("aiv/one-line", "mpi"), cut off to fit `size` bytes; the
 * return value is the length it has or would have, 0 if there was none.
 */
int mpi_shim_last_path(char *text, size_t size);

/*
 * Sets MPI_SHIM_AIV_LIMIT or MPI_SHIM_HEAP_FROM in this process to a value as in the environment; NULL or "" takes back all that
 * it has, so that the core's own sizes count. 0; -1 for another name, a value that is not allowed, and where the library serves no MPI
 * or MPI_Init has not been called: then nothing has changed.
 *
 * It counts for communicators whose first collective comes afterwards. Every rank of such a communicator must have set the same before
 * that collective: ranks that differ take different ways and hang. No other thread may meanwhile call mpi_shim_set, or a collective that
 * is the first of its communicator.
 */
int mpi_shim_set(const char *knob, const char *value);

#ifdef __cplusplus
}
#endif

#endif
