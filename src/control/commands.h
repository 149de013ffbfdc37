/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_COMMANDS_H
#define NAILUP_CONTROL_COMMANDS_H

/* The table of commands: the rows of nailup/commands.def with their handlers. */

#include <stddef.h>
#include <stdint.h>

struct call;

/* Fills call->reply after reply_ok(), or refuses, and ends with call_done(), at once or later. */
typedef void (*command_fn)(struct call *call);

struct command {
    const char *verb, *arguments;
    command_fn run;
    const char *sentence;
};

/* NULL: there is no such command. */
const struct command *commands_find(const char *verb);

/* The verb most similar to a mistyped one; NULL: none is similar. */
const char *commands_suggest(const char *verb);

struct control_view;
enum { COMMAND_PROBLEMS_MAX = 320 };

/* Writes the daemon's problems without asking its workers: draining, no route to any upstream, an
 * upstream by name without an address, a clock in doubt. now_us is the loops' clock. "": no problem
 * is known. */
void command_problems(const struct control_view *view, uint64_t now_us,
                      char out[COMMAND_PROBLEMS_MAX]);

#define COMMAND(verb, arguments, handler, sentence) void command_##handler(struct call *call);
#include "nailup/commands.def"

#endif
