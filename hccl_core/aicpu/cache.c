/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cache.c - direct-mapped: a key has one place, a new key there replaces the old. The key is all an expansion depends on: the
 * algorithm and the whole shape, arrays by content.
 */
#include "aicpu/cache.h"

#include <stdlib.h>
#include <string.h>

#include "aicpu/aicpu.h"

enum { CACHE_ENTRIES = 64, KEEP_TASKS = 1 << 18 };

struct expansion_cache {
    cached_t entry[CACHE_ENTRIES];
};

struct expansion_cache *aicpu_cache_create(void)
{
    return calloc(1, sizeof(struct expansion_cache));
}

static void clear(cached_t *entry)
{
    if (entry->used) {
        hx_expansion_release(&entry->expansion);
        free((void *)entry->shape.in_bytes);
        free((void *)entry->shape.out_bytes);
        memset(entry, 0, sizeof(*entry));
    }
}

void aicpu_cache_destroy(struct expansion_cache *cache)
{
    for (unsigned i = 0; cache && i < CACHE_ENTRIES; i++) {
        clear(&cache->entry[i]);
    }
    free(cache);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static uint64_t hash_sizes(uint64_t hash, const uint64_t *sizes, uint32_t n)
{
    for (uint32_t i = 0; sizes && i < n; i++) {
        hash = mix(hash, sizes[i]);
    }
    return hash;
}

static uint64_t hash_key(const hx_algo_t *algo, const hx_shape_t *shape)
{
    uint64_t hash = mix((uint64_t)(uintptr_t)algo, shape->bytes);
    hash = mix(hash, shape->root);
    hash = mix(hash, shape->elem_bytes);
    hash = mix(hash, shape->direct + 2u * shape->load + 4u * shape->store);
    hash = hash_sizes(hash, shape->in_bytes, shape->nranks);
    return hash_sizes(hash, shape->out_bytes, shape->nranks);
}

static bool same_sizes(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    return (!a && !b) || (a && b && memcmp(a, b, n * sizeof(*a)) == 0);
}

/* rank, number of ranks and window are the communicator's, as the cache is */
static bool same_key(const cached_t *entry, const hx_algo_t *algo, const hx_shape_t *shape)
{
    return entry->used && entry->algo == algo && entry->shape.oper == shape->oper &&
           entry->shape.bytes == shape->bytes && entry->shape.root == shape->root &&
           entry->shape.elem_bytes == shape->elem_bytes && entry->shape.direct == shape->direct && entry->shape.load == shape->load &&
           entry->shape.store == shape->store &&
           same_sizes(entry->shape.in_bytes, shape->in_bytes, shape->nranks) &&
           same_sizes(entry->shape.out_bytes, shape->out_bytes, shape->nranks);
}

static hcore_status_t copy_sizes(const uint64_t *sizes, uint32_t n, const uint64_t **copy)
{
    *copy = NULL;
    if (!sizes) {
        return HCORE_OK;
    }
    uint64_t *mine = malloc(n * sizeof(*mine));
    if (!mine) {
        return HCORE_ERR_NO_MEMORY;
    }
    memcpy(mine, sizes, n * sizeof(*mine));
    *copy = mine;
    return HCORE_OK;
}

static hcore_status_t build(cached_t *entry, const hx_algo_t *algo, const hx_shape_t *shape)
{
    clear(entry);
    entry->algo = algo;
    entry->shape = *shape;
    entry->used = true;
    entry->shape.in_bytes = entry->shape.out_bytes = NULL;
    hx_expansion_init(&entry->expansion);
    hcore_status_t status = copy_sizes(shape->in_bytes, shape->nranks, &entry->shape.in_bytes);
    if (status == HCORE_OK) {
        status = copy_sizes(shape->out_bytes, shape->nranks, &entry->shape.out_bytes);
    }
    if (status == HCORE_OK) {
        status = hx_expand(algo, &entry->shape, &entry->expansion);
    }
    for (uint32_t i = 0; i < entry->expansion.ntask; i++) {
        uint32_t nsrc = entry->expansion.task[i].nsrc;
        entry->most_sources = nsrc > entry->most_sources ? nsrc : entry->most_sources;
    }
    if (status != HCORE_OK) {
        clear(entry);
    }
    return status;
}

hcore_status_t aicpu_cache_get(struct expansion_cache *cache, const hx_algo_t *algo, const hx_shape_t *shape, bool keep,
                               const cached_t **found)
{
    cached_t *entry = &cache->entry[hash_key(algo, shape) % CACHE_ENTRIES];
    hcore_status_t status = HCORE_OK;
    if (!keep || entry->expansion.ntask > KEEP_TASKS || !same_key(entry, algo, shape)) {
        status = build(entry, algo, shape);
    }
    if (status == HCORE_OK) {
        *found = entry;
    }
    return status;
}
