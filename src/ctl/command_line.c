/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads options. They are rows of programs.def; this file gives them their meaning. */

#include "ctl/command_line.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "ctl/help.h"
#include "ctl/watch.h"

enum { OPTIONS_MAX = 20, COMMAND_LINE_WIDTH_MAX = 10000 };

static const struct {
    const char *program, *name, *argument;
    int letter;
} rows[] = {
#define PROGRAM_OPTION(program, command, name, letter, argument, sentence)                         \
    {program, name, argument, letter},
#include "nailup/programs.def"
};

/* The options in the form that getopt_long() needs. */
struct getopt_options {
    struct option names[OPTIONS_MAX];
    char letters[3 * OPTIONS_MAX];
};

static int option_argument_mode(const char *argument)
{
    if (!*argument)
        return no_argument;
    return *argument == '[' ? optional_argument : required_argument;
}

static void command_line_list_options(struct getopt_options *out)
{
    static const char *const colons[] = {
        [no_argument] = "", [required_argument] = ":", [optional_argument] = "::"};
    size_t count = 0, len = 0;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].program, "nailupctl") != 0)
            continue;
        MUST(count + 1 < OPTIONS_MAX);
        int has = option_argument_mode(rows[i].argument);
        out->names[count++] = (struct option){rows[i].name, has, NULL, rows[i].letter};
        len += (size_t)snprintf(out->letters + len, sizeof(out->letters) - len, "%c%s",
                                rows[i].letter, colons[has]);
    }
}

/* Whether the word is a decimal number. Words such as nan and inf are names. */
static bool command_line_is_number(const char *word)
{
    char *end;
    if (word[strspn(word, "+-.0123456789eE")])
        return false;
    (void)strtod(word, &end);
    return end != word && !*end;
}

/* The seconds may be the next word, if that is a number: no command is one. */
static bool command_line_read_period(struct command_line *line, int argc, char **argv)
{
    line->watch = true;
    const char *seconds = optarg;
    if (!seconds && optind < argc && command_line_is_number(argv[optind]))
        seconds = argv[optind++];
    if (!seconds || watch_parse_period(seconds, &line->period_us))
        return true;
    fprintf(stderr, "nailupctl: '%s' is not a period; write seconds from 0.1 to 3600\n", seconds);
    return false;
}

static bool is_verb(const struct command_line *line, const char *verb)
{
    return line->count > 0 && strcmp(line->words[0], verb) == 0;
}

/* Turns the words into trace NAME [TYPE] [fresh]. */
static bool command_line_make_trace(struct command_line *line, bool trace, bool fresh)
{
    static char verb[] = "trace", word[] = "fresh";
    if (!trace && !fresh)
        return true;
    bool is_lookup = trace && is_verb(line, "lookup");
    if (!is_lookup && !is_verb(line, "trace")) {
        fputs("nailupctl: --trace and --fresh belong to lookup: lookup --trace [--fresh] NAME "
              "[TYPE]\n",
              stderr);
        return false;
    }
    if (line->count + fresh > COMMAND_LINE_TRACE_WORDS) {
        fputs("usage: nailupctl lookup --trace [--fresh] NAME [TYPE]\n", stderr);
        return false;
    }
    for (int i = 0; i < line->count; i++)
        line->traced[i] = i ? line->words[i] : verb;
    if (fresh)
        line->traced[line->count++] = word;
    line->words = line->traced;
    return true;
}

/* Turns lookup NAME [TYPE] into lookup NAME TYPE CLIENT [VIEW]. */
static bool command_line_make_client(struct command_line *line, char *client, char *view)
{
    static char type[] = "A", any_client[] = "127.0.0.1";
    if (!client && !view)
        return true;
    if (!is_verb(line, "lookup") || line->count < 2 || line->count > 3) {
        fputs("nailupctl: --client and --view belong to lookup: lookup [--client CLIENT] [--view "
              "VIEW] NAME [TYPE]\n",
              stderr);
        return false;
    }
    for (int i = 0; i < line->count; i++)
        line->traced[i] = line->words[i];
    if (line->count == 2)
        line->traced[2] = type;
    line->traced[3] = client ? client : any_client;
    line->traced[4] = view;
    line->count = view ? 5 : 4;
    line->words = line->traced;
    return true;
}

/* Turns status --check into check. */
static bool command_line_make_check(struct command_line *line, bool check)
{
    static char verb[] = "check";
    if (check && !is_verb(line, "status") && !is_verb(line, verb)) {
        fputs("nailupctl: --check belongs to status: status --check [--require-upstream]\n",
              stderr);
        return false;
    }
    if (check && line->count == 1) {
        line->traced[0] = verb;
        line->words = line->traced;
    }
    if (line->require_upstream && !is_verb(line, verb)) {
        fputs("nailupctl: --require-upstream belongs to status --check\n", stderr);
        return false;
    }
    return true;
}

static bool command_line_read_width(struct command_line *line)
{
    char *end;
    line->width = strtol(optarg, &end, 10);
    if (end != optarg && *end == '\0' && line->width >= 0 && line->width <= COMMAND_LINE_WIDTH_MAX)
        return true;
    fprintf(stderr, "nailupctl: '%s' is not a width; write 0 to %d\n", optarg,
            COMMAND_LINE_WIDTH_MAX);
    return false;
}

static bool command_line_read_worker(struct command_line *line)
{
    line->shape.worker = optarg;
    if (shape_is_worker(optarg))
        return true;
    fprintf(stderr, "nailupctl: '%s' is not a worker; write its number, all or sum\n", optarg);
    return false;
}

static bool command_line_read_colour(struct command_line *line)
{
    static const char *const words[] = {"auto", "always", "never"};
    line->colour = optarg;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(optarg, words[i]) == 0)
            return true;
    fprintf(stderr, "nailupctl: --color takes auto, always or never\n");
    return false;
}

/* How the answer is shown. False: not such an option, or a wrong value. */
static bool command_line_read_show(struct command_line *line, int option)
{
    switch (option) {
    case 'W':
        return command_line_read_worker(line);
    case 'S':
        line->shape.sort = optarg;
        return true;
    case 'r':
        line->rates = true;
        return true;
    case 'C':
        return command_line_read_colour(line);
    case 'L':
        return command_line_read_width(line);
    default:
        return false;
    }
}

/* People see the sum of the workers, and programs every row, unless an option chooses other
 * rows. */
static bool command_line_make_shape(struct command_line *line)
{
    bool has_workers = line->count > 0 && shape_has_workers(line->words[0]);
    if (line->shape.worker && !has_workers) {
        fputs("nailupctl: --worker belongs to upstreams and connections\n", stderr);
        return false;
    }
    if (has_workers && !line->shape.worker)
        line->shape.worker = line->json ? "all" : "sum";
    return true;
}

enum command_line_wish command_line_parse(struct command_line *out, int argc, char **argv)
{
    struct getopt_options options;
    bool trace = false, fresh = false, check = false;
    char *client = NULL, *view = NULL;

    *out = (struct command_line){.socket = help_default_socket(),
                                 .period_us = WATCH_PERIOD_US,
                                 .colour = "auto",
                                 .width = -1};
    command_line_list_options(&options);
    for (int option;
         (option = getopt_long(argc, argv, options.letters, options.names, NULL)) != -1;) {
        if (option == 's')
            out->socket = optarg;
        else if (option == 'j')
            out->json = true;
        else if (option == 't')
            trace = true;
        else if (option == 'f')
            fresh = true;
        else if (option == 'c')
            check = true;
        else if (option == 'A')
            client = optarg;
        else if (option == 'N')
            view = optarg;
        else if (option == 'u')
            out->require_upstream = true;
        else if (option == 'h')
            return WISH_HELP;
        else if (option == 'V')
            return WISH_VERSION;
        else if (option == 'w' ? !command_line_read_period(out, argc, argv)
                               : !command_line_read_show(out, option))
            return WISH_WRONG;
    }
    out->count = argc - optind;
    out->words = argv + optind;
    bool is_right = command_line_make_client(out, client, view) &&
                    command_line_make_trace(out, trace, fresh) &&
                    command_line_make_check(out, check) && command_line_make_shape(out);
    return is_right ? WISH_COMMAND : WISH_WRONG;
}
