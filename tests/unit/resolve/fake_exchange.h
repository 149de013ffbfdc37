/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RESOLVE_FAKE_EXCHANGE_H
#define NAILUP_TESTS_RESOLVE_FAKE_EXCHANGE_H

/*
 * Exchanges that the test answers by hand, in place of upstream's, with the same rules for
 * callbacks. One file of a program includes this.
 */

#include "unit/resolve/fake_upstreams.h"
#include "unit/resolve/sample.h"

#include "upstream/exchange.h"

enum { ASKED_MAX = 256 };

static struct exchange *asked[ASKED_MAX]; /* in the order in which they started */
static unsigned asked_count;
static int active_count;
static struct upstream *answering; /* the server that answers, for tests that need one */

void exchange_init(struct exchange *exchange, struct upstreams *upstreams,
                   const struct exchange_handler *handler, void *owner)
{
    *exchange = (struct exchange){.upstreams = upstreams, .handler = handler, .owner = owner};
}

void exchange_start(struct exchange *exchange, const struct exchange_question *question,
                    struct upstream *const *group, size_t group_len)
{
    assert_false(exchange->active);
    assert_true(asked_count < ASKED_MAX);
    exchange->active = true;
    active_count++;
    exchange->stopped = NULL;
    exchange->asked = *question;
    exchange->group = group;
    exchange->group_len = (uint16_t)group_len;
    asked[asked_count++] = exchange;
}

void exchange_nudge(struct exchange *exchange)
{
    assert_true(exchange->active);
}

void exchange_resume(struct exchange *exchange)
{
    assert_true(exchange->lingering);
    exchange->lingering = false;
    exchange->active = true;
    active_count++;
}

void exchange_stop(struct exchange *exchange)
{
    if (exchange->stopped)
        *exchange->stopped = true;
    exchange->stopped = NULL;
    active_count -= exchange->active;
    exchange->active = exchange->lingering = false;
}

bool exchange_note_signatures(struct upstream *const *group, size_t count,
                              const struct addr *server, const struct exchange_signatures *about)
{
    (void)group, (void)count, (void)server, (void)about; /* upstreams are only numbers here */
    return false;
}

void exchange_doubt_no_edns(struct upstream *const *group, size_t count)
{
    (void)group, (void)count;
}

static inline enum exchange_verdict answer_with(unsigned number, const struct message *message)
{
    struct exchange *exchange = asked[number];
    struct exchange_answer answer = {
        .message = message,
        .is_proven = true,
        .source = {.addr.in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number)}}};
    bool stopped = false;
    if (answering)
        answer.source.addr = *upstreams_addr(answering);
    assert_true(exchange->active || exchange->lingering);
    exchange->stopped = &stopped;
    enum exchange_verdict verdict = exchange->handler->on_answer(exchange->owner, &answer);
    if (stopped) {
        assert_int_equal(verdict, EXCHANGE_TAKEN);
        return verdict;
    }
    exchange->stopped = NULL;
    if (verdict == EXCHANGE_TAKEN)
        exchange_stop(exchange);
    return verdict;
}

static inline enum exchange_verdict answer(unsigned number, uint16_t flags,
                                           struct sections sections)
{
    static struct response_text text;
    struct question question = asked[number]->asked.question;
    return answer_with(number, response_make(&text, flags, &question, &sections));
}

static inline void exchange_fails(unsigned number, struct exchange_failure failure)
{
    assert_true(asked[number]->active);
    exchange_stop(asked[number]);
    asked[number]->handler->on_failed(asked[number]->owner, &failure);
}

/* The same, but the query stays registered on a live stream. */
static inline void exchange_fails_and_lingers(unsigned number)
{
    struct exchange_failure failure = {.any_network = true, .is_late = true};
    assert_true(asked[number]->active);
    exchange_stop(asked[number]);
    asked[number]->lingering = true;
    asked[number]->handler->on_failed(asked[number]->owner, &failure);
}

static inline uintptr_t asked_of(unsigned number)
{
    return (uintptr_t)asked[number]->group[0];
}

#endif
