/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_HELD_MESSAGE_H
#define NAILUP_RESOLVE_HELD_MESSAGE_H

/*
 * A message whose validation waits for keys or DS records, as the server sent it, with the state of
 * that validation. The task owns this copy. A message that is judged at once is never copied.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/spares.h"
#include "dns/message.h"
#include "resolve/classify.h"
#include "resolve/validator.h"
#include "upstream/exchange.h"

enum {
    HELD_MESSAGES_BYTES_MAX = 4 * 1024 * 1024, /* of one worker. A message above this bound fails
                                                  for lack of room, which is not remembered */
    HELD_MESSAGES_SPARES_MAX = 64,             /* free blocks that are kept */
};

/* The held messages of one worker. A busy worker puts off most verifications, and malloc() is slow
 * for a thousand bytes and more. So free blocks for messages of usual size are kept. */
struct held_messages {
    size_t bytes; /* of all messages */
    struct spares spares;
};

struct held_message {
    size_t size_bytes;           /* that count towards the bound */
    uint64_t since;              /* loop time */
    struct exchange_answer from; /* message: the one below; upstream: NULL */
    struct message message;      /* borrows from bytes */
    struct validating validating;
    bool is_harvest; /* what a referral said (harvest.h), and no answer to the task's question */
    bool is_plain;   /* response is set */
    struct plain_response response; /* of the message */
    uint8_t bytes[];
};

void held_messages_init(struct held_messages *all);

/* No message may be held (MUST). */
void held_messages_deinit(struct held_messages *all);

/* Copies the message, which has passed message_check_rdata(), and the validation. response: of this
 * message; NULL: not classified yet. NULL: the bound is reached, or out of memory. */
struct held_message *held_message_new(struct held_messages *all, const struct exchange_answer *from,
                                      const struct validating *validating,
                                      const struct response *response, uint64_t now);

/* Lowers the TTLs by the time that the message waited, so that a slow validation does not prolong
 * the life of a record. Returns whether they have changed. */
bool held_message_age(struct held_message *held, uint64_t now);

/* NULL is fine. */
void held_message_free(struct held_messages *all, struct held_message *held);

#endif
