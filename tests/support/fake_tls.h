/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_TLS_H
#define NAILUP_TESTS_FAKE_TLS_H

/*
 * TLS at the far end of the fake network's TCP connections: real OpenSSL ends in memory, in virtual
 * time, that also know how to misbehave. Independent of src/tls/tls.c, so that a mistake there is
 * not made here as well.
 *
 * A connection that speaks TLS has the same struct fake_conn. All that fake_net.h and fake_peer.h
 * say about bytes and messages then means plain text: fake_conn_send() and its kin seal,
 * fake_conn_received(), on_bytes, on_message and fake_conn_messages() see what was opened.
 * fake_conn_close() ends TLS as the options say, then TCP. Pieces are pieces of sealed bytes.
 * fake_conn_bytes(), _writes() and _reads() count what is on the wire. What is sent before the
 * handshake is done waits for it.
 *
 * OpenSSL knows no virtual time: certificates and tickets live by the real clock.
 *
 * Facts and tickets of a connection are kept until the loop is freed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "support/fake_net.h"
#include "support/fake_peer.h"

/* As on the wire. */
enum fake_tls_version {
    FAKE_TLS_1_0 = 0x0301,
    FAKE_TLS_1_1 = 0x0302,
    FAKE_TLS_1_2 = 0x0303,
    FAKE_TLS_1_3 = 0x0304,
};

/* What goes wrong. Those with "after" happen when the end has sent after_flights flights, or
 * after_bytes bytes (both 0: before its first byte); it then reads no more. */
enum fake_tls_trouble {
    FAKE_TLS_FINE,
    FAKE_TLS_STALL,   /* after: silence */
    FAKE_TLS_FIN,     /* after: FIN */
    FAKE_TLS_RST,     /* after: RST */
    FAKE_TLS_GARBAGE, /* bytes that are no TLS in the place of its first flight, then silence */
    FAKE_TLS_PLAIN,   /* a DNS message in plain text there, then silence */
    FAKE_TLS_REFUSE,  /* a fatal alert (handshake_failure) there, then FIN */
};

/* What fake_conn_close() (and FAKE_CLOSE) does. */
enum fake_tls_ending {
    FAKE_TLS_END_POLITE, /* close_notify, then FIN */
    FAKE_TLS_END_ABRUPT, /* FIN alone */
    FAKE_TLS_END_NOTIFY, /* close_notify, and TCP stays */
};

/* How either end behaves on the wire. Zeroed: well. */
struct fake_tls_manner {
    enum fake_tls_trouble trouble;
    size_t after_bytes;
    unsigned after_flights;
    size_t piece_bytes;  /* all it sends comes in pieces of so many bytes, each its own read */
    uint64_t gap_us;     /* between them */
    size_t record_bytes; /* plain text in records of at most so many bytes; 0: as few as can be */
    uint64_t delay_us;   /* it thinks before each flight of the handshake */
    enum fake_tls_ending ending;
};

/* ------------------------------------------------------------------ servers */

enum fake_tls_alpn {
    FAKE_ALPN_DOT,    /* chooses "dot" when it is offered, else nothing */
    FAKE_ALPN_NONE,   /* knows no ALPN */
    FAKE_ALPN_OTHER,  /* chooses "h2", offered or not */
    FAKE_ALPN_REFUSE, /* alert no_application_protocol */
};

enum fake_tls_early {
    FAKE_EARLY_NONE,   /* tickets do not allow it */
    FAKE_EARLY_ACCEPT, /* allowed and taken */
    FAKE_EARLY_REJECT, /* tickets allow it, but it is not taken */
};

enum { FAKE_TLS_NO_TICKETS = -1 };

/* Zeroed: TLS 1.2 and 1.3, a certificate that nobody trusts, ALPN "dot", two tickets. */
struct fake_tls_options {
    enum fake_tls_version only; /* 0: both 1.2 and 1.3 */
    const char *certificate;    /* PEM, the chain; NULL: self-signed, for "fake.test" */
    const char *key;            /* PEM */
    enum fake_tls_alpn alpn;
    enum fake_tls_early early;    /* TLS 1.3 */
    bool ask_certificate;         /* of the client; any is good, and none too */
    bool need_certificate;        /* and none is not (TLS 1.3: an alert after the handshake) */
    int tickets;                  /* 0: two with TLS 1.3, one with 1.2; FAKE_TLS_NO_TICKETS */
    uint32_t ticket_lifetime_s;   /* as the server says; 0: 7200 */
    bool forget_tickets;          /* does not know those it gave before */
    const char *ciphers, *groups; /* OpenSSL's words, NULL: its defaults. A group that the client
                                     did not guess makes a HelloRetryRequest */
    struct fake_tls_manner manner;
};

/* Connections accepted from now on speak TLS in this way; NULL: plain TCP again. Copied. Tickets
 * given before stay known, whatever changes. */
void fake_server_speak_tls(struct fake_server *server, const struct fake_tls_options *options);

/* The same for a DNS server: its function is asked with the transport FAKE_TLS. FAKE_CLOSE ends as
 * manner.ending says, FAKE_RESET is a RST, delays and pieces are those of the answer. */
void fake_peer_speak_tls(struct fake_peer *peer, const struct fake_tls_options *options);

/* ------------------------------------------------------------------ clients */

struct fake_tls_client_options {
    enum fake_tls_version only;     /* 0: 1.2 and 1.3 */
    const char *alpn;               /* offered: "dot", "h2,dot"; NULL: none */
    const char *sni;                /* NULL: none */
    const struct fake_conn *resume; /* with the newest ticket of this earlier connection */
    struct span early;              /* sent as early data when that ticket allows it, else as
                                       soon as the handshake is done; whole, framed messages */
    const char *certificate, *key;  /* PEM, when asked; NULL: none */
    const char *ciphers, *groups;
    struct fake_tls_manner manner;
};

/* As fake_client_tcp_open(), with a ClientHello sent at once. NULL: zeroed options. The server's
 * certificate is not checked: facts.pin says which it is. */
struct fake_conn *fake_client_tls_open(struct fake_net *net, const struct addr *to,
                                       const struct addr *from,
                                       const struct fake_tls_client_options *options);

/* ------------------------------------------------------------------ what happened */

enum { FAKE_TLS_TEXT = 256 };

/* Of one connection, as its far end saw it. */
struct fake_tls_facts {
    bool finished;                 /* the handshake, as far as this end knows */
    bool resumed;                  /* else it was full */
    enum fake_tls_version version; /* 0: not known yet */
    char offered[FAKE_TLS_TEXT];   /* servers: the client's ALPN list, "h2,dot" */
    char alpn[FAKE_TLS_TEXT];      /* what was chosen, "" nothing */
    char sni[FAKE_TLS_TEXT];       /* servers: "" when the client named nobody */
    bool offered_ticket;           /* servers: a PSK or a session ticket stood in the ClientHello */
    bool offered_early;            /* servers */
    bool early_accepted;
    size_t early_bytes;         /* servers: that were taken */
    size_t plain_in, plain_out; /* bytes of application data, early data not counted */
    bool plain_first;           /* the first bytes that arrived were no TLS handshake */
    bool got_close_notify, sent_close_notify;
    int got_alert, sent_alert; /* the last alert's number, close_notify not counted; -1: none */
    unsigned tickets;          /* servers: given; clients: got */
    bool has_certificate;      /* of the other side */
    uint8_t pin[32];           /* SHA-256 of its SubjectPublicKeyInfo */
    const char *error;         /* why OpenSSL gave up, static; "" */
};

/* False: the connection does not speak TLS. */
bool fake_conn_speaks_tls(const struct fake_conn *conn);

/* The connection speaks TLS. Borrowed; changes as things happen. */
const struct fake_tls_facts *fake_conn_tls_facts(const struct fake_conn *conn);

/* What is handed to the test right now came as early data. Also of plain connections: false. */
bool fake_conn_tls_in_early(const struct fake_conn *conn);

/* Raw bytes that arrived, from the first to FAKE_TLS_RAW_MAX; sealed, if all is well. */
enum { FAKE_TLS_RAW_MAX = 256 * 1024 };
struct span fake_conn_tls_raw(const struct fake_conn *conn);
bool fake_conn_tls_raw_has(const struct fake_conn *conn, struct span bytes);

/* ------------------------------------------------------------------ what an end may do at any time
 * Once the handshake is done. */

/* A fatal alert (bad_record_mac), then FIN. */
void fake_conn_tls_alert(struct fake_conn *conn);

/* TLS 1.2: a HelloRequest, or a client's new ClientHello. */
void fake_conn_tls_renegotiate(struct fake_conn *conn);

/* TLS 1.3: new keys for this direction, and the other side is asked for the same. */
void fake_conn_tls_update_keys(struct fake_conn *conn);

/* TLS 1.3 servers: one ticket more. */
void fake_conn_tls_give_ticket(struct fake_conn *conn);

/* A close_notify; TCP stays. */
void fake_conn_tls_notify(struct fake_conn *conn);

/* Bytes on the wire as they are, at any time. */
void fake_conn_tls_send_raw(struct fake_conn *conn, struct span bytes);

#endif
