/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* nailupctl: one command to the running daemon. Exit codes as in nailupctl(8). */

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/answer.h"
#include "ctl/client.h"
#include "ctl/help.h"
#include "ctl/print.h"
#include "nailup/version.h"

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_DAEMON = 3 };

struct command_line {
    const char *socket;
    bool json;
};

static const struct option options[] = {
    {"socket", required_argument, NULL, 's'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static int end_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    fputs("nailupctl: the answer could not be written\n", stderr);
    return EXIT_REFUSED;
}

/* Errors of a file as it writes them: FILE:LINE:COLUMN first, for editors to find. */
static void print_refusal(const struct answer *answer)
{
    fprintf(stderr, "nailupctl: refused: %s\n", answer->refused);
    for (size_t i = 0; i < answer->table_count; i++) {
        const struct table *table = &answer->tables[i];
        for (size_t row = 0; row < table->row_count; row++)
            fprintf(stderr, "%s\n", table->cells[row * table->column_count]);
        if (table->cut)
            fprintf(stderr, "and %s more\n", table->cut);
    }
}

static int print_answer(const struct answer *answer, bool json)
{
    if (answer->refused) {
        print_refusal(answer);
        return EXIT_REFUSED;
    }
    if (json)
        print_json(answer, stdout);
    else
        print_text(answer, stdout);
    return end_output();
}

/* Takes the text. */
static int print_reply(const struct command_line *line, char *text, size_t len)
{
    struct answer answer;

    if (answer_parse(&answer, text, len)) {
        fprintf(stderr, "nailupctl: %s: the reply is not whole or not nailupd's\n", line->socket);
        return EXIT_NO_DAEMON;
    }
    int code = print_answer(&answer, line->json);
    answer_deinit(&answer);
    return code;
}

static int ask(const struct command_line *line, int count, char *const words[])
{
    char why[512];
    char *text = NULL;
    size_t len = 0;

    struct client_streams streams = {.in = stdin, .out = stdout, .json = line->json};

    if (client_ask(line->socket, count, words, &streams, &text, &len, why, sizeof(why))) {
        fprintf(stderr, "nailupctl: %s\n", why);
        return EXIT_NO_DAEMON;
    }
    return text ? print_reply(line, text, len) : end_output();
}

/* Needs no daemon. */
static int help(const struct command_line *line)
{
    char *text = strdup(help_reply);

    if (line->json && text)
        return print_reply(line, text, strlen(text));
    free(text);
    help_print(stdout);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct command_line line = {.socket = help_default_socket()};

    /* Options may stand behind the command too. */
    for (int option; (option = getopt_long(argc, argv, "s:jhV", options, NULL)) != -1;) {
        switch (option) {
        case 's':
            line.socket = optarg;
            break;
        case 'j':
            line.json = true;
            break;
        case 'h':
            help_print(stdout);
            return EXIT_DONE;
        case 'V':
            puts("nailupctl " NAILUP_VERSION);
            return EXIT_DONE;
        default:
            help_print_usage(stderr);
            return EXIT_USAGE;
        }
    }
    if (!help_check(argc - optind, argv + optind))
        return EXIT_USAGE;
    if (strcmp(argv[optind], "help") == 0)
        return help(&line);
    return ask(&line, argc - optind, argv + optind);
}
