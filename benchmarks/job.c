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

bool bench_shim_loaded(void)
{
    return last_path() != NULL;
}

int bench_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
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
    size_t recv = extent(collective->recv, options->max_bytes, job->nranks);
    job->type = options->type->type;
    job->type_name = options->type->name;
    job->type_bytes = options->type->bytes;
    job->op = options->op->op;
    job->root = (int)options->root;
    job->heap = !options->no_heap;
    job->send_room = extent(collective->send, options->max_bytes, job->nranks);
    job->recv_room = recv;
    job->send = new_buffer(job->send_room, job->heap);
    job->recv = new_buffer(recv, job->heap);
    job->other = new_buffer(recv, job->heap);
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
    job->floor = options->no_floor ? NULL : bench_floor_open(job->comm, job->send_room, recv);
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
    for (size_t at = 0; at < job->send_bytes; at += type->bytes) {
        type->fill(job->send + at, 1);
        if (job->floor != NULL) {
            type->fill(bench_floor_send(job->floor, job->rank) + at, 1);
        }
    }
}

bool bench_job_compare(bench_job_t *job, const bench_collective_t *collective, char *path, size_t path_size)
{
    last_path_t tell = last_path();
    memset(job->recv, GARBAGE, job->recv_bytes);
    collective->call(job, false);
    if (tell == NULL || tell(path, path_size) <= 0) {
        path[0] = '\0';
    }
    char *first = job->recv;
    job->recv = job->other;
    job->other = first;
    memset(job->recv, GARBAGE, job->recv_bytes);
    collective->call(job, true);
    int same = memcmp(job->recv, job->other, job->recv_bytes) == 0;
    PMPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, job->comm);
    return same != 0;
}
