/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlsym.c - programs that open their MPI themselves (dlopen RTLD_LOCAL, then dlsym on the handle: Julia, ctypes, plug-ins)
 * would get the MPI's own functions, past the preload. The library therefore stands before dlsym: a look-up of an
 * intercepted MPI_ name in a handle that has an MPI gives our entry, everything else the C library's answer.
 *
 * The pseudo-handles RTLD_DEFAULT and RTLD_NEXT depend on who calls, so for those the C library's dlsym must see the
 * caller's own return address: the entry jumps there without a frame of its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

typedef void *(*dlsym_t)(void *, const char *);

/* Written once with one value, whoever comes first; hidden, for the assembler entry. */
__attribute__((visibility("hidden"))) _Atomic(dlsym_t) shim_dlsym_real;
__attribute__((visibility("hidden"), used)) void *shim_dlsym_handle(void *handle, const char *name);
__attribute__((visibility("hidden"), used)) dlsym_t shim_dlsym_find(void);

/* Sanitizers' run times call dlsym before they are ready for instrumented code. */
__attribute__((no_sanitize("address", "undefined", "thread"))) dlsym_t shim_dlsym_find(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27"};
    dlsym_t real = atomic_load_explicit(&shim_dlsym_real, memory_order_relaxed);
    for (size_t i = 0; !real && i < sizeof(versions) / sizeof(versions[0]); i++) {
        real = (dlsym_t)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    }
    if (!real) {
        abort(); /* a C library without dlsym: nothing in the process could work */
    }
    atomic_store_explicit(&shim_dlsym_real, real, memory_order_relaxed);
    return real;
}

void *shim_real_dlsym(void *handle, const char *name)
{
    return shim_dlsym_find()(handle, name);
}

void *shim_dlsym_handle(void *handle, const char *name)
{
    void *found = shim_real_dlsym(handle, name);
    if (!found || strncmp(name, "MPI_", 4) != 0 || !shim_real_dlsym(handle, "PMPI_Init")) {
        return found;
    }
    for (unsigned i = 0; i < shim_slot_count; i++) {
        if (strcmp(name, shim_slot_name[i]) == 0) {
            return shim_slot_entry[i];
        }
    }
    return found;
}

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    leaq 1(%rdi), %rax\n" /* RTLD_NEXT is -1, RTLD_DEFAULT 0 */
        "    cmpq $1, %rax\n"
        "    ja shim_dlsym_handle\n"
        "    movq shim_dlsym_real(%rip), %rax\n"
        "    testq %rax, %rax\n"
        "    jne 1f\n"
        "    pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call shim_dlsym_find\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "1:  jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size dlsym, .-dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, %function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    add x16, x0, #1\n"
        "    cmp x16, #1\n"
        "    b.hi shim_dlsym_handle\n"
        "    adrp x16, shim_dlsym_real\n"
        "    ldr x16, [x16, :lo12:shim_dlsym_real]\n"
        "    cbnz x16, 1f\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    .cfi_adjust_cfa_offset 32\n"
        "    stp x0, x1, [sp, #16]\n"
        "    bl shim_dlsym_find\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    .cfi_adjust_cfa_offset -32\n"
        "1:  br x16\n"
        "    .cfi_endproc\n"
        ".size dlsym, .-dlsym\n");
#endif
