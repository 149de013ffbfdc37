/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The tables of include/nailup that a client needs. */

#include "ctl/help.h"

#include <string.h>

#include "base/check.h"
#include "base/suggest.h"
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

static const struct {
    const char *program, *name, *argument, *sentence;
    char letter;
} options[] = {
#define PROGRAM_OPTION(program, command, name, letter, argument, sentence)                         \
    {program, name, argument, sentence, letter},
#include "nailup/programs.def"
};

static const char *const watched[] = {CONTROL_WATCHED};

enum { LINE_WIDTH = 79, INDENT = 4, OPTION_WIDTH = 23 };

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
    fputs("usage: nailupctl [-s SOCKET] [--json] [--watch [SECONDS]] COMMAND [ARGUMENT ...]\n"
          "       nailupctl lookup --trace [--fresh] [--view VIEW] NAME [TYPE]\n"
          "       nailupctl lookup [--client CLIENT] [--view VIEW] NAME [TYPE]\n"
          "       nailupctl status --check [--require-upstream]\n"
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

static void print_options(FILE *out)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        char text[64];
        if (strcmp(options[i].program, "nailupctl") != 0)
            continue;
        snprintf(text, sizeof(text), "-%c, --%s%s%s", options[i].letter, options[i].name,
                 *options[i].argument ? " " : "", options[i].argument);
        fprintf(out, "  %-*s  %s\n", OPTION_WIDTH, text, options[i].sentence);
    }
}

static void print_watched(FILE *out)
{
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        fprintf(out, "%s%s", i ? " " : "", watched[i]);
    fputc('\n', out);
}

void help_print(FILE *out)
{
    help_print_usage(out);
    print_options(out);
    fprintf(out, "Without -s the socket is %s. --watch supports: ", help_default_socket());
    print_watched(out);
    fputs("\nCommands:\n", out);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        fprintf(out, "  %s%s%s\n", commands[i].verb, *commands[i].arguments ? " " : "",
                commands[i].arguments);
        print_wrapped(commands[i].sentence, out);
    }
}

static const struct command *help_find(const char *verb)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].verb, verb) == 0)
            return &commands[i];
    }
    return NULL;
}

/* An empty word, or one with a tab or newline, would change the request on the wire. */
static bool help_is_word(const char *word)
{
    for (const char *p = word; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return false;
    }
    return *word != '\0';
}

static void help_print_unknown(const char *verb)
{
    struct suggestion suggestion;

    suggest_init(&suggestion, verb);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        suggest_offer(&suggestion, commands[i].verb);
    fprintf(stderr, "nailupctl: no such command: %s; ", verb);
    if (suggestion.word)
        fprintf(stderr, "did you mean '%s'?\n", suggestion.word);
    else
        fputs("'nailupctl help' lists them\n", stderr);
}

bool help_check_watch(const char *verb)
{
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        if (strcmp(watched[i], verb) == 0)
            return true;
    }
    fprintf(stderr, "nailupctl: --watch does not support %s; it supports: ", verb);
    print_watched(stderr);
    return false;
}

bool help_check(int count, char *const words[])
{
    const struct command *command = count > 0 ? help_find(words[0]) : NULL;
    int at_least, at_most;

    if (count == 0) {
        help_print_usage(stderr);
        return false;
    }
    if (!command) {
        help_print_unknown(words[0]);
        return false;
    }
    control_argument_counts(command->arguments, &at_least, &at_most);
    bool fits = count - 1 >= at_least && count - 1 <= at_most;
    for (int i = 1; i < count; i++)
        fits = fits && help_is_word(words[i]);
    if (!fits)
        fprintf(stderr, "usage: nailupctl %s%s%s\n", command->verb, *command->arguments ? " " : "",
                command->arguments);
    return fits;
}
