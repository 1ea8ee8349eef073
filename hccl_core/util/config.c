/* SPDX-License-Identifier: BSD-3-Clause */
/* util/config.c - the knobs: defaults, file, environment, and messages about what is wrong in them. */
#include "hcore/config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/config_file.h"
#include "util/config_table.h"
#include "util/knob.h"

#define MIB (UINT64_C(1) << 20)
#define FLAG_WORDS "0, 1, off, on, no, yes, false, true"
#define SYSTEM_FILE HX_SYSCONFDIR "/hccl-shim.conf"

/* Operators of lists of sizes. The limit of AIV: those that AI CPU serves as well and whose bytes are equal on
 * all ranks. From the heap: those that have a way through it. */
#define BOTH_OPERS(X)                                                                                        \
    X(Broadcast) X(AllGather) X(AllGatherV) X(Reduce) X(AllReduce) X(Scatter) X(ReduceScatter)               \
    X(ReduceScatterV) X(AlltoAll) X(Gather)
#define AIV_LIMIT_OPERS(X) BOTH_OPERS(X) X(Scan) X(Exscan)
#define HEAP_FROM_OPERS(X) BOTH_OPERS(X) X(GatherV) X(ScatterV) X(AlltoAllV) X(AlltoAllW)
#define OPER_BIT(name)  | UINT32_C(1) << HCORE_OPER_##name
#define OPER_NAME(name) " " #name
#define SIZES_ALLOWED(list)                                                                                  \
    "OPER:SIZE, joined by commas, or unset; OPER" list(OPER_NAME) "; SIZE bytes, K, M, G, or max"

/* Choices by enumerator of hcore/config.h; "" is what only an unset variable means. */
static const char *const expansion_word[] = {"", "AI_CPU", "AICPU_CacheDisable", "AIV"};
static const char *const deterministic_word[] = {"false", "true", "strict"};
static const char *const use_word[] = {"auto", "aiv", "aicpu", "mpi"};
static const char *const cma_word[] = {"auto", "off"};
static const char *const heap_word[] = {"on", "off", "alloc_mem"};
static const char *const yield_word[] = {"auto", "on", "off"};
static const char *const log_word[] = {"off", "error", "warn", "info", "debug"};

#define KIND(kind, field)                                                                                    \
    .parse = hx_knob_parse_##kind, .print = hx_knob_print_##kind, .offset = offsetof(hcore_config_t, field)
#define NUMBER(kind, field, low, high, one) KIND(kind, field), .min = (low), .max = (high), .unit = (one)
#define WORDS(list) {(list), sizeof(list) / sizeof *(list)}
#define CHOICE(field, list) KIND(choice, field), .words = WORDS(list)
#define LOG(field, list) KIND(log, field), .words = WORDS(list)
#define SIZES(field, list) KIND(sizes, field), .opers = 0 list(OPER_BIT)

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
_Static_assert(KNOBS <= 64, "hcore_config_t.given and from_file have a bit per knob");

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

/* The one knob that only the environment may set. */
static const char config_file_name[] = "MPI_SHIM_CONFIG_FILE";

enum { LINE_SIZE = 1024, VALUE_SIZE = 128, NAME_SIZE = 64 };

/* One run of hcore_config_load. */
typedef struct {
    hcore_config_t *config;
    hcore_config_message_t message;
    void *context;
    unsigned bad;
    uint64_t named; /* bit per knob: the file has had a line for it */
} load_t;

static void tell(load_t *load, hcore_log_level_t level, const char *line)
{
    load->bad += level == HCORE_LOG_ERROR;
    if (load->message) {
        load->message(load->context, level, line);
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

/* Places are "FILE:LINE", or "" for the environment. */
static const char *after_place(const char *place)
{
    return *place ? ": " : "";
}

static void tell_bad_value(load_t *load, const char *place, size_t knob, const char *value,
                           hcore_status_t status)
{
    char line[LINE_SIZE], shown[VALUE_SIZE], in_force[VALUE_SIZE], kept[VALUE_SIZE];
    const char *whose = load->config->from_file >> knob & 1 ? "file's" : "default";
    bool refused = status == HCORE_ERR_FORMAT;
    hx_printable(value, shown, sizeof shown);
    hcore_config_value_text(load->config, knob, in_force, sizeof in_force);
    hx_printable(in_force, kept, sizeof kept);
    snprintf(line, sizeof line, "%s%s%s: value \"%s\" %s%s); the %s %s stays in force", place,
             after_place(place), knob_shown[knob].name, shown,
             refused ? "is not allowed (allowed: " : "could not be kept (",
             refused ? knob_shown[knob].allowed : hcore_status_text(status), whose, kept);
    tell(load, HCORE_LOG_ERROR, line);
}

static bool take(load_t *load, const char *place, size_t knob, const char *value)
{
    hcore_status_t status = knob_kind[knob].parse(&knob_kind[knob], value, load->config);
    if (status != HCORE_OK) {
        tell_bad_value(load, place, knob, value, status);
    }
    return status == HCORE_OK;
}

/* The knob of this name, in the case of its letters; KNOBS if there is none. */
static size_t find_knob(const char *name)
{
    size_t knob = 0;
    while (knob < KNOBS && strcmp(name, knob_shown[knob].name) != 0) {
        knob++;
    }
    return knob;
}

/* False, and told, if nobody knows the name. */
static bool check_name(load_t *load, const char *place, const char *name)
{
    char line[LINE_SIZE], shown[NAME_SIZE];
    hx_words_t known = HX_WORDS(known_name);
    for (size_t i = 0; i < known.count; i++) {
        if (strcmp(name, known.word[i]) == 0) {
            return true;
        }
    }
    hx_printable(name, shown, sizeof shown);
    snprintf(line, sizeof line, "%s%s%s: no such variable; the nearest known name is %s", place,
             after_place(place), shown, hx_words_nearest(known, shown));
    tell(load, HCORE_LOG_WARN, line);
    return false;
}

static void check_names(load_t *load, char **envp)
{
    for (; envp && *envp; envp++) {
        for (size_t i = 0; i < sizeof our_prefix / sizeof *our_prefix; i++) {
            if (strncmp(*envp, our_prefix[i], strlen(our_prefix[i])) == 0) {
                char name[NAME_SIZE];
                snprintf(name, sizeof name, "%.*s", (int)strcspn(*envp, "="), *envp);
                check_name(load, "", name);
            }
        }
    }
}

static void take_defaults(load_t *load)
{
    for (size_t i = 0; i < KNOBS; i++) {
        if (strcmp(knob_shown[i].default_text, HX_KNOB_UNSET) != 0) {
            take(load, "", i, knob_shown[i].default_text);
        }
    }
}

static void complain(void *context, const char *line)
{
    tell(context, HCORE_LOG_ERROR, line);
}

static bool refuse(load_t *load, const char *place, size_t knob, const char *why)
{
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "%s: %s %s", place, knob_shown[knob].name, why);
    tell(load, HCORE_LOG_ERROR, line);
    return false;
}

/* One line of the file. */
static bool assign(void *context, const char *place, const char *name, const char *value)
{
    load_t *load = context;
    size_t knob = find_knob(name);
    if (knob == KNOBS) {
        return check_name(load, place, name);
    }
    uint64_t bit = UINT64_C(1) << knob;
    if (strcmp(name, config_file_name) == 0) {
        return refuse(load, place, knob, "counts in the environment alone");
    }
    if (load->named & bit) {
        return refuse(load, place, knob, "is there twice; the first holds");
    }
    load->named |= bit;
    bool good = !*value || take(load, place, knob, value);
    load->config->from_file |= good && *value ? bit : 0;
    return good;
}

static void take_file(load_t *load, char **envp)
{
    const hx_config_user_t user = {.assign = assign, .complain = complain, .context = load};
    const char *path = find_value(envp, config_file_name);
    hx_config_file_read(path ? path : SYSTEM_FILE, path != NULL, &user);
}

static void take_environment(load_t *load, char **envp)
{
    for (size_t i = 0; i < KNOBS; i++) {
        const char *value = find_value(envp, knob_shown[i].name);
        if (value && take(load, "", i, value)) {
            load->config->given |= UINT64_C(1) << i;
        }
    }
}

unsigned hcore_config_load(hcore_config_t *config, char **envp, hcore_config_message_t message, void *context)
{
    load_t load = {.config = config, .message = message, .context = context};
    memset(config, 0, sizeof *config);
    take_defaults(&load);
    take_file(&load, envp);
    take_environment(&load, envp);
    check_names(&load, envp);
    return load.bad;
}

hcore_status_t hcore_config_set(hcore_config_t *config, const char *knob, const char *value)
{
    size_t i = find_knob(knob);
    return i < KNOBS ? knob_kind[i].parse(&knob_kind[i], value, config) : HCORE_ERR_PARAM;
}

void hcore_config_release(hcore_config_t *config)
{
    free((char *)config->algo);
    free((char *)config->profile);
    free((char *)config->log_file);
    free((char *)config->report);
    free((char *)config->config_file);
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
