/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_TLS_H
#define NAILUP_TESTS_FAKE_TLS_H

/*
 * TLS at the far end of the fake network's TCP connections: real OpenSSL ends in memory and in
 * virtual time, which can also misbehave. They do not use src/tls/tls.c, so that they do not repeat
 * a mistake there.
 *
 * A connection with TLS has the same struct fake_conn. The bytes and messages of fake_net.h and
 * fake_peer.h are then plain text: fake_conn_send() and similar functions seal;
 * fake_conn_received(), on_bytes, on_message and fake_conn_messages() see opened bytes.
 * fake_conn_close() ends TLS as the options specify, then TCP. Pieces are cut from sealed bytes.
 * fake_conn_bytes(), _writes() and _reads() count bytes on the wire. Bytes sent before the
 * handshake wait for it.
 *
 * OpenSSL has no virtual time: certificates and tickets age by the real clock.
 *
 * Facts and tickets of a connection live until the loop is freed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "support/fake_net.h"
#include "support/fake_peer.h"

/* The version numbers on the wire. */
enum fake_tls_version {
    FAKE_TLS_1_0 = 0x0301,
    FAKE_TLS_1_1 = 0x0302,
    FAKE_TLS_1_2 = 0x0303,
    FAKE_TLS_1_3 = 0x0304,
};

/* How an end misbehaves. "After" means after the end has sent after_flights flights, or after_bytes
 * bytes (both 0: before its first byte). From then on it reads nothing. */
enum fake_tls_trouble {
    FAKE_TLS_FINE,
    FAKE_TLS_STALL,   /* after: silence */
    FAKE_TLS_FIN,     /* after: FIN */
    FAKE_TLS_RST,     /* after: RST */
    FAKE_TLS_GARBAGE, /* instead of its first flight, bytes that are not TLS, then silence */
    FAKE_TLS_PLAIN,   /* instead of its first flight, a DNS message in plain text, then silence */
    FAKE_TLS_REFUSE,  /* instead of its first flight, a fatal alert (handshake_failure), then FIN */
};

/* The effect of fake_conn_close() and FAKE_CLOSE. */
enum fake_tls_ending {
    FAKE_TLS_END_POLITE, /* close_notify, then FIN */
    FAKE_TLS_END_ABRUPT, /* FIN alone */
    FAKE_TLS_END_NOTIFY, /* close_notify; TCP stays open */
};

/* How an end behaves on the wire. Zeroed: correctly. */
struct fake_tls_manner {
    enum fake_tls_trouble trouble;
    size_t after_bytes;
    unsigned after_flights;
    size_t piece_bytes;  /* sends pieces of this size, each its own read */
    uint64_t gap_us;     /* the time between pieces */
    size_t record_bytes; /* the most plain text in a record; 0: as few records as possible */
    uint64_t delay_us;   /* the delay before each flight of the handshake */
    enum fake_tls_ending ending;
};

/* ------------------------------------------------------------------ servers */

enum fake_tls_alpn {
    FAKE_ALPN_DOT,    /* chooses "dot" if offered, else no protocol */
    FAKE_ALPN_NONE,   /* does not understand ALPN */
    FAKE_ALPN_OTHER,  /* chooses "h2", even if not offered */
    FAKE_ALPN_REFUSE, /* alert no_application_protocol */
};

enum fake_tls_early {
    FAKE_EARLY_NONE,   /* tickets do not allow early data */
    FAKE_EARLY_ACCEPT, /* tickets allow it, and the server accepts it */
    FAKE_EARLY_REJECT, /* tickets allow it, but the server rejects it */
};

enum { FAKE_TLS_NO_TICKETS = -1 };

/* Zeroed: TLS 1.2 and 1.3, an untrusted certificate, ALPN "dot", two tickets. */
struct fake_tls_options {
    enum fake_tls_version only; /* 0: both 1.2 and 1.3 */
    const char *certificate;    /* PEM, the chain; NULL: self-signed, for "fake.test" */
    const char *key;            /* PEM */
    enum fake_tls_alpn alpn;
    enum fake_tls_early early;    /* TLS 1.3 */
    bool ask_certificate;         /* requests a client certificate, and accepts any or none */
    bool need_certificate;        /* requires one */
    int tickets;                  /* 0: two with TLS 1.3, one with 1.2; FAKE_TLS_NO_TICKETS */
    uint32_t ticket_lifetime_s;   /* 0: 7200 */
    bool forget_tickets;          /* rejects the tickets that it gave earlier */
    const char *ciphers, *groups; /* in OpenSSL's syntax; NULL: its defaults. A group that the
                                     client did not guess causes a HelloRetryRequest */
    struct fake_tls_manner manner;
};

/* Makes later connections speak TLS with these options, which are copied; NULL: plain TCP again.
 * The server still accepts its earlier tickets. */
void fake_server_speak_tls(struct fake_server *server, const struct fake_tls_options *options);

/* The same for a DNS server: its function gets the transport FAKE_TLS. FAKE_CLOSE ends as
 * manner.ending specifies, and FAKE_RESET sends a RST. Delays and pieces of the answer still apply.
 */
void fake_peer_speak_tls(struct fake_peer *peer, const struct fake_tls_options *options);

/* ------------------------------------------------------------------ clients */

struct fake_tls_client_options {
    enum fake_tls_version only;     /* 0: 1.2 and 1.3 */
    const char *alpn;               /* offers "dot" or "h2,dot"; NULL: none */
    const char *sni;                /* NULL: none */
    const struct fake_conn *resume; /* uses the newest ticket of this earlier connection */
    struct span early; /* whole, framed messages; sent as early data if that ticket allows it, else
                          after the handshake */
    const char *certificate, *key; /* PEM, sent on request; NULL: none */
    const char *ciphers, *groups;
    struct fake_tls_manner manner;
};

/* Connects as fake_client_tcp_open() does and sends a ClientHello at once. NULL: zeroed options.
 * Does not check the server's certificate; facts.pin identifies it. */
struct fake_conn *fake_client_tls_open(struct fake_net *net, const struct addr *to,
                                       const struct addr *from,
                                       const struct fake_tls_client_options *options);

/* ------------------------------------------------------------------ facts */

enum { FAKE_TLS_TEXT = 256 };

/* The facts about one connection, as its far end sees them. */
struct fake_tls_facts {
    bool finished;                 /* this end has completed the handshake */
    bool resumed;                  /* false: a full handshake */
    enum fake_tls_version version; /* 0: unknown yet */
    char offered[FAKE_TLS_TEXT];   /* servers: the client's ALPN list, "h2,dot" */
    char alpn[FAKE_TLS_TEXT];      /* the chosen protocol, or "" */
    char sni[FAKE_TLS_TEXT];       /* servers: the name that the client sent, or "" */
    bool offered_ticket;           /* servers: the ClientHello had a PSK or a session ticket */
    bool offered_early;            /* servers: the client offered early data */
    bool early_accepted;
    size_t early_bytes;         /* servers: early data that the server accepted */
    size_t plain_in, plain_out; /* bytes of application data, without early data */
    bool plain_first;           /* the first bytes were not a TLS handshake */
    bool got_close_notify, sent_close_notify;
    int got_alert, sent_alert; /* number of the last alert, except close_notify; -1: none */
    unsigned tickets;          /* servers: sent; clients: received */
    bool has_certificate;      /* the other side sent a certificate */
    uint8_t pin[32];           /* SHA-256 of its SubjectPublicKeyInfo */
    const char *error;         /* the static text of OpenSSL's error; "": none */
};

/* Whether the connection speaks TLS. */
bool fake_conn_speaks_tls(const struct fake_conn *conn);

/* For a connection with TLS. Borrowed; changes with events. */
const struct fake_tls_facts *fake_conn_tls_facts(const struct fake_conn *conn);

/* In a callback: whether the bytes came as early data. False for plain connections. */
bool fake_conn_tls_in_early(const struct fake_conn *conn);

/* The first FAKE_TLS_RAW_MAX raw bytes that arrived. */
enum { FAKE_TLS_RAW_MAX = 256 * 1024 };
struct span fake_conn_tls_raw(const struct fake_conn *conn);
bool fake_conn_tls_raw_has(const struct fake_conn *conn, struct span bytes);

/* ------------------------------------------------------------------ acts after the handshake */

/* Sends a fatal alert (bad_record_mac), then FIN. */
void fake_conn_tls_alert(struct fake_conn *conn);

/* TLS 1.2: a server sends a HelloRequest, a client a new ClientHello. */
void fake_conn_tls_renegotiate(struct fake_conn *conn);

/* TLS 1.3: updates the keys of this direction, and asks the other side to do the same. */
void fake_conn_tls_update_keys(struct fake_conn *conn);

/* TLS 1.3 servers: sends another ticket. */
void fake_conn_tls_give_ticket(struct fake_conn *conn);

/* Sends a close_notify; TCP stays open. */
void fake_conn_tls_notify(struct fake_conn *conn);

/* Sends raw bytes, at any time. */
void fake_conn_tls_send_raw(struct fake_conn *conn, struct span bytes);

#endif
