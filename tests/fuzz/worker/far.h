/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_FAR_H
#define NAILUP_TESTS_FUZZ_WORKER_FAR_H

/*
 * The servers that the worker asks. Each has a mood: it decides how the server answers, for a
 * number of answers or until it is healed. Queries are checked: no id twice on a connection, no
 * connection with more than its number of queries, nothing in plain text where TLS is strict.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/fake_peer.h"

struct plan;
struct stage;

/* Moods up to MOOD_BENIGN_LAST lose nothing: an honest answer comes soon, or after another try. */
enum mood {
    MOOD_HONEST,
    MOOD_DUPLICATE,
    MOOD_PIECES,
    MOOD_KEEPALIVE,      /* RFC 7828: the parameter in units of 100 ms */
    MOOD_TRUNCATED,      /* over UDP */
    MOOD_WRONG_ID_FIRST, /* a forged answer before the honest one */
    MOOD_WRONG_QUESTION_FIRST,
    MOOD_POISON, /* unrequested records beside the honest ones */
    MOOD_BENIGN_LAST = MOOD_POISON,
    MOOD_LATE,
    MOOD_SILENT,
    MOOD_WRONG_ID,
    MOOD_WRONG_QUESTION,
    MOOD_OTHER_CASE,
    MOOD_GARBAGE,
    MOOD_CUT, /* a truncated answer */
    MOOD_TRUNCATED_ALWAYS,
    MOOD_NO_EDNS,    /* FORMERR for EDNS */
    MOOD_DROPS_EDNS, /* silence for EDNS */
    MOOD_BAD_COOKIE,
    MOOD_REFUSES, /* ICMP, or a reset */
    MOOD_CLOSE_AFTER,
    MOOD_RESET_AFTER,
    MOOD_CLOSES,  /* without an answer */
    MOOD_UNASKED, /* unrequested messages */
    /* A resolver trusts a server for its own zone, so live plays have none of these. */
    MOOD_FIRST_FALSE,
    MOOD_FLIPPED = MOOD_FIRST_FALSE, /* a bit of the header */
    MOOD_RCODE,                      /* the parameter */
    MOOD_DENIES,
    MOOD_EMPTY, /* NOERROR and nothing else */
    MOOD_GLUELESS,
    MOOD_REFERS_ANYWHERE,
    MOOD_SIG_WRONG, /* the manners of signing.h */
    MOOD_SIG_EXPIRED,
    MOOD_SIG_FOREIGN,
    MOOD_SIG_STRIPS,
    MOOD_FORGED, /* marked data, with what is signed beside it */
    MOOD_COUNT,
};

struct far_conn; /* the record of one connection */

struct far {
    struct stage *stage;
    unsigned number; /* index in truth_servers */
    struct fake_peer *peer;
    struct fake_server *server;
    uint32_t max_requests;        /* on a connection, by the plan */
    uint32_t former_max_requests; /* the maximum of all earlier plans */
    bool is_anchor;               /* the server of its zones that always works in a live play */
    enum mood mood;
    uint8_t param;
    unsigned left; /* answers in this mood; 0: until healed */
    uint64_t latency_us;
    uint64_t stream_quiet_at; /* everything sent over its streams has arrived by then */
    struct far_conn **conns;  /* by number */
    size_t conn_count;
};

void far_open(struct stage *stage, unsigned number);
void far_close(struct far *far);

/* Applies a plan: it decides how the worker talks to this server. */
void far_allow(struct far *far, const struct plan *plan);

/* Sets the mood. In a live play an anchor takes only benign moods. */
void far_set_mood(struct far *far, enum mood mood, uint8_t param, unsigned left);

/* Makes the server honest, reachable and near. */
void far_heal(struct far *far);

void far_set_latency(struct far *far, uint64_t us);

/* Sets how a server speaks TLS: 0 correctly, others badly. */
void far_speak_tls(struct far *far, unsigned how);

bool far_is_tls(const struct far *far);

/* Chooses an open connection of the worker by a number, or returns NULL. */
struct fake_conn *far_pick_conn(const struct far *far, unsigned choice);

#endif
