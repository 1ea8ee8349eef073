/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quota.c - how much run time the cgroups leave this process.
 *
 * /proc/self/mountinfo says where the hierarchies are mounted and which group is the root of the mount,
 * /proc/self/cgroup in which group this process is. The limits of that group and of every group above it, as
 * far as the mount shows them, hold together.
 */
#include "topo/sources.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One mount of a cgroup hierarchy. */
typedef struct {
    char fstype[16], options[256], group_root[PATH_MAX], point[PATH_MAX];
} mount_t;

/* Scans two numbers from a file; how many there were. */
static int read_numbers(const char *dir, const char *name, const char *format, long long *a, long long *b)
{
    char path[PATH_MAX + NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    const int got = fscanf(file, format, a, b);
    fclose(file);
    return got;
}

static uint32_t cpus_worth(long long quota, long long period)
{
    if (quota <= 0 || period <= 0) {
        return UINT32_MAX;
    }
    const long long cpus = quota / period + (quota % period != 0);
    return cpus < UINT32_MAX ? (uint32_t)cpus : UINT32_MAX;
}

/* "QUOTA PERIOD" or "max PERIOD" */
static uint32_t quota_v2(const char *dir)
{
    long long quota, period;
    return read_numbers(dir, "cpu.max", "%lld %lld", &quota, &period) == 2 ? cpus_worth(quota, period)
                                                                           : UINT32_MAX;
}

/* A quota of -1 is none. */
static uint32_t quota_v1(const char *dir)
{
    long long quota, period, none;
    if (read_numbers(dir, "cpu.cfs_quota_us", "%lld", &quota, &none) != 1 ||
        read_numbers(dir, "cpu.cfs_period_us", "%lld", &period, &none) != 1) {
        return UINT32_MAX;
    }
    return cpus_worth(quota, period);
}

/* The hierarchies that can limit cpu time: file system, controller in its mount options and in
 * /proc/self/cgroup. */
static const struct hierarchy {
    const char *fstype, *controller;
    uint32_t (*quota)(const char *dir);
} hierarchies[] = {
    {"cgroup2", "",
     quota_v2}, /* one hierarchy for all controllers; its line in /proc/self/cgroup names none */
    {"cgroup", "cpu", quota_v1},
};

/* Is `word` one of the words of a list with commas? The empty list has the empty word. */
static bool lists(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* "4:cpu,cpuacct:/group" or "0::/group". The group of this process in a hierarchy. */
static bool read_group(const char *root, const struct hierarchy *h, char group[PATH_MAX])
{
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (!found && file != NULL && getline(&line, &room, file) > 0) {
        char *controllers = strchr(line, ':'), *name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (name != NULL) {
            *name = '\0';
            name[1 + strcspn(name + 1, "\n")] = '\0';
            found =
                (*h->controller == '\0' ? controllers[1] == '\0' : lists(controllers + 1, h->controller)) &&
                snprintf(group, PATH_MAX, "%s", name + 1) < PATH_MAX;
        }
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

/* The least quota from the group up to the root of the mount. */
static uint32_t least_quota(const char *root, const struct hierarchy *h, const mount_t *mount,
                            const char *group)
{
    /* A container may see its own group mounted as the root, under its full name. A group that is not below
     * the root of the mount is out of sight; the mount's root is the nearest there is. */
    const size_t shown = strcmp(mount->group_root, "/") == 0 ? 0 : strlen(mount->group_root);
    const bool below = strncmp(group, mount->group_root, shown) == 0 &&
                       (group[shown] == '/' || group[shown] == '\0') && strstr(group, "/..") == NULL;
    char dir[3 * PATH_MAX];
    const size_t top = (size_t)snprintf(dir, sizeof dir, "%s%s", root, mount->point);
    snprintf(dir + top, sizeof dir - top, "%s", below ? group + shown : "");
    uint32_t least = h->quota(dir);
    for (size_t length = strlen(dir); length > top; length--) {
        if (dir[length - 1] == '/') {
            dir[length - 1] = '\0';
            const uint32_t quota = h->quota(dir);
            least = quota < least ? quota : least;
        }
    }
    return least;
}

/* "36 35 98:0 GROUP_ROOT POINT rw,noatime shared:1 - FSTYPE source OPTIONS" */
static bool parse_mount(const char *line, mount_t *mount)
{
    const char *rest = strstr(line, " - ");
    return rest != NULL && strlen(line) < PATH_MAX &&
           sscanf(line, "%*d %*d %*s %s %s", mount->group_root, mount->point) == 2 &&
           sscanf(rest, " - %15s %*s %255s", mount->fstype, mount->options) == 2;
}

/* The quota that one mount shows; none if it is not of a hierarchy that limits cpu time. */
static uint32_t mount_quota(const char *root, const mount_t *mount)
{
    char group[PATH_MAX];
    for (size_t i = 0; i < sizeof hierarchies / sizeof hierarchies[0]; i++) {
        const struct hierarchy *h = &hierarchies[i];
        if (strcmp(mount->fstype, h->fstype) == 0 &&
            (*h->controller == '\0' || lists(mount->options, h->controller)) && read_group(root, h, group)) {
            return least_quota(root, h, mount, group);
        }
    }
    return UINT32_MAX;
}

uint32_t hx_topo_quota(const char *root)
{
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    mount_t mount;
    uint32_t least = UINT32_MAX;
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *file = fopen(path, "re");
    while (file != NULL && getline(&line, &room, file) > 0) {
        const uint32_t quota = parse_mount(line, &mount) ? mount_quota(root, &mount) : UINT32_MAX;
        least = quota < least ? quota : least;
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return least;
}
