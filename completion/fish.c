/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Writes completions for fish: one line for each word, with the condition under which it may come.
 */

#include <ctype.h>
#include <string.h>

#include "completion.h"

/* Writes text in single quotes. */
static void put_text(FILE *out, const char *text, int len)
{
    fputc('\'', out);
    for (; len > 0 && *text; text++, len--)
        fprintf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('\'', out);
}

static void put_function(FILE *out, const char *program, const char *rest)
{
    fputs("__fish_", out);
    for (; *program; program++)
        fputc(isalnum((unsigned char)*program) ? *program : '_', out);
    fputs(rest, out);
}

/* Writes two functions: one lists the words of the line except options and their arguments, the
 * other tests the number of words after a command. */
static void put_functions(FILE *out, const char *program)
{
    fputs("function ", out);
    put_function(out, program,
                 "_words\n"
                 "    set -l skip no\n"
                 "    set -l before ''\n"
                 "    set -l line (commandline -opc)\n"
                 "    for word in $line[2..]\n"
                 "        if test $skip = yes\n"
                 "            set skip no\n"
                 "            continue\n"
                 "        end\n"
                 "        switch $word\n");
    bool any = false;
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (strcmp(row->program, program) != 0 || !*row->argument || *row->argument == '[')
            continue;
        fprintf(out, "%s --%s", any ? "" : "            case", row->name);
        if (row->letter)
            fprintf(out, " -%c", row->letter);
        any = true;
    }
    fputs(any ? "\n                set skip yes\n" : "", out);
    fputs("            case '-*'\n"
          "            case '*'\n"
          "                if not contains -- $before -w --watch; or not string match -qr "
          "'^[0-9.]+$' -- $word\n"
          "                    echo $word\n"
          "                end\n"
          "        end\n"
          "        set before $word\n"
          "    end\n"
          "end\n\nfunction ",
          out);
    put_function(out, program, "_at\n    set -l words (");
    put_function(out, program,
                 "_words)\n"
                 "    test (count $words) $argv[1] $argv[2]; or return 1\n"
                 "    test (count $argv) -eq 2; or contains -- $words[1] $argv[3..]\n"
                 "end\n\n");
}

static const char addresses[] =
    "function __fish_nailupctl_addresses\n"
    "    set -l line (commandline -opc)\n"
    "    set -l socket\n"
    "    for i in (seq 2 (count $line))\n"
    "        contains -- $line[(math $i - 1)] -s --socket; and set socket -s $line[$i]\n"
    "    end\n"
    "    timeout 2 $line[1] $socket --json connections 2>/dev/null |\n"
    "        string match -ra '\"upstream\": \"[0-9a-f.:]+' | string split -f 4 '\"' | sort -u\n"
    "end\n\n";

static void put_candidates(FILE *out, const struct argument *argument)
{
    switch (argument->kind) {
    case ARGUMENT_FILE:
        fputs(" -F", out);
        break;
    case ARGUMENT_WORDS:
        fprintf(out, " -a '%s'", argument->words);
        break;
    case ARGUMENT_PREFIX:
        fputs(" -a '(__fish_nailupctl_addresses)'", out);
        break;
    case ARGUMENT_OTHER:
        break;
    }
}

/* Writes -n '...' with a comparison of the number of words, and a command unless it is "". */
static void put_condition(FILE *out, const char *program, const char *compare, size_t count,
                          const char *command)
{
    fputs(" -n '", out);
    put_function(out, program, "_at");
    fprintf(out, " %s %zu%s%s'", compare, count, *command ? " " : "", command);
}

static void put_option(FILE *out, const struct option_row *row)
{
    struct argument argument;

    fprintf(out, "complete -c %s", row->program);
    if (*row->command)
        put_condition(out, row->program, "-ge", 1, row->command);
    if (row->letter)
        fprintf(out, " -s %c", row->letter);
    fprintf(out, " -l %s", row->name);
    if (*row->argument && *row->argument != '[') {
        argument_read(&argument, row->argument, strlen(row->argument));
        fputs(argument.kind == ARGUMENT_FILE ? " -r" : " -x", out);
        put_candidates(out, &argument);
    }
    fputs(" -d ", out);
    put_text(out, row->sentence, 1000);
    fputc('\n', out);
}

static void put_command(FILE *out, const struct command_row *row)
{
    struct argument arguments[ARGUMENTS_MAX];
    size_t count = arguments_read(arguments, row->arguments);

    fprintf(out, "complete -c %s", row->program);
    put_condition(out, row->program, "-eq", 0, "");
    fprintf(out, " -a %s -d ", row->name);
    put_text(out, row->sentence, clause_len(row->sentence));
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].kind == ARGUMENT_OTHER)
            continue;
        fprintf(out, "complete -c %s", row->program);
        put_condition(out, row->program, arguments[i].is_repeated ? "-ge" : "-eq", i + 1,
                      row->name);
        put_candidates(out, &arguments[i]);
        fputc('\n', out);
    }
}

void fish_write(FILE *out, const char *program)
{
    fprintf(out, "# Completion of %s for fish; made from tables, do not edit.\n\n", program);
    put_functions(out, program);
    if (strcmp(program, "nailupctl") == 0)
        fputs(addresses, out);
    fprintf(out, "complete -c %s -f\n", program);
    for (size_t i = 0; i < option_count; i++) {
        if (strcmp(option_rows[i].program, program) == 0)
            put_option(out, &option_rows[i]);
    }
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(command_rows[i].program, program) == 0)
            put_command(out, &command_rows[i]);
    }
}
