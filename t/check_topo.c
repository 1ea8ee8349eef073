/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_topo.c - places: from trees of files that look like /sys and /proc of other machines, from
 * descriptions, and of this process.
 *
 *     check_topo sysfs DIR | quota DIR | sources | synthetic | span | affinity | cpus
 */
#define _GNU_SOURCE
#include "hcore/topo.h"
#include "tap.h"
#include "topo/sources.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Writes a file of a tree, with the folders above it. */
static void put(const char *root, const char *path, const char *text)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, S_IRWXU);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(name);
        exit(EXIT_FAILURE);
    }
}

static const char *subtree(const char *dir, const char *name)
{
    static char root[PATH_MAX];
    snprintf(root, sizeof root, "%s/%s", dir, name);
    mkdir(root, S_IRWXU);
    return root;
}

static hx_mask_t mask_of(const char *list)
{
    hx_mask_t mask;
    if (!hx_mask_parse(list, &mask)) {
        tap_ok(false, "the test's list %s is well formed", list);
    }
    return mask;
}

static hcore_place_t levels(const char *root, const char *cpus)
{
    const hx_mask_t mask = mask_of(cpus);
    hcore_place_t place = {.llc = HX_TOPO_UNKNOWN, .numa = HX_TOPO_UNKNOWN, .package = HX_TOPO_UNKNOWN};
    hx_topo_levels_sysfs(root, &mask, &place);
    return place;
}

static void levels_are(const char *root, const char *cpus, uint32_t llc, uint32_t numa, uint32_t package,
                       const char *what)
{
    const hcore_place_t p = levels(root, cpus);
    if (!tap_ok(p.llc == llc && p.numa == numa && p.package == package, "cpus %s: %s", cpus, what)) {
        tap_note("llc %u numa %u package %u, wanted %u %u %u", p.llc, p.numa, p.package, llc, numa, package);
    }
}

static void put_cpu(const char *root, unsigned cpu, const char *llc, const char *package)
{
    static const struct {
        const char *level, *type;
    } inner[] = {{"1", "Data"}, {"1", "Instruction"}, {"2", "Unified"}};
    char path[PATH_MAX], own[16];
    snprintf(own, sizeof own, "%u\n", cpu);
    for (unsigned i = 0; i <= COUNT(inner); i++) {
        const bool last = i == COUNT(inner);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/level", cpu, i);
        put(root, path, last ? "3\n" : inner[i].level);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/type", cpu, i);
        put(root, path, last ? "Unified\n" : inner[i].type);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu, i);
        put(root, path, last ? llc : own);
    }
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu,
             cpu % 2 ? "core_siblings_list" : "package_cpus_list");
    put(root, path, package);
}

/* Two packages of four cpus, two caches in each, one NUMA node in each and one of memory alone. */
static void check_sysfs(const char *dir)
{
    const char *root = subtree(dir, "two-packages");
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        char llc[16], package[16];
        snprintf(llc, sizeof llc, "%u-%u\n", cpu / 2 * 2, cpu / 2 * 2 + 1);
        snprintf(package, sizeof package, "%u-%u\n", cpu / 4 * 4, cpu / 4 * 4 + 3);
        put_cpu(root, cpu, llc, package);
    }
    put(root, "/sys/devices/system/node/online", "0-2\n");
    put(root, "/sys/devices/system/node/node0/cpulist", "\n");
    put(root, "/sys/devices/system/node/node1/cpulist", "0-3\n");
    put(root, "/sys/devices/system/node/node2/cpulist", "4-7\n");
    levels_are(root, "0", 0, 1, 0, "first cache, node and package");
    levels_are(root, "3", 2, 1, 0, "package by the old name of its file");
    levels_are(root, "6-7", 6, 2, 4, "last cache, node and package");
    levels_are(root, "5-6", UINT32_MAX, 2, 4, "two caches of one package");
    levels_are(root, "0-7", UINT32_MAX, UINT32_MAX, UINT32_MAX, "the whole machine lies in no domain");
    root = subtree(dir, "empty");
    const hx_mask_t cpu0 = mask_of("0");
    hcore_place_t place = {.llc = 5, .numa = 6, .package = 7};
    tap_ok(!hx_topo_levels_sysfs(root, &cpu0, &place), "no files, no answer");
    tap_ok(place.llc == 5 && place.numa == 6 && place.package == 7, "and the place is left alone");
    root = subtree(dir, "bad");
    put_cpu(root, 0, "0-x\n", "3-1\n");
    put(root, "/sys/devices/system/node/online", "?\n");
    tap_ok(hx_topo_levels_sysfs(root, &cpu0, &place) && place.llc == 0,
           "a malformed list: the next inner cache stands");
    tap_ok(place.package == 7 && place.numa == 6, "malformed lists leave the place alone");
    root = subtree(dir, "large");
    put_cpu(root, 1000, "1000-2047\n", "512-2047\n");
    levels_are(root, "1000-2047", 1000, UINT32_MAX, 512, "of a larger machine the first 1024 cpus count");
}

/* Files of one process in one machine, and the quota they amount to. */
typedef struct {
    const char *what;
    uint32_t quota;
    const char *mountinfo, *cgroup;
    const char *file[6]; /* path and text in turn */
} quota_case_t;

#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
#define V1_OTHER "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"

static const quota_case_t quota_cases[] = {
    {"no files", UINT32_MAX, "", "", {NULL}},
    {"v2 without a limit", UINT32_MAX, V2_MOUNT, "0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "max 100000\n"}},
    {"v2 limit of the own group", 2, V2_MOUNT, "0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "200000 100000\n"}},
    {"parts of a cpu round up", 3, V2_MOUNT, "0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "200001 100000\n"}},
    {"less than a cpu is one", 1, V2_MOUNT, "0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "1000 100000\n"}},
    {"the limit of a group further up holds",
     2,
     V2_MOUNT,
     "0::/a/b/c\n",
     {"/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n", "/sys/fs/cgroup/a/cpu.max", "200000 100000\n",
      "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}},
    {"the root of the mount holds", 4, V2_MOUNT, "0::/\n", {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}},
    {"another group's limit does not",
     UINT32_MAX,
     V2_MOUNT,
     "0::/a\n",
     {"/sys/fs/cgroup/ab/cpu.max", "100000 100000\n"}},
    {"a container's group mounted as the root",
     3,
     "31 23 0:28 /pod/x /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
     "0::/pod/x/job\n",
     {"/sys/fs/cgroup/job/cpu.max", "300000 100000\n"}},
    {"a group out of sight: the mount's root",
     5,
     "31 23 0:28 /pod/x /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
     "0::/pod/xyz\n",
     {"/sys/fs/cgroup/cpu.max", "500000 100000\n", "/sys/fs/cgroup/yz/cpu.max", "100000 100000\n"}},
    {"a group outside the namespace",
     5,
     V2_MOUNT,
     "0::/../other\n",
     {"/sys/fs/cgroup/cpu.max", "500000 100000\n"}},
    {"v1 without a limit",
     UINT32_MAX,
     V1_MOUNT,
     "4:cpu,cpuacct:/a\n",
     {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n",
      "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}},
    {"v1 limit",
     2,
     V1_OTHER V1_MOUNT,
     "5:cpuset:/z\n4:cpu,cpuacct:/a\n0::/\n",
     {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n",
      "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}},
    {"v1 limit further up",
     1,
     V1_MOUNT,
     "4:cpuacct,cpu:/a/b\n",
     {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n",
      "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}},
    {"v1 and v2 side by side: the least",
     2,
     V1_MOUNT V2_MOUNT,
     "4:cpu,cpuacct:/a\n0::/a\n",
     {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n",
      "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n", "/sys/fs/cgroup/a/cpu.max",
      "200000 100000\n"}},
    {"nonsense is no limit",
     UINT32_MAX,
     V2_MOUNT "nonsense\n - \n",
     "0::/a\n::\n:\n",
     {"/sys/fs/cgroup/a/cpu.max", "-5 0\n"}},
};

static void check_quota(const char *dir)
{
    for (size_t c = 0; c < COUNT(quota_cases); c++) {
        const quota_case_t *q = &quota_cases[c];
        char name[16];
        snprintf(name, sizeof name, "quota%zu", c);
        const char *root = subtree(dir, name);
        put(root, "/proc/self/mountinfo", q->mountinfo);
        put(root, "/proc/self/cgroup", q->cgroup);
        for (size_t f = 0; f + 1 < COUNT(q->file) && q->file[f] != NULL; f += 2) {
            put(root, q->file[f], q->file[f + 1]);
        }
        const uint32_t got = hx_topo_quota(root);
        if (!tap_ok(got == q->quota, "%s", q->what)) {
            tap_note("got %u, wanted %u", got, q->quota);
        }
    }
}

/* hwloc and the kernel's files give the same ids, so ranks can mix them. */
static void check_sources(void)
{
    hcore_place_t probed, hwloc, sysfs;
    hcore_topo_probe(&probed);
    hx_mask_t mask;
    memcpy(mask.word, probed.cpus, sizeof mask.word);
    const hcore_place_t unknown = {
        .llc = HX_TOPO_UNKNOWN, .numa = HX_TOPO_UNKNOWN, .package = HX_TOPO_UNKNOWN};
    hwloc = sysfs = unknown;
    const bool has_hwloc = hx_topo_levels_hwloc(&mask, &hwloc),
               has_sysfs = hx_topo_levels_sysfs("", &mask, &sysfs);
    tap_ok(hcore_topo_has_hwloc() == has_hwloc, "the probe says whether hwloc answered");
    if (!has_hwloc || !has_sysfs) {
        tap_skip("hwloc and the kernel's files agree", "one of them is not there");
        return;
    }
    tap_ok(hwloc.llc == sysfs.llc && hwloc.numa == sysfs.numa && hwloc.package == sysfs.package,
           "hwloc and the kernel's files agree: llc %u %u, numa %u %u, package %u %u", hwloc.llc, sysfs.llc,
           hwloc.numa, sysfs.numa, hwloc.package, sysfs.package);
}

static hcore_place_t places[HX_TOPO_CPUS];

static size_t machine(const char *description)
{
    size_t count = 0;
    return hcore_topo_synthetic(description, places, COUNT(places), &count) == HCORE_OK ? count : 0;
}

static void place_is(size_t rank, uint32_t llc, uint32_t numa, uint32_t package)
{
    const hcore_place_t *p = &places[rank];
    tap_ok(p->llc == llc && p->numa == numa && p->package == package && hcore_topo_cpus(p, 1) == 1 &&
               p->cpus[rank / 64] == (uint64_t)1 << rank % 64,
           "rank %zu lies in llc %u, numa %u, package %u, on its cpu", rank, p->llc, p->numa, p->package);
}

static void check_synthetic(void)
{
    static const struct {
        const char *description;
        hcore_status_t status;
    } bad[] = {
        {"", HCORE_ERR_FORMAT},
        {"cpu", HCORE_ERR_FORMAT},
        {"cpu:", HCORE_ERR_FORMAT},
        {"cpu:0", HCORE_ERR_FORMAT},
        {"cpu:-1", HCORE_ERR_FORMAT},
        {"cpu:4,", HCORE_ERR_FORMAT},
        {"cpu:4 ", HCORE_ERR_FORMAT},
        {"cpu:2,llc:2", HCORE_ERR_FORMAT},
        {"llc:2,llc:2,cpu:1", HCORE_ERR_FORMAT},
        {"core:2", HCORE_ERR_FORMAT},
        {"package:2", HCORE_ERR_FORMAT},
        {"pack:2,cpu:1", HCORE_ERR_FORMAT},
        {"cpu:1025", HCORE_ERR_PARAM},
        {"llc:600,cpu:2", HCORE_ERR_PARAM},
        {"cpu:99999999999999999999", HCORE_ERR_PARAM},
    };
    tap_ok(machine("package:2,llc:2,cpu:4") == 16, "2 packages of 2 caches of 4 cpus have 16 cpus");
    place_is(0, 0, UINT32_MAX, 0);
    place_is(7, 4, UINT32_MAX, 0);
    place_is(15, 12, UINT32_MAX, 8);
    tap_ok(machine("package:2,numa:4,llc:1,cpu:16") == 128, "NUMA nodes nest too");
    place_is(100, 96, 6, 64);
    tap_ok(machine("cpu:1024") == 1024, "the largest machine");
    place_is(1023, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    for (size_t i = 0; i < COUNT(bad); i++) {
        size_t count = 77;
        const hcore_status_t status = hcore_topo_synthetic(bad[i].description, places, COUNT(places), &count);
        tap_ok(status == bad[i].status && count == 77, "\"%s\": %s", bad[i].description,
               hcore_status_text(status));
    }
    size_t count = 77;
    tap_ok(hcore_topo_synthetic("cpu:8", places, 7, &count) == HCORE_ERR_PARAM && count == 77,
           "too little room");
}

static void check_span(void)
{
    machine("package:2,llc:2,cpu:2"); /* 0 1 | 2 3 || 4 5 | 6 7 */
    tap_ok(hcore_topo_span(places, 0) == HCORE_SPAN_NODE, "no ranks are a node");
    tap_ok(hcore_topo_span(places, 1) == HCORE_SPAN_NODE, "one rank is a node");
    tap_ok(hcore_topo_span(places, 2) == HCORE_SPAN_NODE, "ranks under one cache are a node");
    tap_ok(hcore_topo_span(places, 4) == HCORE_SPAN_NODE, "ranks under one package are a node");
    tap_ok(hcore_topo_span(places, 5) == HCORE_SPAN_SUPERPOD, "ranks of two packages are a superpod");
    tap_ok(hcore_topo_span(places + 3, 2) == HCORE_SPAN_SUPERPOD, "two ranks of two packages are a superpod");
    hcore_place_t free_rank = places[0];
    free_rank.llc = free_rank.numa = free_rank.package = UINT32_MAX;
    places[4] = free_rank;
    tap_ok(hcore_topo_span(places, 5) == HCORE_SPAN_NODE, "an unbound rank can't be told apart");
    places[0] = free_rank;
    tap_ok(hcore_topo_span(places, 6) == HCORE_SPAN_SUPERPOD, "others are told apart, wherever it stands");
    machine("llc:2,cpu:2");
    tap_ok(hcore_topo_span(places, 2) == HCORE_SPAN_NODE && hcore_topo_span(places, 3) == HCORE_SPAN_SUPERPOD,
           "without packages, caches tell");
    machine("cpu:4");
    tap_ok(hcore_topo_span(places, 4) == HCORE_SPAN_NODE, "ranks with nothing known are a node");

    tap_ok(hcore_topo_cpus(places, 4) == 4, "ranks on cpus of their own have as many");
    places[1] = places[0];
    tap_ok(hcore_topo_cpus(places, 4) == 3, "a shared cpu counts once");
    places[2].quota = 2;
    tap_ok(hcore_topo_cpus(places, 4) == 2, "the smallest quota bounds the count");
    tap_ok(hcore_topo_cpus(places, 0) == 1, "the count is at least one");
}

/* Bound to each cpu in turn and to all again. */
static void check_affinity(void)
{
    cpu_set_t all;
    hcore_place_t place;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            hcore_topo_probe(&place);
            tap_ok(hcore_topo_cpus(&place, 1) == 1 && place.cpus[cpu / 64] == (uint64_t)1 << cpu % 64,
                   "bound to cpu %d", cpu);
        }
    }
    sched_setaffinity(0, sizeof all, &all);
    hcore_topo_probe(&place);
    cpu_set_t after;
    sched_getaffinity(0, sizeof after, &after);
    place.quota = UINT32_MAX;
    tap_ok(hcore_topo_cpus(&place, 1) == (uint32_t)CPU_COUNT(&all), "unbound: every cpu");
    tap_ok(CPU_EQUAL(&all, &after), "the probe leaves the affinity as it was");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
        void (*run_in)(const char *dir);
    } modes[] = {
        {"sysfs", NULL, check_sysfs},     {"quota", NULL, check_quota},
        {"sources", check_sources, NULL}, {"synthetic", check_synthetic, NULL},
        {"span", check_span, NULL},       {"affinity", check_affinity, NULL},
    };
    if (argc == 2 && strcmp(argv[1], "cpus") == 0) {
        hcore_place_t place;
        hcore_topo_probe(&place);
        printf("%u\n", hcore_topo_cpus(&place, 1));
        return EXIT_SUCCESS;
    }
    for (size_t m = 0; m < COUNT(modes) && argc >= 2; m++) {
        if (strcmp(argv[1], modes[m].name) == 0 && argc == (modes[m].run_in ? 3 : 2)) {
            modes[m].run_in ? modes[m].run_in(argv[2]) : modes[m].run();
            return tap_done();
        }
    }
    fprintf(stderr,
            "usage: check_topo sysfs DIR | quota DIR | sources | synthetic | span | affinity | cpus\n");
    return 2;
}
