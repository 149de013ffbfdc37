/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Writes completions for zsh: specifications of _arguments, in single quotes. */

#include <string.h>

#include "completion.h"

/* Writes text inside single quotes, where _arguments gives : [ ] and \ a special meaning. */
static void put_text(FILE *out, const char *text, int len)
{
    for (; len > 0 && *text; text++, len--) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr(":[]\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

/* ":NAME:ACTION" */
static void put_action(FILE *out, const struct argument *argument)
{
    fputc(':', out);
    put_text(out, strchr(argument->name, '|') ? "value" : argument->name, 100);
    switch (argument->kind) {
    case ARGUMENT_FILE:
        fputs(":_files", out);
        break;
    case ARGUMENT_WORDS:
        fprintf(out, ":(%s)", argument->words);
        break;
    case ARGUMENT_PREFIX:
        fputs(":_nailupctl_addresses", out);
        break;
    case ARGUMENT_OTHER:
        fputs(": ", out);
        break;
    }
}

static void put_option(FILE *out, const struct option_row *row)
{
    struct argument argument;
    const char *joint = *row->argument == '[' ? "=-" : *row->argument ? "=" : "";

    fputs("        ", out);
    if (row->letter)
        fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter,
                *row->argument == '[' ? "-"
                : *row->argument      ? "+"
                                      : "",
                row->name, joint);
    else
        fprintf(out, "'--%s%s[", row->name, joint);
    put_text(out, row->sentence, 1000);
    fputc(']', out);
    if (*row->argument) {
        argument_read(&argument, row->argument, strlen(row->argument));
        if (argument.is_optional)
            fputc(':', out);
        put_action(out, &argument);
    }
    fputs("'\n", out);
}

static void put_options(FILE *out, const char *program, const char *command)
{
    for (size_t i = 0; i < option_count; i++) {
        if (option_belongs_to(&option_rows[i], program, command))
            put_option(out, &option_rows[i]);
    }
}

static void put_commands(FILE *out, const char *program)
{
    fputs("    commands=(\n", out);
    for (size_t i = 0; i < command_count; i++) {
        const struct command_row *row = &command_rows[i];
        if (strcmp(row->program, program) != 0)
            continue;
        fprintf(out, "        '%s:", row->name);
        put_text(out, row->sentence, clause_len(row->sentence));
        fputs("'\n", out);
    }
    fputs("    )\n", out);
}

static bool has_options(const char *program, const char *command)
{
    for (size_t i = 0; i < option_count; i++) {
        if (option_belongs_to(&option_rows[i], program, command))
            return true;
    }
    return false;
}

/* Writes the arguments and options of a command; a command that has no options gets those of
 * the program. */
static void put_command(FILE *out, const struct command_row *row)
{
    struct argument arguments[ARGUMENTS_MAX];
    size_t count = arguments_read(arguments, row->arguments);

    fprintf(out, "                %s)\n", row->name);
    if (has_options(row->program, row->name)) {
        fputs("                    options=(\n", out);
        put_options(out, row->program, row->name);
        fputs("                    )\n", out);
    }
    fputs("                    _arguments -s -S $options", out);
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].is_repeated)
            fputs(" '*", out);
        else
            fprintf(out, " '%zu%s", i + 1, arguments[i].is_optional ? ":" : "");
        put_action(out, &arguments[i]);
        fputc('\'', out);
    }
    fputs(" && return\n                    ;;\n", out);
}

static const char addresses[] =
    "_nailupctl_addresses()\n"
    "{\n"
    "    local -a found socket\n"
    "    [[ -n $given ]] && socket=(-s ${(Q)given})\n"
    "    found=(${(fu)\"$(timeout 2 $nailupctl $socket --json connections 2>/dev/null |\n"
    "        grep -oE '\"upstream\": \"[0-9a-f.:]+' | cut -d '\"' -f 4)\"})\n"
    "    compadd -a found\n"
    "}\n\n";

void zsh_write(FILE *out, const char *program)
{
    bool has_commands = false;

    for (size_t i = 0; i < command_count; i++)
        has_commands = has_commands || strcmp(command_rows[i].program, program) == 0;
    fprintf(out, "#compdef %s\n# Completion for zsh; made from tables, do not edit.\n\n", program);
    if (strcmp(program, "nailupctl") == 0)
        fputs(addresses, out);
    fprintf(out,
            "_%s()\n{\n    local -a options commands\n    local context state state_descr line\n"
            "    local nailupctl=${(Q)words[1]}\n"
            "    typeset -A opt_args\n    options=(\n",
            program);
    put_options(out, program, "");
    fputs("    )\n", out);
    if (!has_commands) {
        fputs("    _arguments -s -S $options\n}\n\n", out);
    } else {
        put_commands(out, program);
        fputs("    _arguments -s -S $options '1:command:->command' '*::argument:->argument' && "
              "return\n"
              "    local given=${opt_args[-s]:-${opt_args[--socket]}}\n"
              "    case $state in\n"
              "        command) _describe -t commands command commands && return ;;\n"
              "        argument)\n"
              "            case $words[1] in\n",
              out);
        for (size_t i = 0; i < command_count; i++) {
            if (strcmp(command_rows[i].program, program) == 0)
                put_command(out, &command_rows[i]);
        }
        fputs("            esac\n            ;;\n    esac\n    return 1\n}\n\n", out);
    }
    fprintf(out, "_%s \"$@\"\n", program);
}
