/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_CALL_H
#define NAILUP_CONTROL_CALL_H

/*
 * One request while its answer is made. It may outlive its client while workers are asked.
 *
 * Life: call_new(), request_run(), the command's handler. The handler ends with call_done(), at
 * once or later. Then on_done gets the call and frees it, or an abandoned call frees itself. The
 * handler of a command with much work or a long reply ends with call_continue() instead: the client
 * then runs more(), part by part, until more() ends the reply with call_end().
 *
 * Main loop's thread only.
 */

#include <stdbool.h>

#include "control/reply.h"
#include "control/view.h"

struct loop;

struct call {
    struct loop *loop; /* main's */
    const struct control_view *view;
    struct reply reply; /* begun by reply_ok(), ended by call_done() */
    /* Makes the next part after the previous part has left; NULL: the reply is complete. */
    void (*more)(struct call *call);
    /* Takes the input that the client sends after its line; the end is an empty piece. NULL: no
     * input. */
    void (*feed)(struct call *call, struct span piece);
    void *state; /* the state of more() or feed(); owned */
    void (*free_state)(void *state);
    int argc; /* words after the verb; commands.def bounds their number */
    const char *argv[CONTROL_WORDS_MAX];
    void (*on_done)(struct call *call, void *context); /* NULL: abandoned */
    void *context;
    char words[CONTROL_REQUEST_MAX];
};

/* NULL: out of memory. on_done may come within request_run(). */
struct call *call_new(struct loop *loop, const struct control_view *view,
                      void (*on_done)(struct call *call, void *context), void *context);
void call_free(struct call *call);

/* Drops the client's interest: the call frees itself when it is done. Only between request_run()
 * and on_done. */
void call_abandon(struct call *call);

/* For handlers: the reply is complete. Frees the call or hands it over. */
void call_done(struct call *call);

/* For handlers, instead of call_done(): more() makes the rest of the reply. One run takes no longer
 * than a turn of the loop may, and writes at most CALL_PART_MAX bytes plus one line. Takes state,
 * which comes from malloc(), and the call. */
enum { CALL_PART_MAX = 64 * 1024 };
void call_continue(struct call *call, void (*more)(struct call *call), void *state);

/* For handlers, instead of call_done(): feed() gets the client's input, piece by piece. Takes the
 * call and state; free_state() frees state. */
void call_feed(struct call *call, void (*feed)(struct call *call, struct span piece), void *state,
               void (*free_state)(void *state));

/* Ends the reply: for more() after its last part, and for feed() at the empty piece. */
void call_end(struct call *call);

#endif
