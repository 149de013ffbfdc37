/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Writes completions for bash. They use only the directory of the package bash-completion, none of
 * its code. The line is split at blanks, not at COMP_WORDBREAKS, so that an address with ':' and
 * '@' is one word.
 */

#include <ctype.h>
#include <string.h>

#include "completion.h"

/* Writes a program's name as part of a function's name. */
static void put_function(FILE *out, const char *program, const char *rest)
{
    fputc('_', out);
    for (; *program; program++)
        fputc(isalnum((unsigned char)*program) ? *program : '_', out);
    fputs(rest, out);
}

/* ---- the possible words ---- */

static void put_candidates(FILE *out, const struct argument *argument)
{
    switch (argument->kind) {
    case ARGUMENT_FILE:
        fputs("kind=files", out);
        break;
    case ARGUMENT_WORDS:
        fprintf(out, "found='%s'", argument->words);
        break;
    case ARGUMENT_PREFIX:
        fputs("found=$(_nailupctl_addresses \"${words[@]}\")", out);
        break;
    case ARGUMENT_OTHER:
        fputc(':', out);
        break;
    }
}

static void put_option_names(FILE *out, const char *program, const char *command)
{
    for (size_t i = 0; i < option_count; i++) {
        if (option_belongs_to(&option_rows[i], program, command))
            fprintf(out, "--%s ", option_rows[i].name);
    }
}

/* Writes a pattern of the options that take an argument, for a program and its commands. */
static void put_taking(FILE *out, const char *program)
{
    bool any = false;
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (strcmp(row->program, program) != 0 || !*row->argument || *row->argument == '[')
            continue;
        fprintf(out, "%s--%s", any ? " | " : "", row->name);
        if (row->letter)
            fprintf(out, " | -%c", row->letter);
        any = true;
    }
    fputs(any ? "" : "''", out);
}

/* Writes one case for each option that takes an argument; the pattern is "COMMAND OPTION". */
static void put_option_cases(FILE *out, const char *program)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        struct argument argument;
        if (strcmp(row->program, program) != 0 || !*row->argument || *row->argument == '[')
            continue;
        const char *command = *row->command ? row->command : "*";
        argument_read(&argument, row->argument, strlen(row->argument));
        fprintf(out, "            %s' '--%s", command, row->name);
        if (row->letter)
            fprintf(out, " | %s' '-%c", command, row->letter);
        fputs(") ", out);
        put_candidates(out, &argument);
        fputs(" ;;\n", out);
    }
}

/* Writes one case for each argument of a command; the pattern is "COMMAND NUMBER". */
static void put_argument_cases(FILE *out, const char *program)
{
    for (size_t i = 0; i < command_count; i++) {
        struct argument arguments[ARGUMENTS_MAX];
        size_t count;
        if (strcmp(command_rows[i].program, program) != 0)
            continue;
        count = arguments_read(arguments, command_rows[i].arguments);
        for (size_t nth = 0; nth < count; nth++) {
            if (arguments[nth].kind == ARGUMENT_OTHER)
                continue;
            if (arguments[nth].is_repeated)
                fprintf(out, "            %s' '*) ", command_rows[i].name);
            else
                fprintf(out, "            %s' '%zu) ", command_rows[i].name, nth);
            put_candidates(out, &arguments[nth]);
            fputs(" ;;\n", out);
        }
    }
}

static void put_command_options(FILE *out, const char *program)
{
    fprintf(out, "        case $command in\n");
    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_rows[i].name;
        if (strcmp(command_rows[i].program, program) != 0)
            continue;
        bool any = false;
        for (size_t k = 0; k < option_count; k++)
            any = any || option_belongs_to(&option_rows[k], program, name);
        if (!any)
            continue;
        fprintf(out, "            %s) found='", name);
        put_option_names(out, program, name);
        fputs("' ;;\n", out);
    }
    fputs("            *) found='", out);
    put_option_names(out, program, "");
    fputs("' ;;\n        esac\n", out);
}

/* ---- the file ---- */

/* Completes addresses of upstreams of the daemon whose socket the line names. Lets only characters
 * of addresses through, because compgen expands its input, commands included. */
static const char addresses[] =
    "_nailupctl_addresses()\n"
    "{\n"
    "    local socket= word before=\n"
    "    for word; do\n"
    "        case $before in -s | --socket) socket=$word ;; esac\n"
    "        case $word in --socket=*) socket=${word#*=} ;; esac\n"
    "        before=$word\n"
    "    done\n"
    "    timeout 2 \"${words[0]}\" ${socket:+-s \"$socket\"} --json connections 2>/dev/null |\n"
    "        grep -oE '\"upstream\": \"[0-9a-f.:]+' | cut -d '\"' -f 4 | sort -u\n"
    "}\n\n";

static const char split_line[] =
    "    local line=${COMP_LINE:0:COMP_POINT} cur= option= command= found= kind=\n"
    "    local -a words=()\n"
    "    local i count=0\n"
    "    COMPREPLY=()\n"
    "    read -ra words <<<\"$line\"\n"
    "    case $line in\n"
    "        *[[:blank:]]) ;;\n"
    "        *) cur=${words[-1]} && unset 'words[-1]' ;;\n"
    "    esac\n"
    "    for ((i = 1; i < ${#words[@]}; i++)); do\n"
    "        if [[ -n $option ]]; then\n"
    "            option=\n"
    "            continue\n"
    "        fi\n"
    "        case ${words[i]} in\n";

static const char split_rest[] =
    ") option=${words[i]} ;;\n"
    "            -*) ;;\n"
    "            *)\n"
    "                if [[ ${words[i - 1]} == @(-w|--watch) && ${words[i]} =~ ^[0-9.]+$ ]]; then\n"
    "                    :\n"
    "                elif [[ -z $command ]]; then\n"
    "                    command=${words[i]}\n"
    "                else\n"
    "                    count=$((count + 1))\n"
    "                fi\n"
    "                ;;\n"
    "        esac\n"
    "    done\n"
    "    if [[ -z $option && $cur == --*=* ]]; then\n"
    "        option=${cur%%=*}\n"
    "        cur=${cur#*=}\n"
    "    fi\n"
    "    if [[ -n $option ]]; then\n"
    "        case \"$command $option\" in\n";

/* Removes the text up to the last of bash's own word breaks, which the line already has. */
static const char reply[] = "    if [[ $kind == files ]]; then\n"
                            "        compopt -o filenames 2>/dev/null\n"
                            "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                            "    else\n"
                            "        mapfile -t COMPREPLY < <(compgen -W \"$found\" -- \"$cur\")\n"
                            "    fi\n"
                            "    local there=${cur%\"${cur##*[:@]}\"}\n"
                            "    COMPREPLY=(\"${COMPREPLY[@]#\"$there\"}\")\n"
                            "}\n";

static void put_commands(FILE *out, const char *program)
{
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(command_rows[i].program, program) == 0)
            fprintf(out, "%s ", command_rows[i].name);
    }
}

void bash_write(FILE *out, const char *program)
{
    fprintf(out, "# Completion of %s for bash; made from tables, do not edit.\n\n", program);
    if (strcmp(program, "nailupctl") == 0)
        fputs(addresses, out);
    put_function(out, program, "()\n{\n");
    fputs(split_line, out);
    fputs("            ", out);
    put_taking(out, program);
    fputs(split_rest, out);
    put_option_cases(out, program);
    fputs("        esac\n    elif [[ $cur == -* ]]; then\n", out);
    put_command_options(out, program);
    fputs("    elif [[ -z $command ]]; then\n        found='", out);
    put_commands(out, program);
    fputs("'\n    else\n        case \"$command $count\" in\n", out);
    put_argument_cases(out, program);
    fputs("            *) ;;\n        esac\n    fi\n", out);
    fputs(reply, out);
    fputs("\ncomplete -F ", out);
    put_function(out, program, "");
    fprintf(out, " %s\n", program);
}
