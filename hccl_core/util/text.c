/* SPDX-License-Identifier: BSD-3-Clause */
/* util/text.c - word lists and numbers as a user writes them. */
#include "util/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *hx_words_at(hx_words_t words, size_t index)
{
    return index < words.count ? words.word[index] : "invalid";
}

hcore_status_t hx_words_find(hx_words_t words, const char *name, size_t *index)
{
    for (size_t i = 0; i < words.count; i++) {
        if (strcasecmp(words.word[i], name) == 0) {
            *index = i;
            return HCORE_OK;
        }
    }
    return HCORE_ERR_NOT_FOUND;
}

/* Longer names are compared by their beginnings: no name of ours comes near, and the work stays bounded. */
enum { MAX_COMPARED = 64 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein's distance, one row of the table at a time. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t na = strnlen(a, MAX_COMPARED), nb = strnlen(b, MAX_COMPARED);
    size_t row[MAX_COMPARED + 1];
    for (size_t j = 0; j <= nb; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t above = row[j];
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            row[j] = min3(above + 1, row[j - 1] + 1, diagonal + !same);
            diagonal = above;
        }
    }
    return row[nb];
}

const char *hx_words_nearest(hx_words_t words, const char *name)
{
    const char *nearest = words.word[0];
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < words.count; i++) {
        size_t distance = edit_distance(words.word[i], name);
        if (distance < least) {
            least = distance;
            nearest = words.word[i];
        }
    }
    return nearest;
}

void hx_words_join(hx_words_t words, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < words.count && used < size; i++) {
        const char *part[2] = {used ? ", " : "", words.word[i]};
        for (size_t k = 0; k < 2 && used < size; k++) {
            size_t room = size - used, length = strlen(part[k]);
            size_t taken = length < room ? length : room - 1;
            memcpy(text + used, part[k], taken);
            text[used + taken] = '\0';
            used += length;
        }
    }
}

hcore_status_t hx_parse_number(const char *text, size_t length, uint64_t min, uint64_t max, uint64_t *value)
{
    uint64_t number = 0;
    if (length == 0) {
        return HCORE_ERR_FORMAT;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number)) {
            return HCORE_ERR_FORMAT;
        }
    }
    if (number < min || number > max) {
        return HCORE_ERR_FORMAT;
    }
    *value = number;
    return HCORE_OK;
}

/* What one of a suffix is worth, as a shift. */
static const struct {
    char suffix;
    unsigned shift;
} size_suffix[] = {{'K', 10}, {'M', 20}, {'G', 30}};

hcore_status_t hx_parse_size(const char *text, size_t length, uint64_t *value)
{
    unsigned shift = 0;
    uint64_t number;
    for (size_t i = 0; length && !shift && i < sizeof size_suffix / sizeof *size_suffix; i++) {
        if (toupper((unsigned char)text[length - 1]) == size_suffix[i].suffix) {
            shift = size_suffix[i].shift;
        }
    }
    hcore_status_t status = hx_parse_number(text, length - (shift > 0), 0, UINT64_MAX >> shift, &number);
    if (status == HCORE_OK) {
        *value = number << shift;
    }
    return status;
}

void hx_print_size(uint64_t value, char *text, size_t size)
{
    for (size_t i = sizeof size_suffix / sizeof *size_suffix; i-- > 0;) {
        uint64_t one = UINT64_C(1) << size_suffix[i].shift;
        if (value && value % one == 0) {
            snprintf(text, size, "%" PRIu64 "%c", value / one, size_suffix[i].suffix);
            return;
        }
    }
    snprintf(text, size, "%" PRIu64, value);
}

const char *hx_trim(const char *text, size_t *length)
{
    static const char blanks[] = " \t";
    while (*length && memchr(blanks, *text, sizeof blanks - 1)) {
        text++;
        --*length;
    }
    while (*length && memchr(blanks, text[*length - 1], sizeof blanks - 1)) {
        --*length;
    }
    return text;
}

void hx_lower(char *text)
{
    for (; *text; text++) {
        *text = (char)tolower((unsigned char)*text);
    }
}

void hx_printable(const char *source, char *text, size_t size)
{
    static const char ellipsis[] = "...";
    size_t n = 0;
    for (; source[n] && n + 1 < size; n++) {
        unsigned char c = (unsigned char)source[n];
        text[n] = c < ' ' || c == 0x7f ? '?' : source[n];
    }
    text[n] = '\0';
    if (source[n] && size > sizeof ellipsis) {
        memcpy(text + size - sizeof ellipsis, ellipsis, sizeof ellipsis);
    }
}
