/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_topo.c - hccl_info topo: where a process started here may run, and what the kernels use. */
#include "info.h"

#include <inttypes.h>

#include "hcore/reduce.h"
#include "hcore/topo.h"

enum { OPTION_FORMAT, CPUS_SIZE = 4096, WORD_BITS = 64, LABEL_WIDTH = 18 };

static const info_option_t options[] = {
    [OPTION_FORMAT] = {"format", "FORMAT", "text (default) or json"},
};

typedef struct {
    hcore_place_t place;
    uint32_t cpu_count, usable;
    bool hwloc;
    char cpus[CPUS_SIZE]; /* "0-3,8" */
} topo_t;

/* What of hcore_place_t can be unknown or without limit. */
static const struct {
    const char *key, *label, *none; /* JSON, text, text of UINT32_MAX */
    size_t offset;
} domain_table[] = {
    {"quota", "cgroup quota:", "unlimited", offsetof(hcore_place_t, quota)},
    {"llc", "last-level cache:", "several or unknown", offsetof(hcore_place_t, llc)},
    {"numa", "NUMA node:", "several or unknown", offsetof(hcore_place_t, numa)},
    {"package", "package:", "several or unknown", offsetof(hcore_place_t, package)},
};
enum { DOMAINS = sizeof domain_table / sizeof *domain_table };

static uint32_t domain(const topo_t *topo, size_t i)
{
    return *(const uint32_t *)((const char *)&topo->place + domain_table[i].offset);
}

static bool has_cpu(const hcore_place_t *place, unsigned cpu)
{
    return cpu < HCORE_TOPO_MASK_WORDS * WORD_BITS && place->cpus[cpu / WORD_BITS] >> cpu % WORD_BITS & 1;
}

/* Writes the cpus as ranges, cut to fit, and counts them. */
static void list_cpus(topo_t *topo)
{
    size_t used = 0;
    topo->cpus[0] = '\0';
    topo->cpu_count = 0;
    for (unsigned cpu = 0; cpu < HCORE_TOPO_MASK_WORDS * WORD_BITS; cpu++) {
        unsigned first = cpu;
        if (!has_cpu(&topo->place, cpu)) {
            continue;
        }
        while (has_cpu(&topo->place, cpu + 1)) {
            cpu++;
        }
        topo->cpu_count += cpu - first + 1;
        if (used < sizeof topo->cpus) {
            char *end = topo->cpus + used;
            size_t room = sizeof topo->cpus - used;
            const char *comma = used ? "," : "";
            used += (size_t)(cpu == first ? snprintf(end, room, "%s%u", comma, first)
                                          : snprintf(end, room, "%s%u-%u", comma, first, cpu));
        }
    }
}

static void print_text(const topo_t *topo)
{
    printf("%-*s%s (%" PRIu32 ")\n", LABEL_WIDTH, "cpus:", topo->cpus, topo->cpu_count);
    for (size_t i = 0; i < DOMAINS; i++) {
        printf("%-*s", LABEL_WIDTH, domain_table[i].label);
        if (domain(topo, i) == UINT32_MAX) {
            puts(domain_table[i].none);
        } else {
            printf("%" PRIu32 "\n", domain(topo, i));
        }
    }
    printf("%-*s%" PRIu32 "\n", LABEL_WIDTH, "cpus usable:", topo->usable);
    printf("%-*s%s\n", LABEL_WIDTH, "hwloc:", topo->hwloc ? "yes" : "no");
    printf("%-*s", LABEL_WIDTH, "reductions:");
    for (unsigned isa = 0; isa < hcore_reduce_isa_count(); isa++) {
        printf("%s%s%s", isa ? ", " : "", hcore_reduce_isa_name(isa),
               isa == hcore_reduce_isa_chosen() ? " (used)"
               : hcore_reduce_isa_runs(isa)     ? ""
                                                : " (not on this cpu)");
    }
    putchar('\n');
}

static void print_json(const topo_t *topo)
{
    bool first = true;
    fputs("{", stdout);
    info_json_member(&first, "cpus", topo->cpus);
    info_json_number(&first, "cpu_count", topo->cpu_count);
    for (size_t i = 0; i < DOMAINS; i++) {
        if (domain(topo, i) == UINT32_MAX) {
            info_json_member(&first, domain_table[i].key, NULL);
        } else {
            info_json_number(&first, domain_table[i].key, domain(topo, i));
        }
    }
    info_json_number(&first, "usable", topo->usable);
    info_json_flag(&first, "hwloc", topo->hwloc);
    info_json_member(&first, "reduction_kernels", hcore_reduce_isa_name(hcore_reduce_isa_chosen()));
    puts("}");
}

static int run(const info_command_t *command, const char *const *value)
{
    topo_t topo;
    info_format_t format;
    int status = info_read_format(command, info_object_formats(), value[OPTION_FORMAT], &format);
    if (status != INFO_OK) {
        return status;
    }
    hcore_topo_probe(&topo.place);
    topo.hwloc = hcore_topo_has_hwloc();
    topo.usable = hcore_topo_cpus(&topo.place, 1);
    list_cpus(&topo);
    (format == INFO_JSON ? print_json : print_text)(&topo);
    return INFO_OK;
}

const info_command_t info_topo_command = {
    "topo", "print the cpus, caches and limits found here", options, sizeof options / sizeof *options, run,
};
