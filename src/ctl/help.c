/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The tables of include/nailup, as far as a client needs them. */

#include "ctl/help.h"

#include <string.h>

#include "base/check.h"
#include "nailup/control.h"

static const struct command {
    const char *verb, *arguments, *sentence;
} commands[] = {
#define COMMAND(verb, arguments, handler, sentence) {verb, arguments, sentence},
#include "nailup/commands.def"
};

const char help_reply[] = "ok\n"
                          "table\tcommands\n"
                          "columns\tcommand:text\targuments:text\tsentence:text\n"
#define COMMAND(verb, arguments, handler, sentence) "row\t" verb "\t" arguments "\t" sentence "\n"
#include "nailup/commands.def"
                          "end\n";

static const struct {
    const char *path, *default_text;
} defaults[] = {
#define OPTION(struct_tag, path, kind, field, default_text, min, max, unit, apply, sentence)       \
    {path, default_text},
#include "nailup/options.def"
};

enum { LINE_WIDTH = 79, INDENT = 4 };

const char *help_default_socket(void)
{
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        if (strcmp(defaults[i].path, "control.socket") == 0)
            return defaults[i].default_text;
    }
    return "";
}

void help_print_usage(FILE *out)
{
    fputs("usage: nailupctl [-s SOCKET] [--json] COMMAND [ARGUMENT ...]\n"
          "       nailupctl help | -h | -V\n",
          out);
}

static void print_wrapped(const char *text, FILE *out)
{
    int column = 0;

    while (*text) {
        int len = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + len > LINE_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%*s%.*s", column ? 1 : INDENT, "", len, text);
        text += len;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void help_print(FILE *out)
{
    help_print_usage(out);
    fprintf(out,
            "  -s, --socket SOCKET  the daemon's control.socket; else %s\n"
            "  -j, --json           print JSON\n"
            "  -h, --help           print this\n"
            "  -V, --version        print the version\n"
            "\nCommands:\n",
            help_default_socket());
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        fprintf(out, "  %s%s%s\n", commands[i].verb, *commands[i].arguments ? " " : "",
                commands[i].arguments);
        print_wrapped(commands[i].sentence, out);
    }
}

static const struct command *find(const char *verb)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].verb, verb) == 0)
            return &commands[i];
    }
    return NULL;
}

/* A word that is empty or has a tab or newline would be another request on the wire. */
static bool is_word(const char *word)
{
    for (const char *p = word; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return false;
    }
    return *word != '\0';
}

bool help_check(int count, char *const words[])
{
    const struct command *command = count > 0 ? find(words[0]) : NULL;
    int least, most;

    if (count == 0) {
        help_print_usage(stderr);
        return false;
    }
    if (!command) {
        fprintf(stderr, "nailupctl: no such command: %s; 'nailupctl help' lists them\n", words[0]);
        return false;
    }
    control_argument_counts(command->arguments, &least, &most);
    bool fits = count - 1 >= least && count - 1 <= most;
    for (int i = 1; i < count; i++)
        fits = fits && is_word(words[i]);
    if (!fits)
        fprintf(stderr, "usage: nailupctl %s%s%s\n", command->verb, *command->arguments ? " " : "",
                command->arguments);
    return fits;
}
