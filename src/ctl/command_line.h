/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_COMMAND_LINE_H
#define NAILUP_CTL_COMMAND_LINE_H

/* Reads the command line. */

#include <stdbool.h>
#include <stdint.h>

#include "ctl/shape.h"

enum { COMMAND_LINE_TRACED = 5, COMMAND_LINE_TRACE_WORDS = 4 };

struct command_line {
    const char *socket;
    bool json, watch;
    bool require_upstream; /* an option of the command check */
    bool rates;            /* two answers, a second apart */
    struct shape shape;
    const char *colour; /* auto, always or never */
    long width;         /* -1: of the terminal */
    uint64_t period_us; /* between two answers of a watch */
    int count;          /* words of the command */
    char **words;
    char *traced[COMMAND_LINE_TRACED]; /* the words when options change them */
};

enum command_line_wish { WISH_COMMAND, WISH_HELP, WISH_VERSION, WISH_WRONG };

/* Reads the options of programs.def, which may follow the command too. WISH_WRONG: stderr has the
 * reason. Reorders the words of argv; turns `lookup --trace` into `trace`, `lookup --client` and
 * `--view` into a lookup with more words and `status --check` into `check`. */
enum command_line_wish command_line_parse(struct command_line *out, int argc, char **argv);

#endif
