/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - how a heap is shown to peers and how peers' heaps are reached. */
#ifndef HCORE_MEM_HEAP_H
#define HCORE_MEM_HEAP_H

#include <sys/types.h>

#include "hcore/heap.h"

/* What a process tells its peers; all zero if it has no heap. */
typedef struct {
    uint64_t id;   /* random; stands in the region's first page too */
    uint64_t base; /* of the region in its own process */
    uint64_t bytes;
    int32_t fd;    /* its number in that process; -1: the heap can't be shared */
    int32_t pid;
} heap_card_t;

void heap_card(heap_card_t *card);

/* This process's map of a peer's heap. */
typedef struct heap_peer heap_peer_t;

/*
 * Maps the heap that the card names, or finds it mapped. False if it can't be reached (another pid namespace, another user);
 * true with *peer NULL if the card names none. Each success is ended by heap_peer_put.
 */
bool heap_peer_get(const heap_card_t *card, heap_peer_t **peer);
void heap_peer_put(heap_peer_t *peer);
/* Where the region's first byte lies here. */
uint8_t *heap_peer_base(const heap_peer_t *peer);

#endif
