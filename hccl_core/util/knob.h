/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * util/knob.h - kinds of knobs: how the text of one becomes a value of hcore_config_t and back.
 */
#ifndef HX_KNOB_H
#define HX_KNOB_H

#include "hcore/config.h"
#include "util/text.h"

/*
 * parse   sets the knob's fields, all or none of them; HCORE_ERR_FORMAT if the text is not allowed
 * print   writes the value in force as a user would write it
 * offset  of the field in hcore_config_t that the kind fills, for the kinds that have just one
 * words   choices by enumerator; "" stands for a value that only an unset variable has
 * min, max, unit   range of a number as written, and what one of it is in the field
 * opers   bit per operator that a list of sizes may name
 */
typedef struct hx_knob {
    hcore_status_t (*parse)(const struct hx_knob *knob, const char *text, hcore_config_t *config);
    void (*print)(const struct hx_knob *knob, const hcore_config_t *config, char *text, size_t size);
    size_t offset;
    hx_words_t words;
    uint64_t min, max, unit;
    uint32_t opers;
} hx_knob_t;

#define HX_KNOB_KIND(kind)                                                                                   \
    hcore_status_t hx_knob_parse_##kind(const hx_knob_t *knob, const char *text, hcore_config_t *config);    \
    void hx_knob_print_##kind(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size);
HX_KNOB_KIND(flag)   /* bool */
HX_KNOB_KIND(choice) /* int */
HX_KNOB_KIND(number) /* uint32_t */
HX_KNOB_KIND(bytes)  /* uint64_t */
HX_KNOB_KIND(text)   /* const char * */
HX_KNOB_KIND(algo)
HX_KNOB_KIND(retry_enable)
HX_KNOB_KIND(retry_params)
HX_KNOB_KIND(log)
HX_KNOB_KIND(sizes) /* hcore_size_t [HCORE_OPER_COUNT] */
#undef HX_KNOB_KIND

/* What stands for a value that was not given and has no other text. */
#define HX_KNOB_UNSET "unset"

/* HCCL_ALGO: whether a text keeps the vendor's grammar, either form. */
hcore_status_t hx_algo_check(const char *text);

#endif
