/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_LEDGER_H
#define NAILUP_TESTS_FUZZ_WORKER_LEDGER_H

/*
 * The queries of clients and their answers. Each waiting query has a different id, so an answer
 * belongs to one query. The answer must come once, from the right place, and must be true.
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
    LEDGER_IDS = 0xf000, /* larger ids belong to messages that are not proper queries */
    LEDGER_GIVEN = 1 << 14,
};

/* A client waits as long as a resolution may take while one server of each zone works: two
 * exchanges one after the other (TASK_WALL_US), or more in recursion (BUDGET_WALL_US). */
#define LEDGER_PATIENCE_US (10 * UINT64_C(1000000))
#define LEDGER_PATIENCE_RECURSION_US (12 * UINT64_C(1000000))

enum asked_state {
    ASKED_NOTHING,
    ASKED_WAITING,
    ASKED_ANSWERED,
    ASKED_RELEASED, /* the client has left, so no answer may come */
};

struct asked {
    uint64_t at_us;
    struct fake_conn *conn; /* NULL: the query came over UDP */
    uint16_t client;        /* over UDP: the number of the client */
    uint16_t type;
    uint16_t udp_size;
    uint8_t state;
    uint8_t zone, number;
    bool is_deep, is_upper;
    bool is_plain; /* an ordinary question of an allowed client, whose answer is checked */
    bool wants_dnssec;
    bool is_calm; /* the client reads its answers, so the time of the answer is checked */
    uint8_t copies, answers;
};

/* A reload may end validation while an answer waits for its verdict. Then only the TTL bounds the
 * life of its records. */
struct given {
    uint64_t until_at;          /* the limit by TTL and, where the plan validates, by signature */
    uint64_t until_unjudged_at; /* the limit by TTL alone */
};

struct ledger {
    struct asked asked[LEDGER_IDS];
    uint32_t next, oldest; /* positions in a ring; if they are equal, no query waits */
    uint32_t waiting;
    uint64_t queries, answers, good, secure; /* counted since the start */
    /* queries that were given up: at rest, or because their ids were needed */
    uint64_t unanswered;
    struct given given[LEDGER_GIVEN]; /* until when records with these hashes are true */
};

void ledger_open(struct ledger *ledger);

/* Begins a query. The caller fills in the question. */
struct asked *ledger_ask(struct stage *stage, uint16_t *id);

/* Returns the QNAME in the spelling that was sent. */
struct name ledger_name(const struct asked *asked, uint8_t out[NAME_WIRE_MAX]);

/* Takes a message that came over UDP (conn is NULL) or over conn. */
void ledger_take(struct stage *stage, struct span bytes, struct fake_conn *conn, uint16_t client,
                 uint64_t at_us);

/* Notes that the connection has ended, or that its client has stopped reading. */
void ledger_release(struct stage *stage, const struct fake_conn *conn);
void ledger_disturb(struct stage *stage, const struct fake_conn *conn);

/* Stops the process if a query of a live play has waited for too long. */
void ledger_check_patience(struct stage *stage);

/* Ends all waiting queries at rest. They are lost, and must have been counted. */
void ledger_settle(struct stage *stage);

void ledger_note_given(struct ledger *ledger, struct name owner, uint16_t type,
                       const struct given *until);

#endif
