/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * find.c - finds, at the first MPI call, the MPI that the process has loaded (also RTLD_LOCAL), decides whether it is one
 * this library serves, and fills the slots of all entries: with the shim's functions, or with the MPI's own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_shim/shim.h"

enum { MAX_LIBRARIES = 16 };

/* What the process has. Two libraries with one PMPI_Init (libmpich and libmpichfort) are one MPI. */
typedef struct {
    void *handle[MAX_LIBRARIES]; /* of an object in which PMPI_Init is found */
    const void *init[MAX_LIBRARIES];
    char name[MAX_LIBRARIES][256];
    unsigned count;
} found_t;

static bool has_mpi_in_name(const char *path)
{
    const char *base = strrchr(path, '/');
    return strstr(base ? base + 1 : path, "mpi") != NULL;
}

static void add_library(found_t *found, void *handle, const char *name)
{
    const void *init = shim_real_dlsym(handle, "PMPI_Init");
    for (unsigned i = 0; init && i < found->count; i++) {
        if (found->init[i] == init) {
            init = NULL;
        }
    }
    if (!init || found->count == MAX_LIBRARIES) {
        if (handle) {
            dlclose(handle); /* only the count of a library that stays */
        }
        return;
    }
    snprintf(found->name[found->count], sizeof(found->name[0]), "%s", name);
    found->handle[found->count] = handle;
    found->init[found->count++] = init;
}

typedef struct {
    char (*path)[256];
    unsigned count;
} names_t;

/* Runs under the loader's lock: only notes names. */
static int note_name(struct dl_phdr_info *info, size_t size, void *data)
{
    names_t *names = data;
    (void)size;
    if (info->dlpi_name && has_mpi_in_name(info->dlpi_name) && names->count < MAX_LIBRARIES &&
        strlen(info->dlpi_name) < sizeof(names->path[0])) {
        strcpy(names->path[names->count++], info->dlpi_name);
    }
    return 0;
}

static void find_libraries(found_t *found)
{
    static char path[MAX_LIBRARIES][256];
    names_t names = {path, 0};
    dl_iterate_phdr(note_name, &names);
    void *program = dlopen(NULL, RTLD_LAZY); /* an executable or a preloaded library that has it, whatever its name */
    if (program) {
        add_library(found, program, "the program's global scope");
    }
    for (unsigned i = 0; i < names.count; i++) {
        void *handle = dlopen(names.path[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            add_library(found, handle, names.path[i]);
        }
    }
}

bool shim_has_our_names(void *handle)
{
    static const char *const own[] = ABI_OWN_SYMBOLS, *const foreign[] = ABI_FOREIGN_SYMBOLS;
    bool ours = true;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        ours = ours && shim_real_dlsym(handle, own[i]);
    }
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        ours = ours && !shim_real_dlsym(handle, foreign[i]);
    }
    return ours;
}

/* Why the shim leaves this process alone; empty text: it does not. */
static void check_library(const found_t *found, char *why, size_t size)
{
    static const char *const words[] = ABI_VERSION_WORDS, *const files[] = ABI_FOREIGN_FILES;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    why[0] = '\0';
    if (found->count > 1) {
        snprintf(why, size, "the process has loaded two MPIs: %s and %s", found->name[0], found->name[1]);
        return;
    }
    void *handle = found->handle[0];
    Dl_info where = {0};
    dladdr((void *)found->init[0], &where);
    bool ours = shim_has_our_names(handle);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        ours = ours && !(where.dli_fname && strstr(where.dli_fname, files[i]));
    }
    if (!ours) {
        snprintf(why, size, "the MPI of the process (%s) is not of the %s ABI", where.dli_fname, ABI_NAME);
        return;
    }
    int (*version)(char *, int *) = (int (*)(char *, int *))shim_real_dlsym(handle, "PMPI_Get_library_version");
    if (version) {
        version(text, &length);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strstr(text, words[i])) {
            return;
        }
    }
    snprintf(why, size, "the MPI of the process (%s) does not say that it has the %s ABI", where.dli_fname, ABI_NAME);
}

static bool fill_pmpi(const found_t *found, char *why, size_t size)
{
    const char *lacks = abi_find(shim_real_dlsym, found->handle[0]);
    if (lacks) {
        snprintf(why, size, "the MPI of the process lacks %s", lacks);
        return false;
    }
    for (unsigned i = 0; i < shim_pmpi_symbol_count; i++) {
        const shim_symbol_t *symbol = &shim_pmpi_symbol[i];
        void *address = shim_real_dlsym(found->handle[0], symbol->name);
        if (!address && !symbol->optional) {
            snprintf(why, size, "the MPI of the process lacks %s", symbol->name);
            return false;
        }
        memcpy((char *)&shim_pmpi + symbol->offset, &address, sizeof(address));
    }
    return true;
}

static void missing(void)
{
    fprintf(stderr, ABI_LIBRARY ": an MPI function was called, but the process has no MPI library that defines it\n");
    _exit(127);
}

/* The function a call would have reached without us: next in the global scope, else in the library found. */
static shim_any_fn_t own_function(const found_t *found, unsigned slot)
{
    void *next = shim_real_dlsym(RTLD_NEXT, shim_slot_name[slot]);
    for (unsigned i = 0; !next && i < found->count; i++) {
        next = shim_real_dlsym(found->handle[i], shim_slot_name[slot]);
    }
    return next && next != shim_slot_entry[slot] ? (shim_any_fn_t)next : missing;
}

static bool pmpi_missing(unsigned slot)
{
    void *address;
    memcpy(&address, (const char *)&shim_pmpi + shim_pmpi_of_slot[slot], sizeof(address));
    return address == NULL;
}

static bool switched_off(void)
{
    hcore_config_t config;
    hcore_config_load(&config, environ, NULL, NULL);
    const bool off = config.disable;
    hcore_config_release(&config);
    return off;
}

/* One line in the log, if the user asked for one. */
static void log_left_alone(const char *why)
{
    hcore_config_t config;
    hcore_config_load(&config, environ, NULL, NULL);
    if (config.log_level >= HCORE_LOG_WARN) {
        hcore_log_open((hcore_log_level_t)config.log_level, config.log_file);
        hcore_warn("left alone: %s", why);
        hcore_log_close();
    }
    hcore_config_release(&config);
}

static void resolve(void)
{
    found_t found = {0};
    char why[640] = "";
    find_libraries(&found);
    bool serve = found.count > 0 && !switched_off();
    if (serve) {
        check_library(&found, why, sizeof(why));
        serve = why[0] == '\0' && fill_pmpi(&found, why, sizeof(why));
        if (!serve) {
            log_left_alone(why);
        }
    }
    for (unsigned i = 0; i < shim_slot_count; i++) {
        shim_any_fn_t target = serve && !pmpi_missing(i) ? shim_served_entry[i] : own_function(&found, i);
        atomic_store_explicit(&shim_slot[i], target, memory_order_release);
    }
    shim_memory_begin(serve);
}

shim_any_fn_t shim_entry_resolve(unsigned index)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, resolve);
    return atomic_load_explicit(&shim_slot[index], memory_order_relaxed);
}
