/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * nailup-bench: finds the command and calls it. Each command has a file of its name.
 */

#include "bench.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "nailup/version.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *sentence;
};

static const struct command commands[] = {
    {"responder", responder_main, "an upstream with set delay, loss, resets and limits"},
    {"transports", transports_main, "one client, one query after the other, over each transport"},
    {"load", load_main, "open-loop or saturating load with latency percentiles"},
    {"replay", replay_main, "the queries of a capture again, at their times and by client"},
    {"udp-floor", udp_floor_main, "the cheapest UDP responder possible, to compare with"},
    {"cable", cable_main, "a network device with a distance behind it: delay and loss"},
    {"control", control_main, "send one command to a running responder"},
};

static void print_usage(FILE *out)
{
    fprintf(out, "usage: nailup-bench COMMAND [OPTION]...\n"
                 "       nailup-bench COMMAND --help\n\ncommands:\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].sentence);
}

static int usage_wrong(const char *what)
{
    fprintf(stderr, "nailup-bench: %s\n", what);
    print_usage(stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage_wrong("which command?");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("nailup-bench %s\n", NAILUP_VERSION);
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return usage_wrong("no such command");
}
