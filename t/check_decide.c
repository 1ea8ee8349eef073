/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision, on every row of both built-in profiles and on the cases that people ask about. */
#include "hcore/matrix.h"
#include "tap.h"

#include <string.h>

static hcore_profile_t *atlas, *host;

/* A call that the limits of both profiles allow, on both backends, without features. */
static hcore_query_t plain_query(hcore_oper_t oper, hcore_mode_t mode, hcore_span_t span)
{
    bool reduces = hcore_oper_reduces(oper);
    return (hcore_query_t){
        .oper = oper,
        .mode = mode,
        .span = span,
        .nranks = 8,
        .use_aiv = true,
        .use_aicpu = true,
        .type = reduces ? HCORE_TYPE_INT32 : HCORE_TYPE_NONE,
        .redop = reduces ? HCORE_REDOP_SUM : HCORE_REDOP_NONE,
    };
}

static hcore_query_t node_query(hcore_oper_t oper)
{
    return plain_query(oper, HCORE_MODE_OP, HCORE_SPAN_NODE);
}

static void only(hcore_query_t *query, hcore_backend_t backend)
{
    query->use_aiv = backend == HCORE_BACKEND_AIV;
    query->use_aicpu = backend == HCORE_BACKEND_AICPU;
}

/* Whether some row says yes to the query on this backend: said again, from the rows alone. */
static bool granted(const hcore_profile_t *profile, const hcore_query_t *query, hcore_backend_t backend)
{
    const hcore_matrix_row_t *row;
    size_t count = hcore_profile_rows(profile, &row);
    bool det = query->deterministic && hcore_oper_reduces(query->oper);
    for (const hcore_matrix_row_t *end = row + count; row < end; row++) {
        if (row->backend == backend && row->oper == query->oper && row->mode == query->mode &&
            row->level[query->span] == HCORE_CELL_YES && (!det || row->deterministic == HCORE_CELL_YES) &&
            (!query->reexecution || row->reexecution == HCORE_CELL_YES) &&
            (!query->zero_copy || row->zero_copy == HCORE_CELL_YES)) {
            return true;
        }
    }
    return false;
}

/* Each row, level and set of features: served by the row's backend exactly when a row grants it, with a
 * reason if not. */
static void check_rows(const hcore_profile_t *profile)
{
    const hcore_matrix_row_t *row;
    size_t count = hcore_profile_rows(profile, &row);
    unsigned yes = 0, no = 0, wrong = 0;
    for (const hcore_matrix_row_t *end = row + count; row < end; row++) {
        for (unsigned combination = 0; combination < HCORE_SPAN_COUNT * 8; combination++) {
            hcore_query_t query = plain_query(row->oper, row->mode, (hcore_span_t)(combination / 8));
            hcore_verdict_t verdict;
            query.deterministic = combination & 1;
            query.reexecution = combination & 2;
            query.zero_copy = combination & 4;
            only(&query, row->backend);
            hcore_decide(profile, &query, &verdict);
            if (granted(profile, &query, row->backend)) {
                yes++;
                wrong += verdict.backend != row->backend || verdict.reason != HCORE_REASON_FORCED;
            } else {
                hcore_reason_t why = verdict.passed[row->backend];
                no++;
                wrong += verdict.backend != HCORE_BACKEND_MPI || verdict.reason != HCORE_REASON_NO_BACKEND ||
                         why < HCORE_REASON_LEVEL || why > HCORE_REASON_NO_ZERO_COPY;
            }
        }
    }
    tap_ok(wrong == 0 && yes > 0 && no > 0, "%s: %zu rows: %u combinations served, %u refused with a reason",
           hcore_profile_name(profile), count, yes, no);
}

/* An operator and mode without a row are refused as not listed. */
static void check_unlisted(const hcore_profile_t *profile)
{
    unsigned seen = 0, wrong = 0;
    for (unsigned i = 0; i < HCORE_BACKEND_MPI * HCORE_OPER_COUNT * HCORE_MODE_COUNT; i++) {
        hcore_backend_t backend = (hcore_backend_t)(i % HCORE_BACKEND_MPI);
        hcore_query_t query =
            plain_query((hcore_oper_t)(i / HCORE_BACKEND_MPI % HCORE_OPER_COUNT),
                        (hcore_mode_t)(i / HCORE_BACKEND_MPI / HCORE_OPER_COUNT), HCORE_SPAN_NODE);
        const hcore_matrix_row_t *row;
        size_t count = hcore_profile_rows(profile, &row);
        bool listed = false;
        hcore_verdict_t verdict;
        for (size_t k = 0; k < count; k++) {
            listed |= row[k].backend == backend && row[k].oper == query.oper && row[k].mode == query.mode;
        }
        hcore_decide(profile, &query, &verdict);
        seen += !listed;
        wrong += listed == (verdict.passed[backend] == HCORE_REASON_NOT_LISTED);
    }
    tap_ok(wrong == 0 && seen > 0, "%s: the %u combinations without a row are not listed",
           hcore_profile_name(profile), seen);
}

static void check_host_extends(void)
{
    const hcore_matrix_row_t *vendor, *ours;
    size_t vendor_count = hcore_profile_rows(atlas, &vendor), count = hcore_profile_rows(host, &ours);
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += (ours[i].origin == HCORE_ORIGIN_ATLAS_A3) != (i < vendor_count);
    }
    tap_ok(count > vendor_count && memcmp(vendor, ours, vendor_count * sizeof *vendor) == 0 && wrong == 0,
           "host is atlas-a3 followed by rows of its own");
    wrong = 0;
    for (unsigned i = 0; i < HCORE_OPER_COUNT * (HCORE_MODE_IR + 1) * (HCORE_SPAN_SUPERPOD + 1); i++) {
        const hcore_oper_t oper = (hcore_oper_t)(i % HCORE_OPER_COUNT);
        hcore_query_t query = plain_query(oper, (hcore_mode_t)(i / HCORE_OPER_COUNT % (HCORE_MODE_IR + 1)),
                                          (hcore_span_t)(i / HCORE_OPER_COUNT / (HCORE_MODE_IR + 1)));
        bool paired = oper == HCORE_OPER_Send || oper == HCORE_OPER_Recv || oper == HCORE_OPER_BatchSendRecv;
        query.deterministic = true;
        wrong += granted(host, &query, HCORE_BACKEND_AIV) == paired ||
                 (!paired && !granted(host, &query, HCORE_BACKEND_AICPU));
    }
    tap_ok(wrong == 0, "on a host both backends have every collective within a host, called or compiled, with determinism");
}

/* One question with its known answer. */
static void expect(const char *text, const hcore_profile_t *profile, hcore_query_t query,
                   hcore_backend_t backend, hcore_reason_t reason, hcore_reason_t aiv, hcore_reason_t aicpu)
{
    hcore_verdict_t verdict;
    hcore_decide(profile, &query, &verdict);
    bool good = verdict.backend == backend && verdict.reason == reason &&
                verdict.passed[HCORE_BACKEND_AIV] == aiv && verdict.passed[HCORE_BACKEND_AICPU] == aicpu;
    if (!tap_ok(good, "%s: %s: %s", hcore_profile_name(profile), text, hcore_backend_name(backend))) {
        tap_note("got %s %s, aiv %s, aicpu %s", hcore_backend_name(verdict.backend),
                 hcore_reason_name(verdict.reason), hcore_reason_name(verdict.passed[HCORE_BACKEND_AIV]),
                 hcore_reason_name(verdict.passed[HCORE_BACKEND_AICPU]));
    }
}

#define AIV     HCORE_BACKEND_AIV
#define AICPU   HCORE_BACKEND_AICPU
#define MPI     HCORE_BACKEND_MPI
#define R(name) HCORE_REASON_##name

static void check_features(void)
{
    hcore_query_t query = node_query(HCORE_OPER_AllReduce);
    expect("small AllReduce", atlas, query, AIV, R(CHOSEN), R(CHOSEN), R(TOO_SMALL));
    query.reexecution = true;
    expect("with re-execution", atlas, query, AICPU, R(CHOSEN_ONLY), R(NO_REEXECUTION), R(CHOSEN_ONLY));
    query.reexecution = false;
    query.zero_copy = true;
    expect("with zero copy", atlas, query, AICPU, R(CHOSEN_ONLY), R(NO_ZERO_COPY), R(CHOSEN_ONLY));
    query.mode = HCORE_MODE_IR;
    expect("with zero copy in ir", atlas, query, MPI, R(NO_BACKEND), R(NO_ZERO_COPY), R(NO_ZERO_COPY));

    query = node_query(HCORE_OPER_ReduceScatterV);
    query.deterministic = true;
    expect("deterministic ReduceScatterV", atlas, query, AICPU, R(CHOSEN_ONLY), R(NOT_DETERMINISTIC),
           R(CHOSEN_ONLY));
    expect("deterministic ReduceScatterV", host, query, AIV, R(CHOSEN), R(CHOSEN), R(TOO_SMALL));
    query = node_query(HCORE_OPER_AlltoAll);
    query.deterministic = true;
    expect("determinism restricts no move", atlas, query, AIV, R(CHOSEN), R(CHOSEN), R(TOO_SMALL));

    query = plain_query(HCORE_OPER_Broadcast, HCORE_MODE_OP, HCORE_SPAN_SUPERPOD);
    expect("Broadcast over a superpod", atlas, query, AICPU, R(CHOSEN_ONLY), R(LEVEL), R(CHOSEN_ONLY));
    expect("Broadcast over a superpod", host, query, AIV, R(CHOSEN), R(CHOSEN), R(TOO_SMALL));
    query.span = HCORE_SPAN_INTER_SUPERPOD;
    expect("Broadcast between superpods", host, query, AICPU, R(CHOSEN_ONLY), R(LEVEL), R(CHOSEN_ONLY));
    query = plain_query(HCORE_OPER_Broadcast, HCORE_MODE_IR, HCORE_SPAN_NODE);
    expect("Broadcast in ir", atlas, query, AICPU, R(CHOSEN_ONLY), R(LEVEL), R(CHOSEN_ONLY));
    query = plain_query(HCORE_OPER_Scatter, HCORE_MODE_IR, HCORE_SPAN_NODE);
    expect("Scatter in ir", atlas, query, MPI, R(NO_BACKEND), R(NOT_LISTED), R(NOT_LISTED));
    expect("AllGatherV", atlas, node_query(HCORE_OPER_AllGatherV), AICPU, R(CHOSEN_ONLY), R(NOT_LISTED),
           R(CHOSEN_ONLY));
    expect("Barrier", atlas, node_query(HCORE_OPER_Barrier), MPI, R(NO_BACKEND), R(NOT_LISTED),
           R(NOT_LISTED));
    expect("Barrier", host, node_query(HCORE_OPER_Barrier), AIV, R(CHOSEN), R(CHOSEN), R(TOO_SMALL));
}

static void check_switches(void)
{
    hcore_query_t query = node_query(HCORE_OPER_AllGather);
    query.use_aiv = false;
    expect("AIV switched off", host, query, AICPU, R(FORCED), R(SWITCHED_OFF), R(FORCED));
    query.use_aicpu = false;
    expect("both switched off", host, query, MPI, R(FORCED), R(SWITCHED_OFF), R(SWITCHED_OFF));
    query.use_aiv = true;
    query.bytes = UINT64_MAX;
    expect("AI CPU switched off, any size", host, query, AIV, R(FORCED), R(FORCED), R(SWITCHED_OFF));
    query.reexecution = true;
    expect("AIV alone can't", host, query, MPI, R(NO_BACKEND), R(NO_REEXECUTION), R(SWITCHED_OFF));
}

static hcore_query_t typed(hcore_oper_t oper, hcore_type_t type, hcore_redop_t redop)
{
    hcore_query_t query = node_query(oper);
    query.type = type;
    query.redop = redop;
    return query;
}

/* The types and ops of the vendor, told apart from ours. */
static void check_limits(void)
{
    const hcore_oper_t reduce = HCORE_OPER_AllReduce, move = HCORE_OPER_AllGather;
    expect("fp64 sum", atlas, typed(reduce, HCORE_TYPE_FP64, HCORE_REDOP_SUM), MPI, R(NO_BACKEND), R(TYPE),
           R(TYPE));
    expect("int64 sum", atlas, typed(reduce, HCORE_TYPE_INT64, HCORE_REDOP_SUM), MPI, R(NO_BACKEND), R(TYPE),
           R(TYPE));
    expect("uint8 max", atlas, typed(reduce, HCORE_TYPE_UINT8, HCORE_REDOP_MAX), MPI, R(NO_BACKEND), R(TYPE),
           R(TYPE));
    expect("fp32 prod", atlas, typed(reduce, HCORE_TYPE_FP32, HCORE_REDOP_PROD), MPI, R(NO_BACKEND), R(REDOP),
           R(REDOP));
    expect("bfp16 sum", atlas, typed(reduce, HCORE_TYPE_BFP16, HCORE_REDOP_SUM), AIV, R(CHOSEN), R(CHOSEN),
           R(TOO_SMALL));
    expect("move of fp64", atlas, typed(move, HCORE_TYPE_FP64, HCORE_REDOP_NONE), AICPU, R(CHOSEN_ONLY),
           R(TYPE), R(CHOSEN_ONLY));
    expect("move of uint16", atlas, typed(move, HCORE_TYPE_UINT16, HCORE_REDOP_NONE), AIV, R(CHOSEN),
           R(CHOSEN), R(TOO_SMALL));
    expect("move of complex", atlas, typed(move, HCORE_TYPE_CFP32, HCORE_REDOP_NONE), MPI, R(NO_BACKEND),
           R(TYPE), R(TYPE));
    expect("fp64 prod", host, typed(reduce, HCORE_TYPE_FP64, HCORE_REDOP_PROD), AIV, R(CHOSEN), R(CHOSEN),
           R(TOO_SMALL));
    expect("fp64 band", host, typed(reduce, HCORE_TYPE_FP64, HCORE_REDOP_BAND), MPI, R(NO_BACKEND), R(REDOP),
           R(REDOP));
    expect("opaque sum", host, typed(reduce, HCORE_TYPE_OPAQUE, HCORE_REDOP_SUM), MPI, R(NO_BACKEND),
           R(REDOP), R(REDOP));
    expect("user's op", host, typed(reduce, HCORE_TYPE_OPAQUE, HCORE_REDOP_USER), AIV, R(CHOSEN), R(CHOSEN),
           R(TOO_SMALL));
    expect("reduction without op", host, typed(reduce, HCORE_TYPE_FP32, HCORE_REDOP_NONE), MPI, R(NO_BACKEND),
           R(REDOP), R(REDOP));
    expect("move of opaque", host, typed(move, HCORE_TYPE_OPAQUE, HCORE_REDOP_NONE), AIV, R(CHOSEN),
           R(CHOSEN), R(TOO_SMALL));
    expect("user's op", atlas, typed(reduce, HCORE_TYPE_OPAQUE, HCORE_REDOP_USER), MPI, R(NO_BACKEND),
           R(TYPE), R(TYPE));
}

/* Up to the limit AIV, above it AI CPU, for every operator that both have. */
static void check_sizes(const hcore_profile_t *profile)
{
    unsigned split = 0, wrong = 0;
    for (unsigned oper = 0; oper < HCORE_OPER_COUNT; oper++) {
        hcore_query_t query = node_query((hcore_oper_t)oper);
        uint64_t limit = hcore_aiv_limit(profile, query.oper, query.nranks);
        hcore_verdict_t at, above;
        if (!granted(profile, &query, AIV) || !granted(profile, &query, AICPU)) {
            continue;
        }
        query.bytes = limit;
        hcore_decide(profile, &query, &at);
        wrong += at.backend != AIV || at.passed[AICPU] != R(TOO_SMALL);
        if (limit == UINT64_MAX) {
            continue;
        }
        split++;
        query.bytes = limit + 1;
        hcore_decide(profile, &query, &above);
        wrong += above.backend != AICPU || above.passed[AIV] != R(TOO_LARGE) ||
                 hcore_oper_bytes(query.oper) == HCORE_BYTES_UNKNOWN;
    }
    tap_ok(wrong == 0 && split > 0, "%s: AIV up to the limit and AI CPU above, for %u operators",
           hcore_profile_name(profile), split);
}

/* A limit that the query gives takes the place of the profile's, and is no reason for a backend that can't.
 */
static void check_given_limit(void)
{
    hcore_query_t query = node_query(HCORE_OPER_AllReduce);
    const uint64_t below = hcore_aiv_limit(host, query.oper, query.nranks) / 2;
    query.aiv_limit = (hcore_size_t){.given = true, .bytes = below};
    query.bytes = below;
    expect("up to a given limit", host, query, AIV, R(CHOSEN), R(CHOSEN), R(TOO_SMALL));
    query.bytes = below + 1;
    expect("above a given limit", host, query, AICPU, R(CHOSEN), R(TOO_LARGE), R(CHOSEN));
    query.aiv_limit.bytes = UINT64_MAX;
    query.bytes = UINT64_MAX;
    expect("without limit", host, query, AIV, R(CHOSEN), R(CHOSEN), R(TOO_SMALL));
    query.aiv_limit.bytes = 0;
    query.use_aicpu = false;
    expect("a given limit, AI CPU switched off", host, query, AIV, R(FORCED), R(FORCED), R(SWITCHED_OFF));
}

/* Steps say the same as the decision at every size, and verdicts hold together. */
static void check_steps(const hcore_profile_t *profile)
{
    unsigned wrong = 0, questions = 0;
    for (unsigned i = 0; i < HCORE_OPER_COUNT * HCORE_MODE_COUNT * HCORE_SPAN_COUNT * 32; i++) {
        hcore_query_t query = plain_query((hcore_oper_t)(i / 32 % HCORE_OPER_COUNT),
                                          (hcore_mode_t)(i / 32 / HCORE_OPER_COUNT % HCORE_MODE_COUNT),
                                          (hcore_span_t)(i / 32 / HCORE_OPER_COUNT / HCORE_MODE_COUNT));
        hcore_verdict_t small, large, verdict;
        uint64_t limit;
        query.deterministic = i & 1;
        query.reexecution = i & 2;
        query.zero_copy = i & 4;
        query.use_aiv = i & 8;
        query.use_aicpu = i & 16;
        query.aiv_limit = (hcore_size_t){.given = i / 32 % 3 == 0, .bytes = i};
        hcore_decide_steps(profile, &query, &limit, &small, &large);
        const uint64_t sizes[] = {
            0, 1, 8, 4096, 65536, limit - 1, limit, limit + 1, UINT64_C(1) << 40, UINT64_MAX};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            query.bytes = sizes[k];
            hcore_decide(profile, &query, &verdict);
            questions++;
            wrong += memcmp(&verdict, sizes[k] <= limit ? &small : &large, sizeof verdict) != 0;
            wrong += verdict.passed[verdict.backend] != verdict.reason;
            wrong += (verdict.passed[MPI] == R(CORE_SERVES)) != (verdict.backend != MPI);
        }
    }
    tap_ok(wrong == 0 && questions > 0, "%s: steps and decision agree on %u questions",
           hcore_profile_name(profile), questions);
}

static void check_configure(const char *text, hcore_config_t config, hcore_span_t span, hcore_query_t wanted)
{
    hcore_query_t query = plain_query(HCORE_OPER_AllReduce, HCORE_MODE_OP, span);
    hcore_query_configure(&query, &config);
    tap_ok(query.use_aiv == wanted.use_aiv && query.use_aicpu == wanted.use_aicpu &&
               query.deterministic == wanted.deterministic && query.reexecution == wanted.reexecution &&
               query.aiv_limit.given == wanted.aiv_limit.given &&
               query.aiv_limit.bytes == wanted.aiv_limit.bytes,
           "configuration: %s", text);
}

static void check_configuration(void)
{
    const hcore_query_t both = {.use_aiv = true, .use_aicpu = true}, aicpu = {.use_aicpu = true};
    const hcore_query_t retry = {.use_aiv = true, .use_aicpu = true, .reexecution = true};
    check_configure("nothing set", (hcore_config_t){0}, HCORE_SPAN_NODE, both);
    check_configure("AI_CPU rules AIV out", (hcore_config_t){.op_expansion_mode = HCORE_EXPANSION_AI_CPU},
                    HCORE_SPAN_NODE, aicpu);
    check_configure("AIV keeps AI CPU for what is large",
                    (hcore_config_t){.op_expansion_mode = HCORE_EXPANSION_AIV}, HCORE_SPAN_NODE, both);
    check_configure("the backend is stronger than the expansion mode",
                    (hcore_config_t){.op_expansion_mode = HCORE_EXPANSION_AI_CPU, .backend = HCORE_USE_AIV},
                    HCORE_SPAN_NODE, (hcore_query_t){.use_aiv = true});
    check_configure("backend mpi", (hcore_config_t){.backend = HCORE_USE_MPI}, HCORE_SPAN_NODE,
                    (hcore_query_t){0});
    check_configure("strict asks for determinism",
                    (hcore_config_t){.deterministic = HCORE_DETERMINISTIC_STRICT}, HCORE_SPAN_NODE,
                    (hcore_query_t){.use_aiv = true, .use_aicpu = true, .deterministic = true});
    check_configure("retry of a level above the span asks nothing",
                    (hcore_config_t){.retry = {false, true, true}}, HCORE_SPAN_NODE, both);
    check_configure("retry of a level within the span asks for re-execution",
                    (hcore_config_t){.retry = {false, true, false}}, HCORE_SPAN_INTER_SUPERPOD, retry);
    check_configure(
        "the limit of the operator, and not another's",
        (hcore_config_t){.aiv_limit = {[HCORE_OPER_AllReduce] = {true, 7}, [HCORE_OPER_Scan] = {true, 8}}},
        HCORE_SPAN_NODE, (hcore_query_t){.use_aiv = true, .use_aicpu = true, .aiv_limit = {true, 7}});
}

int main(void)
{
    char error[256];
    if (!tap_ok(hcore_profile_open("atlas-a3", &atlas, error, sizeof error) == HCORE_OK &&
                    hcore_profile_open("host", &host, error, sizeof error) == HCORE_OK,
                "the built-in profiles open")) {
        return tap_done();
    }
    hcore_profile_t *const profile[] = {atlas, host};
    check_host_extends();
    for (size_t i = 0; i < sizeof profile / sizeof *profile; i++) {
        check_rows(profile[i]);
        check_unlisted(profile[i]);
        check_sizes(profile[i]);
        check_steps(profile[i]);
    }
    check_features();
    check_switches();
    check_limits();
    check_given_limit();
    check_configuration();
    tap_ok(hcore_aiv_limit(atlas, HCORE_OPER_AllReduce, 8) == UINT64_C(8) << 20,
           "the vendor's limit of AllReduce is 1 MiB for each rank's share");
    hcore_profile_close(atlas);
    hcore_profile_close(host);
    return tap_done();
}
