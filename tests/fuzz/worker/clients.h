/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_CLIENTS_H
#define NAILUP_TESTS_FUZZ_WORKER_CLIENTS_H

/* The clients: some use UDP, some use streams and misbehave. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "fuzz/worker/truth.h"

struct fake_conn;
struct stage;

enum {
    CLIENTS_UDP = 16, /* the number of clients over UDP, with these two among them */
    CLIENT_REFUSED = 14,
    CLIENT_DENIED = 15,
    CLIENTS_STREAM = 12, /* the number of streams at the same time */
    CLIENTS_HALF_MAX = 600,
};

struct stream_client {
    struct fake_conn *conn; /* NULL: not connected */
    bool is_allowed;
    bool is_calm;   /* the client has always read its answers, and sent only whole queries */
    bool has_ended; /* the client sends no more queries */
    uint8_t half[CLIENTS_HALF_MAX]; /* the rest of a message of which half has been sent */
    size_t half_len;
};

struct clients {
    struct stream_client streams[CLIENTS_STREAM];
    uint8_t last[CLIENTS_HALF_MAX]; /* the last datagram that it sent */
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
    bool is_odd; /* an unusual question: ANY, another class, NS of a zone */
};

void clients_ask_udp(struct stage *stage, unsigned client, const struct wish *wish);
/* Sends the last datagram again. */
void clients_repeat_udp(struct stage *stage);
/* Sends bytes that need not be a message. */
void clients_send_garbage(struct stage *stage, unsigned client, struct span bytes);

/* Opens a connection at a place, which becomes free first. kind: 0 plain, 1 TLS 1.3, 2 TLS 1.2, 3
 * refused, 4 silent at the TLS port, others plain. */
void clients_connect(struct stage *stage, unsigned place, unsigned kind);
void clients_ask_stream(struct stage *stage, unsigned place, const struct wish *wish);
/* Sends only the first bytes of a query. clients_send_rest() or the next question sends the rest.
 */
void clients_ask_half(struct stage *stage, unsigned place, const struct wish *wish, size_t first);
void clients_send_rest(struct stage *stage, unsigned place);
void clients_send_stream_garbage(struct stage *stage, unsigned place, struct span bytes);

enum stream_act { STREAM_CLOSE, STREAM_RESET, STREAM_STOP, STREAM_START, STREAM_DARK, STREAM_ACTS };
void clients_act(struct stage *stage, unsigned place, enum stream_act act, unsigned window);

/* Reads what has arrived and frees connections that have ended. */
void clients_collect(struct stage *stage);
void clients_close_all(struct stage *stage);

#endif
