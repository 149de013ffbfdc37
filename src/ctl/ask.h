/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_ASK_H
#define NAILUP_CTL_ASK_H

/* Sends one command to the daemon and prints the result. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "ctl/answer.h"
#include "ctl/print.h"
#include "ctl/shape.h"

/* The exit codes of nailupctl. */
enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_DAEMON = 3 };

enum { ASK_WHY_MAX = 512 };

struct ask {
    const char *socket;
    bool json;
    int count;
    char *const *words;
    bool require_upstream; /* the command check fails without a path to upstreams */
    struct shape shape;
    struct print_style style;
    const volatile sig_atomic_t *stop; /* as in client.h; may be NULL */
};

/* EXIT_DONE or EXIT_REFUSED: out has an answer for answer_deinit(). EXIT_NO_DAEMON: why says what
 * to do. *is_text: the reply was a text and has been printed, and out has no answer. */
int ask_once(const struct ask *ask, struct parsed_reply *out, bool *is_text, char why[ASK_WHY_MAX]);

/* Whether the daemon has the worker that the shape names by number. False: why says which workers
 * it has. True also if the shape names none by number, and if no daemon answers. */
bool ask_has_worker(const struct ask *ask, char why[ASK_WHY_MAX]);

/* The verdict of the command check: EXIT_DONE, or EXIT_REFUSED if the daemon drains, or has no path
 * to upstreams although one is required. EXIT_DONE for the answers of other commands. Pure. */
int ask_verdict(const struct parsed_reply *answer, bool require_upstream);

/* Prints an answer in its style, or the refusal on stderr. Returns the exit code. */
int ask_print(const struct ask *ask, const struct parsed_reply *answer);

/* Flushes the output. Returns the exit code. */
int ask_end_output(void);

#endif
