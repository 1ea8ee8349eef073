/* SPDX-License-Identifier: BSD-3-Clause */
/* util/names.c - names, sizes and classes of the words in hcore/types.h, all made from its lists. */
#include "util/text.h"

#include <pthread.h>

const char *hcore_status_text(hcore_status_t status)
{
    switch (status) {
#define X(n, v, t)                                                                                           \
    case HCORE_##n:                                                                                          \
        return t;
        HCORE_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

/* Data types. Users write them in lower case, the list has identifiers: lowered once, at first use. */

enum { TYPE_WORDS = HCORE_TYPE_NONE + 1, TYPE_WORD_SIZE = 24 };

static char type_text[TYPE_WORDS][TYPE_WORD_SIZE] = {
#define X(n, t, c) #n,
    HCORE_TYPE_LIST(X)
#undef X
    "OPAQUE", "NONE"};
static const char *type_word[TYPE_WORDS];
static pthread_once_t type_once = PTHREAD_ONCE_INIT;

static void lower_type_words(void)
{
    for (size_t i = 0; i < TYPE_WORDS; i++) {
        hx_lower(type_text[i]);
        type_word[i] = type_text[i];
    }
}

hx_words_t hx_type_words(void)
{
    pthread_once(&type_once, lower_type_words);
    return HX_WORDS(type_word);
}

size_t hcore_type_size(hcore_type_t type)
{
    static const size_t size[HCORE_TYPE_COUNT] = {
#define X(n, t, c) sizeof(t),
        HCORE_TYPE_LIST(X)
#undef X
    };
    return type < HCORE_TYPE_COUNT ? size[type] : 0;
}

hcore_class_t hcore_type_class(hcore_type_t type)
{
    static const hcore_class_t class_of[HCORE_TYPE_COUNT] = {
#define X(n, t, c) HCORE_CLASS_##c,
        HCORE_TYPE_LIST(X)
#undef X
    };
    return type < HCORE_TYPE_COUNT ? class_of[type] : HCORE_CLASS_BY;
}

/* Reduction ops, operators and the short lists. */

static const char *const redop_word[] = {
#define X(n, s) #s,
    HCORE_REDOP_LIST(X)
#undef X
    "user", "none"};

static const char *const oper_word[] = {
#define X(n, r, b) #n,
    HCORE_OPERATOR_LIST(X)
#undef X
};

static const char *const backend_word[] = {"aiv", "aicpu", "mpi"};
static const char *const mode_word[] = {"op", "ir", "capture"};
static const char *const span_word[] = {"node", "superpod", "inter_superpod"};

_Static_assert(sizeof backend_word / sizeof *backend_word == HCORE_BACKEND_COUNT, "one word per backend");
_Static_assert(sizeof mode_word / sizeof *mode_word == HCORE_MODE_COUNT, "one word per mode");
_Static_assert(sizeof span_word / sizeof *span_word == HCORE_SPAN_COUNT, "one word per level");

hx_words_t hx_redop_words(void)
{
    return HX_WORDS(redop_word);
}

hx_words_t hx_oper_words(void)
{
    return HX_WORDS(oper_word);
}

hx_words_t hx_backend_words(void)
{
    return HX_WORDS(backend_word);
}

hx_words_t hx_mode_words(void)
{
    return HX_WORDS(mode_word);
}

hx_words_t hx_span_words(void)
{
    return HX_WORDS(span_word);
}

hcore_bytes_kind_t hcore_oper_bytes(hcore_oper_t oper)
{
    static const hcore_bytes_kind_t kind[HCORE_OPER_COUNT] = {
#define X(n, r, b) HCORE_BYTES_##b,
        HCORE_OPERATOR_LIST(X)
#undef X
    };
    return oper < HCORE_OPER_COUNT ? kind[oper] : HCORE_BYTES_UNKNOWN;
}

/* The name and the parser of each list: hcore_type_name, hcore_type_parse and so on. */
#define DEFINE_NAME_AND_PARSE(list)                                                                          \
    const char *hcore_##list##_name(hcore_##list##_t value)                                                  \
    {                                                                                                        \
        return hx_words_at(hx_##list##_words(), (size_t)value);                                              \
    }                                                                                                        \
    hcore_status_t hcore_##list##_parse(const char *name, hcore_##list##_t *value)                           \
    {                                                                                                        \
        size_t index;                                                                                        \
        hcore_status_t status = hx_words_find(hx_##list##_words(), name, &index);                            \
        if (status == HCORE_OK) {                                                                            \
            *value = (hcore_##list##_t)index;                                                                \
        }                                                                                                    \
        return status;                                                                                       \
    }

DEFINE_NAME_AND_PARSE(type)
DEFINE_NAME_AND_PARSE(redop)
DEFINE_NAME_AND_PARSE(oper)
DEFINE_NAME_AND_PARSE(backend)
DEFINE_NAME_AND_PARSE(mode)
DEFINE_NAME_AND_PARSE(span)
