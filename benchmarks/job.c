/* SPDX-License-Identifier: BSD-3-Clause */
/* benchmarks/job.c - the buffers and arguments of the call that is timed, and what the shim says of it. */
#define _GNU_SOURCE
#include "bench.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, GARBAGE = 0x5a };

typedef int (*last_path_t)(char *text, size_t size);

/* The shim's accessor, which returns the length of what it has to say. It is there only if the shim is
 * preloaded or linked, so it cannot be called by name. */
static last_path_t last_path(void)
{
    last_path_t function = NULL;
    *(void **)&function = dlsym(RTLD_DEFAULT, "mpi_shim_last_path");
    return function;
}

void bench_last_path(char *path, size_t size)
{
    last_path_t tell = last_path();
    if (tell == NULL || tell(path, size) <= 0) {
        path[0] = '\0';
    }
}

bool bench_shim_loaded(void)
{
    return last_path() != NULL;
}

int bench_cpus(MPI_Comm comm)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        CPU_ZERO(&set);
    }
    PMPI_Allreduce(MPI_IN_PLACE, &set, sizeof set, MPI_BYTE, MPI_BOR, comm);
    return CPU_COUNT(&set);
}

static size_t extent(bench_extent_t kind, size_t bytes, int nranks)
{
    size_t blocks[] = {[BENCH_NONE] = 0, [BENCH_BLOCK] = 1, [BENCH_ALL] = (size_t)nranks};
    return blocks[kind] * bytes;
}

static size_t room_for(size_t bytes)
{
    return (bytes + PAGE_BYTES) / PAGE_BYTES * PAGE_BYTES;
}

static char *new_buffer(size_t bytes, bool heap)
{
    size_t room = room_for(bytes);
    char *buffer = heap ? aligned_alloc(PAGE_BYTES, room)
                        : mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == NULL || buffer == MAP_FAILED) {
        return NULL;
    }
    memset(buffer, GARBAGE, room);
    return buffer;
}

static void drop_buffer(char *buffer, size_t bytes, bool heap)
{
    if (heap) {
        free(buffer);
    } else if (buffer != NULL) {
        munmap(buffer, room_for(bytes));
    }
}

bool bench_job_open(bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective)
{
    size_t n = (size_t)job->nranks;
    size_t send = extent(collective->send, options->max_bytes, job->nranks);
    size_t recv = extent(collective->recv, options->max_bytes, job->nranks);
    job->in_place = options->in_place && collective->in_place != BENCH_NEVER;
    job->rest = options->op->rest;
    job->type = options->type->type;
    job->type_name = options->type->name;
    job->type_bytes = options->type->bytes;
    job->op = options->op->op;
    job->root = (int)options->root;
    job->heap = !options->no_heap;
    job->send_room = send;
    job->recv_room = job->in_place && send > recv ? send : recv;
    job->send = new_buffer(job->send_room, job->heap);
    job->recv = new_buffer(job->recv_room, job->heap);
    job->other = new_buffer(job->recv_room, job->heap);
    job->counts = calloc(n, sizeof *job->counts);
    job->displs = calloc(n, sizeof *job->displs);
    job->byte_displs = calloc(n, sizeof *job->byte_displs);
    job->types = calloc(n, sizeof *job->types);
    int good =
        job->send && job->recv && job->other && job->counts && job->displs && job->byte_displs && job->types;
    PMPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, job->comm);
    if (!good) {
        bench_job_close(job);
        return false;
    }
    job->floor = options->no_floor ? NULL : bench_floor_open(job->comm, send, recv);
    return good != 0;
}

void bench_job_close(bench_job_t *job)
{
    bench_floor_close(job->floor);
    job->floor = NULL;
    drop_buffer(job->send, job->send_room, job->heap);
    drop_buffer(job->recv, job->recv_room, job->heap);
    drop_buffer(job->other, job->recv_room, job->heap);
    free(job->counts);
    free(job->displs);
    free(job->byte_displs);
    free(job->types);
}

/* Which buffers the call gets, and where its input lies. Allgather and Gather in place find a rank's block
 * where it belongs in the result. */
static void aim(bench_job_t *job, const bench_collective_t *collective, size_t bytes)
{
    const bool root = job->rank == job->root;
    const bool gathers = collective->send == BENCH_BLOCK && collective->recv == BENCH_ALL;
    job->from = job->input = job->send;
    job->to = job->recv;
    if (!job->in_place) {
        return;
    }
    if (collective->in_place == BENCH_SEND || (collective->in_place == BENCH_ROOT_SEND && root)) {
        job->from = MPI_IN_PLACE;
        job->input = job->recv + (gathers ? (size_t)job->rank * bytes : 0);
    } else if (collective->in_place == BENCH_ROOT_RECV && root) {
        job->to = MPI_IN_PLACE;
    }
}

static void fill_rest(const bench_job_t *job, const bench_type_t *type, char *input)
{
    for (size_t at = 0; at < job->send_bytes; at += type->bytes) {
        type->fill(input + at, job->rest);
    }
}

void bench_job_resize(bench_job_t *job, const bench_type_t *type, const bench_collective_t *collective,
                      size_t bytes)
{
    job->count = (int)(bytes / type->bytes);
    job->send_bytes = extent(collective->send, bytes, job->nranks);
    job->recv_bytes = extent(collective->recv, bytes, job->nranks);
    for (int i = 0; i < job->nranks; i++) {
        job->counts[i] = job->count;
        job->displs[i] = i * job->count;
        job->byte_displs[i] = i * (int)bytes;
        job->types[i] = job->type;
    }
    aim(job, collective, bytes);
    fill_rest(job, type, job->input);
    if (job->floor != NULL) {
        fill_rest(job, type, bench_floor_send(job->floor, job->rank));
    }
}

/* Garbage where the result goes, and input that differs from rank to rank and from block to block. What is
 * reduced is 1 or 2, so that sums in floating point are exact in any order. */
static void fill_for_compare(const bench_job_t *job, const bench_type_t *type,
                             const bench_collective_t *collective)
{
    const uint32_t values = collective->reduces ? 2 : 100, scatter = 2654435761u, mix = 16;
    memset(job->recv, GARBAGE, job->recv_bytes);
    uint32_t state = (uint32_t)job->rank + 1;
    for (size_t at = 0; at < job->send_bytes; at += type->bytes) {
        state = (state ^ state >> mix) * scatter + 1;
        type->fill(job->input + at, 1 + (state >> mix) % values);
    }
}

bool bench_job_compare(bench_job_t *job, const bench_options_t *options, const bench_collective_t *collective,
                       char *path, size_t path_size)
{
    int same = 1;
    path[0] = '\0';
    if (options->sides != BENCH_MPI_ALONE) {
        fill_for_compare(job, options->type, collective);
        collective->call(job, false);
        bench_last_path(path, path_size);
    }
    if (options->sides == BENCH_BOTH) {
        memcpy(job->other, job->recv, job->recv_bytes);
        fill_for_compare(job, options->type, collective);
        collective->call(job, true);
        same = memcmp(job->recv, job->other, job->recv_bytes) == 0;
    }
    PMPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, job->comm);
    fill_rest(job, options->type, job->input);
    return same != 0;
}
