/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_QUERY_H
#define NAILUP_SERVE_QUERY_H

/*
 * Reads a client's message and decides whether the resolver may get its question. Pure: no socket,
 * no time, no allocation, any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/edns.h"
#include "dns/question.h"
#include "serve/cookie.h"

/* The facts of a client's message that shape its answer. A plain value that borrows from the
 * message until query_keep(). */
struct query {
    uint16_t id;
    uint16_t flags;    /* HEADER_ bits as sent */
    uint16_t udp_size; /* the largest datagram that its sender takes, at least 512 */
    bool has_question; /* question is set, and goes back */
    bool has_trailing; /* bytes follow its last record */
    bool has_edns;     /* it has an OPT record, so one goes back (RFC 6891 section 6.1.1) */
    bool dnssec_ok;
    bool has_keepalive;    /* it asks for edns-tcp-keepalive (RFC 7828) */
    bool has_padding;      /* it was padded, so its answer may be (RFC 7830) */
    bool has_nsid;         /* it asks for the server's identifier (RFC 5001) */
    bool has_cookie;       /* RFC 7873; sound unless the verdict is an error */
    bool has_valid_cookie; /* the cookie is ours; gate.h sets this and the next */
    bool sends_cookie;     /* cookie is ready to go back */
    uint8_t cookie_len;    /* of the option as received */
    struct question question;
    struct span tsig_message;     /* the whole message when it was signed, else empty */
    uint8_t cookie[COOKIE_BYTES]; /* with has_cookie: the first bytes of the cookie, or of the
                                     reply's cookie */
};

enum query_verdict {
    QUERY_DROP,    /* not a query: answering it could make two servers answer each other for ever */
    QUERY_ERROR,   /* answered at once with struct query_error */
    QUERY_COOKIE,  /* has no question and asks only for a cookie (RFC 7873 section 5.4) */
    QUERY_RESOLVE, /* a plain question of class IN */
    QUERY_REFUSED, /* likewise, of a client that may not ask; never a result of query_check() */
    QUERY_LOCAL,   /* likewise without RD, of a client that may not see the cache; never a result of
                      query_check() */
    QUERY_LIMITED, /* the gate (gate.h) did not let it pass; never a result of query_check() */
};

/* The answer to a query that is not resolved. */
struct query_error {
    uint16_t rcode;   /* enum rcode, all twelve bits */
    uint16_t ede;     /* enum ede, EDE_NONE for none (RFC 8914) */
    const char *text; /* of the extended error, "" for none; static storage */
};

/*
 * Reads a datagram or message. *query is set unless QUERY_DROP is returned, *error with
 * QUERY_ERROR.
 *   QR set, or less than a header                    dropped
 *   an opcode other than QUERY                        NOTIMP
 *   malformed, not one question, records before OPT  FORMERR
 *   EDNS version above 0 (RFC 6891 section 6.1.3)    BADVERS
 *   a cookie of a wrong length                       FORMERR (RFC 7873 section 5.2.2)
 *   TSIG: we have no keys (RFC 8945 section 5.2.1)   NOTAUTH
 *   AXFR, IXFR, classes other than IN                REFUSED
 *   OPT, TSIG, type 0 and 128 as question            FORMERR
 *   TKEY, MAILA, MAILB and other meta types          NOTIMP
 * ANY is an ordinary question here: the resolver gives it a small answer. gate.h judges cookies.
 */
enum query_verdict query_check(struct query *query, struct query_error *error, struct span bytes);

/* Copies the borrowed name of the question to name, for a query that outlives its message. A signed
 * query never does (MUST). */
void query_keep(struct query *query, uint8_t name[NAME_WIRE_MAX]);

#endif
