/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_CLIENTS_H
#define NAILUP_TESTS_FUZZ_WORKER_CLIENTS_H

/* The clients: some over UDP, some over streams that misbehave. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "fuzz/worker/truth.h"

struct fake_conn;
struct stage;

enum {
    CLIENTS_UDP = 16, /* of these: */
    CLIENT_REFUSED = 14,
    CLIENT_DENIED = 15,
    CLIENTS_STREAM = 12, /* at once */
    CLIENTS_HALF_MAX = 600,
};

struct stream_client {
    struct fake_conn *conn; /* NULL: none */
    bool is_allowed;
    bool is_calm;                   /* it has always read what came, and sent only whole queries */
    bool has_ended;                 /* it will not ask any more */
    uint8_t half[CLIENTS_HALF_MAX]; /* the rest of a message that it has begun to send */
    size_t half_len;
};

struct clients {
    struct stream_client streams[CLIENTS_STREAM];
    uint8_t last[CLIENTS_HALF_MAX]; /* the last datagram */
    size_t last_len;
    unsigned last_client;
    uint16_t last_id;
};

/* A question that a client asks. */
struct wish {
    enum truth_zone zone;
    unsigned number;
    uint16_t type;
    bool is_deep, is_upper;
    bool has_edns, wants_dnssec, has_cookie, recurses;
    bool is_odd; /* no ordinary question: ANY, another class, NS of a zone */
};

void clients_ask_udp(struct stage *stage, unsigned client, const struct wish *wish);
/* The last datagram once more. */
void clients_repeat_udp(struct stage *stage);
/* Bytes that need be no message. */
void clients_send_garbage(struct stage *stage, unsigned client, struct span bytes);

/* A connection at a place, which is freed first. kind: 0 plain, 1 TLS 1.3, 2 TLS 1.2, 3 refused,
 * 4 to the port of TLS without a word, others plain. */
void clients_connect(struct stage *stage, unsigned place, unsigned kind);
void clients_ask_stream(struct stage *stage, unsigned place, const struct wish *wish);
/* Only the first bytes; the rest goes with clients_send_rest() or the next question. */
void clients_ask_half(struct stage *stage, unsigned place, const struct wish *wish, size_t first);
void clients_send_rest(struct stage *stage, unsigned place);
void clients_send_stream_garbage(struct stage *stage, unsigned place, struct span bytes);

enum stream_act { STREAM_CLOSE, STREAM_RESET, STREAM_STOP, STREAM_START, STREAM_DARK, STREAM_ACTS };
void clients_act(struct stage *stage, unsigned place, enum stream_act act, unsigned window);

/* Takes what has come, and lets go of connections that are over. */
void clients_collect(struct stage *stage);
void clients_close_all(struct stage *stage);

#endif
