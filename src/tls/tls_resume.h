/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_RESUME_H
#define NAILUP_TLS_TLS_RESUME_H

/* Tickets in the life of a client's connection: taken before it, used, and got during it. */

#include "tls/tls_inside.h"

/* Takes a ticket, if there is one that suits, for the handshake to offer. */
void tls_resume_prepare(struct tls *tls);

/* The ticket's age is one at which OpenSSL offers it now. Otherwise (the clock was set back, or the
 * dial took longer than the ticket lasts) it would announce early data all the same and, having no
 * secret to seal it with, seal it with one of zeros, which everybody can open. */
bool tls_resume_seals_early(const struct tls *tls);

/* The handshake is done; says in tls->authenticated what the ticket proves, if it was used. */
void tls_resume_shaken(struct tls *tls);

/* The handshake failed: if a ticket was offered, all are dropped. It may be the ticket that the
 * server does not bear (RFC 8446 appendix D.3: early data, when it has gone back to TLS 1.2), and
 * it need not be tried with each of them. */
void tls_resume_failed(struct tls *tls);

/* It ends without having said anything: another may use the ticket. */
void tls_resume_unused(struct tls *tls);

#endif
