/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_LEDGER_H
#define NAILUP_TESTS_FUZZ_WORKER_LEDGER_H

/*
 * The queries of clients and their answers. Each query has an id of its own while it waits, so
 * every answer belongs to one query: it must come once, from the right place, and say what is true.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "dns/name.h"
#include "fuzz/worker/truth.h"

struct fake_conn;
struct stage;

enum {
    LEDGER_IDS = 0xf000, /* ids above are those of messages that are no proper queries */
    LEDGER_GIVEN = 1 << 14,
};

/* How long a client waits where one server of each zone works: as long as a question may take. */
#define LEDGER_PATIENCE_US (5 * UINT64_C(1000000))
#define LEDGER_PATIENCE_RECURSION_US (12 * UINT64_C(1000000))

enum asked_state {
    ASKED_NOTHING,
    ASKED_WAITING,
    ASKED_ANSWERED,
    ASKED_RELEASED, /* its client is gone: an answer may come no more */
};

struct asked {
    uint64_t at_us;
    struct fake_conn *conn; /* NULL: over UDP */
    uint16_t client;        /* UDP: which client */
    uint16_t type;
    uint16_t udp_size;
    uint8_t state;
    uint8_t zone, number;
    bool is_deep, is_upper;
    bool is_plain; /* an ordinary question of an allowed client: its answer is judged */
    bool is_calm;  /* its client reads what comes: how long the answer takes is judged */
    uint8_t copies, answers;
};

struct ledger {
    struct asked asked[LEDGER_IDS];
    uint32_t next, oldest; /* of a ring; equal: nothing waits */
    uint32_t waiting;
    uint64_t queries, answers, good; /* ever */
    uint64_t unanswered;             /* were given up: their ids were needed again, or at rest */
    uint64_t given[LEDGER_GIVEN];    /* until when records with this hash are true */
};

void ledger_open(struct ledger *ledger);

/* A query that is being sent; the caller fills in what is asked. */
struct asked *ledger_ask(struct stage *stage, uint16_t *id);

/* The question's name as it was sent. */
struct name ledger_name(const struct asked *asked, uint8_t out[NAME_WIRE_MAX]);

/* A message has come over UDP (conn is NULL) or over conn. */
void ledger_take(struct stage *stage, struct span answer, struct fake_conn *conn, uint16_t client,
                 uint64_t at_us);

/* The connection is over, or its client reads no more. */
void ledger_release(struct stage *stage, const struct fake_conn *conn);
void ledger_disturb(struct stage *stage, const struct fake_conn *conn);

/* Whether a query has waited for too long, in a live play. */
void ledger_check_patience(struct stage *stage);

/* Nothing moves any more: whatever waits was lost. Lost queries must have been counted. */
void ledger_settle(struct stage *stage);

void ledger_note_given(struct ledger *ledger, struct name owner, uint16_t type, uint64_t until_at);

#endif
