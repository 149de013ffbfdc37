/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKET_LIFE_H
#define NAILUP_TLS_TLS_TICKET_LIFE_H

/* Whether a session is kept, and how long it may be resumed. Pure. */

#include <stdbool.h>
#include <stdint.h>

struct ssl_session_st;

/* It can be resumed, and takes at most TLS_TICKET_BYTES_MAX: servers choose how long their tickets
 * and certificates are, and one may be many. */
bool tls_ticket_is_worth_it(const struct ssl_session_st *session);

/* It can be resumed; it is not older than its server said, nor than TLS_TICKET_AGE_MAX_S, nor was
 * it given later than TLS_TICKET_AHEAD_MAX_S from now; the certificate of its peer has not ended.
 */
bool tls_ticket_is_good(const struct ssl_session_st *session, int64_t now_s);

#endif
