/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix/profile.c - the built-in profiles and opening one by name. */
#include "matrix/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How we read the doubtful rows of the vendor's table. */
#define TWICE                                                                                                \
    "the source lists AllGather a second time here, perhaps for AllGatherV; read as a repetition: "          \
    "AllGatherV has no AIV row"
#define NO_LEVEL                                                                                             \
    "the source supports no level here, a later page of the vendor says node for ir; read as the source"
#define DET_NA                                                                                               \
    "the source says that determinism does not apply, though the operator reduces; read as not "             \
    "deterministic"
#define V_SYMMETRIC "other pages of the vendor say one server only; read as the source"
#define HOST_WIDER  "wider than the vendor's row of the same operator"

#define ROW(backend, oper, mode, zero_copy, deterministic, reexecution, node, superpod, inter_superpod,      \
            origin, note)                                                                                    \
    {HCORE_BACKEND_##backend,                                                                                \
     HCORE_OPER_##oper,                                                                                      \
     HCORE_MODE_##mode,                                                                                      \
     HCORE_CELL_##zero_copy,                                                                                 \
     HCORE_CELL_##deterministic,                                                                             \
     HCORE_CELL_##reexecution,                                                                               \
     {HCORE_CELL_##node, HCORE_CELL_##superpod, HCORE_CELL_##inter_superpod},                                \
     HCORE_ORIGIN_##origin,                                                                                  \
     note},

/* The host's rows follow the vendor's, so that atlas-a3 is the beginning of host. */
static const hcore_matrix_row_t builtin_rows[] = {
#include "matrix/rows_atlas_a3.h"
#include "matrix/rows_host.h"
};
#undef ROW

#define ROW(...) +1
enum {
    ATLAS_A3_ROWS = 0
#include "matrix/rows_atlas_a3.h"
};
#undef ROW

enum { BUILTIN_ROWS = sizeof builtin_rows / sizeof *builtin_rows };

/* By index: names and contents of the built-in profiles. */
static const char *const builtin_word[] = {"atlas-a3", "host"};
static const struct {
    size_t row_count;
    const hx_limit_t *limits;
    const size_t *limit_count;
    hx_thresholds_t thresholds;
} builtin[] = {
    {ATLAS_A3_ROWS, hx_limits_atlas_a3, &hx_limits_atlas_a3_count, HX_THRESHOLDS_ATLAS_A3},
    {BUILTIN_ROWS, hx_limits_host, &hx_limits_host_count, HX_THRESHOLDS_HOST},
};

static const char *const cell_word[] = {"no", "yes", "na"};
static const char *const origin_word[] = {"atlas-a3", "host", "file"};

hx_words_t hx_profile_words(void)
{
    return HX_WORDS(builtin_word);
}

hx_words_t hx_cell_words(void)
{
    return HX_WORDS(cell_word);
}

hx_words_t hx_origin_words(void)
{
    return HX_WORDS(origin_word);
}

const char *hcore_cell_name(hcore_cell_t cell)
{
    return hx_words_at(hx_cell_words(), (size_t)cell);
}

const char *hcore_origin_name(hcore_origin_t origin)
{
    return hx_words_at(hx_origin_words(), (size_t)origin);
}

/* Fills all but the name; false if no built-in profile has it. */
static bool fill_builtin(hcore_profile_t *profile, const char *name)
{
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++) {
        if (strcmp(builtin_word[i], name) == 0) {
            profile->rows = builtin_rows;
            profile->row_count = builtin[i].row_count;
            profile->limits = builtin[i].limits;
            profile->limit_count = *builtin[i].limit_count;
            profile->thresholds = builtin[i].thresholds;
            return true;
        }
    }
    return false;
}

/* A file has rows only: types, ops and sizes are the host's, since the core of the host serves it. */
static hcore_status_t fill_from_file(hcore_profile_t *profile, const char *path, char *error,
                                     size_t error_size)
{
    hcore_status_t status =
        hx_matrix_file_read(path, &profile->owned, &profile->row_count, error, error_size);
    if (status == HCORE_OK) {
        profile->rows = profile->owned;
        profile->limits = hx_limits_host;
        profile->limit_count = hx_limits_host_count;
        profile->thresholds = HX_THRESHOLDS_HOST;
    }
    return status;
}

hcore_status_t hcore_profile_open(const char *name, hcore_profile_t **profile, char *error, size_t error_size)
{
    hcore_status_t status = HCORE_OK;
    hcore_profile_t *opened = calloc(1, sizeof *opened);
    if (opened) {
        opened->name = strdup(name);
    }
    if (!opened || !opened->name) {
        snprintf(error, error_size, "%s: out of memory", name);
        status = HCORE_ERR_NO_MEMORY;
    } else if (!fill_builtin(opened, name)) {
        status = fill_from_file(opened, name, error, error_size);
    }
    if (status == HCORE_OK) {
        *profile = opened;
    } else {
        hcore_profile_close(opened);
    }
    return status;
}

void hcore_profile_close(hcore_profile_t *profile)
{
    if (profile) {
        free(profile->owned);
        free(profile->name);
        free(profile);
    }
}

const char *hcore_profile_name(const hcore_profile_t *profile)
{
    return profile->name;
}

size_t hcore_profile_rows(const hcore_profile_t *profile, const hcore_matrix_row_t **rows)
{
    *rows = profile->rows;
    return profile->row_count;
}
