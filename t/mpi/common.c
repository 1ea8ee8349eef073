/* SPDX-License-Identifier: BSD-3-Clause */
/* t/mpi/common.c - see common.h. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

enum { T_MAX_LINES = 12, T_TAG_VERDICT = 31001, T_TAG_MEET = 31002 };

int t_rank, t_size = 1;
MPI_Status *t_ignore = MPI_STATUSES_IGNORE;
void *t_junk = (void *)(uintptr_t)24;
static atomic_ulong checks, failures; /* checks may be made in threads */
static atomic_uint lines_printed;
static unsigned tap_number, tap_failed;
static uint64_t same_hash;

void t_guard(unsigned seconds)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(seconds);
}

void t_adopt_world(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &t_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t_size);
}

bool t_check(bool good, const char *format, ...)
{
    checks++;
    if (good) {
        return true;
    }
    failures++;
    if (lines_printed < T_MAX_LINES) {
        char text[512];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        printf("# rank %d: %s\n", t_rank, text);
        lines_printed++;
    }
    return false;
}

unsigned long t_failures(void)
{
    return atomic_load(&failures);
}

void t_same(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    while (size >= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        same_hash = (same_hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        same_hash ^= same_hash >> 29;
        p += sizeof word;
        size -= sizeof word;
    }
    for (size_t i = 0; i < size; i++) {
        same_hash = (same_hash ^ p[i]) * UINT64_C(0x100000001b3);
    }
}

/* What a rank tells rank 0 at the end of a section. */
typedef struct {
    uint64_t failures, checks, hash;
} verdict_t;

static void collect_verdicts(verdict_t *mine)
{
    if (t_rank != 0) {
        MPI_Send(mine, sizeof *mine, MPI_BYTE, 0, T_TAG_VERDICT, MPI_COMM_WORLD);
        return;
    }
    uint64_t wanted = mine->hash;
    for (int r = 1; r < t_size; r++) {
        verdict_t theirs;
        MPI_Recv(&theirs, sizeof theirs, MPI_BYTE, r, T_TAG_VERDICT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine->failures += theirs.failures;
        mine->checks += theirs.checks;
        if (theirs.hash != wanted) {
            printf("# rank %d: results differ from those of rank 0 in some bits\n", r);
            mine->failures++;
        }
    }
}

void t_section(const char *format, ...)
{
    verdict_t sum = {failures, checks, same_hash};
    checks = failures = 0;
    lines_printed = 0;
    same_hash = 0;
    tap_failed += sum.failures > 0;
    collect_verdicts(&sum);
    if (t_rank != 0) {
        return;
    }
    bool good = sum.failures == 0 && sum.checks > 0;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("%sok %u - %s (%llu checks, %llu failed)\n", good ? "" : "not ", ++tap_number, text,
           (unsigned long long)sum.checks, (unsigned long long)sum.failures);
    tap_failed += !good;
}

void t_skip(const char *text, const char *reason)
{
    if (t_rank == 0) {
        printf("ok %u - %s # SKIP %s\n", ++tap_number, text, reason);
    }
}

int t_finish_open(void)
{
    if (t_rank == 0) {
        printf("1..%u\n", tap_number);
    }
    return tap_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int t_finish(void)
{
    int status = t_finish_open();
    MPI_Finalize();
    return status;
}

void t_meet(void)
{
    char token = 0;
    for (int r = 1; r < t_size && t_rank == 0; r++) {
        MPI_Recv(&token, 1, MPI_CHAR, r, T_TAG_MEET, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (t_rank != 0) {
        MPI_Send(&token, 1, MPI_CHAR, 0, T_TAG_MEET, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_CHAR, 0, T_TAG_MEET, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int r = 1; r < t_size && t_rank == 0; r++) {
        MPI_Send(&token, 1, MPI_CHAR, r, T_TAG_MEET, MPI_COMM_WORLD);
    }
}

uint64_t t_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t t_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return t_mix(*state);
}

unsigned t_below(uint64_t *state, unsigned n)
{
    return (unsigned)((t_next(state) >> 11) % n);
}

double t_env_number(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtod(text, NULL) : otherwise;
}

static unsigned char guard_byte(size_t i)
{
    return (unsigned char)(0xa5 + 29 * i);
}

static void buf_reserve(t_buf_t *buf, size_t size, size_t shift)
{
    size_t total = size + shift + 2 * (size_t)T_GUARD;
    if (total > buf->capacity) {
        free(buf->raw);
        if (posix_memalign((void **)&buf->raw, T_GUARD, total)) {
            abort();
        }
        buf->capacity = total;
    }
    buf->size = size;
    buf->shift = shift;
    buf->data = buf->raw + T_GUARD + shift;
}

void t_buf_set(t_buf_t *buf, size_t size, size_t shift)
{
    buf_reserve(buf, size, shift);
    unsigned char *start = buf->data - T_GUARD;
    for (size_t i = 0; i < size + 2 * (size_t)T_GUARD; i++) {
        start[i] = guard_byte(i);
    }
}

void t_buf_image(t_buf_t *image, const t_buf_t *buf)
{
    buf_reserve(image, buf->size, buf->shift);
    memcpy(image->data - T_GUARD, buf->data - T_GUARD, buf->size + 2 * (size_t)T_GUARD);
}

bool t_buf_equal(const t_buf_t *a, const t_buf_t *b, ptrdiff_t *where)
{
    const unsigned char *x = a->data - T_GUARD, *y = b->data - T_GUARD;
    size_t total = a->size + 2 * (size_t)T_GUARD;
    if (memcmp(x, y, total) == 0) {
        return true;
    }
    size_t i = 0;
    while (x[i] == y[i]) {
        i++;
    }
    *where = (ptrdiff_t)i - T_GUARD;
    return false;
}

void t_buf_free(t_buf_t *buf)
{
    free(buf->raw);
    memset(buf, 0, sizeof *buf);
}

typedef int (*path_function_t)(char *, size_t);

static path_function_t path_function(void)
{
    static _Atomic(path_function_t) found;
    static atomic_bool looked;
    if (!atomic_load(&looked)) {
        atomic_store(&found, (path_function_t)dlsym(RTLD_DEFAULT, "mpi_shim_last_path"));
        atomic_store(&looked, true);
    }
    return atomic_load(&found);
}

const char *t_last_path(void)
{
    static __thread char text[64];
    path_function_t path = path_function();
    text[0] = '\0';
    if (path) {
        path(text, sizeof text);
    }
    return text;
}

bool t_served_by_core(void)
{
    return strncmp(t_last_path(), "mpi", 3) != 0;
}

void t_init(int *argc, char ***argv, unsigned seconds)
{
    t_guard(seconds);
    MPI_Init(argc, argv);
    t_adopt_world();
    if (t_env_number("TEST_SHIM", 0) != 0) {
        t_check(path_function() != NULL, "the shim is not loaded");
    }
}

int t_class(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}
