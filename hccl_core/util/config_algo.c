/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * util/config_algo.c - the grammar of HCCL_ALGO:
 *   value   = levels | oper "=" levels { "/" oper "=" levels }
 *   levels  = level { ";" level }          each level at most once
 *   level   = "level0:NA" | "level1:" name | "level2:" name
 */
#include "util/knob.h"

#include <string.h>
#include <strings.h>

typedef struct {
    const char *text;
    size_t length;
} span_text_t;

/* The vendor's name of a group of operators; groups of several operators have several rows. */
static const struct {
    const char *name;
    hcore_oper_t oper;
} oper_group[] = {
    {"allgather", HCORE_OPER_AllGather},
    {"allgather", HCORE_OPER_AllGatherV},
    {"reducescatter", HCORE_OPER_ReduceScatter},
    {"reducescatter", HCORE_OPER_ReduceScatterV},
    {"allreduce", HCORE_OPER_AllReduce},
    {"broadcast", HCORE_OPER_Broadcast},
    {"reduce", HCORE_OPER_Reduce},
    {"scatter", HCORE_OPER_Scatter},
    {"alltoall", HCORE_OPER_AlltoAll},
    {"alltoall", HCORE_OPER_AlltoAllV},
    {"alltoall", HCORE_OPER_AlltoAllVC},
};
enum { OPER_GROUPS = sizeof oper_group / sizeof *oper_group };

enum { LEVELS = 3, WANTED_LEVEL = 1 };

static const char *const level0_word[] = {"NA"};
static const char *const level1_word[] = {"ring", "H-D_R", "NHR",      "NHR_V1",
                                          "NB",   "AHC",   "pipeline", "pairwise"};
static const char *const level2_word[] = {"ring", "H-D_R", "NHR", "NB", "pipeline"};

static const struct {
    const char *prefix;
    hx_words_t names;
} level_table[LEVELS] = {
    {"level0:", {level0_word, sizeof level0_word / sizeof *level0_word}},
    {"level1:", {level1_word, sizeof level1_word / sizeof *level1_word}},
    {"level2:", {level2_word, sizeof level2_word / sizeof *level2_word}},
};

static bool span_is(span_text_t span, const char *word)
{
    return span.length == strlen(word) && strncasecmp(span.text, word, span.length) == 0;
}

/* Takes what stands before the separator off the front of `rest`; false when nothing is left to take. */
static bool next_part(span_text_t *rest, char separator, span_text_t *part)
{
    if (!rest->text) {
        return false;
    }
    const char *end = memchr(rest->text, separator, rest->length);
    part->text = rest->text;
    part->length = end ? (size_t)(end - rest->text) : rest->length;
    rest->text = end ? end + 1 : NULL;
    rest->length -= part->length + (end ? 1 : 0);
    return true;
}

/* One "levelN:name"; the name goes to chosen[N] as the table spells it. */
static hcore_status_t parse_level(span_text_t level, const char *chosen[LEVELS])
{
    for (size_t i = 0; i < LEVELS; i++) {
        size_t prefix = strlen(level_table[i].prefix);
        if (level.length < prefix || strncasecmp(level.text, level_table[i].prefix, prefix) != 0) {
            continue;
        }
        span_text_t name = {level.text + prefix, level.length - prefix};
        for (size_t k = 0; k < level_table[i].names.count && !chosen[i]; k++) {
            if (span_is(name, level_table[i].names.word[k])) {
                chosen[i] = level_table[i].names.word[k];
                return HCORE_OK;
            }
        }
    }
    return HCORE_ERR_FORMAT;
}

static hcore_status_t parse_levels(span_text_t levels, const char *chosen[LEVELS])
{
    span_text_t level;
    hcore_status_t status = HCORE_OK;
    memset(chosen, 0, LEVELS * sizeof *chosen);
    while (status == HCORE_OK && next_part(&levels, ';', &level)) {
        status = parse_level(level, chosen);
    }
    return status;
}

/* The first row of the group that has this name. */
static hcore_status_t find_group(span_text_t name, size_t *group)
{
    for (size_t i = 0; i < OPER_GROUPS; i++) {
        if (span_is(name, oper_group[i].name)) {
            *group = i;
            return HCORE_OK;
        }
    }
    return HCORE_ERR_FORMAT;
}

static bool in_group(size_t group, hcore_oper_t oper)
{
    for (size_t i = 0; i < OPER_GROUPS; i++) {
        if (oper_group[i].oper == oper) {
            return strcmp(oper_group[i].name, oper_group[group].name) == 0;
        }
    }
    return false;
}

/* Walks the whole value; *algo becomes the level-1 name for `oper`, NULL if the value has none for it. */
static hcore_status_t parse_algo(const char *text, hcore_oper_t oper, const char **algo)
{
    span_text_t rest = {text, strlen(text)}, part;
    const char *chosen[LEVELS];
    bool seen[OPER_GROUPS] = {false};
    *algo = NULL;
    if (!strchr(text, '=')) {
        hcore_status_t status = parse_levels(rest, chosen);
        *algo = chosen[WANTED_LEVEL];
        return status;
    }
    while (next_part(&rest, '/', &part)) {
        span_text_t name;
        size_t group;
        if (!next_part(&part, '=', &name) || find_group(name, &group) != HCORE_OK || seen[group] ||
            !part.text || parse_levels(part, chosen) != HCORE_OK) {
            return HCORE_ERR_FORMAT;
        }
        seen[group] = true;
        if (in_group(group, oper)) {
            *algo = chosen[WANTED_LEVEL];
        }
    }
    return HCORE_OK;
}

hcore_status_t hx_algo_check(const char *text)
{
    const char *algo;
    return parse_algo(text, HCORE_OPER_COUNT, &algo);
}

const char *hcore_config_algo(const hcore_config_t *config, hcore_oper_t oper)
{
    const char *algo = NULL;
    if (config->algo) {
        parse_algo(config->algo, oper, &algo); /* was checked when the config was loaded */
    }
    return algo;
}
