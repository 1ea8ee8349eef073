/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tools/hccl_info.c - hccl_info: the support matrix, the decisions, the knobs and the machine, for people and
 * scripts.
 */
#include "info.h"

#include <errno.h>
#include <string.h>

static const info_command_t *const command_table[] = {
    &info_matrix_command, &info_explain_command, &info_config_command,
    &info_topo_command,   &info_version_command,
};
enum {
    COMMANDS = sizeof command_table / sizeof *command_table,
    LABEL_WIDTH = 20,
    ALLOWED_SIZE = 512,
    VALUE_SIZE = 128
};

static const char help_option[] = "help";

static void print_help(void)
{
    puts("usage: hccl_info COMMAND [OPTIONS]\n"
         "       hccl_info COMMAND --help\n\ncommands:");
    for (size_t i = 0; i < COMMANDS; i++) {
        printf("  %-*s%s\n", LABEL_WIDTH, command_table[i]->name, command_table[i]->summary);
    }
}

/* The words that options of explain take, and matrix files are made of. */
static void print_words(void)
{
    const struct {
        const char *label;
        hx_words_t words;
    } list[] = {
        {"operators:", hx_oper_words()},
        {"types:", hx_type_words()},
        {"ops:", hx_redop_words()},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        printf("\n%s", list[i].label);
        for (size_t k = 0; k < list[i].words.count; k++) {
            printf("%s%s", k % 6 ? " " : "\n  ", list[i].words.word[k]);
        }
    }
    putchar('\n');
}

static void print_command_help(const info_command_t *command)
{
    printf("usage: hccl_info %s [OPTIONS]\n%s\n\noptions:\n", command->name, command->summary);
    for (size_t i = 0; i < command->option_count; i++) {
        const info_option_t *option = &command->options[i];
        int width =
            printf("  --%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
        printf("%*s%s\n", LABEL_WIDTH + 2 > width ? LABEL_WIDTH + 2 - width : 1, "", option->help);
    }
    if (command == &info_explain_command) {
        print_words();
    }
}

static int complain_option(const info_command_t *command, const char *text)
{
    const char *name[INFO_MAX_OPTIONS + 1];
    char allowed[ALLOWED_SIZE], shown[VALUE_SIZE];
    hx_words_t words = {name, command->option_count + 1};
    for (size_t i = 0; i < command->option_count; i++) {
        name[i] = command->options[i].name;
    }
    name[command->option_count] = help_option;
    hx_words_join(words, allowed, sizeof allowed);
    hx_printable(text, shown, sizeof shown);
    info_complain(command, "\"%s\" is not an option (nearest: --%s; allowed, after --: %s)", shown,
                  hx_words_nearest(words, shown + strspn(shown, "-")), allowed);
    return INFO_USAGE;
}

/* The option that `text` ("--name" or "--name=value") names; NULL if there is none. *given: what follows "=".
 */
static const info_option_t *find_option(const info_command_t *command, const char *text, const char **given)
{
    if (strncmp(text, "--", 2) != 0) {
        return NULL;
    }
    size_t length = strcspn(text + 2, "=");
    *given = text[2 + length] ? text + 2 + length + 1 : NULL;
    for (size_t i = 0; i < command->option_count; i++) {
        const char *name = command->options[i].name;
        if (strlen(name) == length && strncmp(text + 2, name, length) == 0) {
            return &command->options[i];
        }
    }
    return NULL;
}

/* Fills value[] by option, a flag's with "". The last of several wins. */
static int read_options(const info_command_t *command, char **argument, const char **value)
{
    for (; *argument; argument++) {
        const char *given = NULL;
        const info_option_t *option = find_option(command, *argument, &given);
        if (!option) {
            return complain_option(command, *argument);
        }
        if (!option->value && given) {
            info_complain(command, "--%s takes no value", option->name);
            return INFO_USAGE;
        }
        if (option->value && !given && !(given = *++argument)) {
            info_complain(command, "--%s needs a value %s: %s", option->name, option->value, option->help);
            return INFO_USAGE;
        }
        value[option - command->options] = given ? given : "";
    }
    return INFO_OK;
}

static int run_command(const info_command_t *command, char **argument)
{
    const char *value[INFO_MAX_OPTIONS] = {NULL};
    for (char **each = argument; *each; each++) {
        if (strcmp(*each, "--help") == 0 || strcmp(*each, "-h") == 0) {
            print_command_help(command);
            return INFO_OK;
        }
    }
    int status = read_options(command, argument, value);
    return status == INFO_OK ? command->run(command, value) : status;
}

static int complain_command(const char *name)
{
    const char *known[COMMANDS];
    char allowed[ALLOWED_SIZE], shown[VALUE_SIZE];
    for (size_t i = 0; i < COMMANDS; i++) {
        known[i] = command_table[i]->name;
    }
    hx_words_join(HX_WORDS(known), allowed, sizeof allowed);
    if (name) {
        hx_printable(name, shown, sizeof shown);
        info_complain(NULL, "\"%s\" is not a command (nearest: %s; allowed: %s)", shown,
                      hx_words_nearest(HX_WORDS(known), shown), allowed);
    } else {
        info_complain(NULL, "a command must be given (allowed: %s; see --help)", allowed);
    }
    return INFO_USAGE;
}

/* name NULL: none given. */
static int dispatch(const char *name, char **argument)
{
    if (!name) {
        return complain_command(name);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, help_option) == 0) {
        print_help();
        return INFO_OK;
    }
    if (strcmp(name, "--version") == 0) {
        return run_command(&info_version_command, argument);
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(name, command_table[i]->name) == 0) {
            return run_command(command_table[i], argument);
        }
    }
    return complain_command(name);
}

int main(int argc, char **argv)
{
    int status = dispatch(argc > 1 ? argv[1] : NULL, argv + (argc > 1 ? 2 : 1));
    if (fflush(stdout) != 0 || ferror(stdout)) {
        info_complain(NULL, "standard output: %s", strerror(errno));
        return INFO_FAILED;
    }
    return status;
}
