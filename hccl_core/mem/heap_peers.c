/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap_peers.c - peers' heaps as this process maps them, one map for all communicators. A heap is opened through the owner's
 * descriptor in /proc, which the kernel allows to the same user alone, and is known by the number in its first page.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hcore/log.h"
#include "mem/heap.h"

struct heap_peer {
    heap_card_t card;
    uint8_t *base;
    unsigned users;
    heap_peer_t *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static heap_peer_t *peers;

static uint8_t *map_card(const heap_card_t *card)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)card->pid, (int)card->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        hcore_info("heap of process %d: %s: %s", (int)card->pid, path, strerror(errno));
        return NULL;
    }
    uint64_t id = 0;
    void *base = MAP_FAILED;
    if (pread(fd, &id, sizeof(id), 0) == (ssize_t)sizeof(id) && id == card->id) {
        base = mmap(NULL, card->bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    }
    close(fd);
    /* After mlockall for what is mapped later, pages that can be used at once are all filled at once. */
    if (base != MAP_FAILED && (munlock(base, card->bytes) != 0 || mprotect(base, card->bytes, PROT_READ | PROT_WRITE) != 0)) {
        munmap(base, card->bytes);
        base = MAP_FAILED;
    }
    if (base == MAP_FAILED) {
        hcore_info("heap of process %d: %s", (int)card->pid, id == card->id ? strerror(errno) : "not what it was");
        return NULL;
    }
    madvise(base, card->bytes, MADV_DONTDUMP);
    madvise(base, card->bytes, MADV_DONTFORK);
    return base;
}

static heap_peer_t *find(const heap_card_t *card)
{
    heap_peer_t *peer = peers;
    while (peer && (peer->card.id != card->id || peer->card.pid != card->pid)) {
        peer = peer->next;
    }
    return peer;
}

static heap_peer_t *add(const heap_card_t *card)
{
    heap_peer_t *peer = malloc(sizeof(*peer));
    uint8_t *base = peer ? map_card(card) : NULL;
    if (!base) {
        free(peer);
        return NULL;
    }
    *peer = (heap_peer_t){.card = *card, .base = base, .next = peers};
    peers = peer;
    return peer;
}

bool heap_peer_get(const heap_card_t *card, heap_peer_t **out)
{
    *out = NULL;
    if (card->bytes == 0) {
        return true;
    }
    pthread_mutex_lock(&lock);
    heap_peer_t *peer = find(card);
    peer = peer ? peer : add(card);
    if (peer) {
        peer->users++;
    }
    pthread_mutex_unlock(&lock);
    *out = peer;
    return peer != NULL;
}

void heap_peer_put(heap_peer_t *peer)
{
    if (!peer) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (--peer->users == 0) {
        heap_peer_t **link = &peers;
        while (*link != peer) {
            link = &(*link)->next;
        }
        *link = peer->next;
        munmap(peer->base, peer->card.bytes);
        free(peer);
    }
    pthread_mutex_unlock(&lock);
}

uint8_t *heap_peer_base(const heap_peer_t *peer)
{
    return peer->base;
}
