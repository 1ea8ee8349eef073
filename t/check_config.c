/* SPDX-License-Identifier: BSD-3-Clause */
/* Knobs: defaults, good and bad values, unknown names. */
#include "hcore/config.h"
#include "tap.h"

#include <string.h>

enum { LINE_SIZE = 1024 };

/* No file of the machine may change what is tested. */
static const char no_file[] = "MPI_SHIM_CONFIG_FILE=/dev/null";

/* The messages of one load. */
typedef struct {
    unsigned count, warnings;
    bool several_lines;
    char last[LINE_SIZE];
} heard_t;

static void hear(void *context, hcore_log_level_t level, const char *line)
{
    heard_t *heard = context;
    heard->count++;
    heard->warnings += level == HCORE_LOG_WARN;
    heard->several_lines |= strchr(line, '\n') != NULL;
    snprintf(heard->last, sizeof heard->last, "%s", line);
}

static unsigned load(hcore_config_t *config, heard_t *heard, const char *variable)
{
    char *envp[] = {(char *)"PATH=/bin", (char *)variable, (char *)no_file, NULL};
    memset(heard, 0, sizeof *heard);
    return hcore_config_load(config, envp, hear, heard);
}

static size_t find_knob(const char *variable)
{
    const hcore_knob_t *knobs;
    size_t count = hcore_config_knobs(&knobs);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(knobs[i].name);
        if (strncmp(variable, knobs[i].name, length) == 0 && variable[length] == '=') {
            return i;
        }
    }
    return count;
}

/* Whether the environment gave this knob and, as always, no_file; count of knobs: no other. */
static bool only_given(const hcore_config_t *config, size_t knob)
{
    const hcore_knob_t *knobs;
    uint64_t bit = knob < hcore_config_knobs(&knobs) ? UINT64_C(1) << knob : 0;
    return config->given == (bit | UINT64_C(1) << find_knob(no_file)) && config->from_file == 0;
}

/* An allowed value is taken without a word and printed as `shown`. */
static void check_good(const char *variable, const char *shown)
{
    hcore_config_t config;
    heard_t heard;
    char text[LINE_SIZE];
    size_t knob = find_knob(variable);
    unsigned bad = load(&config, &heard, variable);
    size_t length = hcore_config_value_text(&config, knob, text, sizeof text);
    tap_ok(bad == 0 && heard.count == 0 && strcmp(text, shown) == 0 && length == strlen(shown) &&
               only_given(&config, knob),
           "%s is taken as %s", variable, shown);
    hcore_config_release(&config);
}

/* A value that is not allowed: one message that names variable, value and what is allowed; the default stays.
 */
static void check_bad(const char *variable)
{
    const hcore_knob_t *knobs;
    hcore_config_t config;
    heard_t heard;
    char text[LINE_SIZE];
    size_t knob = find_knob(variable);
    size_t count = hcore_config_knobs(&knobs);
    unsigned bad = load(&config, &heard, variable);
    hcore_config_value_text(&config, knob, text, sizeof text);
    bool named = strncmp(heard.last, knobs[knob].name, strlen(knobs[knob].name)) == 0 &&
                 strstr(heard.last, strchr(variable, '=') + 1) && strstr(heard.last, knobs[knob].allowed) &&
                 strstr(heard.last, "stays in force");
    tap_ok(bad == 1 && heard.count == 1 && named && !heard.several_lines, "%s is refused in one line",
           variable);
    tap_ok(strcmp(text, knobs[knob].default_text) == 0 && only_given(&config, count),
           "... and the default stays in force");
    hcore_config_release(&config);
}

static void check_defaults(void)
{
    const hcore_knob_t *knobs;
    hcore_config_t config;
    heard_t heard;
    unsigned wrong = 0;
    unsigned bad = load(&config, &heard, "HCCL_BUFFSIZE=");
    size_t count = hcore_config_knobs(&knobs);
    for (size_t i = 0; i < count; i++) {
        char text[LINE_SIZE];
        hcore_config_value_text(&config, i, text, sizeof text);
        wrong += i != find_knob(no_file) && strcmp(text, knobs[i].default_text) != 0;
    }
    tap_ok(bad == 0 && heard.count == 0 && wrong == 0,
           "without values every knob has its default; empty is unset");
    tap_ok(config.op_expansion_mode == HCORE_EXPANSION_AUTO &&
               config.deterministic == HCORE_DETERMINISTIC_FALSE && !config.algo &&
               config.buffsize == UINT64_C(200) << 20 && !config.retry[0] && !config.retry[1] &&
               !config.retry[2] && config.retry_max == 1 && config.retry_hold_ms == 5000 &&
               config.retry_interval_ms == 1000 && config.connect_timeout_s == 120 &&
               config.exec_timeout_s == 0,
           "the vendor's defaults");
    tap_ok(!config.disable && !config.strict && strcmp(config.profile, "host") == 0 &&
               config.backend == HCORE_USE_AUTO && config.log_level == HCORE_LOG_OFF && !config.log_file &&
               !config.report && config.cma == HCORE_CMA_AUTO,
           "our defaults");
    hcore_config_release(&config);
}

/* Values reach the fields they belong to. */
static void check_fields(void)
{
    char *envp[] = {(char *)"HCCL_BUFFSIZE=3",
                    (char *)"HCCL_OP_RETRY_ENABLE=L2:1",
                    (char *)"MPI_SHIM_BACKEND=aicpu",
                    (char *)"MPI_SHIM_LOG=debug:/a:b",
                    (char *)"HCCL_DETERMINISTIC=strict",
                    (char *)"HCCL_OP_EXPANSION_MODE=AIV",
                    (char *)"HCCL_BUFFSIZE=4",
                    (char *)no_file,
                    NULL};
    hcore_config_t config;
    unsigned bad = hcore_config_load(&config, envp, NULL, NULL);
    tap_ok(bad == 0 && config.buffsize == UINT64_C(3) << 20,
           "of a variable that is there twice the first counts");
    tap_ok(!config.retry[1] && config.retry[2], "retry by level");
    tap_ok(config.backend == HCORE_USE_AICPU && config.deterministic == HCORE_DETERMINISTIC_STRICT &&
               config.op_expansion_mode == HCORE_EXPANSION_AIV,
           "choices by enumerator");
    tap_ok(config.log_level == HCORE_LOG_DEBUG && config.log_file && strcmp(config.log_file, "/a:b") == 0,
           "log level and file");
    hcore_config_release(&config);
}

static void check_sizes(void)
{
    hcore_config_t config;
    heard_t heard;
    load(&config, &heard, "MPI_SHIM_AIV_LIMIT=scan:max, AllReduce:0 ,broadcast:1k");
    unsigned given = 0;
    for (unsigned oper = 0; oper < HCORE_OPER_COUNT; oper++) {
        given += config.aiv_limit[oper].given;
    }
    tap_ok(given == 3 && config.aiv_limit[HCORE_OPER_Scan].bytes == UINT64_MAX &&
               config.aiv_limit[HCORE_OPER_AllReduce].given &&
               config.aiv_limit[HCORE_OPER_AllReduce].bytes == 0 &&
               config.aiv_limit[HCORE_OPER_Broadcast].bytes == 1024,
           "sizes by operator");
    tap_ok(hcore_config_set(&config, "MPI_SHIM_AIV_LIMIT", "Gather:3M") == HCORE_OK &&
               config.aiv_limit[HCORE_OPER_Gather].bytes == UINT64_C(3) << 20 &&
               !config.aiv_limit[HCORE_OPER_Scan].given,
           "a list that is set takes the place of the whole list before");
    tap_ok(hcore_config_set(&config, "MPI_SHIM_AIV_LIMIT", "Scan:1,Gather:") == HCORE_ERR_FORMAT &&
               config.aiv_limit[HCORE_OPER_Gather].given && !config.aiv_limit[HCORE_OPER_Scan].given,
           "a list that is not allowed changes nothing");
    tap_ok(hcore_config_set(&config, "MPI_SHIM_AIV_LIMIT", "unset") == HCORE_OK &&
               !config.aiv_limit[HCORE_OPER_Gather].given,
           "unset takes a list back");
    hcore_config_release(&config);
}

static void check_set(void)
{
    hcore_config_t config;
    heard_t heard;
    load(&config, &heard, "MPI_SHIM_LOG=warn:/a");
    tap_ok(hcore_config_set(&config, "MPI_SHIM_LOG", "info") == HCORE_OK &&
               config.log_level == HCORE_LOG_INFO && !config.log_file,
           "a log without a file takes the file away");
    tap_ok(hcore_config_set(&config, "HCCL_BUFFSIZE", "0") == HCORE_ERR_FORMAT &&
               config.buffsize == UINT64_C(200) << 20,
           "a value that is not allowed is not set");
    tap_ok(hcore_config_set(&config, "mpi_shim_log", "off") == HCORE_ERR_PARAM &&
               hcore_config_set(&config, "HCCL_RDMA_TC", "132") == HCORE_ERR_PARAM,
           "what is no knob is not set");
    hcore_config_release(&config);
}

static void check_algo(const char *value, hcore_oper_t oper, const char *wanted)
{
    hcore_config_t config = {.algo = value};
    const char *algo = hcore_config_algo(&config, oper);
    tap_ok(wanted ? algo && strcmp(algo, wanted) == 0 : !algo, "HCCL_ALGO=%s gives %s %s", value,
           hcore_oper_name(oper), wanted ? wanted : "nothing");
}

static void check_algos(void)
{
    const char by_operator[] =
        "allreduce=level0:NA;level1:ring/allgather=level1:NHR;level2:NB/alltoall=level0:NA";
    check_algo("level0:NA;level1:ring", HCORE_OPER_AllReduce, "ring");
    check_algo("level0:NA;level1:ring", HCORE_OPER_Scan, "ring");
    check_algo("level1:h-d_r", HCORE_OPER_AllReduce, "H-D_R");
    check_algo("level0:NA", HCORE_OPER_AllReduce, NULL);
    check_algo("level2:NB", HCORE_OPER_AllReduce, NULL);
    check_algo(by_operator, HCORE_OPER_AllReduce, "ring");
    check_algo(by_operator, HCORE_OPER_AllGather, "NHR");
    check_algo(by_operator, HCORE_OPER_AllGatherV, "NHR");
    check_algo(by_operator, HCORE_OPER_AlltoAllV, NULL);
    check_algo(by_operator, HCORE_OPER_Broadcast, NULL);
    hcore_config_t unset = {.algo = NULL};
    tap_ok(!hcore_config_algo(&unset, HCORE_OPER_AllReduce), "no algorithm without HCCL_ALGO");
}

static void check_unknown(const char *variable, const char *nearest)
{
    hcore_config_t config;
    heard_t heard;
    unsigned bad = load(&config, &heard, variable);
    char ending[LINE_SIZE];
    snprintf(ending, sizeof ending, " %s", nearest ? nearest : "");
    size_t length = strlen(heard.last), tail = strlen(ending);
    if (nearest) {
        tap_ok(bad == 0 && heard.count == 1 && heard.warnings == 1 && length > tail &&
                   strcmp(heard.last + length - tail, ending) == 0,
               "%s gets one warning that names %s", variable, nearest);
    } else {
        tap_ok(bad == 0 && heard.count == 0, "%s gets no word", variable);
    }
    hcore_config_release(&config);
}

/* The help of a knob with a plain list of words must not promise what the parser refuses. */
static void check_allowed_words(const char *name)
{
    char variable[LINE_SIZE], list[LINE_SIZE], *rest = list;
    const hcore_knob_t *knobs;
    hcore_config_t config;
    heard_t heard;
    unsigned bad = 0;
    snprintf(variable, sizeof variable, "%s=", name);
    hcore_config_knobs(&knobs);
    snprintf(list, sizeof list, "%s", knobs[find_knob(variable)].allowed);
    for (char *word; (word = strsep(&rest, ","));) {
        snprintf(variable, sizeof variable, "%s=%s", name, word + strspn(word, " "));
        bad += load(&config, &heard, variable);
        hcore_config_release(&config);
    }
    tap_ok(bad == 0, "%s takes every word that it says is allowed", name);
}

static const struct {
    const char *variable, *shown;
} good[] = {
    {"HCCL_OP_EXPANSION_MODE=AI_CPU", "AI_CPU"},
    {"HCCL_OP_EXPANSION_MODE=AICPU_CacheDisable", "AICPU_CacheDisable"},
    {"HCCL_DETERMINISTIC=true", "true"},
    {"HCCL_ALGO=level0:NA;level1:H-D_R;level2:pipeline", "level0:NA;level1:H-D_R;level2:pipeline"},
    {"HCCL_ALGO=allreduce=level0:NA;level1:ring/alltoall=level1:pairwise",
     "allreduce=level0:NA;level1:ring/alltoall=level1:pairwise"},
    {"HCCL_BUFFSIZE=1", "1"},
    {"HCCL_BUFFSIZE=65536", "65536"},
    {"HCCL_OP_RETRY_ENABLE=L1:1,L2:0", "L0:0,L1:1,L2:0"},
    {"HCCL_OP_RETRY_ENABLE=L0:0, L1:0, L2:1", "L0:0,L1:0,L2:1"},
    {"HCCL_OP_RETRY_PARAMS=MaxCnt:10,HoldTime:0,IntervalTime:60000",
     "MaxCnt:10,HoldTime:0,IntervalTime:60000"},
    {"HCCL_OP_RETRY_PARAMS=HoldTime:7", "MaxCnt:1,HoldTime:7,IntervalTime:1000"},
    {"HCCL_CONNECT_TIMEOUT=7200", "7200"},
    {"HCCL_EXEC_TIMEOUT=0", "0"},
    {"HCCL_EXEC_TIMEOUT=2147483647", "2147483647"},
    {"MPI_SHIM_DISABLE=on", "1"},
    {"MPI_SHIM_STRICT=1", "1"},
    {"MPI_SHIM_PROFILE=/etc/matrix.csv", "/etc/matrix.csv"},
    {"MPI_SHIM_BACKEND=MPI", "mpi"},
    {"MPI_SHIM_LOG=info", "info"},
    {"MPI_SHIM_LOG=warn:/var/tmp/log:1", "warn:/var/tmp/log:1"},
    {"MPI_SHIM_REPORT=report.json", "report.json"},
    {"MPI_SHIM_CMA=off", "off"},
    {"MPI_SHIM_AIV_LIMIT=allreduce:65536", "AllReduce:64K"},
    {"MPI_SHIM_AIV_LIMIT=Exscan:1G , Broadcast:1048577,\tGather:0", "Broadcast:1048577,Gather:0,Exscan:1G"},
    {"MPI_SHIM_AIV_LIMIT=ReduceScatterV:MAX,AllGatherV:2m", "AllGatherV:2M,ReduceScatterV:max"},
    {"MPI_SHIM_AIV_LIMIT=unset", "unset"},
    {"MPI_SHIM_HEAP_FROM=AlltoAllV:8k,AlltoAllW:max,ScatterV:1,GatherV:3",
     "AlltoAllV:8K,GatherV:3,ScatterV:1,AlltoAllW:max"},
};

static const char *const bad[] = {
    "HCCL_OP_EXPANSION_MODE=HOST",
    "HCCL_DETERMINISTIC=1",
    "HCCL_ALGO=ring",
    "HCCL_ALGO=level0:ring",
    "HCCL_ALGO=level1:mesh",
    "HCCL_ALGO=level2:AHC",
    "HCCL_ALGO=level1:ring;level1:NHR",
    "HCCL_ALGO=level0:NA;",
    "HCCL_ALGO=levrl1:ring",
    "HCCL_ALGO=allreduce=",
    "HCCL_ALGO=allreduce=level1:ring/",
    "HCCL_ALGO=send=level1:ring",
    "HCCL_ALGO=allreduce=level1:ring/allreduce=level1:NHR",
    "HCCL_ALGO=level1:ring/allreduce=level1:NHR",
    "HCCL_BUFFSIZE=0",
    "HCCL_BUFFSIZE=65537",
    "HCCL_BUFFSIZE=200M",
    "HCCL_BUFFSIZE=-1",
    "HCCL_BUFFSIZE=18446744073709551817",
    "HCCL_OP_RETRY_ENABLE=1",
    "HCCL_OP_RETRY_ENABLE=L1:2",
    "HCCL_OP_RETRY_ENABLE=L3:0",
    "HCCL_OP_RETRY_ENABLE=L1:1,",
    "HCCL_OP_RETRY_ENABLE=L1:1,L1:0",
    "HCCL_OP_RETRY_PARAMS=MaxCnt:0",
    "HCCL_OP_RETRY_PARAMS=MaxCnt:11",
    "HCCL_OP_RETRY_PARAMS=HoldTime:60001",
    "HCCL_CONNECT_TIMEOUT=119",
    "HCCL_CONNECT_TIMEOUT=7201",
    "HCCL_EXEC_TIMEOUT=2147483648",
    "HCCL_EXEC_TIMEOUT=1.5",
    "MPI_SHIM_DISABLE=maybe",
    "MPI_SHIM_BACKEND=gpu",
    "MPI_SHIM_LOG=loud",
    "MPI_SHIM_LOG=info:",
    "MPI_SHIM_LOG=/var/log/shim",
    "MPI_SHIM_CMA=on",
    "MPI_SHIM_AIV_LIMIT=AllReduce",
    "MPI_SHIM_AIV_LIMIT=AllReduce:",
    "MPI_SHIM_AIV_LIMIT=AllReduce:K",
    "MPI_SHIM_AIV_LIMIT=AllReduce:-1",
    "MPI_SHIM_AIV_LIMIT=AllReduce:1T",
    "MPI_SHIM_AIV_LIMIT=AllReduce: 1",
    "MPI_SHIM_AIV_LIMIT=AllReduce:17179869184G",
    "MPI_SHIM_AIV_LIMIT=AllReduce:maximal",
    "MPI_SHIM_AIV_LIMIT=AllReduce:1,",
    "MPI_SHIM_AIV_LIMIT=,AllReduce:1",
    "MPI_SHIM_AIV_LIMIT=AllReduce:1,Scan:2,allreduce:1",
    "MPI_SHIM_AIV_LIMIT=AllRedcue:1",
    "MPI_SHIM_AIV_LIMIT=:1",
    "MPI_SHIM_AIV_LIMIT=AllReduceAllReduceAllReduceAllReduce:1",
    "MPI_SHIM_AIV_LIMIT=Barrier:1",
    "MPI_SHIM_AIV_LIMIT=AlltoAllV:1",
    "MPI_SHIM_HEAP_FROM=Scan:1",
    "MPI_SHIM_HEAP_FROM=Barrier:1",
    "MPI_SHIM_HEAP_FROM=AlltoAllVC:1",
};

static void check_hostile_value(void)
{
    hcore_config_t config;
    heard_t heard;
    char variable[4096];
    memset(variable, 'x', sizeof variable);
    memcpy(variable, "HCCL_BUFFSIZE=1\n2", 17);
    variable[sizeof variable - 1] = '\0';
    unsigned count = load(&config, &heard, variable);
    tap_ok(count == 1 && heard.count == 1 && !heard.several_lines && strstr(heard.last, "1..65536"),
           "a long value with a line break still gives one whole line");
    hcore_config_release(&config);
}

int main(void)
{
    check_defaults();
    check_fields();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        check_good(good[i].variable, good[i].shown);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check_bad(bad[i]);
    }
    check_sizes();
    check_set();
    check_algos();
    check_unknown("MPI_SHIM_PROFLE=host", "MPI_SHIM_PROFILE");
    check_unknown("HCCL_BUFSIZE=200", "HCCL_BUFFSIZE");
    check_unknown("HCCL_SOCKET_IFNAM=eth0", "HCCL_SOCKET_IFNAME");
    check_unknown("HCCL_SOCKET_IFNAME=eth0", NULL);
    check_unknown("HCCL_RDMA_TC=132", NULL);
    check_unknown("MPICH_SOMETHING=1", NULL);
    check_allowed_words("HCCL_OP_EXPANSION_MODE");
    check_allowed_words("HCCL_DETERMINISTIC");
    check_allowed_words("MPI_SHIM_DISABLE");
    check_allowed_words("MPI_SHIM_BACKEND");
    check_allowed_words("MPI_SHIM_CMA");
    check_hostile_value();
    return tap_done();
}
