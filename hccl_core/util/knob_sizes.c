/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * util/knob_sizes.c - the kind of knob that has a size for each operator:
 *   value = "unset" | item { "," item }    blanks around an item, each operator at most once
 *   item  = operator ":" size
 *   size  = bytes, K, M, G at the end for powers of 1024 | "max"
 */
#include "util/knob.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_SIZE = 32, SIZE_SIZE = 24 };
static const char no_limit[] = "max";

_Static_assert(HCORE_OPER_COUNT <= 32, "hx_knob_t.opers has a bit per operator");

static hcore_status_t parse_oper(const char *text, size_t length, hcore_oper_t *oper)
{
    char name[NAME_SIZE];
    if (length >= sizeof name) {
        return HCORE_ERR_FORMAT;
    }
    memcpy(name, text, length);
    name[length] = '\0';
    return hcore_oper_parse(name, oper);
}

static hcore_status_t parse_bytes(const char *text, size_t length, uint64_t *bytes)
{
    if (length == sizeof no_limit - 1 && strncasecmp(text, no_limit, length) == 0) {
        *bytes = UINT64_MAX;
        return HCORE_OK;
    }
    return hx_parse_size(text, length, bytes);
}

static hcore_status_t parse_item(uint32_t opers, const char *text, size_t length,
                                 hcore_size_t sizes[HCORE_OPER_COUNT])
{
    text = hx_trim(text, &length);
    const char *colon = memchr(text, ':', length);
    size_t name = colon ? (size_t)(colon - text) : 0;
    hcore_oper_t oper;
    uint64_t bytes;
    if (!colon || parse_oper(text, name, &oper) != HCORE_OK || !(opers >> oper & 1) || sizes[oper].given ||
        parse_bytes(colon + 1, length - name - 1, &bytes) != HCORE_OK) {
        return HCORE_ERR_FORMAT;
    }
    sizes[oper] = (hcore_size_t){.given = true, .bytes = bytes};
    return HCORE_OK;
}

hcore_status_t hx_knob_parse_sizes(const hx_knob_t *knob, const char *text, hcore_config_t *config)
{
    hcore_size_t sizes[HCORE_OPER_COUNT] = {{0}};
    hcore_status_t status = HCORE_OK;
    const char *rest = strcasecmp(text, HX_KNOB_UNSET) == 0 ? NULL : text;
    for (const char *end; status == HCORE_OK && rest; rest = *end ? end + 1 : NULL) {
        end = rest + strcspn(rest, ",");
        status = parse_item(knob->opers, rest, (size_t)(end - rest), sizes);
    }
    if (status == HCORE_OK) {
        memcpy((char *)config + knob->offset, sizes, sizeof sizes);
    }
    return status;
}

void hx_knob_print_sizes(const hx_knob_t *knob, const hcore_config_t *config, char *text, size_t size)
{
    const hcore_size_t *sizes = (const hcore_size_t *)((const char *)config + knob->offset);
    size_t used = 0;
    snprintf(text, size, "%s", HX_KNOB_UNSET);
    for (unsigned oper = 0; oper < HCORE_OPER_COUNT && used < size; oper++) {
        char bytes[SIZE_SIZE];
        if (!sizes[oper].given) {
            continue;
        }
        hx_print_size(sizes[oper].bytes, bytes, sizeof bytes);
        used += (size_t)snprintf(text + used, size - used, "%s%s:%s", used ? "," : "",
                                 hcore_oper_name((hcore_oper_t)oper),
                                 sizes[oper].bytes == UINT64_MAX ? no_limit : bytes);
    }
}
