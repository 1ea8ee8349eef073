/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: silent by default, one line per record, a private file. */
#include "hcore/log.h"
#include "tap.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_SIZE = 8192 };

static void read_file(const char *path, char *text)
{
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, TEXT_SIZE - 1, file) : 0;
    text[length] = '\0';
    if (file) {
        fclose(file);
    }
}

int main(int argc, char **argv)
{
    char text[TEXT_SIZE], longer[TEXT_SIZE];
    struct stat status;
    if (argc != 2) {
        fprintf(stderr, "usage: check_log FILE\n");
        return 2;
    }
    const char *path = argv[1];
    hcore_error("before any log is open");
    tap_ok(access(path, F_OK) != 0, "no log is open at the start");
    tap_ok(hcore_log_open(HCORE_LOG_OFF, path) == HCORE_OK && access(path, F_OK) != 0,
           "level off makes no file");

    tap_ok(hcore_log_open(HCORE_LOG_WARN, path) == HCORE_OK, "a file can be opened");
    tap_ok(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600, "the file is the user's alone");
    hcore_warn("one %d", 1);
    hcore_log_rank(3);
    hcore_info("not at this level");
    errno = ENOENT;
    hcore_error("two\nlines");
    tap_ok(errno == ENOENT, "a record leaves errno alone");
    read_file(path, text);
    tap_ok(strcmp(text, "hccl-shim warn [-] one 1\nhccl-shim error [3] two lines\n") == 0,
           "one line per record, with level and rank, up to the level asked for");

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    hcore_error("%s", longer);
    read_file(path, text);
    size_t length = strlen(text);
    tap_ok(length < sizeof text - 1 && text[length - 1] == '\n' && strstr(text, "[3] xxx"),
           "a long record is cut");

    hcore_log_close();
    hcore_error("closed");
    read_file(path, text);
    tap_ok(strlen(text) == length, "a closed log takes no more");
    tap_ok(hcore_log_open(HCORE_LOG_INFO, "/no/such/folder/log") == HCORE_ERR_SYSTEM &&
               hcore_log_level == HCORE_LOG_OFF,
           "a file that can't be opened is an error, and the log stays off");
    return tap_done();
}
