/* SPDX-License-Identifier: BSD-3-Clause */
/* util/config.c - the knobs: defaults, the environment, and messages about what is wrong in it. */
#include "hcore/config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/config_table.h"
#include "util/knob.h"

#define MIB (UINT64_C(1) << 20)
#define FLAG_WORDS "0, 1, off, on, no, yes, false, true"

/* Choices by enumerator of hcore/config.h; "" is what only an unset variable means. */
static const char *const expansion_word[] = {"", "AI_CPU", "AICPU_CacheDisable", "AIV"};
static const char *const deterministic_word[] = {"false", "true", "strict"};
static const char *const use_word[] = {"auto", "aiv", "aicpu", "mpi"};
static const char *const cma_word[] = {"auto", "off"};
static const char *const heap_word[] = {"on", "off", "alloc_mem"};
static const char *const log_word[] = {"off", "error", "warn", "info", "debug"};

#define KIND(kind, field)                                                                                    \
    .parse = hx_knob_parse_##kind, .print = hx_knob_print_##kind, .offset = offsetof(hcore_config_t, field)
#define NUMBER(kind, field, low, high, one) KIND(kind, field), .min = (low), .max = (high), .unit = (one)
#define WORDS(list) {(list), sizeof(list) / sizeof *(list)}
#define CHOICE(field, list) KIND(choice, field), .words = WORDS(list)
#define LOG(field, list) KIND(log, field), .words = WORDS(list)

static const hcore_knob_t knob_shown[] = {
#define X(name, kind, default_text, allowed, help) {#name, allowed, default_text, help},
    HX_KNOB_LIST(X)
#undef X
};

static const hx_knob_t knob_kind[] = {
#define X(name, kind, default_text, allowed, help) {kind},
    HX_KNOB_LIST(X)
#undef X
};

enum { KNOBS = sizeof knob_shown / sizeof *knob_shown };
_Static_assert(KNOBS <= 64, "hcore_config_t.given has a bit per knob");

/* Every name that is not a mistake: first our knobs, then what the vendor documents and the core does not use
 * yet. */
static const char *const known_name[] = {
#define X(name, kind, default_text, allowed, help) #name,
    HX_KNOB_LIST(X)
#undef X
    "HCCL_INTRA_ROCE_ENABLE",
    "HCCL_INTRA_PCIE_ENABLE",
    "HCCL_INTER_HCCS_DISABLE",
    "HCCL_SOCKET_IFNAME",
    "HCCL_SOCKET_FAMILY",
    "HCCL_IF_IP",
    "HCCL_IF_BASE_PORT",
    "HCCL_HOST_SOCKET_PORT_RANGE",
    "HCCL_NPU_SOCKET_PORT_RANGE",
    "HCCL_RDMA_TC",
    "HCCL_RDMA_SL",
    "HCCL_RDMA_TIMEOUT",
    "HCCL_RDMA_RETRY_CNT",
    "HCCL_RDMA_QPS_PER_CONNECTION",
    "HCCL_MULTI_QP_THRESHOLD",
    "HCCL_RDMA_QP_PORT_CONFIG_PATH",
    "HCCL_DFS_CONFIG",
    "HCCL_DEBUG_CONFIG",
    "HCCL_ENTRY_LOG_ENABLE",
    "HCCL_DIAGNOSE_ENABLE",
    "HCCL_LOGIC_SUPERPOD_ID",
    "HCCL_WHITELIST_DISABLE",
    "HCCL_WHITELIST_FILE",
    "HCCL_ALG_MULTIPLE_DIMENSION_SPLIT_RATIO",
};

static const char *const our_prefix[] = {"HCCL_", "MPI_SHIM_"};

enum { LINE_SIZE = 1024, VALUE_SIZE = 128, NAME_SIZE = 64 };

typedef struct {
    hcore_config_message_t message;
    void *context;
} listener_t;

static void tell(const listener_t *listener, hcore_log_level_t level, const char *line)
{
    if (listener->message) {
        listener->message(listener->context, level, line);
    }
}

/* The value of a variable in the environment, as getenv finds it; NULL if it is unset or empty. */
static const char *find_value(char **envp, const char *name)
{
    size_t length = strlen(name);
    for (; envp && *envp; envp++) {
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=') {
            return (*envp)[length + 1] ? *envp + length + 1 : NULL;
        }
    }
    return NULL;
}

static void tell_bad_value(const listener_t *listener, size_t knob, const char *value, hcore_status_t status)
{
    char line[LINE_SIZE], shown[VALUE_SIZE];
    hx_printable(value, shown, sizeof shown);
    if (status == HCORE_ERR_FORMAT) {
        snprintf(line, sizeof line,
                 "%s: value \"%s\" is not allowed (allowed: %s); the default %s stays in force",
                 knob_shown[knob].name, shown, knob_shown[knob].allowed, knob_shown[knob].default_text);
    } else {
        snprintf(line, sizeof line, "%s: value \"%s\" could not be kept (%s); the default %s stays in force",
                 knob_shown[knob].name, shown, hcore_status_text(status), knob_shown[knob].default_text);
    }
    tell(listener, HCORE_LOG_ERROR, line);
}

static void check_name(const listener_t *listener, const char *variable)
{
    char line[LINE_SIZE], name[NAME_SIZE];
    hx_words_t known = HX_WORDS(known_name);
    for (size_t i = 0; i < known.count; i++) {
        size_t length = strlen(known.word[i]);
        if (strncmp(variable, known.word[i], length) == 0 && variable[length] == '=') {
            return;
        }
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(variable, "="), variable);
    snprintf(line, sizeof line, "%s: no such variable; the nearest known name is %s", name,
             hx_words_nearest(known, name));
    tell(listener, HCORE_LOG_WARN, line);
}

static void check_names(const listener_t *listener, char **envp)
{
    for (; envp && *envp; envp++) {
        for (size_t i = 0; i < sizeof our_prefix / sizeof *our_prefix; i++) {
            if (strncmp(*envp, our_prefix[i], strlen(our_prefix[i])) == 0) {
                check_name(listener, *envp);
            }
        }
    }
}

unsigned hcore_config_load(hcore_config_t *config, char **envp, hcore_config_message_t message, void *context)
{
    listener_t listener = {message, context};
    unsigned bad = 0;
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < KNOBS; i++) {
        const char *value = knob_shown[i].default_text;
        hcore_status_t status = HCORE_OK;
        if (strcmp(value, HX_KNOB_UNSET) != 0) {
            status = knob_kind[i].parse(&knob_kind[i], value, config);
        }
        const char *given = find_value(envp, knob_shown[i].name);
        if (given && status == HCORE_OK) {
            value = given;
            status = knob_kind[i].parse(&knob_kind[i], value, config);
            config->given |= (uint64_t)(status == HCORE_OK) << i;
        }
        if (status != HCORE_OK) {
            tell_bad_value(&listener, i, value, status);
            bad++;
        }
    }
    check_names(&listener, envp);
    return bad;
}

void hcore_config_release(hcore_config_t *config)
{
    free((char *)config->algo);
    free((char *)config->profile);
    free((char *)config->log_file);
    free((char *)config->report);
    memset(config, 0, sizeof *config);
}

size_t hcore_config_knobs(const hcore_knob_t **knobs)
{
    *knobs = knob_shown;
    return KNOBS;
}

size_t hcore_config_value_text(const hcore_config_t *config, size_t knob, char *text, size_t size)
{
    if (knob >= KNOBS || size == 0) {
        return 0;
    }
    knob_kind[knob].print(&knob_kind[knob], config, text, size);
    return strlen(text);
}
