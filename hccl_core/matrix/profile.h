/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix/profile.h - what a profile is inside the matrix room.
 */
#ifndef HX_PROFILE_H
#define HX_PROFILE_H

#include "hcore/matrix.h"
#include "matrix/limits.h"
#include "util/text.h"

/* Columns of the threshold table. */
typedef enum { HX_THRESHOLDS_ATLAS_A3, HX_THRESHOLDS_HOST, HX_THRESHOLDS_COUNT } hx_thresholds_t;

/* owned   the rows of a file; NULL for built-in rows */
struct hcore_profile {
    char *name;
    const hcore_matrix_row_t *rows;
    size_t row_count;
    hcore_matrix_row_t *owned;
    const hx_limit_t *limits;
    size_t limit_count;
    hx_thresholds_t thresholds;
};

hx_words_t hx_profile_words(void); /* the built-in profiles */
hx_words_t hx_cell_words(void);
hx_words_t hx_origin_words(void);

/* Reads the rows of a matrix file; the caller frees *rows. Errors as hcore_profile_open. */
hcore_status_t hx_matrix_file_read(const char *path, hcore_matrix_row_t **rows, size_t *count, char *error,
                                   size_t error_size);

#endif
