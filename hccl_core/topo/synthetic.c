/* SPDX-License-Identifier: BSD-3-Clause */
/* synthetic.c - machines that are only described: "package:2,llc:2,cpu:4". */
#include "hcore/log.h"
#include "topo/sources.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum { LEVEL_PACKAGE, LEVEL_NUMA, LEVEL_LLC, LEVEL_CPU, LEVEL_COUNT } level_t;
static const char *const level_name[LEVEL_COUNT] = {"package", "numa", "llc", "cpu"};

/* `each` of a level lie in one of the level named before it; 0: the level is not named. `cpus` under one of
 * it. */
typedef struct {
    unsigned long each[LEVEL_COUNT], cpus[LEVEL_COUNT];
    unsigned long total;
} machine_t;

/* "NAME:COUNT" at *text, which is moved behind it. */
static bool parse_level(const char **text, level_t *level, unsigned long *count)
{
    const size_t length = strcspn(*text, ":");
    const char *number = *text + length + ((*text)[length] == ':');
    char *end;
    for (*level = 0; *level < LEVEL_COUNT; (*level)++) {
        if (strlen(level_name[*level]) == length && strncmp(*text, level_name[*level], length) == 0) {
            break;
        }
    }
    if (*level == LEVEL_COUNT || !isdigit((unsigned char)*number)) {
        return false;
    }
    *count = strtoul(number, &end, 10);
    *text = end;
    return *count > 0;
}

/* Outer levels first, each at most once, the cpus last. */
static hcore_status_t parse_machine(const char *text, machine_t *machine)
{
    level_t order[LEVEL_COUNT], level = LEVEL_COUNT;
    unsigned named = 0;
    *machine = (machine_t){.total = 1};
    for (bool more = true; more;) {
        unsigned long count;
        if (!parse_level(&text, &level, &count) || machine->each[level] != 0 ||
            machine->each[LEVEL_CPU] != 0) {
            return HCORE_ERR_FORMAT;
        }
        if (count > HX_TOPO_CPUS || machine->total * count > HX_TOPO_CPUS) {
            return HCORE_ERR_PARAM;
        }
        machine->each[level] = count;
        machine->total *= count;
        order[named++] = level;
        more = *text == ',';
        text += more;
    }
    if (*text != '\0' || level != LEVEL_CPU) {
        return HCORE_ERR_FORMAT;
    }
    unsigned long cpus = 1;
    while (named-- > 0) {
        machine->cpus[order[named]] = cpus;
        cpus *= machine->each[order[named]];
    }
    return HCORE_OK;
}

/* Which one of a level a cpu lies in, by its number or by its lowest cpu. */
static uint32_t domain_number(const machine_t *machine, level_t level, unsigned long cpu)
{
    return machine->each[level] == 0 ? HX_TOPO_UNKNOWN : (uint32_t)(cpu / machine->cpus[level]);
}

static uint32_t domain_first(const machine_t *machine, level_t level, unsigned long cpu)
{
    return machine->each[level] == 0 ? HX_TOPO_UNKNOWN : (uint32_t)(cpu - cpu % machine->cpus[level]);
}

hcore_status_t hcore_topo_synthetic(const char *description, hcore_place_t *places, size_t room,
                                    size_t *count)
{
    machine_t machine;
    const hcore_status_t status = parse_machine(description, &machine);
    if (status == HCORE_ERR_FORMAT) {
        hcore_error("topology \"%s\": wanted levels like package:2,numa:2,llc:2,cpu:4, cpu last",
                    description);
        return status;
    }
    if (status != HCORE_OK || machine.total > room) {
        hcore_error("topology \"%s\": more than %zu cpus", description,
                    room < HX_TOPO_CPUS ? room : HX_TOPO_CPUS);
        return HCORE_ERR_PARAM;
    }
    for (unsigned long cpu = 0; cpu < machine.total; cpu++) {
        hx_mask_t mask = {{0}};
        hx_mask_set(&mask, cpu);
        places[cpu] = (hcore_place_t){
            .quota = UINT32_MAX,
            .llc = domain_first(&machine, LEVEL_LLC, cpu),
            .numa = domain_number(&machine, LEVEL_NUMA, cpu),
            .package = domain_first(&machine, LEVEL_PACKAGE, cpu),
        };
        memcpy(places[cpu].cpus, mask.word, sizeof places[cpu].cpus);
    }
    *count = machine.total;
    return HCORE_OK;
}
