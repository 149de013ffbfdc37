/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* nailupctl: sends one command to the running daemon. nailupctl(8) lists the exit codes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/ask.h"
#include "ctl/colour.h"
#include "ctl/command_line.h"
#include "ctl/help.h"
#include "ctl/rates.h"
#include "ctl/screen.h"
#include "ctl/watch.h"
#include "nailup/version.h"

/* Between the two answers of --rates. */
#define RATES_US 1000000

/* Takes the answer that rates are compared with, and waits. False: no answer came. */
static bool main_ask_before(const struct ask *ask, struct parsed_reply *out)
{
    const struct timespec second = {.tv_nsec = 0, .tv_sec = RATES_US / 1000000};
    char why[ASK_WHY_MAX];
    bool is_text;
    if (ask_once(ask, out, &is_text, why) != EXIT_DONE || is_text)
        return false;
    shape_workers(&ask->shape, out);
    nanosleep(&second, NULL);
    return true;
}

/* Prints the answer in its shape. */
static int main_show(const struct ask *ask, struct parsed_reply *answer)
{
    char why[ASK_WHY_MAX];
    if (!shape_order(&ask->shape, answer, why, sizeof(why))) {
        fprintf(stderr, "nailupctl: %s\n", why);
        return EXIT_USAGE;
    }
    int code = ask_print(ask, answer);
    return code == EXIT_DONE ? ask_verdict(answer, ask->require_upstream) : code;
}

static int main_run_once(const struct ask *ask, bool rates)
{
    struct parsed_reply answer, before = {0};
    char why[ASK_WHY_MAX];
    bool is_text, has_before = rates && main_ask_before(ask, &before);
    int code = ask_once(ask, &answer, &is_text, why);

    if (code == EXIT_NO_DAEMON) {
        fprintf(stderr, "nailupctl: %s\n", why);
    } else if (is_text) {
        code = ask_end_output();
    } else {
        shape_workers(&ask->shape, &answer);
        if (has_before)
            rates_add(&answer, &before, RATES_US);
        code = main_show(ask, &answer);
        answer_deinit(&answer);
    }
    if (has_before)
        answer_deinit(&before);
    return code;
}

/* Prints the help, without a daemon. */
static int main_help(bool json)
{
    char *text = json ? strdup(help_reply) : NULL;
    struct parsed_reply answer;

    if (text && answer_parse(&answer, text, strlen(help_reply)) == ERR_OK) {
        int code = ask_print(&(struct ask){.json = true}, &answer);
        answer_deinit(&answer);
        return code;
    }
    help_print(stdout);
    return ask_end_output();
}

/* The width for lists: as given, or the terminal's; 0: any width. */
static unsigned main_width(long given)
{
    return given >= 0 ? (unsigned)given : screen_width();
}

static int main_run(const struct command_line *line)
{
    struct ask ask = {.socket = line->socket,
                      .json = line->json,
                      .count = line->count,
                      .words = line->words,
                      .require_upstream = line->require_upstream,
                      .shape = line->shape,
                      .style = {.width = main_width(line->width),
                                .colour = colour_is_wanted(line->colour, stdout)}};
    char why[ASK_WHY_MAX];

    if (!help_check(line->count, line->words))
        return EXIT_USAGE;
    if ((line->watch || line->rates) && !help_check_watch(line->words[0]))
        return EXIT_USAGE;
    if (strcmp(line->words[0], "help") == 0)
        return main_help(line->json);
    if (!ask_has_worker(&ask, why)) {
        fprintf(stderr, "nailupctl: %s\n", why);
        return EXIT_USAGE;
    }
    return line->watch ? watch_run(&ask, line->period_us) : main_run_once(&ask, line->rates);
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
