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

/* Moods up to MOOD_BENIGN_LAST lose nothing: an honest answer comes soon, at the latest after
 * another try. */
enum mood {
    MOOD_HONEST,
    MOOD_DUPLICATE,
    MOOD_PIECES,
    MOOD_KEEPALIVE,      /* the parameter as a timeout in units of 100 ms (RFC 7828) */
    MOOD_TRUNCATED,      /* truncates answers over UDP */
    MOOD_WRONG_ID_FIRST, /* sends a forged answer before the honest one */
    MOOD_WRONG_QUESTION_FIRST,
    MOOD_POISON, /* adds unrequested records to the honest ones */
    MOOD_BENIGN_LAST = MOOD_POISON,
    MOOD_LATE,
    MOOD_SILENT,
    MOOD_WRONG_ID,
    MOOD_WRONG_QUESTION,
    MOOD_OTHER_CASE,
    MOOD_GARBAGE,
    MOOD_CUT, /* sends part of an answer */
    MOOD_TRUNCATED_ALWAYS,
    MOOD_NO_EDNS,    /* answers FORMERR to EDNS */
    MOOD_DROPS_EDNS, /* does not answer EDNS */
    MOOD_BAD_COOKIE,
    MOOD_REFUSES, /* sends ICMP or a reset */
    MOOD_CLOSE_AFTER,
    MOOD_RESET_AFTER,
    MOOD_CLOSES,  /* closes without an answer */
    MOOD_UNASKED, /* sends unrequested messages */
    /* Resolvers trust a server about its own zone, so live plays use none of these. */
    MOOD_FIRST_FALSE,
    MOOD_FLIPPED = MOOD_FIRST_FALSE, /* flips a bit of the header */
    MOOD_RCODE,                      /* sends the parameter as rcode */
    MOOD_DENIES,
    MOOD_EMPTY, /* sends NOERROR without records */
    MOOD_GLUELESS,
    MOOD_REFERS_ANYWHERE,
    MOOD_SIG_WRONG, /* seals answers in the manners of signing.h */
    MOOD_SIG_EXPIRED,
    MOOD_SIG_FOREIGN,
    MOOD_SIG_STRIPS,
    MOOD_FORGED, /* sends marked data beside signed data */
    MOOD_COUNT,
};

/* Tricks of hostile plays: a server plays any of them, whatever its mood is. */
enum {
    TRICK_GENUINE_FIRST = 1, /* puts signed denials of the zones above before a denial */
    TRICK_GENUINE_LAST = 2,  /* puts them after the denial */
    TRICK_LATE_DATA = 4,     /* answers come after clients have left; keys and DS records do not */
    TRICK_LATE_KEYS = 8,     /* keys and DS records come late */
    TRICK_CROWDED = 16,      /* adds more RRsets than a validator reads */
    TRICK_FALSE_DS = 32,     /* refers with DS records that have a wrong signature */
    TRICK_FALSE_KEYS = 64,   /* has keys with a wrong signature, even of an unsigned zone */
    TRICK_UNSIGNED_KEYS = 128, /* leaves out the signatures of keys and DS records */
    TRICKS_BENIGN = TRICK_GENUINE_FIRST | TRICK_GENUINE_LAST,
    TRICKS_TRUE = TRICKS_BENIGN | TRICK_LATE_DATA,
};

struct far_conn; /* The facts about one connection. */

struct far {
    struct stage *stage;
    unsigned number; /* its index in truth_servers */
    struct fake_peer *peer;
    struct fake_server *server;
    uint32_t max_requests;        /* the queries that the plan allows on a connection */
    uint32_t former_max_requests; /* the greatest such number in earlier plans */
    bool is_anchor;               /* one server of its zones that always works in a live play */
    enum mood mood;
    uint8_t param;
    unsigned left; /* how many answers keep this mood; 0: until it is healed */
    uint8_t tricks, trick_param;
    uint64_t latency_us;
    uint64_t stream_quiet_at; /* by then everything sent over its streams has arrived */
    struct far_conn **conns;  /* indexed by their numbers */
    size_t conn_count;
};

void far_open(struct stage *stage, unsigned number);
void far_close(struct far *far);

/* Applies a plan, which decides how the worker talks to this server. */
void far_allow(struct far *far, const struct plan *plan);

/* Sets the mood. In a live play an anchor takes only benign moods. */
void far_set_mood(struct far *far, enum mood mood, uint8_t param, unsigned left);

/* Sets the tricks that the play allows. */
void far_set_tricks(struct far *far, uint8_t tricks, uint8_t param);

/* Makes the server honest, reachable and near. */
void far_heal(struct far *far);

void far_set_latency(struct far *far, uint64_t us);

/* Sets how a server speaks TLS: 0 is correct, all others are faulty. */
void far_speak_tls(struct far *far, unsigned how);

bool far_is_tls(const struct far *far);

/* Chooses one of the worker's open connections by a number. Returns NULL if there is no connection.
 */
struct fake_conn *far_pick_conn(const struct far *far, unsigned choice);

#endif
