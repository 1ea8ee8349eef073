/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration file: its grammar, its mistakes, and that the environment is stronger. Writes files into
 * the folder that it is given. */
#include "hcore/config.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024, LINES = 32, PATH_SIZE = 512 };

static char path[PATH_SIZE], path_variable[PATH_SIZE + 32];

/* The messages of one load. */
typedef struct {
    unsigned count, warnings;
    char line[LINES][LINE_SIZE];
} heard_t;

static heard_t heard;

static void hear(void *context, hcore_log_level_t level, const char *line)
{
    (void)context;
    heard.warnings += level == HCORE_LOG_WARN;
    if (heard.count < LINES) {
        snprintf(heard.line[heard.count++], LINE_SIZE, "%s", line);
    }
}

static void write_file(const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

/* Bad values of a load with the file of `path` and one more variable. */
static unsigned load(hcore_config_t *config, const char *variable)
{
    char *envp[] = {path_variable, (char *)variable, NULL};
    memset(&heard, 0, sizeof heard);
    return hcore_config_load(config, envp, hear, NULL);
}

static size_t find_knob(const char *name)
{
    const hcore_knob_t *knobs;
    size_t count = hcore_config_knobs(&knobs), i = 0;
    while (i < count && strcmp(knobs[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* A file whose only knob is `name`, with the value `shown`, and without mistakes. */
static void check_good(const char *text, const char *name, const char *shown)
{
    hcore_config_t config;
    char value[LINE_SIZE];
    write_file(text, strlen(text));
    unsigned bad = load(&config, NULL);
    hcore_config_value_text(&config, find_knob(name), value, sizeof value);
    bool good = bad == 0 && heard.count == 0 && strcmp(value, shown) == 0 &&
                config.from_file == UINT64_C(1) << find_knob(name);
    if (!tap_ok(good, "%.60s: %s is %s", strchr(text, *name), name, shown)) {
        tap_note("is %s, %u messages, the last %s", value, heard.count, heard.line[0]);
    }
    hcore_config_release(&config);
}

static bool begins(const char *line, const char *place, const char *text)
{
    char wanted[LINE_SIZE];
    snprintf(wanted, sizeof wanted, "%s%s%s", path, place, text);
    return strncmp(line, wanted, strlen(wanted)) == 0;
}

/* A file with one mistake, told with its place and counted unless it is only a warning; the default stays. */
static void check_bad(const char *bytes, size_t length, const char *place, const char *text, unsigned counted)
{
    hcore_config_t config;
    write_file(bytes, length);
    unsigned bad = load(&config, NULL);
    bool good = bad == counted && heard.count == 1 && heard.warnings == 1 - counted &&
                begins(heard.line[0], place, text) && config.from_file == 0;
    if (!tap_ok(good, "a mistake is told: FILE%s%s", place, text)) {
        tap_note("%u bad, %u messages, the first %s", bad, heard.count, heard.line[0]);
    }
    hcore_config_release(&config);
}

#define CHECK_BAD(text, place, told) check_bad(text, sizeof(text) - 1, place, told, 1)

static void check_grammar(void)
{
    check_good("HCCL_BUFFSIZE=7\n", "HCCL_BUFFSIZE", "7");
    check_good("\n# HCCL_BUFFSIZE = 1\n \t\n  \t# so\n\tHCCL_BUFFSIZE \t = \t 7 \t\n", "HCCL_BUFFSIZE", "7");
    check_good("HCCL_BUFFSIZE = 7", "HCCL_BUFFSIZE", "7");
    check_good("# so\r\n\r\nHCCL_BUFFSIZE = 7\r\n", "HCCL_BUFFSIZE", "7");
    check_good("MPI_SHIM_REPORT = a = b # c \"d\"\n", "MPI_SHIM_REPORT", "a = b # c \"d\"");
    check_good("HCCL_ALGO = allreduce=level1:ring\n", "HCCL_ALGO", "allreduce=level1:ring");
    check_good("MPI_SHIM_AIV_LIMIT = AllReduce:16K, Scan:max\n", "MPI_SHIM_AIV_LIMIT",
               "AllReduce:16K,Scan:max");
    check_good("HCCL_RDMA_TC = 132\nHCCL_BUFFSIZE=7\nMPI_SHIM_CMA=\n", "HCCL_BUFFSIZE", "7");
}

static void check_mistakes(void)
{
    CHECK_BAD("\nHCCL_BUFFSIZE 7\n", ":2", ": \"HCCL_BUFFSIZE 7\" is no assignment NAME = value");
    CHECK_BAD(" = 7\n", ":1", ": \"= 7\" is no assignment");
    CHECK_BAD("#\n\nHCCL_BUFFSIZE = 0\n", ":3",
              ": HCCL_BUFFSIZE: value \"0\" is not allowed (allowed: 1..65536");
    CHECK_BAD("MPI_SHIM_AIV_LIMIT = Send:1\n", ":1", ": MPI_SHIM_AIV_LIMIT: value \"Send:1\" is not allowed");
    CHECK_BAD("HCCL_BUFFSIZE = \x01\n", ":1", ": HCCL_BUFFSIZE: value \"?\"");
    CHECK_BAD("HCCL_BUFF\0SIZE = 7\n", ":1", ": the line has a zero byte");
    CHECK_BAD("MPI_SHIM_CONFIG_FILE = x\n", ":1", ": MPI_SHIM_CONFIG_FILE counts in the environment alone");
    check_bad("HCCL_BUFSIZE = 7\n", 17, ":1",
              ": HCCL_BUFSIZE: no such variable; the nearest known name is HCCL_BUFFSIZE", 0);
    check_bad("hccl_buffsize = 7\n", 18, ":1", ": hccl_buffsize: no such variable; the nearest", 0);
}

static void check_twice(void)
{
    hcore_config_t config;
    const char text[] = "HCCL_BUFFSIZE = 7\nMPI_SHIM_CMA = off\nHCCL_BUFFSIZE = 8\n";
    write_file(text, sizeof text - 1);
    unsigned bad = load(&config, NULL);
    tap_ok(bad == 1 && heard.count == 1 && config.buffsize == UINT64_C(7) << 20 &&
               begins(heard.line[0], ":3", ": HCCL_BUFFSIZE is there twice"),
           "of a name that is there twice the first holds, and the second is a mistake");
    tap_ok(config.cma == HCORE_CMA_OFF, "the other lines hold");
    hcore_config_release(&config);
}

static void check_order(void)
{
    hcore_config_t config;
    const char text[] = "HCCL_BUFFSIZE = 7\nMPI_SHIM_LOG = warn:/a\nMPI_SHIM_AIV_LIMIT = Scan:1\n";
    const uint64_t buffsize = UINT64_C(1) << find_knob("HCCL_BUFFSIZE");
    write_file(text, sizeof text - 1);
    load(&config, "HCCL_BUFFSIZE=9");
    tap_ok(config.buffsize == UINT64_C(9) << 20 && config.given & buffsize && config.from_file & buffsize,
           "the environment is stronger than the file");
    tap_ok(config.log_level == HCORE_LOG_WARN && config.aiv_limit[HCORE_OPER_Scan].given &&
               config.connect_timeout_s == 120,
           "the file is stronger than the default");
    hcore_config_release(&config);
    load(&config, "MPI_SHIM_LOG=info");
    tap_ok(config.log_level == HCORE_LOG_INFO && !config.log_file, "nothing of the file's value is left");
    hcore_config_release(&config);
    load(&config, "MPI_SHIM_AIV_LIMIT=unset");
    tap_ok(!config.aiv_limit[HCORE_OPER_Scan].given, "the environment can take the file's list back");
    hcore_config_release(&config);
    unsigned bad = load(&config, "HCCL_BUFFSIZE=much");
    tap_ok(bad == 1 && config.buffsize == UINT64_C(7) << 20 && !(config.given & buffsize) &&
               strstr(heard.line[0], "the file's 7 stays in force"),
           "a bad value in the environment leaves the file's in force");
    hcore_config_release(&config);
}

static void check_long_lines(void)
{
    enum { LIMIT = 64 << 10, LONG = 1 << 20 };
    static char text[LIMIT + LONG + 64];
    hcore_config_t config;
    memset(text, 'x', sizeof text);
    memcpy(text, "MPI_SHIM_REPORT=", 16);
    memcpy(text + LIMIT, "\nMPI_SHIM_PROFILE=", 18);
    memcpy(text + LIMIT + LONG, "\nHCCL_BUFFSIZE=7\n", 17);
    write_file(text, LIMIT + LONG + 17);
    unsigned bad = load(&config, NULL);
    tap_ok(bad == 1 && begins(heard.line[0], ":2", ": the line is longer than 64 KiB") &&
               strcmp(config.profile, "host") == 0,
           "a line of 1 MiB is a mistake");
    tap_ok(config.report && strlen(config.report) == LIMIT - 16, "a line of 64 KiB is none");
    tap_ok(config.buffsize == UINT64_C(7) << 20, "the line after it holds");
    hcore_config_release(&config);
}

static void check_no_file(void)
{
    hcore_config_t config;
    remove(path);
    unsigned bad = load(&config, NULL);
    tap_ok(bad == 1 && heard.count == 1 && begins(heard.line[0], "", ": can't be read: No such file"),
           "a file that is given must be there");
    hcore_config_release(&config);
}

/* Things in the file system that are no files: the number of mistakes they give. */
static void check_odd_file(const char *variable, unsigned mistakes, const char *text)
{
    hcore_config_t config;
    char *envp[] = {(char *)variable, NULL};
    memset(&heard, 0, sizeof heard);
    unsigned bad = hcore_config_load(&config, envp, hear, NULL);
    tap_ok(bad == mistakes && heard.count == mistakes && config.from_file == 0, "%s: %s", variable, text);
    hcore_config_release(&config);
}

/* Bytes of a generator, and many bad lines: bounded in messages, and nothing is taken. */
static void check_rubbish(void)
{
    static char bytes[1 << 20];
    hcore_config_t config;
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (char)(state >> 24);
    }
    write_file(bytes, sizeof bytes);
    unsigned bad = load(&config, NULL);
    tap_ok(bad > 0 && heard.count < LINES && config.from_file == 0, "rubbish is told in %u lines",
           heard.count);
    hcore_config_release(&config);
}

int main(int argc, char **argv)
{
    snprintf(path, sizeof path, "%s/hccl-shim.conf", argc > 1 ? argv[1] : ".");
    snprintf(path_variable, sizeof path_variable, "MPI_SHIM_CONFIG_FILE=%s", path);
    check_grammar();
    check_mistakes();
    check_twice();
    check_order();
    check_long_lines();
    check_rubbish();
    check_no_file();
    check_odd_file("MPI_SHIM_CONFIG_FILE=/", 1, "a folder can't be read");
    check_odd_file("MPI_SHIM_CONFIG_FILE=/dev/null", 0, "no file, not even the system's");
    check_odd_file("MPI_SHIM_CONFIG_FILE=/dev/zero", 2, "a line without an end is not read to its end");
    return tap_done();
}
