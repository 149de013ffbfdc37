/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* nailupctl: sends one command to the running daemon. nailupctl(8) lists the exit codes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ask.h"
#include "ctl/command_line.h"
#include "ctl/help.h"
#include "ctl/watch.h"
#include "nailup/version.h"

static int main_run_once(const struct ask *ask)
{
    struct parsed_reply answer;
    char why[ASK_WHY_MAX];
    bool is_text;
    int code = ask_once(ask, &answer, &is_text, why);

    if (code == EXIT_NO_DAEMON) {
        fprintf(stderr, "nailupctl: %s\n", why);
        return code;
    }
    if (is_text)
        return ask_end_output();
    code = ask_print(&answer, ask->json);
    if (code == EXIT_DONE)
        code = ask_verdict(&answer, ask->require_upstream);
    answer_deinit(&answer);
    return code;
}

/* Prints the help, without a daemon. */
static int main_help(bool json)
{
    char *text = json ? strdup(help_reply) : NULL;
    struct parsed_reply answer;

    if (text && answer_parse(&answer, text, strlen(help_reply)) == ERR_OK) {
        int code = ask_print(&answer, true);
        answer_deinit(&answer);
        return code;
    }
    help_print(stdout);
    return ask_end_output();
}

static int main_run(const struct command_line *line)
{
    struct ask ask = {.socket = line->socket,
                      .json = line->json,
                      .count = line->count,
                      .words = line->words,
                      .require_upstream = line->require_upstream};

    if (!help_check(line->count, line->words))
        return EXIT_USAGE;
    if (line->watch && !help_check_watch(line->words[0]))
        return EXIT_USAGE;
    if (strcmp(line->words[0], "help") == 0)
        return main_help(line->json);
    return line->watch ? watch_run(&ask, line->period_us) : main_run_once(&ask);
}

int main(int argc, char **argv)
{
    struct command_line line;

    switch (command_line_parse(&line, argc, argv)) {
    case WISH_COMMAND:
        return main_run(&line);
    case WISH_HELP:
        help_print(stdout);
        return ask_end_output();
    case WISH_VERSION:
        puts("nailupctl " NAILUP_VERSION);
        return ask_end_output();
    case WISH_WRONG:
        break;
    }
    help_print_usage(stderr);
    return EXIT_USAGE;
}
