/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Size and end of a ticket (tls_ticket_life.h). */

#include "tls/tls_ticket_life.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/check.h"
#include "tls/tls_tickets_max.h"

/* RFC 8446 section 4.6.1: a lifetime of 0 is none; RFC 5077 section 3.3: 0 is not said. */
static int64_t lifetime_s(const SSL_SESSION *session)
{
    uint64_t hint_s = SSL_SESSION_get_ticket_lifetime_hint(session);

    if (hint_s == 0 && SSL_SESSION_get_protocol_version(session) < TLS1_3_VERSION)
        hint_s = (uint64_t)MAX(SSL_SESSION_get_timeout(session), 0L);
    return (int64_t)MIN(hint_s, (uint64_t)TLS_TICKET_AGE_MAX_S);
}

static bool certificate_lasts(const SSL_SESSION *session, int64_t now_s)
{
    const X509 *peer = SSL_SESSION_get0_peer((SSL_SESSION *)session);
    int order;

    if (!peer)
        return true;
    order = ASN1_TIME_cmp_time_t(X509_get0_notAfter(peer), (time_t)now_s);
    return order == 0 || order == 1;
}

bool tls_ticket_is_worth_it(const SSL_SESSION *session)
{
    return SSL_SESSION_is_resumable(session) &&
           i2d_SSL_SESSION(session, NULL) <= TLS_TICKET_BYTES_MAX;
}

bool tls_ticket_is_good(const SSL_SESSION *session, int64_t now_s)
{
    int64_t age_s;

    return SSL_SESSION_is_resumable(session) &&
           !__builtin_sub_overflow(now_s, (int64_t)SSL_SESSION_get_time(session), &age_s) &&
           age_s >= -TLS_TICKET_AHEAD_MAX_S && MAX(age_s, 0) < lifetime_s(session) &&
           certificate_lasts(session, now_s);
}
