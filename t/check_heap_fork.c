/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_heap_fork.c - the shared heap in forked children, each a snapshot of its parent's, and what becomes
 * of a free of something that is no block.
 */
#define _GNU_SOURCE
#include "hcore/heap.h"
#include "mem/heap.h"
#include "heap_pattern.h"
#include "tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 20 }; /* a child that hangs is a failure, not a hang of the test */

static size_t page;

#ifdef __SANITIZE_THREAD__
/* A fork copies what other threads may be writing, as the fork of private memory does; hcore/heap.h says so.
 */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:copy_touched\n";
}
#endif

static pid_t fork_guarded(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
    }
    return child;
}

/* Whether the child exited with 0. */
static bool succeeds(pid_t child)
{
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0;
}

/* ---- snapshots ---- */

typedef struct {
    void *whole, *sparse, *untouched, *dirty;
    int go[2]; /* the parent has changed its memory */
} snapshot_t;

enum { PAGES = 32, SPARSE = 1000, TOUCHED = 700, MORE = 4000 };

static void make_blocks(snapshot_t *s)
{
    s->whole = hcore_heap_alloc(PAGES * page, 1, false);
    s->sparse = hcore_heap_alloc(SPARSE * page, 1, true);
    s->untouched = hcore_heap_alloc(SPARSE * page, 1, true);
    s->dirty = hcore_heap_alloc(PAGES * page, 1, false);
    fill(s->whole, PAGES * page, 1);
    fill((uint8_t *)s->sparse + TOUCHED * page, page, 2);
    fill(s->dirty, PAGES * page, 3);
}

static bool as_made(const snapshot_t *s)
{
    const uint8_t *sparse = s->sparse;
    return filled(s->whole, PAGES * page, 1) && filled(sparse + TOUCHED * page, page, 2) &&
           zero(sparse, TOUCHED * page) &&
           zero(sparse + (TOUCHED + 1) * page, (SPARSE - TOUCHED - 1) * page) &&
           zero(s->untouched, SPARSE * page) && filled(s->dirty, PAGES * page, 3);
}

/* What a process does with a heap, on blocks that are there and new ones. */
static bool use(snapshot_t *s)
{
    bool good = true;
    fill(s->whole, PAGES * page, 100);
    fill(s->sparse, SPARSE * page, 101);
    hcore_heap_free(s->dirty);
    s->dirty = hcore_heap_alloc(2 * PAGES * page, 1, true);
    good = s->dirty && zero(s->dirty, 2 * PAGES * page);
    fill(s->dirty, 2 * PAGES * page, 102);
    good = hcore_heap_resize(s->whole, PAGES / 2 * page) && good;
    void *more = hcore_heap_alloc(MORE * page, 1, true); /* beyond what has been used so far */
    good = good && more && zero(more, page) && zero((uint8_t *)more + (MORE - 1) * page, page);
    fill((uint8_t *)more + MORE / 2 * page, page, 103);
    hcore_heap_free(more);
    return good && filled(s->whole, PAGES / 2 * page, 100) && filled(s->sparse, SPARSE * page, 101) &&
           filled(s->dirty, 2 * PAGES * page, 102);
}

/* Waits for the parent's changes and sees none of them; has, at `depth` > 0, a child of its own, and changes
 * memory after it. */
static bool child_body(snapshot_t *s, int depth)
{
    char byte;
    if (read(s->go[0], &byte, 1) != 1 || !as_made(s)) {
        return false;
    }
    if (depth == 0) {
        return use(s);
    }
    snapshot_t mine = *s;
    if (pipe(mine.go) != 0) {
        return false;
    }
    pid_t child = fork_guarded();
    if (child == 0) {
        _exit(child_body(&mine, depth - 1) ? 0 : 1);
    }
    const bool good = use(s) && write(mine.go[1], "", 1) == 1;
    return succeeds(child) && good;
}

static void check_snapshot(int depth)
{
    snapshot_t s;
    make_blocks(&s);
    if (pipe(s.go) != 0) {
        tap_ok(false, "a pipe");
        return;
    }
    pid_t child = fork_guarded();
    if (child == 0) {
        _exit(child_body(&s, depth) ? 0 : 1);
    }
    const bool mine = use(&s);
    tap_ok(write(s.go[1], "", 1) == 1 && succeeds(child), "a child%s sees what was there at the fork",
           depth ? " and its children" : "");
    tap_ok(mine && filled(s.sparse, SPARSE * page, 101) && filled(s.dirty, 2 * PAGES * page, 102),
           "and its parent what the parent wrote");
    hcore_heap_free(s.whole);
    hcore_heap_free(s.sparse);
    hcore_heap_free(s.untouched);
    hcore_heap_free(s.dirty);
    close(s.go[0]);
    close(s.go[1]);
}

/* A child's blocks are its own: no peer can be told where they lie, and a card that leads nowhere must say
 * so. */
static void check_card(void)
{
    pid_t child = fork_guarded();
    if (child == 0) {
        heap_card_t card;
        heap_peer_t *peer;
        heap_card(&card);
        _exit(heap_peer_get(&card, &peer) ? 1 : 0);
    }
    tap_ok(succeeds(child), "a child's heap can't be reached by peers, and they learn that");
}

/* ---- programs that close what they did not open ---- */

static bool same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Its descriptor is another file's when it forks. */
static bool forks_after_close(bool reopen)
{
    heap_card_t card;
    heap_card(&card);
    snapshot_t s;
    make_blocks(&s);
    const int ours = card.fd, file = open("/dev/null", O_RDWR);
    close(ours);
    if (file < 0 || (reopen && dup2(file, ours) != ours) || pipe(s.go) != 0) {
        return false;
    }
    heap_card(&card);
    const bool told = card.bytes > 0 && card.fd == ours;
    pid_t child = fork_guarded();
    if (child == 0) {
        const bool kept = !reopen || same_file(file, ours);
        _exit(kept && child_body(&s, 1) ? 0 : 1);
    }
    const bool good = use(&s) && write(s.go[1], "", 1) == 1;
    return succeeds(child) && good && !told;
}

static void check_closed(bool reopen)
{
    int status = 1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) { /* exec: a heap of its own, which can be shared */
        execl("/proc/self/exe", "check_heap_fork", reopen ? "reopened" : "closed", (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    tap_ok(status == 0, "a process that %s the heap's descriptor forks, and the child has all",
           reopen ? "reuses" : "closes");
}

/* ---- fork handlers of others ---- */

static struct {
    uint64_t *block;
    void *taken;
} handled;

static void handle_prepare(void)
{
    if (handled.block) {
        handled.block[0]++;
        handled.taken = hcore_heap_alloc(page, 1, true);
    }
}

static void handle_parent(void)
{
    if (handled.block) {
        handled.block[1]++;
        hcore_heap_free(handled.taken);
    }
}

static void handle_child(void)
{
    if (handled.block) {
        handled.block[2]++;
        hcore_heap_free(handled.taken);
    }
}

/* Registered before the heap starts: they run while the process is not yet, or no longer, alone with the
 * fork. */
static void check_handlers(void)
{
    uint64_t *block = hcore_heap_alloc(page, 1, true);
    handled.block = block;
    pid_t child = fork_guarded();
    if (child == 0) {
        _exit(block[0] == 1 && block[1] == 0 && block[2] == 1 ? 0 : 1);
    }
    handled.block = NULL;
    tap_ok(succeeds(child) && block[0] == 1 && block[1] == 1 && block[2] == 0,
           "fork handlers use the heap, and those of the child the child's");
    hcore_heap_free(block);
}

/* ---- threads ---- */

static atomic_bool enough;

static void *churn(void *argument)
{
    uint64_t key = (uintptr_t)argument;
    while (!atomic_load(&enough)) {
        const size_t bytes = page * (1 + key * 7 % 31);
        uint64_t *block = hcore_heap_alloc(bytes, 1, false);
        block[0] = key++;
        hcore_heap_free(block);
    }
    return NULL;
}

static void check_fork_among_threads(void)
{
    enum { THREADS = 2, FORKS = 25 };
    pthread_t thread[THREADS];
    int good = 0;
    snapshot_t s;
    make_blocks(&s);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, churn, (void *)(i * 1000));
    }
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork_guarded();
        if (child == 0) {
            _exit(as_made(&s) && use(&s) ? 0 : 1);
        }
        good += succeeds(child);
    }
    atomic_store(&enough, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    tap_ok(good == FORKS, "%d of %d forks while threads use the heap", good, FORKS);
}

/* ---- faults ---- */

static void alloc_and_exit(int signal)
{
    (void)signal;
    _exit(hcore_heap_alloc(page, 1, false) ? 7 : 8); /* as a handler that prints a backtrace does */
}

/* Frees `block` in a child; true if it dies of an abort that says so in one line, on stderr. */
static bool dies(void *block, bool handler)
{
    int said[2], status = 0;
    char text[256] = "";
    if (pipe(said) != 0) {
        return false;
    }
    pid_t child = fork_guarded();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        dup2(said[1], STDERR_FILENO);
        signal(SIGABRT, handler ? alloc_and_exit : SIG_DFL);
        hcore_heap_free(block);
        _exit(0);
    }
    close(said[1]);
    ssize_t got = read(said[0], text, sizeof text - 1);
    close(said[0]);
    waitpid(child, &status, 0);
    const bool ended = handler ? WIFEXITED(status) && WEXITSTATUS(status) == 7
                               : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    return ended && got > 0 && strncmp(text, "hccl-shim: invalid pointer", 26) == 0 &&
           strchr(text, '\n') == text + got - 1;
}

static void check_faults(void)
{
    uint8_t *a = hcore_heap_alloc(3 * page, 1, false), *b = hcore_heap_alloc(3 * page, 1, false),
            *c = hcore_heap_alloc(3 * page, 1, false), *d = hcore_heap_alloc(3 * page, 1, false);
    tap_ok(dies(b + 16, false), "a free within a page ends the process");
    tap_ok(dies(b + page, false), "a free within a block ends the process");
    tap_ok(dies((void *)hcore_heap_range.base, false), "a free of the heap itself ends the process");
    tap_ok(dies(&page, false), "a free of something outside the heap ends the process");
    tap_ok(dies((uint8_t *)hcore_heap_range.base + hcore_heap_range.bytes / 2, false),
           "a free of what never was a block");
    tap_ok(dies(b + page, true), "a handler of that may use the heap");
    hcore_heap_free(b);
    tap_ok(dies(b, false), "a second free ends the process");
    hcore_heap_free(c);
    tap_ok(dies(b, false) && dies(c, false), "also when the block is part of a larger one");
    hcore_heap_free(a);
    hcore_heap_free(d);
    tap_ok(dies(a, false) && dies(b, false) && dies(c, false) && dies(d, false),
           "also when all around it is free");
    uint8_t *all = hcore_heap_alloc(12 * page, 1, false);
    tap_ok((b == all || dies(b, false)) && (c == all || dies(c, false)), "also when others have it");
    hcore_heap_free(all);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    page = (size_t)sysconf(_SC_PAGESIZE);
    pthread_atfork(handle_prepare, handle_parent, handle_child);
    const hcore_status_t status = hcore_heap_start();
    if (argc > 1) {
        return status == HCORE_OK && forks_after_close(strcmp(argv[1], "reopened") == 0) ? 0 : 1;
    }
    if (status == HCORE_ERR_UNSUPPORTED) {
        tap_skip("forks with a heap", "this system's limits do not allow one");
        return tap_done();
    }
    alarm(3 * SECONDS);
    tap_ok(status == HCORE_OK, "the heap starts");
    check_snapshot(0);
    check_snapshot(2);
    check_card();
    check_closed(false);
    check_closed(true);
    check_fork_among_threads();
    check_faults();
    check_handlers();
    return tap_done();
}
