/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_INQUIRY_H
#define NAILUP_DAEMON_INQUIRY_H

/*
 * A question of nailupd itself. It travels in a letter to a worker, whose resolver resolves it as
 * it does for a client, and back to main. Cached answers do not count. The worker owns the inquiry
 * on its way.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "cache/answer.h"
#include "dns/name.h"
#include "dns/question.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "resolve/route_options.h"
#include "resolve/waiter.h"

struct control_view;
struct control_worker;
struct resolver;
struct trace;

/* The parts of the daemon that an owner of inquiries needs. */
struct inquirer {
    struct loop *loop; /* main's */
    struct control_view *view;
    void (*on_changed)(void *context); /* the facts have changed */
    void *context;
};

/* Embedded in its owner, zeroed at first. Main reads the results in on_back. */
struct inquiry {
    struct mail mail;
    struct loop *home; /* main's */
    const struct control_worker *worker;
    struct resolver *resolver;
    struct trace *trace;
    struct waiter waiter;
    struct timer limit;
    struct question question; /* its name points into wire */
    uint8_t wire[NAME_WIRE_MAX];
    bool checking_disabled;
    char view[VIEW_NAME_MAX + 1]; /* "": that of clients without a view */
    void (*on_back)(struct inquiry *inquiry);
    /* The results. */
    bool was_asked;        /* false: the worker had no room, or not that view */
    enum answer_kind kind; /* ANSWER_FAILURE without an answer, too */
    uint8_t *answer;       /* the message, unless it is a failure; NULL: none */
    size_t len;
};

/* Sends the question of a client in the view with this name; "": without a view. on_back comes on
 * home's loop, exactly once if that loop runs on. Main. */
void inquiry_send(struct inquiry *inquiry, struct loop *home, const struct control_worker *worker,
                  const struct question *question, const char *view, bool checking_disabled,
                  void (*on_back)(struct inquiry *inquiry));

/* The message, or an empty span. */
static inline struct span inquiry_answer(const struct inquiry *inquiry)
{
    return span_of(inquiry->answer, inquiry->len);
}

/* Frees the message. */
void inquiry_clear(struct inquiry *inquiry);

#endif
