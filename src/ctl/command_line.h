/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_COMMAND_LINE_H
#define NAILUP_CTL_COMMAND_LINE_H

/* What the command line wants. */

#include <stdbool.h>
#include <stdint.h>

enum { COMMAND_LINE_TRACED = 4 };

struct command_line {
    const char *socket;
    bool json, watch;
    uint64_t period_us; /* of the watch */
    int count;          /* words of the command */
    char **words;
    char *traced[COMMAND_LINE_TRACED]; /* what words is where lookup is to be a trace */
};

enum command_line_wish { WISH_COMMAND, WISH_HELP, WISH_VERSION, WISH_WRONG };

/* Reads the options of programs.def, which may stand behind the command too. WISH_WRONG: stderr has
 * been told. Puts the words of argv in another order; `lookup --trace` becomes `trace`. */
enum command_line_wish command_line_parse(struct command_line *out, int argc, char **argv);

#endif
