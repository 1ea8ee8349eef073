/* SPDX-License-Identifier: BSD-3-Clause */
/* sysfs.c - the levels above a set of cpus, from /sys/devices/system. */
#include "topo/sources.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 4096 }; /* the kernel's files of one value are a page at most */

/* The first line of a file. */
static bool __attribute__((format(printf, 2, 3))) read_line(char *line, const char *path_format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, path_format);
    const int length = vsnprintf(path, sizeof path, path_format, args);
    va_end(args);
    FILE *file = length < (int)sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return false;
    }
    const bool got = fgets(line, LINE_SIZE, file) != NULL;
    fclose(file);
    return got;
}

/* The outermost cache of a cpu that holds data. */
static bool read_cache(const char *root, unsigned cpu, hx_mask_t *domain)
{
    static const char path[] = "%s/sys/devices/system/cpu/cpu%u/cache/index%u/%s";
    char line[LINE_SIZE];
    int outermost = 0;
    for (unsigned index = 0; read_line(line, path, root, cpu, index, "level"); index++) {
        int level;
        hx_mask_t cpus;
        if (sscanf(line, "%d", &level) == 1 && level > outermost &&
            read_line(line, path, root, cpu, index, "type") &&
            strncmp(line, "Instruction", strlen("Instruction")) != 0 &&
            read_line(line, path, root, cpu, index, "shared_cpu_list") && hx_mask_parse(line, &cpus)) {
            outermost = level;
            *domain = cpus;
        }
    }
    return outermost > 0;
}

static bool read_package(const char *root, unsigned cpu, hx_mask_t *domain)
{
    static const char *const names[] = {"package_cpus_list", "core_siblings_list" /* before Linux 5.3 */};
    char line[LINE_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (read_line(line, "%s/sys/devices/system/cpu/cpu%u/topology/%s", root, cpu, names[i])) {
            return hx_mask_parse(line, domain);
        }
    }
    return false;
}

/* The lowest NUMA node that all the cpus are near, HX_TOPO_UNKNOWN if there is none. False: no file told. */
static bool read_numa(const char *root, const hx_mask_t *cpus, uint32_t *numa)
{
    char line[LINE_SIZE];
    hx_mask_t nodes, domain;
    /* A list of numbers like one of cpus. */
    if (!read_line(line, "%s/sys/devices/system/node/online", root) || !hx_mask_parse(line, &nodes)) {
        return false;
    }
    *numa = HX_TOPO_UNKNOWN;
    for (unsigned node = 0; node < HX_TOPO_CPUS && *numa == HX_TOPO_UNKNOWN; node++) {
        hx_mask_t one = {{0}};
        hx_mask_set(&one, node);
        if (hx_mask_within(&one, &nodes) &&
            read_line(line, "%s/sys/devices/system/node/node%u/cpulist", root, node) &&
            hx_mask_parse(line, &domain) && hx_mask_within(cpus, &domain)) {
            *numa = node;
        }
    }
    return true;
}

bool hx_topo_levels_sysfs(const char *root, const hx_mask_t *cpus, hcore_place_t *place)
{
    const unsigned cpu = hx_mask_first(cpus);
    hx_mask_t domain;
    const bool cache = read_cache(root, cpu, &domain);
    if (cache && hx_mask_within(cpus, &domain)) {
        place->llc = hx_mask_first(&domain);
    }
    const bool package = read_package(root, cpu, &domain);
    if (package && hx_mask_within(cpus, &domain)) {
        place->package = hx_mask_first(&domain);
    }
    const bool numa = read_numa(root, cpus, &place->numa);
    return cache || package || numa;
}
