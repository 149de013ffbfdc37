/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_FAR_H
#define NAILUP_TESTS_FUZZ_WORKER_FAR_H

/*
 * The servers that the worker asks. Each is in a mood: how it answers from now on, for a number of
 * answers or until it is healed. Its queries are checked: no id twice on a connection, no
 * connection with more than its number of queries, nothing in plain text where TLS is strict.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/fake_peer.h"

struct plan;
struct stage;

/* Moods up to MOOD_BENIGN_LAST lose nothing: an honest answer comes soon, or on another try. */
enum mood {
    MOOD_HONEST,
    MOOD_DUPLICATE,
    MOOD_PIECES,
    MOOD_KEEPALIVE,      /* RFC 7828: the parameter in units of 100 ms */
    MOOD_TRUNCATED,      /* over UDP */
    MOOD_WRONG_ID_FIRST, /* a forged answer before the honest one */
    MOOD_WRONG_QUESTION_FIRST,
    MOOD_POISON, /* records that nobody asked for beside the honest ones */
    MOOD_BENIGN_LAST = MOOD_POISON,
    MOOD_LATE,
    MOOD_SILENT,
    MOOD_WRONG_ID,
    MOOD_WRONG_QUESTION,
    MOOD_OTHER_CASE,
    MOOD_GARBAGE,
    MOOD_CUT, /* fewer bytes than it should have */
    MOOD_TRUNCATED_ALWAYS,
    MOOD_NO_EDNS,    /* FORMERR for EDNS */
    MOOD_DROPS_EDNS, /* silence for EDNS */
    MOOD_BAD_COOKIE,
    MOOD_REFUSES, /* ICMP, or a reset */
    MOOD_CLOSE_AFTER,
    MOOD_RESET_AFTER,
    MOOD_CLOSES,  /* without an answer */
    MOOD_UNASKED, /* messages that nobody asked for */
    /* A resolver believes a server about its own zone, so live plays do without these. */
    MOOD_FIRST_FALSE,
    MOOD_FLIPPED = MOOD_FIRST_FALSE, /* a bit of the header */
    MOOD_RCODE,                      /* the parameter */
    MOOD_DENIES,
    MOOD_EMPTY, /* NOERROR and nothing else */
    MOOD_GLUELESS,
    MOOD_REFERS_ANYWHERE,
    MOOD_COUNT,
};

struct far_conn; /* what is known of one connection */

struct far {
    struct stage *stage;
    unsigned number; /* of truth_servers */
    struct fake_peer *peer;
    struct fake_server *server;
    uint32_t max_requests;        /* that the plan allows a connection */
    uint32_t former_max_requests; /* the most that any plan before allowed */
    bool is_anchor;               /* the server of its zones that always works in a live play */
    enum mood mood;
    uint8_t param;
    unsigned left; /* answers in this mood; 0: until healed */
    uint64_t latency_us;
    uint64_t stream_quiet_at; /* all that was sent over its streams has arrived */
    struct far_conn **conns;  /* by number */
    size_t conn_count;
};

void far_open(struct stage *stage, unsigned number);
void far_close(struct far *far);

/* From now on it is spoken to as this plan says. */
void far_allow(struct far *far, const struct plan *plan);

/* In a live play an anchor takes benign moods only. */
void far_set_mood(struct far *far, enum mood mood, uint8_t param, unsigned left);

/* Honest, reachable, near. */
void far_heal(struct far *far);

void far_set_latency(struct far *far, uint64_t us);

/* How a server speaks TLS from now on: 0 well, others badly. */
void far_speak_tls(struct far *far, unsigned how);

bool far_is_tls(const struct far *far);

/* An open connection that the worker holds, chosen by a number; NULL: there is none. */
struct fake_conn *far_pick_conn(const struct far *far, unsigned choice);

#endif
