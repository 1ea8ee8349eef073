/* SPDX-License-Identifier: BSD-3-Clause */
/* t/heap_pattern.h - what the tests of the heap write into blocks and find there again. */
#ifndef T_HEAP_PATTERN_H
#define T_HEAP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void fill(void *block, size_t bytes, uint64_t key)
{
    uint64_t *word = block;
    for (size_t i = 0; i < bytes / sizeof *word; i++) {
        word[i] = key + i;
    }
}

static inline bool filled(const void *block, size_t bytes, uint64_t key)
{
    const uint64_t *word = block;
    size_t i = 0;
    while (i < bytes / sizeof *word && word[i] == key + i) {
        i++;
    }
    return i == bytes / sizeof *word;
}

static inline bool zero(const void *block, size_t bytes)
{
    const uint8_t *byte = block;
    return bytes == 0 || (byte[0] == 0 && memcmp(byte, byte + 1, bytes - 1) == 0);
}

#endif
