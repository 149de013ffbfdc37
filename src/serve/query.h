/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_QUERY_H
#define NAILUP_SERVE_QUERY_H

/*
 * What a client's message asks, and whether it is a question that a resolver may be given. Pure:
 * no socket, no time, no allocation, any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/edns.h"
#include "dns/question.h"
#include "serve/cookie.h"

/* A client's message as far as its answer depends on it. A plain value that borrows from the
 * message; query_keep() makes it last. */
struct query {
    uint16_t id;
    uint16_t flags;    /* HEADER_ bits as sent */
    uint16_t udp_size; /* the largest datagram its sender takes, 512 at least */
    bool has_question; /* question is there, to be echoed */
    bool has_trailing; /* bytes follow its last record */
    bool has_edns;     /* an OPT record came, so one goes back (RFC 6891 section 6.1.1) */
    bool dnssec_ok;
    bool has_keepalive;    /* edns-tcp-keepalive asked for (RFC 7828) */
    bool has_padding;      /* it was padded, so its answer may be (RFC 7830) */
    bool has_cookie;       /* RFC 7873; sound unless the verdict is an error */
    bool has_valid_cookie; /* one of ours: set by gate.h, as the next */
    bool sends_cookie;     /* cookie is whole and goes back */
    uint8_t cookie_len;    /* of the option as it came */
    struct question question;
    struct span tsig_message;     /* the whole message when it was signed, else empty */
    uint8_t cookie[COOKIE_BYTES]; /* with has_cookie: its first bytes, or what goes back */
};

enum query_verdict {
    QUERY_DROP,    /* no query at all: it gets no answer, or two servers would talk for ever */
    QUERY_ERROR,   /* answered at once as struct query_error says */
    QUERY_COOKIE,  /* no question: a cookie is all it asks for (RFC 7873 section 5.4) */
    QUERY_RESOLVE, /* a plain question of class IN */
    QUERY_CUT,     /* one of these that gate.h did not let pass; query_check() never says so */
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
 *   another opcode than QUERY                        NOTIMP
 *   malformed, not one question, records before OPT  FORMERR
 *   EDNS version above 0 (RFC 6891 section 6.1.3)    BADVERS
 *   a cookie of a length that cannot be              FORMERR (RFC 7873 section 5.2.2)
 *   TSIG: we have no keys (RFC 8945 section 5.2.1)   NOTAUTH
 *   AXFR, IXFR, classes other than IN                REFUSED
 *   OPT, TSIG, type 0 and 128 as question            FORMERR
 *   TKEY, MAILA, MAILB and other meta types          NOTIMP
 * ANY is an ordinary question here (the resolver answers it small). What cookies are worth is
 * gate.h's to say.
 */
enum query_verdict query_check(struct query *query, struct query_error *error, struct span message);

/* Copies the name that the question borrows to name, for a query that outlives its message. A
 * signed one does not outlive it (MUST). */
void query_keep(struct query *query, uint8_t name[NAME_WIRE_MAX]);

#endif
