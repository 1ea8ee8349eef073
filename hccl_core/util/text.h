/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * util/text.h - word lists and numbers as a user writes them. Private to the core and its tools.
 */
#ifndef HX_TEXT_H
#define HX_TEXT_H

#include "hcore/types.h"

/* A list of words; the index of a word is the enumerator it stands for. */
typedef struct {
    const char *const *word;
    size_t count;
} hx_words_t;

#define HX_WORDS(array) ((hx_words_t){(array), sizeof(array) / sizeof((array)[0])})

/* The word at an index; "invalid" outside the list, never NULL. */
const char *hx_words_at(hx_words_t words, size_t index);
/* Index of a name in any case; HCORE_ERR_NOT_FOUND if it is not in the list. */
hcore_status_t hx_words_find(hx_words_t words, const char *name, size_t *index);
/* The word with the smallest edit distance to `name`, in any case; the first of several. */
const char *hx_words_nearest(hx_words_t words, const char *name);
/* "a, b, c", cut off to fit. */
void hx_words_join(hx_words_t words, char *text, size_t size);

/* A decimal number without sign or blanks that ends where the text ends (length bytes). */
hcore_status_t hx_parse_number(const char *text, size_t length, uint64_t min, uint64_t max, uint64_t *value);
/* The same with K, M or G at its end for powers of 1024. */
hcore_status_t hx_parse_size(const char *text, size_t length, uint64_t *value);

/* As hx_parse_size reads it, with the largest of these that divides it. */
void hx_print_size(uint64_t value, char *text, size_t size);

/* Without the blanks at both ends: where it begins, and its new length. */
const char *hx_trim(const char *text, size_t *length);

/* To lower case, in place. */
void hx_lower(char *text);

/* A copy fit for one line of a message: what is not printable becomes '?', what is too long ends in "...". */
void hx_printable(const char *source, char *text, size_t size);

/* The lists of hcore/types.h, in the order of the enumerators. Types end with "opaque", "none", ops with
 * "user", "none". */
hx_words_t hx_oper_words(void);
hx_words_t hx_type_words(void);
hx_words_t hx_redop_words(void);
hx_words_t hx_backend_words(void);
hx_words_t hx_mode_words(void);
hx_words_t hx_span_words(void);

#endif
