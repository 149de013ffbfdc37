/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_CALL_H
#define NAILUP_CONTROL_CALL_H

/*
 * One request being answered. It may outlive the client who made it, while workers are asked.
 *
 * Life: call_new, request_run, the command's handler; call_done() by the handler, at once or later:
 * then whoever made the call gets it by on_done and frees it, or it frees itself if it was
 * abandoned. A command with much to do or to say ends its handler with call_continue() instead:
 * whoever got the call runs its more(), a part at a time, until that ends the reply by call_end().
 * The main loop's thread.
 */

#include <stdbool.h>

#include "control/reply.h"
#include "control/view.h"

struct loop;

struct call {
    struct loop *loop; /* main's */
    const struct control_view *view;
    struct reply reply; /* begun with reply_ok(); call_done() ends it */
    /* Does the next part, when what the reply had has left; NULL: the reply is whole. */
    void (*more)(struct call *call);
    /* Takes what the client says behind its line, an empty piece at the end; NULL: nothing. */
    void (*feed)(struct call *call, struct span piece);
    void *state; /* of more or feed; ours */
    void (*free_state)(void *state);
    int argc; /* words after the verb; as many as commands.def says */
    const char *argv[CONTROL_WORDS_MAX];
    void (*on_done)(struct call *call, void *context); /* NULL: abandoned */
    void *context;
    char words[CONTROL_REQUEST_MAX];
};

/* NULL out of memory. on_done may come within request_run(). */
struct call *call_new(struct loop *loop, const struct control_view *view,
                      void (*on_done)(struct call *call, void *context), void *context);
void call_free(struct call *call);

/* Nobody waits any more: it frees itself when it is done. Only between request_run() and on_done.
 */
void call_abandon(struct call *call);

/* For handlers: the reply is complete. The call must not be touched afterwards. */
void call_done(struct call *call);

/* For handlers, instead: the rest is done by more(), which takes no longer than a turn of the loop
 * may, and writes no more than CALL_PART_MAX bytes and one line at a time. state is from malloc()
 * and is taken over. The call must not be touched afterwards. */
enum { CALL_PART_MAX = 64 * 1024 };
void call_continue(struct call *call, void (*more)(struct call *call), void *state);

/* For handlers, instead: what the client says next is given to feed(), piece by piece. state is
 * taken over; free_state() frees it. The call must not be touched afterwards. */
void call_feed(struct call *call, void (*feed)(struct call *call, struct span piece), void *state,
               void (*free_state)(void *state));

/* For more(), when this was the last part, and for feed() at the empty piece. */
void call_end(struct call *call);

#endif
