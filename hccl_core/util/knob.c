/* SPDX-License-Identifier: BSD-3-Clause */
/* util/knob.c - kinds of knobs: text to value and back. */
#include "util/knob.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIELD(type, knob, config)       ((type *)((char *)(config) + (knob)->offset))
#define CONST_FIELD(type, knob, config) ((const type *)((const char *)(config) + (knob)->offset))

/* Replaces a string the config owns, NULL for none; on HCORE_ERR_NO_MEMORY it is unchanged. */
static hcore_status_t replace_string(const char **field, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) {
        return HCORE_ERR_NO_MEMORY;
    }
    free((char *)*field);
    *field = copy;
    return HCORE_OK;
}

hcore_status_t hx_knob_parse_flag(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    static const struct {
        const char *word;
        bool value;
    } spelling[] = {
        {"0", false},  {"1", true},   {"off", false},   {"on", true},
        {"no", false}, {"yes", true}, {"false", false}, {"true", true},
    };
    for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++) {
        if (strcasecmp(text, spelling[i].word) == 0) {
            *FIELD(bool, knob, config) = spelling[i].value;
            return HCORE_OK;
        }
    }
    return HCORE_ERR_FORMAT;
}

void hx_knob_print_flag(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    snprintf(text, size, "%d", *CONST_FIELD(bool, knob, config));
}

hcore_status_t hx_knob_parse_choice(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    size_t index;
    if (hx_words_find(knob->words, text, &index) != HCORE_OK) {
        return HCORE_ERR_FORMAT;
    }
    *FIELD(int, knob, config) = (int)index;
    return HCORE_OK;
}

void hx_knob_print_choice(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    const char *word = hx_words_at(knob->words, (size_t)*CONST_FIELD(int, knob, config));
    snprintf(text, size, "%s", *word ? word : HX_KNOB_UNSET);
}

hcore_status_t hx_knob_parse_number(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    uint64_t value;
    hcore_status_t status = hx_parse_number(text, strlen(text), knob->min, knob->max, &value);
    if (status == HCORE_OK) {
        *FIELD(uint32_t, knob, config) = (uint32_t)value;
    }
    return status;
}

void hx_knob_print_number(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    snprintf(text, size, "%" PRIu32, *CONST_FIELD(uint32_t, knob, config));
}

hcore_status_t hx_knob_parse_bytes(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    uint64_t value;
    hcore_status_t status = hx_parse_number(text, strlen(text), knob->min, knob->max, &value);
    if (status == HCORE_OK) {
        *FIELD(uint64_t, knob, config) = value * knob->unit;
    }
    return status;
}

void hx_knob_print_bytes(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    snprintf(text, size, "%" PRIu64, *CONST_FIELD(uint64_t, knob, config) / knob->unit);
}

hcore_status_t hx_knob_parse_text(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    return replace_string(FIELD(const char *, knob, config), text);
}

void hx_knob_print_text(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    const char *value = *CONST_FIELD(char *, knob, config);
    snprintf(text, size, "%s", value ? value : HX_KNOB_UNSET);
}

hcore_status_t hx_knob_parse_algo(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    hcore_status_t status = hx_algo_check(text);
    return status == HCORE_OK ? hx_knob_parse_text(knob, text, config) : status;
}

void hx_knob_print_algo(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    hx_knob_print_text(knob, config, text, size);
}

/* Lists like "L1:0, L2:1": every key at most once, in any order; a key that is not named keeps its value. */

enum { MAX_PAIRS = 3 };

typedef struct {
    const char *key;
    uint32_t min, max;
} pair_t;

/* One "key:value" of `length` bytes. */
static hcore_status_t parse_pair(const pair_t pair[MAX_PAIRS], const char *text, size_t length,
                                 bool seen[MAX_PAIRS], uint32_t value[MAX_PAIRS])
{
    text = hx_trim(text, &length);
    for (size_t i = 0; i < MAX_PAIRS; i++) {
        size_t key = strlen(pair[i].key);
        if (length <= key || text[key] != ':' || strncasecmp(text, pair[i].key, key) != 0) {
            continue;
        }
        uint64_t number;
        hcore_status_t status =
            hx_parse_number(text + key + 1, length - key - 1, pair[i].min, pair[i].max, &number);
        if (status != HCORE_OK || seen[i]) {
            return HCORE_ERR_FORMAT;
        }
        seen[i] = true;
        value[i] = (uint32_t)number;
        return HCORE_OK;
    }
    return HCORE_ERR_FORMAT;
}

static hcore_status_t parse_pairs(const pair_t pair[MAX_PAIRS], const char *text, uint32_t value[MAX_PAIRS])
{
    bool seen[MAX_PAIRS] = {false};
    hcore_status_t status = HCORE_OK;
    for (const char *end; status == HCORE_OK && text; text = *end ? end + 1 : NULL) {
        end = text + strcspn(text, ",");
        status = parse_pair(pair, text, (size_t)(end - text), seen, value);
    }
    return status;
}

static const pair_t enable_pair[MAX_PAIRS] = {{"L0", 0, 1}, {"L1", 0, 1}, {"L2", 0, 1}};
static const pair_t params_pair[MAX_PAIRS] = {
    {"MaxCnt", 1, 10}, {"HoldTime", 0, 60000}, {"IntervalTime", 0, 60000}};

hcore_status_t hx_knob_parse_retry_enable(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    (void)knob;
    uint32_t value[MAX_PAIRS] = {0};
    hcore_status_t status = parse_pairs(enable_pair, text, value);
    for (size_t i = 0; status == HCORE_OK && i < MAX_PAIRS; i++) {
        config->retry[i] = value[i];
    }
    return status;
}

void hx_knob_print_retry_enable(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    (void)knob;
    snprintf(text, size, "L0:%d,L1:%d,L2:%d", config->retry[0], config->retry[1], config->retry[2]);
}

hcore_status_t hx_knob_parse_retry_params(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    (void)knob;
    uint32_t value[MAX_PAIRS] = {config->retry_max, config->retry_hold_ms, config->retry_interval_ms};
    hcore_status_t status = parse_pairs(params_pair, text, value);
    if (status == HCORE_OK) {
        config->retry_max = value[0];
        config->retry_hold_ms = value[1];
        config->retry_interval_ms = value[2];
    }
    return status;
}

void hx_knob_print_retry_params(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    (void)knob;
    snprintf(text, size, "%s:%" PRIu32 ",%s:%" PRIu32 ",%s:%" PRIu32, params_pair[0].key, config->retry_max,
             params_pair[1].key, config->retry_hold_ms, params_pair[2].key, config->retry_interval_ms);
}

/* "level" or "level:file"; the file may hold further colons. */

hcore_status_t hx_knob_parse_log(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    char level[8]; /* longer than every level word */
    const char *colon = strchr(text, ':');
    size_t index, length = colon ? (size_t)(colon - text) : strlen(text);
    if (length >= sizeof level || (colon && !colon[1])) {
        return HCORE_ERR_FORMAT;
    }
    memcpy(level, text, length);
    level[length] = '\0';
    if (hx_words_find(knob->words, level, &index) != HCORE_OK) {
        return HCORE_ERR_FORMAT;
    }
    hcore_status_t status = replace_string(&config->log_file, colon ? colon + 1 : NULL);
    if (status == HCORE_OK) {
        config->log_level = (int)index;
    }
    return status;
}

void hx_knob_print_log(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    const char *level = hx_words_at(knob->words, (size_t)config->log_level);
    snprintf(text, size, "%s%s%s", level, config->log_file ? ":" : "",
             config->log_file ? config->log_file : "");
}
