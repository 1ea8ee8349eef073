/* SPDX-License-Identifier: BSD-3-Clause */
/* util/config_file.c - reads a configuration file, line by line. */
#include "util/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

/* Bounds for a file that is not meant: a device without an end, a picture. */
enum { MAX_LINE = 64 << 10, MAX_FILE = 16 << 20, MAX_MISTAKES = 20 };
enum { PATH_SIZE = 256, PLACE_SIZE = PATH_SIZE + 16, SHOWN_SIZE = 128, MESSAGE_SIZE = 640 };

typedef struct {
    const hx_config_user_t *user;
    FILE *stream;
    char path[PATH_SIZE]; /* fit for a message */
    char place[PLACE_SIZE];
    char *text;    /* the line; room for MAX_LINE + 1 bytes and an end */
    size_t length; /* MAX_LINE + 1: the line is longer than allowed */
    unsigned line, mistakes;
    size_t left; /* bytes of the file that may still be read */
} source_t;

/* `place` is the file or a line of it. */
static void complain(source_t *source, const char *place, const char *what)
{
    char message[MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s: %s", place, what);
    source->user->complain(source->user->context, message);
    source->mistakes++;
}

static void complain_of_system(source_t *source, int error)
{
    char what[SHOWN_SIZE];
    snprintf(what, sizeof what, "can't be read: %s", strerror(error));
    complain(source, source->path, what);
}

static int next_byte(source_t *source)
{
    if (source->left == 0) {
        return EOF;
    }
    source->left--;
    return getc(source->stream);
}

/* The next line without its end; false if there is none. */
static bool next_line(source_t *source)
{
    int byte = next_byte(source);
    bool there = byte != EOF;
    source->length = 0;
    for (; byte != EOF && byte != '\n'; byte = next_byte(source)) {
        if (source->length <= MAX_LINE) {
            source->text[source->length++] = (char)byte;
        }
    }
    source->line++;
    snprintf(source->place, sizeof source->place, "%s:%u", source->path, source->line);
    return there;
}

/* Without the blanks around it, and with an end. */
static char *cut(char *text, size_t length)
{
    char *start = text + (hx_trim(text, &length) - text);
    start[length] = '\0';
    return start;
}

/* A line that is not blank, without the blanks around it. */
static void take_text(source_t *source, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        char shown[SHOWN_SIZE], what[2 * SHOWN_SIZE];
        hx_printable(text, shown, sizeof shown);
        snprintf(what, sizeof what, "\"%s\" is no assignment NAME = value", shown);
        complain(source, source->place, what);
        return;
    }
    char *name = cut(text, (size_t)(equals - text)), *value = cut(equals + 1, strlen(equals + 1));
    source->mistakes += !source->user->assign(source->user->context, source->place, name, value);
}

static void take_line(source_t *source)
{
    size_t length = source->length;
    if (length > MAX_LINE) {
        complain(source, source->place, "the line is longer than 64 KiB");
    } else if (memchr(source->text, '\0', length)) {
        complain(source, source->place, "the line has a zero byte");
    } else {
        bool carriage_return = length && source->text[length - 1] == '\r';
        char *text = cut(source->text, length - carriage_return);
        if (*text && *text != '#') {
            take_text(source, text);
        }
    }
}

static void read_lines(source_t *source)
{
    errno = 0;
    while (source->mistakes < MAX_MISTAKES && next_line(source)) {
        take_line(source);
        errno = 0;
    }
    if (ferror(source->stream)) {
        complain_of_system(source, errno);
    } else if (source->mistakes == MAX_MISTAKES) {
        complain(source, source->path, "too many mistakes; the rest is not read");
    } else if (source->left == 0) {
        complain(source, source->path, "longer than 16 MiB; the rest is not read");
    }
}

void hx_config_file_read(const char *path, bool needed, const hx_config_user_t *user)
{
    source_t source = {.user = user, .left = MAX_FILE};
    hx_printable(path, source.path, sizeof source.path);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer must not hold us */
    if (file < 0) {
        if (needed || (errno != ENOENT && errno != ENOTDIR)) {
            complain_of_system(&source, errno);
        }
        return;
    }
    source.stream = fdopen(file, "r");
    source.text = malloc(MAX_LINE + 2);
    if (source.stream && source.text) {
        read_lines(&source);
    } else {
        complain(&source, source.path, hcore_status_text(HCORE_ERR_NO_MEMORY));
    }
    free(source.text);
    if (source.stream) {
        fclose(source.stream);
    } else {
        close(file);
    }
}
