/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry.h - the exported MPI_ names. Never includes mpi.h: what an entry passes on are machine words, so a program
 * whose MPI has handles of another width or kind than the library was built for is passed through unharmed.
 *
 * Each entry jumps through its slot. A slot first leads to the resolver; then to the shim's function when the MPI of the process
 * is one the library serves, else to the MPI's own. After that the cost of an entry is one indirect jump.
 */
#ifndef SHIM_ENTRY_H
#define SHIM_ENTRY_H

#include <stdatomic.h>
#include <stdint.h>

#define SHIM_EXPORT __attribute__((visibility("default")))

typedef uintptr_t shim_word_t; /* on every 64-bit Linux ABI an int, a pointer and a long take one word each */
typedef void (*shim_any_fn_t)(void);

extern const unsigned shim_slot_count;
extern const char *const shim_slot_name[];    /* "MPI_Allreduce" */
extern void *const shim_slot_entry[];         /* address of the exported entry */
extern _Atomic(shim_any_fn_t) shim_slot[];    /* every value a slot ever has works; release and acquire: with it comes the table of PMPI entries */

/* Finds the MPI of the process if that was not done yet, fills all slots, returns slot `index`'s target. Thread safe. */
shim_any_fn_t shim_entry_resolve(unsigned index);

#endif
