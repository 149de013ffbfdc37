/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A resumed handshake shows no certificate, so a ticket is as good as what is known of the one that
 * was shown when it was given: tls_verify_session() looks at it before the ticket is offered, and
 * so before early data that it seals.
 */
#include "tls/tls_resume.h"

#include <time.h>

#include "tls/tls_alpn.h"
#include "tls/tls_tickets.h"
#include "tls/tls_verify.h"

static int64_t wall_clock_s(void)
{
    return (int64_t)time(NULL);
}

/* Whether the ticket at hand may be offered, and what it says of the peer. With the opportunistic
 * profile it may always. */
static bool suits(struct tls *tls)
{
    enum err err = tls_verify_session(tls, wall_clock_s());

    tls->ticket_proves = err == ERR_OK;
    return !err || tls->peer.options->profile == TLS_OPPORTUNISTIC;
}

/* One that no longer suits (its certificate ran out, say) is dropped, and the next one looked at:
 * the full handshake that follows when none is left finds the right words. */
void tls_resume_prepare(struct tls *tls)
{
    SSL_SESSION *session;

    while (tls->peer.tickets && (session = tls_rack_take(tls->peer.tickets, wall_clock_s()))) {
        bool is_set = SSL_set_session(tls->ssl, session) == 1;
        SSL_SESSION_free(session);
        tls->ticket_offered = is_set && suits(tls);
        if (tls->ticket_offered)
            return;
        SSL_set_session(tls->ssl, NULL);
    }
}

bool tls_resume_seals_early(const struct tls *tls)
{
    const SSL_SESSION *ticket = SSL_get_session(tls->ssl);
    int64_t age_s;

    return ticket && SSL_SESSION_has_ticket(ticket) &&
           !__builtin_sub_overflow(wall_clock_s(), (int64_t)SSL_SESSION_get_time(ticket), &age_s) &&
           age_s >= 0 && (uint64_t)age_s <= SSL_SESSION_get_ticket_lifetime_hint(ticket);
}

void tls_resume_failed(struct tls *tls)
{
    SSL_SESSION *session;

    while (tls->ticket_offered && (session = tls_rack_take(tls->peer.tickets, wall_clock_s())))
        SSL_SESSION_free(session);
}

void tls_resume_unused(struct tls *tls)
{
    SSL_SESSION *session = tls->peer.tickets ? SSL_get1_session(tls->ssl) : NULL;

    if (session)
        tls_rack_put(tls->peer.tickets, session);
}

static void keep_ticket(struct tls *tls, SSL_SESSION *session)
{
    if (!tls->peer.tickets)
        return;
    SSL_SESSION_up_ref(session);
    tls_rack_put(tls->peer.tickets, session);
}

/* The certificates above the peer's own are done with: some kilobytes a connection, and as much in
 * each ticket that is copied from its session. */
static void drop_chain(struct tls *tls)
{
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(tls->ssl);

    while (chain && sk_X509_num(chain) > 1)
        X509_free(sk_X509_pop(chain));
}

int tls_on_ticket(SSL *ssl, SSL_SESSION *session)
{
    struct tls *tls = SSL_get_app_data(ssl);

    drop_chain(tls);
    if (tls_alpn_is_ours(ssl))
        keep_ticket(tls, session);
    return 0; /* the reference stays OpenSSL's */
}

/* TLS 1.2 tickets are good for more than one use, and OpenSSL calls back for those of a full
 * handshake only. */
static void tls_resume_give_back(struct tls *tls)
{
    if (SSL_session_reused(tls->ssl) && SSL_version(tls->ssl) == TLS1_2_VERSION)
        keep_ticket(tls, SSL_get_session(tls->ssl));
}

void tls_resume_shaken(struct tls *tls)
{
    if (SSL_session_reused(tls->ssl))
        tls->authenticated = tls->ticket_proves;
    drop_chain(tls);
    tls_resume_give_back(tls);
}
