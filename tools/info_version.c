/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_version.c - hccl_info version: what was built, and how. */
#include "config.h"

#include "info.h"

#ifdef HAVE_HWLOC
#define WITH_HWLOC "yes"
#else
#define WITH_HWLOC "no"
#endif
#ifdef HAVE_IBVERBS
#define WITH_IBVERBS "yes"
#else
#define WITH_IBVERBS "no"
#endif
#ifdef NDEBUG
#define WITH_ASSERTIONS "no"
#else
#define WITH_ASSERTIONS "yes"
#endif
#ifdef SHIM_SANITIZED
#define WITH_SANITIZERS "yes"
#else
#define WITH_SANITIZERS "no"
#endif

enum { OPTION_FORMAT };

static const info_option_t options[] = {
    [OPTION_FORMAT] = {"format", "FORMAT", "text (default) or json"},
};

static const struct {
    const char *key, *text;
} fact_table[] = {
    {"version", PACKAGE_VERSION}, {"compiler", __VERSION__},       {"hwloc", WITH_HWLOC},
    {"ibverbs", WITH_IBVERBS},    {"assertions", WITH_ASSERTIONS}, {"sanitizers", WITH_SANITIZERS},
};

static int run(const info_command_t *command, const char *const *value)
{
    info_format_t format;
    int status = info_read_format(command, info_object_formats(), value[OPTION_FORMAT], &format);
    if (status != INFO_OK) {
        return status;
    }
    bool first = true;
    fputs(format == INFO_JSON ? "{" : PACKAGE_NAME "\n", stdout);
    for (size_t i = 0; i < sizeof fact_table / sizeof *fact_table; i++) {
        if (format == INFO_JSON) {
            info_json_member(&first, fact_table[i].key, fact_table[i].text);
        } else {
            printf("%s: %s\n", fact_table[i].key, fact_table[i].text);
        }
    }
    fputs(format == INFO_JSON ? "}\n" : "", stdout);
    return INFO_OK;
}

const info_command_t info_version_command = {
    "version", "print the version and how it was built", options, sizeof options / sizeof *options, run,
};
