/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_explain.c - hccl_info explain: which backend serves a call, and why not the others. */
#include "info.h"

#include <inttypes.h>

#include "hcore/matrix.h"

enum { ERROR_SIZE = 1024, DEFAULT_RANKS = 2 };

enum {
    OPTION_OPERATOR,
    OPTION_TYPE,
    OPTION_OP,
    OPTION_BYTES,
    OPTION_RANKS,
    OPTION_SPAN,
    OPTION_MODE,
    OPTION_PROFILE,
    OPTION_DETERMINISTIC,
    OPTION_RETRY,
    OPTION_ZERO_COPY,
    OPTION_FORMAT
};

static const info_option_t options[] = {
    [OPTION_OPERATOR] = {"operator", "NAME", "HCCL's name of the operator, as AllReduce; must be given"},
    [OPTION_TYPE] = {"type", "TYPE", "data type (default: fp32 for reductions, none for moves)"},
    [OPTION_OP] = {"op", "OP", "reduction op (default: sum); not used by operators that do not reduce"},
    [OPTION_BYTES] = {"bytes", "SIZE",
                      "size, K, M, G for powers of 1024 (default: 0); see the output for what it counts"},
    [OPTION_RANKS] = {"ranks", "N", "ranks of the communicator (default: 2)"},
    [OPTION_SPAN] = {"span", "LEVEL", "node (default), superpod or inter_superpod"},
    [OPTION_MODE] = {"mode", "MODE", "op (default), ir or capture"},
    [OPTION_PROFILE] = {"profile", "NAME",
                        "host, atlas-a3 or a matrix file (default: MPI_SHIM_PROFILE, else host)"},
    [OPTION_DETERMINISTIC] = {"deterministic", NULL, "ask for determinism"},
    [OPTION_RETRY] = {"retry", NULL, "ask for re-execution"},
    [OPTION_ZERO_COPY] = {"zero-copy", NULL, "ask for zero copy"},
    [OPTION_FORMAT] = {"format", "FORMAT", "text (default) or json"},
};

/* What --bytes counts, by hcore_bytes_kind_t. */
static const char *const bytes_meaning[] = {
    [HCORE_BYTES_BUFFER] = "bytes in one rank's vector",
    [HCORE_BYTES_BLOCK] = "bytes in one block",
    [HCORE_BYTES_TOTAL] = "bytes in all ranks' blocks",
    [HCORE_BYTES_UNKNOWN] = "bytes, which no decision may use (they differ from rank to rank)",
};

/* The words of the call; what is not given keeps the query's value. */
static int read_words(const info_command_t *command, const char *const *value, hcore_query_t *query)
{
    size_t oper = query->oper, type = HCORE_TYPE_COUNT, redop = HCORE_REDOP_SUM, span = query->span,
           mode = query->mode;
    const struct {
        int option;
        hx_words_t words;
        size_t *index;
    } word[] = {
        {OPTION_OPERATOR, hx_oper_words(), &oper}, {OPTION_TYPE, hx_type_words(), &type},
        {OPTION_OP, hx_redop_words(), &redop},     {OPTION_SPAN, hx_span_words(), &span},
        {OPTION_MODE, hx_mode_words(), &mode},
    };
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        const char *text = value[word[i].option];
        int status =
            text ? info_read_word(command, options[word[i].option].name, word[i].words, text, word[i].index)
                 : INFO_OK;
        if (status != INFO_OK) {
            return status;
        }
    }
    query->oper = (hcore_oper_t)oper;
    query->span = (hcore_span_t)span;
    query->mode = (hcore_mode_t)mode;
    bool reduces = hcore_oper_reduces(query->oper);
    query->redop = reduces ? (hcore_redop_t)redop : HCORE_REDOP_NONE;
    query->type = value[OPTION_TYPE] ? (hcore_type_t)type : reduces ? HCORE_TYPE_FP32 : HCORE_TYPE_NONE;
    return INFO_OK;
}

static int read_query(const info_command_t *command, const char *const *value, hcore_query_t *query)
{
    *query = (hcore_query_t){.mode = HCORE_MODE_OP, .span = HCORE_SPAN_NODE, .nranks = DEFAULT_RANKS};
    if (!value[OPTION_OPERATOR]) {
        info_complain(
            command,
            "--operator must be given (as --operator AllReduce; hccl_info explain --help lists all)");
        return INFO_USAGE;
    }
    int status = read_words(command, value, query);
    if (status == INFO_OK && value[OPTION_BYTES]) {
        status = info_read_size(command, options[OPTION_BYTES].name, value[OPTION_BYTES], &query->bytes);
    }
    if (status == INFO_OK && value[OPTION_RANKS]) {
        status = info_read_count(command, options[OPTION_RANKS].name, value[OPTION_RANKS], &query->nranks);
    }
    query->deterministic = value[OPTION_DETERMINISTIC];
    query->reexecution = value[OPTION_RETRY];
    query->zero_copy = value[OPTION_ZERO_COPY];
    return status;
}

typedef struct {
    const char *profile;
    hcore_query_t query;
    hcore_verdict_t verdict;
    uint64_t limit; /* sizes up to it get `small`, larger ones `large`; UINT64_MAX: size does not matter */
    hcore_backend_t small, large;
} answer_t;

/* The shim's decision; when it is switched off it makes none. */
static void answer(const hcore_profile_t *profile, const hcore_config_t *config, answer_t *answer)
{
    hcore_verdict_t small, large;
    answer->profile = hcore_profile_name(profile);
    hcore_query_configure(&answer->query, config);
    hcore_decide(profile, &answer->query, &answer->verdict);
    hcore_decide_steps(profile, &answer->query, &answer->limit, &small, &large);
    if (config->disable) {
        answer->verdict.backend = HCORE_BACKEND_MPI;
        answer->verdict.reason = HCORE_REASON_INACTIVE;
        for (size_t i = 0; i < HCORE_BACKEND_COUNT; i++) {
            answer->verdict.passed[i] = HCORE_REASON_INACTIVE;
        }
        answer->limit = UINT64_MAX;
    }
    answer->small = small.backend;
    answer->large = large.backend;
}

static const char *yes_no(bool flag)
{
    return flag ? "yes" : "no";
}

static void print_text(const answer_t *answer)
{
    const hcore_query_t *query = &answer->query;
    const hcore_verdict_t *verdict = &answer->verdict;
    printf("call:     %s, type %s, op %s, %" PRIu64 " %s, %" PRIu32 " ranks, level %s, mode %s\n",
           hcore_oper_name(query->oper), hcore_type_name(query->type), hcore_redop_name(query->redop),
           query->bytes, bytes_meaning[hcore_oper_bytes(query->oper)], query->nranks,
           hcore_span_name(query->span), hcore_mode_name(query->mode));
    printf("asked:    profile %s, deterministic %s, re-execution %s, zero copy %s, aiv %s, aicpu %s\n",
           answer->profile, yes_no(query->deterministic), yes_no(query->reexecution),
           yes_no(query->zero_copy), query->use_aiv ? "on" : "off", query->use_aicpu ? "on" : "off");
    printf("verdict:  %s - %s [%s]\n", hcore_backend_name(verdict->backend),
           hcore_reason_text(verdict->reason), hcore_reason_name(verdict->reason));
    for (size_t i = 0; i < HCORE_BACKEND_COUNT; i++) {
        if (i != (size_t)verdict->backend) {
            printf("passed:   %s - %s [%s]\n", hcore_backend_name((hcore_backend_t)i),
                   hcore_reason_text(verdict->passed[i]), hcore_reason_name(verdict->passed[i]));
        }
    }
    if (answer->limit != UINT64_MAX) {
        printf("sizes:    %s up to %" PRIu64 " bytes, %s above\n", hcore_backend_name(answer->small),
               answer->limit, hcore_backend_name(answer->large));
    }
}

static void print_json_passed(const hcore_verdict_t *verdict)
{
    const char *separator = "";
    fputs("[", stdout);
    for (size_t i = 0; i < HCORE_BACKEND_COUNT; i++) {
        if (i != (size_t)verdict->backend) {
            bool first = true;
            printf("%s{", separator);
            info_json_member(&first, "backend", hcore_backend_name((hcore_backend_t)i));
            info_json_member(&first, "reason", hcore_reason_name(verdict->passed[i]));
            info_json_member(&first, "text", hcore_reason_text(verdict->passed[i]));
            fputs("}", stdout);
            separator = ", ";
        }
    }
    fputs("]", stdout);
}

static void print_json(const answer_t *answer)
{
    const hcore_query_t *query = &answer->query;
    const hcore_verdict_t *verdict = &answer->verdict;
    bool first = true;
    fputs("{", stdout);
    info_json_member(&first, "operator", hcore_oper_name(query->oper));
    info_json_member(&first, "type", hcore_type_name(query->type));
    info_json_member(&first, "op", hcore_redop_name(query->redop));
    info_json_number(&first, "bytes", query->bytes);
    info_json_member(&first, "bytes_meaning", bytes_meaning[hcore_oper_bytes(query->oper)]);
    info_json_number(&first, "ranks", query->nranks);
    info_json_member(&first, "span", hcore_span_name(query->span));
    info_json_member(&first, "mode", hcore_mode_name(query->mode));
    info_json_member(&first, "profile", answer->profile);
    info_json_flag(&first, "deterministic", query->deterministic);
    info_json_flag(&first, "reexecution", query->reexecution);
    info_json_flag(&first, "zero_copy", query->zero_copy);
    info_json_flag(&first, "use_aiv", query->use_aiv);
    info_json_flag(&first, "use_aicpu", query->use_aicpu);
    info_json_member(&first, "backend", hcore_backend_name(verdict->backend));
    info_json_member(&first, "reason", hcore_reason_name(verdict->reason));
    info_json_member(&first, "text", hcore_reason_text(verdict->reason));
    info_json_key(&first, "passed");
    print_json_passed(verdict);
    if (answer->limit == UINT64_MAX) {
        info_json_member(&first, "aiv_limit", NULL);
    } else {
        info_json_number(&first, "aiv_limit", answer->limit);
    }
    puts("}");
}

static int explain(const info_command_t *command, const char *name, const hcore_config_t *config,
                   answer_t *result, info_format_t format)
{
    hcore_profile_t *profile;
    char error[ERROR_SIZE];
    if (hcore_profile_open(name, &profile, error, sizeof error) != HCORE_OK) {
        info_complain(command, "%s", error);
        return INFO_USAGE;
    }
    answer(profile, config, result);
    (format == INFO_JSON ? print_json : print_text)(result);
    hcore_profile_close(profile);
    return INFO_OK;
}

static int run(const info_command_t *command, const char *const *value)
{
    answer_t result = {0};
    hcore_config_t config;
    info_format_t format;
    int status = info_read_format(command, info_object_formats(), value[OPTION_FORMAT], &format);
    if (status == INFO_OK) {
        status = read_query(command, value, &result.query);
    }
    if (status != INFO_OK) {
        return status;
    }
    status = info_load_config(command, &config);
    if (status == INFO_OK) {
        const char *name = value[OPTION_PROFILE] ? value[OPTION_PROFILE] : config.profile;
        status = explain(command, name, &config, &result, format);
    }
    hcore_config_release(&config);
    return status;
}

const info_command_t info_explain_command = {
    "explain", "tell which backend serves a call, and why not the others",
    options,   sizeof options / sizeof *options,
    run,
};
