/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reads a line and runs the handler of its verb. The command_*.c files have the handlers.
 *
 * Invariant: a handler runs with as many words as its row of commands.def allows.
 */

#include "control/request.h"

#include <string.h>

#include "control/call.h"
#include "control/commands.h"

bool request_split(char *line, size_t len, int *argc, const char *argv[CONTROL_WORDS_MAX])
{
    *argc = 0;
    line[len] = '\0';
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)line[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    for (char *word = line; word;) {
        char *tab = strchr(word, '\t');
        if (tab)
            *tab = '\0';
        if (!*word || *argc == CONTROL_WORDS_MAX)
            return false;
        argv[(*argc)++] = word;
        word = tab ? tab + 1 : NULL;
    }
    return true;
}

static void request_refuse(struct call *call, const char *sentence)
{
    reply_refuse(&call->reply, "%s", sentence);
    call_done(call);
}

static void request_refuse_verb(struct call *call, const char *verb)
{
    const char *meant = commands_suggest(verb);

    if (meant)
        reply_refuse(&call->reply, "no such command: %.64s; did you mean '%s'?", verb, meant);
    else
        reply_refuse(&call->reply, "no such command: %.64s; 'help' lists them", verb);
    call_done(call);
}

static void request_dispatch(struct call *call, const char *verb)
{
    const struct command *command = commands_find(verb);
    int at_least, at_most;

    if (!command) {
        request_refuse_verb(call, verb);
        return;
    }
    control_argument_counts(command->arguments, &at_least, &at_most);
    if (call->argc < at_least || call->argc > at_most) {
        reply_refuse(&call->reply, "usage: %s %s", command->verb, command->arguments);
        call_done(call);
        return;
    }
    if (call->view->is_draining && command->run != command_check) {
        request_refuse(call, "nailupd is stopping");
        return;
    }
    reply_ok(&call->reply);
    command->run(call);
}

void request_run(struct call *call, struct span line)
{
    const char *words[CONTROL_WORDS_MAX];
    int count;

    if (line.len >= sizeof(call->words)) {
        request_refuse(call, "the request is too long");
        return;
    }
    memcpy(call->words, line.data, line.len);
    if (!request_split(call->words, line.len, &count, words)) {
        request_refuse(call, "the request must be a verb and words separated by tabs");
        return;
    }
    call->argc = count - 1;
    for (int i = 0; i < call->argc; i++)
        call->argv[i] = words[i + 1];
    request_dispatch(call, words[0]);
}
